/** Artifacts whose picture somebody looked for and did not find, until the queue records them. Kept in memory: whoever looks again asks again. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';

/** Some ten pages of lists. Beyond it wishes are dropped. */
const WISHES_MAX = 1000;

export class ThumbnailWishes {
  readonly #wished = new Set<ArtifactId>();
  #heard: (() => void) | undefined;

  /** Without an effect while nobody listens, which is where pictures are switched off. */
  add(ids: readonly ArtifactId[]): void {
    if (this.#heard === undefined || ids.length === 0) return;
    for (const id of ids) if (this.#wished.size < WISHES_MAX) this.#wished.add(id);
    this.#heard();
  }

  /** What has been wished since the last call. */
  take(): ArtifactId[] {
    const taken = [...this.#wished];
    this.#wished.clear();
    return taken;
  }

  /** There is one listener. */
  listen(heard: () => void): void {
    this.#heard = heard;
  }
}
