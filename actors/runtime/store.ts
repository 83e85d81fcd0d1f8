/** What actors need of the store: a journal that takes changes, and what an actor is loaded from. */
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { RunOrigin } from '../access/access.ts';
import type { Change, KindImage, KindPorts } from '../kinds.ts';

/** What one actor asks to commit: its changes in order, written only while `epoch` is still the artifact's owner epoch. */
export interface ArtifactBatch {
  readonly artifactId: ArtifactId;
  readonly epoch: number;
  readonly changes: readonly Change[];
  /** Which of the changes runs of jobs have made; absent where none did. */
  readonly marks?: readonly RunMark[];
}

/** Changes that the run of a job has made, so that its job is not set off by them. */
export interface RunMark {
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly run: RunOrigin;
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

/** Everything an actor starts from. */
export interface ArtifactImage extends KindImage {
  /** The owner epoch that loading has just taken: higher than any before it. */
  readonly epoch: number;
  /** Seq of the last committed change; 0 when there is none. */
  readonly seq: number;
}

type Reads = KindPorts['store'];

/** The reads of every kind, and loading. */
export interface ArtifactStore extends Reads {
  /** Takes ownership (`owner_epoch + 1`) and reads the state, in one transaction. Null when there is no such artifact. */
  load(artifactId: ArtifactId): Promise<ArtifactImage | null>;
}
