/** Calls of simulated clients to blobs, and batches of which all changes happen or none. */
import type { StoredBlob } from '../../actors/blobs/changes.ts';
import type { ArtifactActor } from '../../actors/runtime/artifact-actor.ts';
import { inOneTurn, Undone } from '../../actors/runtime/atomic.ts';
import type { ActorRuntime } from '../../actors/runtime/runtime.ts';
import { InsertRows } from '../../actors/tables/table-operations.ts';
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import type { Random } from '../support/random.ts';
import type { MemoryStore } from './memory-store.ts';
import type { MixedEntry, MixedSeen } from './mixed-history.ts';

const MB = 1024 * 1024;
/** Only a few of the largest fit into an artifact. */
const SIZES = [1, 20 * MB, LIMITS.blobBytesMax - 1, LIMITS.blobBytesMax, LIMITS.blobBytesMax + 1];
const BATCH_TABLE = 'b';
const BATCH_KEYS = ['ba', 'bb'];
const BUG = 'bug in a batch';

/** Blobs before the first change: one artifact is near the limit of their number, another near the limit of bytes. */
export function addManyBlobs(memory: MemoryStore, [many, large]: readonly ArtifactId[]): void {
  if (many !== undefined) addBlobs(memory, many, LIMITS.blobsMax - 3, 1);
  if (large !== undefined) addBlobs(memory, large, LIMITS.blobsBytesMax / LIMITS.blobBytesMax - 1, LIMITS.blobBytesMax);
}

function addBlobs(memory: MemoryStore, id: ArtifactId, count: number, sizeBytes: number): void {
  for (let at = 0; at < count; at += 1) {
    const blob = { id: `before-${at}`, filename: 'f', mimeType: 'text/plain', sizeBytes, sha256: '00', createdAtMs: at };
    memory.of(id).blobs.set(blob.id, blob);
  }
}

interface Deps {
  readonly random: Random;
  readonly memory: MemoryStore;
  owner(id: ArtifactId): ActorRuntime;
}

/** One operation of a batch, and the token of its change; undefined where it must be refused or only reads. */
interface Step {
  readonly token: string | undefined;
  readonly turn: (actor: ArtifactActor) => unknown;
  readonly prepare?: (actor: ArtifactActor) => Promise<void> | undefined;
  readonly close?: () => void;
}

