/** What actors need of the outside. The same actor code runs against the real ones and in a simulation with a virtual clock. */
import type { ArtifactId } from '../../protocol/core/ids.ts';

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
  /** A write was refused, because too many changes wait for a commit: of its artifact, or of all. */
  writeRefused(by: 'artifact' | 'total'): void;
  /** Called after every turn. */
  turn(durationMs: number): void;
}

export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
