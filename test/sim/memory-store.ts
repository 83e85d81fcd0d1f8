/** Journal and store in memory, as strict as the real ones: epochs are checked, and a gap in an artifact's order is an error. */
import {
  type ArtifactBatch,
  type ArtifactImage,
  type ArtifactStore,
  type BatchOutcome,
  type Change,
  COLD_VALUE_BYTES,
  type JournalStore,
  type StoredKey,
} from '../../actors/ports.ts';
import type { ArtifactId } from '../../protocol/ids.ts';

export interface StoredArtifact {
  epoch: number;
  seq: number;
  readonly keys: Map<string, StoredKey & { readonly value: string }>;
  /** Every committed change, in the order of commits. */
  readonly log: Change[];
}

export class MemoryStore implements JournalStore, ArtifactStore {
  readonly artifacts = new Map<ArtifactId, StoredArtifact>();
  /** Off only to see that the simulation notices. */
  checksEpochs = true;
  /** What the rules of the journal forbid and happened nevertheless. */
  readonly violations: string[] = [];
  isPoison: (change: Change) => boolean = () => false;

  add(id: ArtifactId): void {
    this.artifacts.set(id, { epoch: 0, seq: 0, keys: new Map(), log: [] });
  }

  of(id: ArtifactId): StoredArtifact {
    const artifact = this.artifacts.get(id);
    if (artifact === undefined) throw new Error(`no artifact ${id}`);
    return artifact;
  }

  async commit(batches: readonly ArtifactBatch[]): Promise<readonly BatchOutcome[]> {
    return this.apply(batches);
  }

  async load(id: ArtifactId): Promise<ArtifactImage | null> {
    const artifact = this.artifacts.get(id);
    if (artifact === undefined) return null;
    artifact.epoch += 1;
    const keys = [...artifact.keys.values()].map((key) => ({ ...key, value: key.sizeBytes > COLD_VALUE_BYTES ? null : key.value }));
    return { epoch: artifact.epoch, seq: artifact.seq, keys };
  }

  async readValue(id: ArtifactId, key: string, seq: number): Promise<string | null> {
    const stored = this.of(id).keys.get(key);
    return stored !== undefined && stored.seq === seq ? stored.value : null;
  }

  apply(batches: readonly ArtifactBatch[]): readonly BatchOutcome[] {
    if (new Set(batches.map((batch) => batch.artifactId)).size < batches.length) this.violations.push('two batches of one artifact');
    return batches.map((batch) => this.#applyOne(batch));
  }

  #applyOne(batch: ArtifactBatch): BatchOutcome {
    const artifact = this.of(batch.artifactId);
    if (this.checksEpochs && artifact.epoch !== batch.epoch) return 'fenced';
    if (batch.changes.some(this.isPoison)) return { poisoned: new Error('this can never be stored') };
    for (const change of batch.changes) {
      if (change.seq !== artifact.seq + 1) this.violations.push(`${batch.artifactId}: change ${change.seq} after ${artifact.seq}`);
      artifact.seq = change.seq;
      artifact.log.push(change);
      if (change.kind === 'json.delete') artifact.keys.delete(change.key);
      else artifact.keys.set(change.key, { ...change, sizeBytes: Buffer.byteLength(change.value) });
    }
    return 'committed';
  }
}