export class MixedCalls {
  readonly history: MixedEntry[] = [];
  readonly #deps: Deps;
  /** Blobs that a client has seen, newest last. */
  readonly #blobs = new Map<ArtifactId, string[]>();
  #values = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async call(id: ArtifactId): Promise<void> {
    const dice = this.#deps.random.next();
    if (dice < 0.45) await this.#batch(id);
    else if (dice < 0.75) await this.#add(id);
    else if (dice < 0.9) await this.#delete(id);
    else await this.#look(id);
  }

  async #add(id: ArtifactId): Promise<void> {
    const sizeBytes = this.#deps.random.pick(SIZES);
    const blobId = this.#token();
    const seen = await this.#record(
      id,
      async (runtime) => {
        const added = await runtime.ask(id, ({ blobs }) => blobs.add({ ...newBlob(blobId), sizeBytes }));
        return { kind: 'added', blobId: added.id, sizeBytes };
      },
      { sizeBytes },
    );
    if (seen.kind === 'added') this.#blobs.set(id, [...(this.#blobs.get(id) ?? []), blobId].slice(-12));
  }

  async #delete(id: ArtifactId): Promise<void> {
    const blobId = this.#deps.random.pick(this.#blobs.get(id) ?? ['before-0', 'before-1', 'none']);
    await this.#record(
      id,
      async (runtime) => {
        await runtime.ask(id, ({ blobs }) => blobs.delete(blobId));
        return { kind: 'deleted', blobId };
      },
      { blobId },
    );
  }

  async #look(id: ArtifactId): Promise<void> {
    await this.#record(id, (runtime) =>
      // An upload checks this before its bytes arrive.
      Promise.resolve(runtime.ask(id, ({ blobs: { count, usedBytes } }) => ({ kind: 'used', count, usedBytes }) as const)),
    );
  }

  async #batch(id: ArtifactId): Promise<void> {
    const { random } = this.#deps;
    const steps = Array.from({ length: 2 + random.integer(4) }, () => this.#step());
    const tokens = steps.flatMap(({ token }) => token ?? []);
    const { turn, prepare } = inOneTurn(steps.map(({ turn: one, prepare: before }) => ({ turn: one, prepare: before })));
    try {
      await this.#record(
        id,
        async (runtime) => {
          await runtime.ask(id, turn, prepare);
          return { kind: 'done', tokens };
        },
        { tokens },
      );
    } finally {
      for (const step of steps) step.close?.();
    }
  }

  #step(): Step {
    const { random } = this.#deps;
    const token = this.#token();
    const dice = random.next();
    const key = random.pick(BATCH_KEYS);
    if (dice < 0.35) return { token, turn: ({ json }) => json.put(key, JSON.stringify(token), {}) };
    if (dice < 0.5) return { token, turn: ({ blobs }) => blobs.add({ ...newBlob(token), sizeBytes: 1 }) };
    if (dice < 0.75) {
      const insert = new InsertRows(BATCH_TABLE, [{ k: token }], { isMany: false, mayWrite: () => undefined });
      const prepare = (actor: ArtifactActor) => insert.prepare(actor);
      return { token, turn: (actor) => insert.run(actor), prepare, close: () => insert.close() };
    }
    // The read is refused where the key does not exist.
    if (dice < 0.85) return { token: undefined, turn: ({ json }) => json.get(key).seq };
    if (dice < 0.95) return { token: undefined, turn: ({ json }) => json.put(key, 'null', { ifMatch: '"never"' }) };
    const bug = () => {
      throw new TypeError(BUG);
    };
    return { token: undefined, turn: bug };
  }

  async #record(id: ArtifactId, call: (runtime: ActorRuntime) => Promise<MixedSeen>, about: About = {}): Promise<MixedSeen> {
    const { memory, owner } = this.#deps;
    const { log } = memory.of(id);
    const askedAt = log.length;
    let seen: MixedSeen;
    try {
      seen = await call(owner(id));
    } catch (error) {
      seen = refusalOf(error, about);
    }
    this.history.push({ artifactId: id, askedAt, answeredAt: log.length, seen });
    return seen;
  }

  #token(): string {
    this.#values += 1;
    return `m${this.#values}`;
  }
}

function newBlob(id: string): Omit<StoredBlob, 'createdAtMs' | 'sizeBytes'> & { readonly createdBy: null } {
  return { id, filename: 'f', mimeType: 'text/plain', sha256: '00', createdBy: null };
}

/** Describes a call, for the history of a refused one. */
interface About {
  readonly tokens?: readonly string[];
  readonly blobId?: string;
  readonly sizeBytes?: number;
}

/** An unexpected error ends the simulation. */
function refusalOf(error: unknown, { tokens = [], blobId = '', sizeBytes = 0 }: About): MixedSeen {
  if (error instanceof TypeError && error.message === BUG) return { kind: 'refused', tokens };
  if (error instanceof Undone) return { kind: 'refused', tokens };
  if (!(error instanceof Failure)) throw error;
  switch (error.code) {
    case 'BLOB_NOT_FOUND':
      return { kind: 'absent', blobId };
    case 'FILE_TOO_LARGE':
    case 'BLOB_LIMIT_EXCEEDED':
    case 'STORAGE_LIMIT_EXCEEDED':
      return { kind: 'full', code: error.code, sizeBytes };
    case 'UNAVAILABLE':
    case 'OWNER_MOVED':
    // Another call of the artifact has poisoned the commit.
    case 'INTERNAL_ERROR':
      return { kind: 'unknown', tokens };
    default:
      throw error;
  }
}
