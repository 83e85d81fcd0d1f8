import { describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import type { Compacted } from '../../actors/ports.ts';
import { Failure } from '../../protocol/errors.ts';
import { LIMITS } from '../../protocol/limits.ts';
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
});

describe('what stays and what goes', () => {
  it('[failure 1: an edit while a save is in flight] is there after the document has left memory and come back', async () => {
    const { runtime, id, store, clock } = setStage();
    const { type } = typist(runtime, id);
    await type('a');
    store.commits.isShut = true;
    const saves = [type('b')];
    await settle();
    saves.push(type('c'));
    // Long enough to leave memory, were it not for what is pending.
    await clock.advance(40_000);
    store.commits.open();
    await Promise.all(saves);
    const reads = store.documentReads;
    await clock.advance(40_000);
    expect(await textOf(runtime, id)).toBe('abc');
    expect(store.documentReads).toBe(reads + 1);
  });

  it('[failure 2: a store that fails as the last one leaves] the true outcome is told, stopping ends, nothing saved is lost', async () => {
    const { runtime, id, store, clock, another } = setStage();
    const { type, copy, send } = typist(runtime, id);
    const listener = recorder();
    await type('a');
    const stop = await inDocument(runtime, id, (doc) => doc.listen(listener));
    store.nextCommitFails = 'before';
    const lost = codeOf(type('b'));
    stop();
    expect(await lost).toBe('UNAVAILABLE');
    expect(await textOf(runtime, id)).toBe('a');
    store.nextCommitFails = 'after';
    const saved = Promise.resolve(send(Y.encodeStateAsUpdate(copy)));
    const stopped = runtime.stop();
    await clock.advance(5000);
    expect(await saved).toBe(true);
    await stopped;
    expect(await textOf(another(), id)).toBe('ab');
  });

  it('[failure 4: no seeding anew] what comes back after it has left memory is the same, struct for struct', async () => {
    const { runtime, id, clock } = setStage();
    const writer = typist(runtime, id);
    const listener = recorder();
    for (const letter of 'hello') await writer.type(letter);
    const before = await inDocument(runtime, id, (doc) => doc.missing());
    for (let round = 0; round < 3; round += 1) {
      await clock.advance(100_000);
      expect(runtime.stats().actors).toBe(0);
      const stop = await inDocument(runtime, id, (doc) => doc.listen(listener));
      // One who was away sends all that he has, as every client does when it comes back.
      expect(await writer.send(Y.encodeStateAsUpdate(writer.copy))).toBe(false);
      expect(await inDocument(runtime, id, (doc) => doc.missing())).toEqual(before);
      stop();
    }
    expect(listener.updates).toEqual([]);
  });

  it('[open] stays in memory with its actor for as long as somebody listens, and no longer', async () => {
    const { runtime, id, clock, store } = setStage();
    await typist(runtime, id).type('a');
    const stops = [recorder(), recorder()].map((listener) => inDocument(runtime, id, (doc) => doc.listen(listener)));
    const doc = await inDocument(runtime, id, (each) => each);
    await clock.advance(200_000);
    expect(runtime.stats().actors).toBe(1);
    expect(doc.isOver).toBe(false);
    for (const stop of stops) (await stop)();
    await clock.advance(16_000);
    expect(doc.isOver).toBe(true);
    expect(store.documentReads).toBe(0);
    await clock.advance(100_000);
    expect(runtime.stats()).toMatchObject({ actors: 0, residentBytes: 0 });
  });

  it('[over] who listens is told once when the actor goes, and its document takes nothing more', async () => {
    const { runtime, id } = setStage();
    const { type, send, copy } = typist(runtime, id);
    await type('a');
    const listener = recorder();
    const doc = await inDocument(runtime, id, (each) => {
      each.listen(listener);
      return each;
    });
    await runtime.discard(id);
    await settle();
    expect(listener.ends).toEqual(['moved']);
    expect(doc.isOver).toBe(true);
    expect(await codeOf(() => runtime.ask(id, () => doc.apply(Y.encodeStateAsUpdate(copy), null, null)))).toBe('UNAVAILABLE');
    expect(await send(Y.encodeStateAsUpdate(copy))).toBe(false);
    await runtime.stop();
    expect(listener.ends).toHaveLength(1);
  });

  it('[drop] tells who has it open, and one of that name is opened anew after the commit alone', async () => {
    const { runtime, id, store } = setStage();
    const { type } = typist(runtime, id);
    await type('old');
    const listener = recorder();
    await inDocument(runtime, id, (doc) => doc.listen(listener));
    store.commits.isShut = true;
    const dropped = withList(runtime, id, ({ documents }) => documents.drop(DOC));
    expect(listener.ends).toEqual(['dropped']);
    let isOpen = false;
    const again = Promise.resolve(typist(runtime, id).type('new')).then(() => {
      isOpen = true;
    });
    await settle();
    expect(isOpen).toBe(false);
    store.commits.open();
    await Promise.all([dropped, again]);
    expect(await textOf(runtime, id)).toBe('new');
    expect(store.batches.map((batches) => batches.flatMap(({ changes }) => changes.map(({ kind }) => kind)))).toEqual([
      ['doc.update'],
      ['doc.drop'],
      ['doc.update'],
    ]);
    expect(await withList(runtime, id, ({ documents }) => documents.list())).toMatchObject([{ name: DOC, seq: 3 }]);
    expect(await codeOf(() => withList(runtime, id, ({ documents }) => documents.drop('other')))).toBe('DOCUMENT_NOT_FOUND');
  });

  it('[compaction] is asked for after many updates and when it falls asleep, and a failed one again later', async () => {
    const asked: string[] = [];
    let outcome: Compacted | null = null;
    const upkeep = {
      compact: async (_: unknown, name: string) => {
        asked.push(name);
        return outcome;
      },
    };
    const { runtime, id, clock } = setStage({ upkeep });
    const { type } = typist(runtime, id);
    const stop = await inDocument(runtime, id, (doc) => doc.listen(recorder()));
    for (let update = 0; update < 499; update += 1) await type('x');
    expect(asked).toEqual([]);
    await type('x');
    expect(asked).toEqual([DOC]);
    await type('x');
    expect(asked).toHaveLength(1);
    outcome = { snapshotBytes: 600, updates: 501, updateBytes: 10_000, freedBytes: 9400 };
    const storedBytes = await inDocument(runtime, id, (doc) => doc.stateBytes);
    await clock.advance(40_000);
    expect(asked).toHaveLength(2);
    expect(await inDocument(runtime, id, (doc) => doc.stateBytes)).toBeLessThan(storedBytes);
    stop();
    for (let update = 0; update < 3; update += 1) await type('x');
    await clock.advance(20_000);
    expect(asked).toHaveLength(3);
  });
});

