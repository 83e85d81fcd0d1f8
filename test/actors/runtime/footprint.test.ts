/** The heap size of an actor; the memory budget is only as good as the actor's own estimate. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { StoredKey } from '../../../actors/json/changes.ts';
import { ArtifactActor } from '../../../actors/runtime/artifact-actor.ts';
import { Backlog } from '../../../actors/runtime/backlog.ts';
import { newId } from '../../../protocol/core/ids.ts';
import { MemoryStore } from '../../sim/memory-store.ts';
import { SteppedClock } from '../../support/stepped-clock.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const ACTORS = 10_000;
const KEYS = 10;
const IDLE_ACTOR_BYTES_MAX = 8 * 1024;

function heapBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** A key as a driver returns it: with new strings only. */
function storedKey(index: number, value: string): StoredKey {
  const key = Buffer.from(`settings.${index}`).toString();
  const text = Buffer.from(value).toString();
  const createdAtMs = 1_767_225_600_000 + index;
  return {
    key,
    value: text,
    sizeBytes: Buffer.byteLength(text),
    seq: index + 1,
    createdAtMs,
    updatedAtMs: createdAtMs + 1,
    expiresAtMs: null,
  };
}

/** Bytes per actor: measured, and by the actor's own estimate. `touch` uses every actor once. */
function weigh(value: string, touch: (actor: ArtifactActor) => void): { measured: number; estimated: number } {
  const deps = {
    clock: new SteppedClock(),
    backlog: new Backlog(),
    work: { spend: () => undefined },
    store: new MemoryStore(),
    hasten: () => undefined,
    mayAnswer: () => true,
    onCommitted: () => undefined,
  };
  const resident = new Map<string, ArtifactActor>();
  const before = heapBytes();
  for (let actor = 0; actor < ACTORS; actor += 1) {
    const keys = Array.from({ length: KEYS }, (_, index) => storedKey(index, value));
    const id = newId('artifact');
    resident.set(id, new ArtifactActor(id, { epoch: 1, seq: KEYS, keys, tables: [], hasDroppedTables: false, blobs: [] }, deps));
  }
  for (const actor of resident.values()) touch(actor);
  const measured = (heapBytes() - before) / ACTORS;
  let estimated = 0;
  for (const actor of resident.values()) estimated += actor.residentBytes;
  return { measured, estimated: estimated / ACTORS };
}

function useEverything(actor: ArtifactActor): void {
  const { entries } = actor.json.page({ prefix: '', after: undefined, limit: 100, values: true, reserved: true });
  for (const entry of entries) if (`${entry.etag}${entry.updatedAt}` === '') throw new Error('no tag');
}

describe('memory', () => {
  it.each([
    ['just loaded, values of 20 bytes', '{"count":1,"on":true}', () => undefined],
    ['all keys listed and read, values of 20 bytes', '{"count":1,"on":true}', useEverything],
    ['all keys listed and read, values of 150 bytes', JSON.stringify({ text: 'x'.repeat(139) }), useEverything],
    ['all keys listed and read, 150 characters outside Latin-1', JSON.stringify({ text: '→'.repeat(139) }), useEverything],
  ])('[an idle actor with 10 small keys] %s: at most 8 KB, and at most its estimate', (title, value, touch) => {
    const { measured, estimated } = weigh(value, touch);
    console.info(`${title}: ${Math.round(measured)} bytes an actor, estimated ${Math.round(estimated)}`);
    expect(measured).toBeLessThanOrEqual(IDLE_ACTOR_BYTES_MAX);
    expect(measured).toBeLessThanOrEqual(estimated);
    expect(estimated).toBeLessThan(measured * 2.5);
  });
});
