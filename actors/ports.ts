/** What actors need of the outside. The same actor code runs against the real ones and in a simulation with a virtual clock. */
import type { ArtifactId } from '../protocol/ids.ts';

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Unix ms. */
  nowMs(): number;
  /** Never goes back; for leases, windows and idleness. */
  monotonicMs(): number;
  after(delayMs: number, run: () => void): Timer;
}

/** One change of an artifact, numbered by its actor. `seq` rises by one with every change of that artifact. */
export type Change = { readonly seq: number } & JsonChange;

export type JsonChange =
  /** `value` is the JSON text; times are Unix ms. */
  | {
      readonly kind: 'json.put';
      readonly key: string;
      readonly value: string;
      readonly createdAtMs: number;
      readonly updatedAtMs: number;
      readonly expiresAtMs: number | null;
    }
  | { readonly kind: 'json.delete'; readonly key: string };

/** What one actor asks to commit: its changes in order, written only while `epoch` is still the artifact's owner epoch. */
export interface ArtifactBatch {
  readonly artifactId: ArtifactId;
  readonly epoch: number;
  readonly changes: readonly Change[];
}

/** `fenced`: another owner has taken over. `poisoned`: the store can never take these changes; nothing of this artifact was written. */
export type BatchOutcome = 'committed' | 'fenced' | { readonly poisoned: Error };

export interface JournalStore {
  /**
   * Writes the batches of many artifacts in one transaction; at most one batch an artifact.
   * Resolves with an outcome for each, in order: one poisoned batch does not fail the others.
   * Rejects when the whole outcome is failed or unknown (connection lost, time-out).
   */
  commit(batches: readonly ArtifactBatch[]): Promise<readonly BatchOutcome[]>;
}

/** Values of more bytes than this are left out of an image and read when they are needed: loading stays quick whatever is stored. */
export const COLD_VALUE_BYTES = 4096;

export interface StoredKey {
  readonly key: string;
  /** The JSON text; null when it has more than `COLD_VALUE_BYTES` and must be read by `readValue`. */
  readonly value: string | null;
  readonly sizeBytes: number;
  readonly seq: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly expiresAtMs: number | null;
}

/** Everything an actor starts from. */
export interface ArtifactImage {
  /** The owner epoch that loading has just taken: higher than any before it. */
  readonly epoch: number;
  /** Of the last committed change; 0 when there is none. */
  readonly seq: number;
  readonly keys: readonly StoredKey[];
}

export interface ArtifactStore {
  /** Takes ownership (`owner_epoch + 1`) and reads the state, in one transaction. Null when there is no such artifact. */
  load(artifactId: ArtifactId): Promise<ArtifactImage | null>;
  /** The JSON text of one committed key as change `seq` wrote it, or null when the key is gone or was changed since. */
  readValue(artifactId: ArtifactId, key: string, seq: number): Promise<string | null>;
}

/** Where an artifact's actor lives. */
export type Location = { readonly here: true } | { readonly here: false; readonly address: string };

export interface Placement {
  locate(artifactId: ArtifactId): Location | Promise<Location>;
  /** Called before an actor loads; false when another node holds it. */
  claim(artifactId: ArtifactId): boolean | Promise<boolean>;
  /** Called after an actor has left memory. */
  release(artifactId: ArtifactId): void;
  /** Whether this node may still answer for its actors; checked at every turn. */
  holds(): boolean;
  onLost(listener: (artifactId: ArtifactId) => void): void;
}

/** What the runtime tells operations. Implemented over prom-client; a no-op in tests. */
export interface RuntimeMeter {
  commit(changes: number, artifacts: number, durationMs: number, outcome: 'ok' | 'failed'): void;
  loaded(durationMs: number): void;
}

export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
