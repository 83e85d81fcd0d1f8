/** A runtime over a store in memory whose operations a test can block or fail. */

import type { StoredDocumentContent } from '../../../actors/documents/changes.ts';
import { localPlacement } from '../../../actors/runtime/placement.ts';
import { ActorRuntime, type RuntimeDeps } from '../../../actors/runtime/runtime.ts';
import type { ArtifactBatch, ArtifactImage, BatchOutcome } from '../../../actors/runtime/store.ts';
import type { ErrorCode } from '../../../protocol/core/errors.ts';
import { Failure } from '../../../protocol/core/errors.ts';
import { type ArtifactId, newId } from '../../../protocol/core/ids.ts';
import { MemoryStore } from '../../sim/memory-store.ts';
import { SILENT, UNMETERED } from '../../sim/world.ts';
import { SteppedClock } from '../../support/stepped-clock.ts';

/** Blocks an operation until the test releases it. */
class Gate {
  #waiting: (() => void)[] = [];
  isShut = false;

  pass(): Promise<void> {
    return this.isShut ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve();
  }

  open(): void {
    this.isShut = false;
    for (const go of this.#waiting.splice(0)) go();
  }
}

class HeldStore extends MemoryStore {
  readonly commits = new Gate();
  readonly reads = new Gate();
  readonly loads = new Gate();
  readonly documents = new Gate();
  /** Whether the next commit throws before or after it is applied. */
  nextCommitFails: 'before' | 'after' | undefined;
  loadsFail = false;
  documentsFail = false;
  readonly batches: (readonly ArtifactBatch[])[] = [];
  loadCount = 0;
  readCount = 0;
  documentReads = 0;

  override async commit(batches: readonly ArtifactBatch[]): Promise<readonly BatchOutcome[]> {
    this.batches.push(batches);
    await this.commits.pass();
    const fate = this.nextCommitFails;
    this.nextCommitFails = undefined;
    if (fate === 'before') throw new Error('connection refused');
    const outcomes = this.apply(batches);
    if (fate === 'after') throw new Error('connection lost');
    return outcomes;
  }

  override async load(id: ArtifactId): Promise<ArtifactImage | null> {
    this.loadCount += 1;
    await this.loads.pass();
    if (this.loadsFail) throw new Error('connection refused');
    return super.load(id);
  }

  override async readValue(id: ArtifactId, key: string, seq: number): Promise<string | null> {
    this.readCount += 1;
    await this.reads.pass();
    return super.readValue(id, key, seq);
  }

  override async readDocument(id: ArtifactId, epoch: number, name: string): Promise<StoredDocumentContent | null> {
    this.documentReads += 1;
    await this.documents.pass();
    if (this.documentsFail) throw new Error('connection lost');
    return super.readDocument(id, epoch, name);
  }
}

export interface Stage {
  readonly clock: SteppedClock;
  readonly store: HeldStore;
  readonly runtime: ActorRuntime;
  /** Creates an artifact in the store. */
  readonly id: ArtifactId;
  newArtifact(): ArtifactId;
  /** Another runtime over the same store, as after a restart or on another node. */
  another(): ActorRuntime;
}

export function setStage(overrides: Partial<RuntimeDeps> = {}): Stage {
  const clock = new SteppedClock();
  const store = new HeldStore();
  const ports = { clock, store, journal: store, placement: localPlacement(), meter: UNMETERED, log: SILENT };
  const another = () => new ActorRuntime({ ...ports, idleMs: 60_000, memoryBytesMax: 64 * 1024 * 1024, ...overrides });
  const newArtifact = () => {
    const id = newId('artifact');
    store.add(id);
    return id;
  };
  return { clock, store, runtime: another(), id: newArtifact(), newArtifact, another };
}

export async function put(runtime: ActorRuntime, id: ArtifactId, key: string, text: string, ttlS?: number): Promise<string> {
  return runtime.ask(id, ({ json }) => json.put(key, text, { ttlS }).entry.etag);
}

/** The text of a key, read back from the store where it has left memory. */
export async function read(runtime: ActorRuntime, id: ArtifactId, key: string): Promise<string> {
  return runtime.ask(
    id,
    ({ json }) => json.get(key).warmText,
    ({ json }) => json.warm(key),
  );
}

/** The code of the failure that the call ends with; any other outcome is an error of the test. */
export async function codeOf(call: unknown): Promise<ErrorCode> {
  try {
    await (typeof call === 'function' ? call() : call);
  } catch (error) {
    if (error instanceof Failure) return error.code;
    throw error;
  }
  throw new Error('the call succeeded');
}
