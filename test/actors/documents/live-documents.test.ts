import { describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import type { Compacted } from '../../../actors/documents/changes.ts';
import { Failure } from '../../../protocol/core/errors.ts';
import { LIMITS } from '../../../protocol/core/limits.ts';
import { settle } from '../../support/stepped-clock.ts';
import { codeOf, setStage } from '../runtime/runtime-fixture.ts';
import { change, DOC, inDocument, recorder, textOf, typist, withList } from './documents-fixture.ts';

describe('a live document', () => {
  it('applies updates and tells listeners at once; the answer waits for the commit', async () => {
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

  it('[nothing new] an update without news is neither stored nor broadcast', async () => {
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

  it('[two first joins] share one load and one document', async () => {
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

  it('[a failed load] refuses callers and is not an empty document', async () => {
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

describe('staying in memory and leaving it', () => {
  it('[an edit while a save is in flight] survives unloading and reloading', async () => {
    const { runtime, id, store, clock } = setStage();
    const { type } = typist(runtime, id);
    await type('a');
    store.commits.isShut = true;
    const saves = [type('b')];
    await settle();
    saves.push(type('c'));
    // Long enough to leave memory; the pending change prevents it.
    await clock.advance(40_000);
    store.commits.open();
    await Promise.all(saves);
    const reads = store.documentReads;
    await clock.advance(40_000);
    expect(await textOf(runtime, id)).toBe('abc');
    expect(store.documentReads).toBe(reads + 1);
  });

  it('[the store fails while the last client leaves] the true outcome is answered, stop() resolves, nothing saved is lost', async () => {
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

  it('[no second seed] a reloaded document is the same, struct for struct', async () => {
    const { runtime, id, clock } = setStage();
    const writer = typist(runtime, id);
    const listener = recorder();
    for (const letter of 'hello') await writer.type(letter);
    const before = await inDocument(runtime, id, (doc) => doc.missing());
    for (let round = 0; round < 3; round += 1) {
      await clock.advance(100_000);
      expect(runtime.stats().actors).toBe(0);
      const stop = await inDocument(runtime, id, (doc) => doc.listen(listener));
      // A returning client sends its whole state, as every client does.
      expect(await writer.send(Y.encodeStateAsUpdate(writer.copy))).toBe(false);
      expect(await inDocument(runtime, id, (doc) => doc.missing())).toEqual(before);
      stop();
    }
    expect(listener.updates).toEqual([]);
  });

  it('[open] stays in memory with its actor exactly as long as it has a listener', async () => {
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

  it('[over] listeners get one event when the actor stops, and the document takes no more updates', async () => {
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

  it('[drop] tells listeners, and the name can be opened again only after the commit', async () => {
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

  it('[compaction] is requested after many updates and before sleep, and again after a failure', async () => {
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

it('[bytes within a value] do not keep the buffer of the update alive', async () => {
  const { runtime, id } = setStage();
  const update = change(new Y.Doc(), (doc) => doc.getMap('m').set('k', { picture: Uint8Array.of(1, 2, 3) }));
  const slab = new Uint8Array(8192);
  slab.set(update, 100);
  await inDocument(runtime, id, (doc) => doc.apply(slab.subarray(100, 100 + update.byteLength), null, undefined));
  const value = await inDocument(runtime, id, (doc) => doc.read((copy) => copy.getMap('m').get('k')));
  const { picture } = value as { picture: Uint8Array };
  expect([[...picture], picture.buffer === slab.buffer]).toEqual([[1, 2, 3], false]);
});

it('[compaction under load] no longer waits for a pause after ten thousand updates', async () => {
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

describe('refusals', () => {
  it('[malformed] an update changes nothing', async () => {
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

  it('[Yjs throws half-way] the document is reloaded from the store', async () => {
    const { runtime, id, store } = setStage();
    const { type, send } = typist(runtime, id);
    await type('hello');
    const listener = recorder();
    await inDocument(runtime, id, (doc) => doc.listen(listener));
    // Five deleted items of client 9; then a text of six items that claims the same clocks.
    expect(await send(new Uint8Array([1, 1, 9, 0, 0, 5, 0]))).toBe(true);
    const contradiction = new Uint8Array([1, 1, 9, 0, 4, 1, 1, 116, 6, 97, 98, 99, 100, 101, 102, 0]);
    expect(await codeOf(() => send(contradiction))).toBe('INVALID_UPDATE');
    expect(listener.ends).toEqual(['moved']);
    expect(await textOf(runtime, id)).toBe('hello');
    expect(store.of(id).log).toHaveLength(2);
  });

  it('[too large] an update, or the document with it; small updates still pass', async () => {
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

  it('[too many] documents; existing ones can still be written', async () => {
    const { runtime, id } = setStage();
    for (let index = 0; index < LIMITS.documentsMax; index += 1) await typist(runtime, id, `d${index}`).type('x');
    expect(await codeOf(() => typist(runtime, id, 'another').type('x'))).toBe('DOCUMENT_LIMIT_EXCEEDED');
    await typist(runtime, id, 'd7').type('y');
    expect(await withList(runtime, id, ({ documents }) => documents.list())).toHaveLength(LIMITS.documentsMax);
  });

  it('[invalid name] is refused', async () => {
    const { runtime, id } = setStage();
    for (const name of ['', '7up', 'a b', 'x'.repeat(65), '__proto__']) {
      expect(await codeOf(() => typist(runtime, id, name).type('x'))).toBe('INVALID_DOCUMENT_NAME');
    }
  });

  it('[gap] an update that builds on others that are missing is refused and changes nothing', async () => {
    const { runtime, id, store } = setStage();
    const { send, copy } = typist(runtime, id);
    const first = change(copy, (doc) => doc.getText('t').insert(0, 'a'));
    const second = change(copy, (doc) => doc.getText('t').insert(1, 'b'));
    const deletion = change(copy, (doc) => doc.getText('t').delete(0, 1));
    for (const gapped of [second, deletion]) expect(await codeOf(() => send(gapped))).toBe('INVALID_UPDATE');
    expect(store.of(id).log).toHaveLength(0);
    for (const update of [first, second, deletion]) expect(await send(update)).toBe(true);
    expect(await textOf(runtime, id)).toBe('b');
    expect(store.of(id).log).toHaveLength(3);
  });

  it('[gap] of the answer of a peer, what builds on updates that the peer lacks too is left out, also from the store', async () => {
    const { runtime, id, store } = setStage();
    const { copy, send } = typist(runtime, id);
    const first = change(copy, (doc) => doc.getText('t').insert(0, 'a'));
    const second = change(copy, (doc) => doc.getText('t').insert(1, 'b'));
    const peer = new Y.Doc();
    peer.getText('t').insert(0, 'own');
    Y.applyUpdate(peer, second);
    const answer = () => inDocument(runtime, id, (doc) => doc.applyAnswer(Y.encodeStateAsUpdate(peer), null, null));
    expect(await answer()).toEqual({ isNew: true, missing: new Map([[copy.clientID, 0]]) });
    expect(await textOf(runtime, id)).toBe('own');
    expect(await answer()).toMatchObject({ isNew: false });
    const [logged] = store.of(id).log;
    const stored = new Y.Doc();
    Y.applyUpdate(stored, (logged as unknown as { update: Uint8Array }).update);
    expect([stored.getText('t').toString(), stored.store.pendingStructs]).toEqual(['own', null]);
    await send(first);
    expect(await answer()).toMatchObject({ isNew: true, missing: undefined });
    expect(await textOf(runtime, id)).toContain('ab');
  });

  it('[gap] an answer that lacks something of too many clients is refused', async () => {
    const { runtime, id } = setStage();
    const peer = new Y.Doc();
    for (let client = 0; client <= LIMITS.documentGapsMax; client += 1) {
      const author = new Y.Doc();
      author.getText('t').insert(0, 'a');
      Y.applyUpdate(
        peer,
        change(author, (doc) => doc.getText('t').insert(1, 'b')),
      );
    }
    const update = Y.encodeStateAsUpdate(peer);
    expect(await codeOf(() => inDocument(runtime, id, (doc) => doc.applyAnswer(update, null, null)))).toBe('INVALID_UPDATE');
  });

  it('[circle] updates of two clients that refer to each other leave nothing behind', async () => {
    const { runtime, id, store } = setStage();
    // Two clients, each with one character that stands right of the other's.
    const circle = Uint8Array.of(2, 1, 1, 0, 0x84, 2, 0, 1, 97, 1, 2, 0, 0x84, 1, 0, 1, 98, 0);
    expect(await codeOf(() => inDocument(runtime, id, (doc) => doc.apply(circle, null, null)))).toBe('INVALID_UPDATE');
    expect(store.of(id).log).toHaveLength(0);
    await inDocument(runtime, id, (doc) => doc.read(({ store: inside }) => expect(inside.pendingStructs).toBeNull()));
  });

  it('[gap in the store] what waits is applied once the missing comes, and its peers are told; nothing of it is lost', async () => {
    const { runtime, id, store, another } = setStage();
    const { copy, type } = typist(runtime, id);
    await type('x');
    const first = change(copy, (doc) => doc.getText('t').insert(1, 'a'));
    const second = change(copy, (doc) => doc.getText('t').insert(2, 'b'));
    await runtime.discard(id);
    // As an earlier release stored it.
    const stored = { seq: 2, kind: 'doc.update', doc: DOC, update: second, by: null, atMs: 0 } as const;
    store.apply([{ artifactId: id, epoch: store.of(id).epoch, changes: [stored] }]);
    const again = another();
    expect(await textOf(again, id)).toBe('x');
    const listener = recorder();
    await inDocument(again, id, (doc) => doc.listen(listener));
    await inDocument(again, id, (doc) => doc.apply(first, null, null));
    await inDocument(again, id, (doc) => doc.trim());
    expect(await textOf(again, id)).toBe('xab');
    expect(listener.updates).toHaveLength(2);
  });

  it('[backlog full] UNAVAILABLE, and the document is unchanged', async () => {
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
  it('[edit] is an ordinary update; a change that throws half-way is discarded', async () => {
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

  it('[joining] clients that join at the same state share one encoding', async () => {
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

  it('[list] is ordered by name and shows what is stored', async () => {
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
