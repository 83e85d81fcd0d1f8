import { describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import { settle } from '../sim/stepped-clock.ts';
import { change, DOC, inDocument, recorder, textOf, typist, withList } from './documents-fixture.ts';
import { codeOf, setStage } from './runtime-fixture.ts';

describe('a live document', () => {
  it('applies what clients send and tells whoever listens at once, the answer waits for the commit', async () => {
    const { runtime, id, store } = setStage();
    const { type, copy } = typist(runtime, id);
    await type('a');
    const listener = recorder();
    const stop = await inDocument(runtime, id, (doc) => doc.listen(listener));
    store.commits.isShut = true;
    let isSaved = false;
    const saved = Promise.resolve(type('b')).then(() => {
      isSaved = true;
    });
    await settle();
    expect(listener.updates).toHaveLength(1);
    expect(isSaved).toBe(false);
    store.commits.open();
    await saved;
    expect(await textOf(runtime, id)).toBe('ab');
    expect(store.of(id).log.map(({ kind }) => kind)).toEqual(['doc.update', 'doc.update']);
    stop();
    await runtime.stop();
    expect(copy.getText('t').toString()).toBe('ab');
  });

  it('[nothing new] is neither recorded nor told', async () => {
    const { runtime, id, store } = setStage();
    const { send, copy } = typist(runtime, id);
    const update = change(copy, (doc) => doc.getText('t').insert(0, 'abc'));
    expect(await send(update)).toBe(true);
    const gone = change(copy, (doc) => doc.getText('t').delete(1, 1));
    expect(await send(gone)).toBe(true);
    for (const known of [update, gone, Y.encodeStateAsUpdate(copy), Y.encodeStateAsUpdate(new Y.Doc())]) {
      expect(await send(known)).toBe(false);
      expect(await inDocument(runtime, id, (doc) => doc.knows(known))).toBe(true);
    }
    const other = change(copy, (doc) => doc.getText('t').delete(0, 1));
    expect(await inDocument(runtime, id, (doc) => doc.knows(other))).toBe(false);
    expect(store.of(id).log).toHaveLength(2);
  });

  it('[failure 3: two first joins] share one load and one document', async () => {
    const { runtime, id, store, another } = setStage();
    await typist(runtime, id).type('hello');
    const late = another();
    store.documents.isShut = true;
    const joins = [inDocument(late, id, (doc) => doc), inDocument(late, id, (doc) => doc)];
    await settle();
    store.documents.open();
    const [one, other] = await Promise.all(joins);
    expect(one).toBe(other);
    expect(store.documentReads).toBe(1);
    expect(await textOf(late, id)).toBe('hello');
  });

  it('[failure 3: a failed load] refuses, and is no empty document', async () => {
    const { runtime, id, store, another } = setStage();
    await typist(runtime, id).type('hello');
    const late = another();
    store.documentsFail = true;
    const writer = typist(late, id);
    expect(await codeOf(writer.type('x'))).toBe('UNAVAILABLE');
    store.documentsFail = false;
    await writer.send(Y.encodeStateAsUpdate(writer.copy));
    expect([...(await textOf(late, id))].sort().join('')).toBe([...'hellox'].sort().join(''));
  });

  it('[footing] is found again under its name in the list', async () => {
    const { runtime, id } = setStage();
    await typist(runtime, id).type('hello');
    expect(await withList(runtime, id, ({ documents }) => documents.list())).toMatchObject([{ name: DOC, seq: 1 }]);
  });
});
