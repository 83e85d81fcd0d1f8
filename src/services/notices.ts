/** Tells the caches and the runtime of this process that an artifact has changed. Emit after the commit. */
import type { ArtifactId } from '../../protocol/ids.ts';

export interface ArtifactNotice {
  readonly artifactId: ArtifactId;
  /** Every slug it had or has: what is served under them may be other now. */
  readonly slugs: readonly string[];
  /** `gone`: trashed or purged; its actor must leave memory. `replaced`: its data was written behind the actor's back (import). */
  readonly kind: 'changed' | 'gone' | 'replaced';
}

export class ArtifactNotices {
  readonly #listeners: ((notice: ArtifactNotice) => void)[] = [];

  on(listener: (notice: ArtifactNotice) => void): void {
    this.#listeners.push(listener);
  }

  emit(notice: ArtifactNotice): void {
    for (const listener of this.#listeners) listener(notice);
  }
}