it('[compaction in a rush] does not wait for the gap once ten thousand updates have come', async () => {
  const asked: number[] = [];
  let updates = 0;
  const upkeep = {
    compact: async () => {
      const outcome = { snapshotBytes: 600, updates: updates - (asked.at(-1) ?? 0), updateBytes: 1, freedBytes: 1 };
      asked.push(updates);
      return outcome;
    },
  };
  const { runtime, id } = setStage({ upkeep });
  const { type } = typist(runtime, id);
  for (; updates < 21_500; updates += 1) await type('x');
  expect(asked).toHaveLength(3);
  const [first = 0, second = 0, third = 0] = asked;
  expect([first, second - first, third - second].map((each) => Math.round(each / 100))).toEqual([5, 100, 100]);
});

describe('what is refused', () => {
  it('[malformed] changes nothing, for nobody', async () => {
    const { runtime, id, store } = setStage();
    const { type, send } = typist(runtime, id);
    await type('hello');
    const listener = recorder();
    await inDocument(runtime, id, (doc) => doc.listen(listener));
    for (const bytes of [[], [1], [0, 0, 0], [1, 255, 255, 255, 127, 1, 0]]) {
      expect(await codeOf(() => send(new Uint8Array(bytes)))).toBe('INVALID_UPDATE');
      expect(await codeOf(() => inDocument(runtime, id, (doc) => doc.knows(new Uint8Array(bytes))))).toBe('INVALID_UPDATE');
    }
    expect(await codeOf(() => inDocument(runtime, id, (doc) => doc.missing(new Uint8Array([9, 9]))))).toBe('INVALID_UPDATE');
    expect(listener).toMatchObject({ updates: [], ends: [] });
    expect(store.of(id).log).toHaveLength(1);
    expect(await textOf(runtime, id)).toBe('hello');
  });

  it('[what Yjs stumbles over on the way] makes the document start again from what is stored', async () => {
    const { runtime, id, store } = setStage();
    const { type, send } = typist(runtime, id);
    await type('hello');
    const listener = recorder();
    await inDocument(runtime, id, (doc) => doc.listen(listener));
    // Five places of client 9 whose content is gone; then a text of six that says to be in the same places.
    expect(await send(new Uint8Array([1, 1, 9, 0, 0, 5, 0]))).toBe(true);
    const contradiction = new Uint8Array([1, 1, 9, 0, 4, 1, 1, 116, 6, 97, 98, 99, 100, 101, 102, 0]);
    expect(await codeOf(() => send(contradiction))).toBe('INVALID_UPDATE');
    expect(listener.ends).toEqual(['moved']);
    expect(await textOf(runtime, id)).toBe('hello');
    expect(store.of(id).log).toHaveLength(2);
  });

  it('[too large] one update, or the document with it; what everybody has may still be said', async () => {
    const { runtime, id, store } = setStage();
    const { send, copy } = typist(runtime, id);
    expect(await codeOf(() => send(new Uint8Array(LIMITS.updateBytesMax + 1)))).toBe('DOCUMENT_TOO_LARGE');
    const piece = new Uint8Array(LIMITS.updateBytesMax - 100);
    const pieces = Math.floor(LIMITS.documentBytesMax / LIMITS.updateBytesMax);
    for (let times = 0; times < pieces; times += 1) await send(change(copy, (doc) => doc.getArray('a').push([piece])));
    const another = change(copy, (doc) => doc.getArray('a').push([piece]));
    expect(await codeOf(() => send(another))).toBe('DOCUMENT_TOO_LARGE');
    const small = new Y.Doc();
    Y.applyUpdate(small, await inDocument(runtime, id, (doc) => doc.missing()));
    expect(await send(change(small, (doc) => doc.getText('t').insert(0, 'x')))).toBe(true);
    expect(store.of(id).log).toHaveLength(pieces + 1);
  });

  it('[too many] documents; those that are there can be written', async () => {
    const { runtime, id } = setStage();
    for (let index = 0; index < LIMITS.documentsMax; index += 1) await typist(runtime, id, `d${index}`).type('x');
    expect(await codeOf(() => typist(runtime, id, 'another').type('x'))).toBe('DOCUMENT_LIMIT_EXCEEDED');
    await typist(runtime, id, 'd7').type('y');
    expect(await withList(runtime, id, ({ documents }) => documents.list())).toHaveLength(LIMITS.documentsMax);
  });

  it('[no such name] is a document', async () => {
    const { runtime, id } = setStage();
    for (const name of ['', '7up', 'a b', 'x'.repeat(65), '__proto__']) {
      expect(await codeOf(() => typist(runtime, id, name).type('x'))).toBe('INVALID_DOCUMENT_NAME');
    }
  });

  it('[pending] updates that wait for others are kept, but do not pile up', async () => {
    const { runtime, id, store } = setStage();
    const { send, copy } = typist(runtime, id);
    const first = change(copy, (doc) => doc.getText('t').insert(0, 'a'));
    const second = change(copy, (doc) => doc.getText('t').insert(1, 'b'));
    expect(await send(second)).toBe(true);
    expect(await send(second)).toBe(false);
    expect(await textOf(runtime, id)).toBe('');
    expect(await send(first)).toBe(true);
    expect(await textOf(runtime, id)).toBe('ab');
    change(copy, (doc) => doc.getText('t').insert(2, 'never sent'));
    const large = change(copy, (doc) => doc.getText('t').insert(0, 'x'.repeat(LIMITS.documentPendingBytesMax)));
    expect(await codeOf(() => send(large))).toBe('INVALID_UPDATE');
    expect(store.of(id).log).toHaveLength(2);
    expect(await send(Y.encodeStateAsUpdate(copy))).toBe(true);
  });

  it('[store behind] UNAVAILABLE, and the document is as it was', async () => {
    const { runtime, id, store } = setStage();
    const { type, copy, send } = typist(runtime, id);
    await type('a');
    store.commits.isShut = true;
    const waiting = Array.from({ length: 10_000 }, () => runtime.ask(id, ({ json }) => json.put('k', '1', {})));
    const update = change(copy, (doc) => doc.getText('t').insert(1, 'b'));
    const refused = codeOf(() => send(update));
    store.commits.open();
    await Promise.all(waiting);
    expect(await refused).toBe('UNAVAILABLE');
    expect(await textOf(runtime, id)).toBe('a');
    expect(await send(update)).toBe(true);
  });
});

