import { describe, expect, it } from 'vitest';
import type { ArtifactActor } from '../../../actors/runtime/artifact-actor.ts';
import { localPlacement } from '../../../actors/runtime/placement.ts';
import type { Placement } from '../../../actors/runtime/ports.ts';
import { newId } from '../../../protocol/core/ids.ts';
import { SILENT, UNMETERED } from '../../sim/world.ts';
import { settle } from '../../support/stepped-clock.ts';
import { codeOf, put, read, setStage } from './runtime-fixture.ts';

describe('a turn', () => {
  it('[synchronous] is answered without a promise when the actor is resident and everything is committed', async () => {
    const { runtime, id } = setStage();
    await put(runtime, id, 'k', '1');
    expect(
      runtime.ask(
        id,
        ({ json }) => json.get('k').warmText,
        ({ json }) => json.warm('k'),
      ),
    ).toBe('1');
    expect(() => runtime.ask(id, ({ json }) => json.get('other'))).toThrow(expect.objectContaining({ code: 'KEY_NOT_FOUND' }));
  });

  it('[output gate] neither a value nor a refusal is sent before the state it saw is durable', async () => {
    const { runtime, id, store } = setStage();
    await put(runtime, id, 'old', '1');
    store.commits.isShut = true;
    const settled: string[] = [];
    const write = put(runtime, id, 'k', '2').then(() => settled.push('write'));
    const reader = read(runtime, id, 'k').then(() => settled.push('reader'));
    const missing = codeOf(read(runtime, id, 'other')).then((code) => settled.push(code));
    await settle();
    expect(settled).toEqual([]);
    expect(runtime.stats()).toMatchObject({ mailboxDepth: 3, pendingChanges: 1 });
    store.commits.open();
    await Promise.all([write, reader, missing]);
    expect(settled).toEqual(['write', 'reader', 'KEY_NOT_FOUND']);
    expect(runtime.stats()).toMatchObject({ mailboxDepth: 0, pendingChanges: 0 });
  });

  it('[a bug stops the actor, not the process] changes of the turn are discarded, earlier ones stay', async () => {
    const { runtime, id, store } = setStage();
    await put(runtime, id, 'k', '1');
    store.commits.isShut = true;
    const earlier = put(runtime, id, 'k', '2');
    expect(() =>
      runtime.ask(id, ({ json }) => {
        json.put('k', '3', {});
        throw new TypeError('a bug');
      }),
    ).toThrow('a bug');
    const later = read(runtime, id, 'k');
    store.commits.open();
    await earlier;
    expect(await later).toBe('2');
    expect(store.of(id).log.map((change) => change.seq)).toEqual([1, 2]);
    expect(store.loadCount).toBe(2);
  });
});