describe('reading and writing by the server', () => {
  it('[edit] is an update like any other; half a change is none', async () => {
    const { runtime, id, store } = setStage();
    await typist(runtime, id).type('hello');
    const listener = recorder();
    await inDocument(runtime, id, (doc) => doc.listen(listener));
    const length = await inDocument(runtime, id, (doc) =>
      doc.edit('user_1', 100, (inside) => {
        inside.getText('t').insert(5, ' world');
        return inside.getText('t').length;
      }),
    );
    expect(length).toBe(11);
    expect(listener.updates).toHaveLength(1);
    expect(store.of(id).log.at(-1)).toMatchObject({ kind: 'doc.update', by: 'user_1' });
    const half = () =>
      inDocument(runtime, id, (doc) =>
        doc.edit(null, 100, (inside) => {
          inside.getText('t').insert(0, 'half ');
          throw new Failure('INVALID_REQUEST');
        }),
      );
    expect(await codeOf(half)).toBe('INVALID_REQUEST');
    expect(listener.ends).toEqual(['moved']);
    expect(await textOf(runtime, id)).toBe('hello world');
    expect(await inDocument(runtime, id, (doc) => doc.read((inside) => inside.getText('t').toString()))).toBe('hello world');
    expect(store.of(id).log).toHaveLength(2);
  });

  it('[joining] everybody who comes at one state shares one encoding', async () => {
    const { runtime, id } = setStage();
    const { type, copy } = typist(runtime, id);
    await type('a');
    const vector = Y.encodeStateVector(copy);
    await type('b');
    const ask = (stateVector?: Uint8Array) => inDocument(runtime, id, (doc) => doc.missing(stateVector));
    expect(await ask()).toBe(await ask(new Uint8Array([0])));
    const difference = await ask(vector);
    expect(await ask(vector.slice())).toBe(difference);
    expect(difference.byteLength).toBeLessThan((await ask()).byteLength + 3);
    const state = await ask();
    await type('c');
    expect(await ask()).not.toBe(state);
    expect(await ask(vector)).not.toBe(difference);
    expect(await inDocument(runtime, id, (doc) => doc.stateVector())).toBe(await inDocument(runtime, id, (doc) => doc.stateVector()));
  });

  it('[list] in the order of names, with what is stored', async () => {
    const { runtime, id } = setStage();
    await typist(runtime, id, 'b').type('x');
    await typist(runtime, id, 'a').type('y');
    const list = await withList(runtime, id, ({ documents }) => documents.list());
    expect(list).toMatchObject([
      { name: 'a', seq: 2 },
      { name: 'b', seq: 1 },
    ]);
    expect(list[0]?.sizeBytes).toBeGreaterThan(10);
    expect(await withList(runtime, id, ({ documents }) => documents.find('c'))).toBeUndefined();
  });
});