describe('the commit', () => {
  it('[patient] changes that can wait are gathered for a moment after the last commit; an urgent one takes them along', async () => {
    const { runtime, id, store, clock, newArtifact } = setStage();
    const other = newArtifact();
    await Promise.all([put(runtime, id, 'k', '0'), put(runtime, other, 'k', '0')]);
    await clock.advance(1000);
    store.batches.length = 0;
    const changesOf = () => store.batches.map((batches) => batches.reduce((sum, { changes }) => sum + changes.length, 0));
    const patiently = (key: string) => runtime.askPatiently(id, ({ json }) => json.put(key, '1', {}).entry.etag);
    const saved = [patiently('a')];
    await settle();
    // After a pause a patient change is committed at once.
    expect(changesOf()).toEqual([1]);
    saved.push(patiently('b'));
    await settle();
    saved.push(patiently('c'));
    await clock.advance(3);
    expect([changesOf(), runtime.stats().pendingChanges]).toEqual([[1], 2]);
    await clock.advance(1);
    expect(changesOf()).toEqual([1, 2]);
    saved.push(patiently('d'));
    await settle();
    await put(runtime, other, 'k', '2');
    expect(changesOf()).toEqual([1, 2, 2]);
    saved.push(patiently('e'));
    await settle();
    // A reader waits for the commit of what it has seen.
    expect(await read(runtime, id, 'e')).toBe('1');
    saved.push(patiently('f'));
    await settle();
    await runtime.discard(id);
    expect(changesOf()).toEqual([1, 2, 2, 1, 1]);
    await put(runtime, id, 'k', '3');
    saved.push(patiently('g'));
    await settle();
    // Like a query of many rows before it reads from the store.
    const prepared = (actor: ArtifactActor) => (actor.isClean ? undefined : actor.settled());
    expect(await runtime.ask(id, () => 'ready', prepared)).toBe('ready');
    await Promise.all(saved);
  });

  it('[group commit] takes every change that arrived while the previous commit was in flight', async () => {
    const { runtime, store, newArtifact } = setStage();
    const ids = [newArtifact(), newArtifact(), newArtifact()];
    for (const id of ids) await put(runtime, id, 'k', '0');
    store.batches.length = 0;
    store.commits.isShut = true;
    const writes = [put(runtime, ids[0] as never, 'k', '1')];
    await settle();
    for (const id of ids) writes.push(put(runtime, id, 'k', '2'), put(runtime, id, 'k2', '3'));
    store.commits.open();
    await Promise.all(writes);
    expect(store.batches.map((batches) => batches.map(({ changes }) => changes.length))).toEqual([[1], [2, 2, 2]]);
  });

  it('[true outcome] a commit that landed before its connection broke is acknowledged after a reload', async () => {
    const { runtime, id, store } = setStage();
    await put(runtime, id, 'k', '1');
    store.nextCommitFails = 'after';
    expect(await put(runtime, id, 'k', '2')).toBe('"2"');
    expect(await read(runtime, id, 'k')).toBe('2');
    expect(store.of(id).epoch).toBe(2);
  });

  it('[memory is never ahead] the changes of a failed commit, and those after them, are refused and discarded', async () => {
    const { runtime, id, store, clock } = setStage();
    await put(runtime, id, 'k', '1');
    store.commits.isShut = true;
    store.nextCommitFails = 'before';
    const lost = codeOf(put(runtime, id, 'k', '2'));
    await settle();
    const lostToo = codeOf(put(runtime, id, 'other', '3'));
    const reader = codeOf(read(runtime, id, 'k'));
    store.commits.open();
    expect(await Promise.all([lost, lostToo, reader])).toEqual(['UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE']);
    expect(await read(runtime, id, 'k')).toBe('1');
    expect(await codeOf(read(runtime, id, 'other'))).toBe('KEY_NOT_FOUND');
    const next = put(runtime, id, 'k', '4');
    await clock.advance(50);
    expect(await next).toBe('"2"');
    expect(store.violations).toEqual([]);
  });

  it('[back-off] the next commit after a failed one waits, longer each time', async () => {
    const { runtime, store, clock, newArtifact } = setStage();
    const gaps: number[] = [];
    let lastMs = clock.nowMs();
    for (let round = 0; round < 7; round += 1) {
      const id = newArtifact();
      await runtime.ask(id, () => undefined);
      store.nextCommitFails = 'before';
      const write = put(runtime, id, 'k', '1').catch(() => undefined);
      await settle();
      while (store.batches.length <= round) await clock.step();
      gaps.push(clock.nowMs() - lastMs);
      lastMs = clock.nowMs();
      await write;
    }
    expect(gaps).toEqual([0, 50, 100, 200, 400, 800, 1600]);
  });

  it('[fenced] a previous owner is refused with OWNER_MOVED and then reloads', async () => {
    const { runtime, id, another } = setStage();
    await put(runtime, id, 'k', '1');
    const successor = another();
    await put(successor, id, 'k', '2');
    expect(await codeOf(put(runtime, id, 'k', '3'))).toBe('OWNER_MOVED');
    expect(await read(runtime, id, 'k')).toBe('2');
  });

  it('[poison] a change that cannot be stored fails only its artifact, which continues without it', async () => {
    const { runtime, id, store, newArtifact } = setStage();
    const other = newArtifact();
    store.isPoison = (change) => change.kind === 'json.put' && change.value === '"poison"';
    await Promise.all([put(runtime, id, 'k', '1'), put(runtime, other, 'k', '1')]);
    store.commits.isShut = true;
    const first = put(runtime, other, 'k', '2');
    await settle();
    const poisoned = codeOf(put(runtime, id, 'k', '"poison"'));
    const fine = put(runtime, other, 'k', '3');
    store.commits.open();
    expect(await Promise.all([first, poisoned, fine])).toEqual(['"2"', 'INTERNAL_ERROR', '"3"']);
    expect(await read(runtime, id, 'k')).toBe('1');
    expect(await put(runtime, id, 'k', '4')).toBe('"2"');
  });

  it('[bounded] past 10 000 waiting changes of its own a write is UNAVAILABLE, while others write, reads and queued changes go on', async () => {
    const { runtime, id, store, newArtifact } = setStage();
    const other = newArtifact();
    await put(runtime, other, 'k', '1');
    await put(runtime, id, 'k0', '0');
    store.commits.isShut = true;
    const queued = Array.from({ length: 10_000 }, (_, index) => put(runtime, id, `k${index % 900}`, '1'));
    expect(runtime.stats().pendingChanges).toBe(10_000);
    const refused = put(runtime, id, 'k', '2');
    const accepted = put(runtime, other, 'k', '2');
    expect(runtime.stats().pendingChanges).toBe(10_001);
    store.commits.open();
    await expect(refused).rejects.toMatchObject({ code: 'UNAVAILABLE', details: { retryAfterS: 1 } });
    expect(await accepted).toBe('"2"');
    await Promise.all(queued);
    expect(await put(runtime, id, 'k0', '2')).not.toBe('"1"');
  });

  it('[fair] one artifact with 9000 waiting changes delays no other: each commit takes a part of it and all of those with little', async () => {
    const { runtime, id, store, newArtifact } = setStage();
    const others = Array.from({ length: 20 }, newArtifact);
    await Promise.all([id, ...others].map((each) => put(runtime, each, 'k', '0')));
    store.commits.isShut = true;
    const first = put(runtime, id, 'k', '1');
    await settle();
    const commitsBefore = store.batches.length;
    const many = Array.from({ length: 9000 }, (_, index) => put(runtime, id, `k${index % 900}`, '1'));
    const few = others.map((each) => put(runtime, each, 'k', '1'));
    store.commits.open();
    await Promise.all(few);
    const next = store.batches[commitsBefore];
    expect(next).toHaveLength(21);
    expect(next?.find(({ artifactId }) => artifactId === id)?.changes.length).toBe(100);
    await Promise.all([first, ...many]);
    expect(store.of(id).seq).toBe(9002);
  });

  it('[fair] the part of a full-speed writer is small as long as anybody else writes, be it one artifact again and again', async () => {
    const { runtime, id, store, newArtifact, clock } = setStage();
    const other = newArtifact();
    await put(runtime, other, 'k', '0');
    await put(runtime, id, 'k', '0');
    await clock.advance(2000);
    const partAfter = async (writers: readonly (typeof id)[]) => {
      store.commits.isShut = true;
      const first = put(runtime, id, 'k', '1');
      await settle();
      const commitsBefore = store.batches.length;
      const many = Array.from({ length: 1200 }, (_, index) => put(runtime, id, `k${index % 900}`, '1'));
      const few = writers.map((writer) => put(runtime, writer, 'k', '1'));
      store.commits.open();
      await Promise.all([first, ...many, ...few]);
      return store.batches.slice(commitsBefore).flatMap((batches) => batches.filter(({ artifactId }) => artifactId === id))[0]?.changes
        .length;
    };
    expect(await partAfter([])).toBe(500);
    expect(await partAfter([other])).toBe(100);
    expect(await partAfter([other])).toBe(100);
    await clock.advance(2000);
    expect(await partAfter([])).toBe(500);
  });

  it('[whole turns] what one turn changed goes into one commit, however large it is', async () => {
    const { runtime, id, store } = setStage();
    await put(runtime, id, 'k', '0');
    store.commits.isShut = true;
    const first = put(runtime, id, 'k', '1');
    await settle();
    const commitsBefore = store.batches.length;
    const turn = (changes: number) =>
      runtime.ask(id, ({ json }) => {
        for (let index = 0; index < changes; index += 1) json.put(`k${index % 900}`, '1', {});
      });
    const turns = [turn(300), turn(300), turn(1), turn(12_000)];
    store.commits.open();
    await Promise.all([first, ...turns]);
    const sizes = store.batches.slice(commitsBefore).map(([batch]) => batch?.changes.length);
    expect(sizes).toEqual([300, 301, 12_000]);
  });

  it('[told] a refusal is counted, and logged at once and then once a minute with the artifact', async () => {
    const counted: string[] = [];
    const logged: object[] = [];
    const meter = { ...UNMETERED, writeRefused: (by: string) => void counted.push(by) };
    const log = { ...SILENT, warn: (fields: object) => void logged.push(fields) };
    const { runtime, id, store, clock } = setStage({ meter, log });
    await put(runtime, id, 'k', '0');
    store.commits.isShut = true;
    const queued = Array.from({ length: 10_000 }, () => put(runtime, id, 'k', '1'));
    const refused = [0, 1, 2].map(() => put(runtime, id, 'k', '2').catch(() => undefined));
    expect(counted).toEqual(['artifact', 'artifact', 'artifact']);
    expect(logged).toEqual([{ refused: 1, artifacts: [{ artifactId: id, refused: 1 }] }]);
    await clock.advance(60_000);
    expect(logged.slice(1)).toEqual([{ refused: 2, artifacts: [{ artifactId: id, refused: 2 }] }]);
    store.commits.open();
    await Promise.all([...queued, ...refused]);
  });
});

describe('loading and unloading', () => {
  it('[single flight] concurrent first callers share one load', async () => {
    const { runtime, id, store } = setStage();
    store.loads.isShut = true;
    const calls = [put(runtime, id, 'a', '1'), put(runtime, id, 'b', '2'), put(runtime, id, 'c', '3')];
    await settle();
    expect(runtime.stats().mailboxDepth).toBe(3);
    store.loads.open();
    expect(await Promise.all(calls)).toEqual(['"1"', '"2"', '"3"']);
    expect(store.loadCount).toBe(1);
    expect(store.batches).toHaveLength(1);
  });

  it('[a failed load is no empty artifact] its callers are refused and the next caller loads again', async () => {
    const { runtime, id, store, another } = setStage();
    await put(runtime, id, 'k', '1');
    const cold = another();
    store.loadsFail = true;
    expect(await Promise.all([codeOf(read(cold, id, 'k')), codeOf(put(cold, id, 'k', '2'))])).toEqual(['UNAVAILABLE', 'UNAVAILABLE']);
    expect(cold.stats()).toMatchObject({ actors: 0, mailboxDepth: 0 });
    store.loadsFail = false;
    expect(await read(cold, id, 'k')).toBe('1');
  });

  it('[missing] an artifact that does not exist is ARTIFACT_NOT_FOUND', async () => {
    const { runtime } = setStage();
    expect(await codeOf(put(runtime, newId('artifact'), 'k', '1'))).toBe('ARTIFACT_NOT_FOUND');
    expect(runtime.stats().actors).toBe(0);
  });

  it('[sleep] leaves memory 60 s after the last call, at most an eighth later, and reloads unchanged', async () => {
    const { runtime, id, clock, store } = setStage();
    const etag = await put(runtime, id, 'k', '1');
    await clock.advance(59_999);
    expect(runtime.stats().actors).toBe(1);
    expect(await read(runtime, id, 'k')).toBe('1');
    await clock.advance(59_999);
    expect(runtime.stats().actors).toBe(1);
    await clock.advance(8_000);
    expect(runtime.stats()).toMatchObject({ actors: 0, residentBytes: 0 });
    expect(clock.timers).toBe(0);
    expect(await runtime.ask(id, ({ json }) => json.get('k').etag)).toBe(etag);
    expect(store.loadCount).toBe(2);
  });

  it('[sleep] never while a change is pending', async () => {
    const { runtime, id, clock, store } = setStage();
    await runtime.ask(id, () => undefined);
    store.commits.isShut = true;
    const write = put(runtime, id, 'k', '1');
    await clock.advance(300_000);
    expect(runtime.stats().actors).toBe(1);
    store.commits.open();
    expect(await write).toBe('"1"');
  });

  it('[memory budget] evicts clean actors, the least recently used first; one with a pending change stays', async () => {
    const { runtime, store, clock, newArtifact } = setStage({ memoryBytesMax: 110_000 });
    const text = JSON.stringify('x'.repeat(3000));
    const ids = Array.from({ length: 20 }, newArtifact);
    const [first, second, ...others] = ids as [never, never, ...never[]];
    await put(runtime, first, 'k', text);
    await put(runtime, second, 'k', text);
    store.commits.isShut = true;
    const pending = put(runtime, first, 'k2', text);
    await clock.advance(8_000);
    const writes = others.map((id) => put(runtime, id, 'k', text));
    store.commits.open();
    await Promise.all([pending, ...writes]);
    await clock.advance(8_000);
    for (const id of [first, ...others]) await read(runtime, id, 'k');
    expect(runtime.stats().residentBytes).toBeLessThanOrEqual(110_000);
    expect(runtime.stats().actors).toBeGreaterThan(15);
    const loads = store.loadCount;
    await read(runtime, first, 'k');
    expect(store.loadCount).toBe(loads);
    for (const id of Array.from({ length: 40 }, newArtifact)) await put(runtime, id, 'k', text);
    expect(runtime.stats().residentBytes).toBeLessThanOrEqual(110_000);
    expect(await read(runtime, second, 'k')).toBe(text);
    expect(store.loadCount).toBeGreaterThan(loads + 40);
  });

  it('[memory budget] is exceeded by actors with pending changes, and holds again after the commit', async () => {
    const { runtime, store, newArtifact } = setStage({ memoryBytesMax: 50_000 });
    const text = JSON.stringify('x'.repeat(3000));
    const ids = Array.from({ length: 30 }, newArtifact);
    for (const id of ids.slice(0, 5)) await put(runtime, id, 'k', '1');
    store.commits.isShut = true;
    const writes = ids.map((id) => put(runtime, id, 'k', text));
    await settle();
    expect(runtime.stats()).toMatchObject({ actors: 30, pendingChanges: 30 });
    store.commits.open();
    await Promise.all(writes);
    await put(runtime, newArtifact(), 'k', text);
    expect(runtime.stats().residentBytes).toBeLessThanOrEqual(50_000);
  });

  it('[discard] commits pending changes first, and a load in flight is not used', async () => {
    const { runtime, id, store } = setStage();
    await put(runtime, id, 'k', '1');
    store.commits.isShut = true;
    const write = put(runtime, id, 'k', '2');
    const discarded = runtime.discard(id);
    const reader = read(runtime, id, 'k');
    store.commits.open();
    await Promise.all([write, discarded]);
    expect(await reader).toBe('2');

    await runtime.discard(id);
    const before = read(runtime, id, 'k');
    await settle();
    const stored = store.of(id).keys.get('k');
    store.of(id).keys.set('k', { ...(stored as NonNullable<typeof stored>), value: '"imported"' });
    await runtime.discard(id);
    expect(await read(runtime, id, 'k')).toBe('"imported"');
    await before;
  });

  it('[stop] commits pending changes, refuses new calls, and leaves no timer or actor behind', async () => {
    const { runtime, id, store, clock } = setStage();
    await runtime.ask(id, () => undefined);
    store.commits.isShut = true;
    const write = put(runtime, id, 'k', '1');
    const stopped = runtime.stop();
    expect(await codeOf(put(runtime, id, 'k', '2'))).toBe('UNAVAILABLE');
    expect(await codeOf(() => runtime.spend(id))).toBe('UNAVAILABLE');
    store.commits.open();
    await stopped;
    expect(await write).toBe('"1"');
    expect(runtime.stats()).toEqual({ actors: 0, residentBytes: 0, mailboxDepth: 0, pendingChanges: 0 });
    expect(clock.timers).toBe(0);
  });
});

describe('placement', () => {
  it('[zombie] a node without its lease answers neither writes nor reads', async () => {
    let holds = true;
    const placement: Placement = { ...localPlacement(), holds: () => holds };
    const { runtime, id } = setStage({ placement });
    await put(runtime, id, 'k', '1');
    holds = false;
    expect(await codeOf(() => read(runtime, id, 'k'))).toBe('OWNER_MOVED');
    expect(await codeOf(() => put(runtime, id, 'k', '2'))).toBe('OWNER_MOVED');
    expect(await codeOf(() => runtime.spend(id))).toBe('OWNER_MOVED');
  });

  it('[lost] an artifact that moved away is dropped: what was sent is not known, everything else is OWNER_MOVED', async () => {
    let lose: ((id: never) => void) | undefined;
    let isHere = true;
    const placement: Placement = {
      ...localPlacement(),
      locate: () => (isHere ? { here: true } : { here: false, address: 'elsewhere', incarnation: '1' }),
      onLost: (listener) => {
        lose = listener;
      },
    };
    const { runtime, id, store } = setStage({ placement });
    await put(runtime, id, 'k', '1');
    store.commits.isShut = true;
    const write = codeOf(put(runtime, id, 'k', '2'));
    await expect.poll(() => store.batches.length).toBe(2);
    const unsent = codeOf(put(runtime, id, 'k', '3'));
    isHere = false;
    lose?.(id as never);
    expect(await write).toBe('UNAVAILABLE');
    expect(await unsent).toBe('OWNER_MOVED');
    expect(await codeOf(read(runtime, id, 'k'))).toBe('OWNER_MOVED');
    expect(runtime.stats()).toMatchObject({ actors: 0, mailboxDepth: 0, pendingChanges: 0 });
    store.commits.open();
  });
});
