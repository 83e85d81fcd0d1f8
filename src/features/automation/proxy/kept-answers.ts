/** Answers of other hosts that are still fresh, or can be asked for again with less. In memory, with a share for each artifact. */
import type CachePolicy from 'http-cache-semantics';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { EgressReply } from '../../../egress/egress.ts';

export interface KeptAnswer {
  readonly reply: EgressReply;
  readonly policy: CachePolicy;
}

/** What an entry holds beside the body. */
const ENTRY_BYTES = 2048;

export class KeptAnswers {
  /** By artifact, then by address; both in the order of their last use. */
  readonly #artifacts = new Map<ArtifactId, Map<string, KeptAnswer>>();
  readonly #bytesOf = new Map<ArtifactId, number>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get(artifactId: ArtifactId, url: string): KeptAnswer | undefined {
    const answers = this.#artifacts.get(artifactId);
    const found = answers?.get(url);
    if (answers === undefined || found === undefined) return undefined;
    answers.delete(url);
    answers.set(url, found);
    this.#artifacts.delete(artifactId);
    this.#artifacts.set(artifactId, answers);
    return found;
  }

  /** One that is too large is not kept. */
  set(artifactId: ArtifactId, url: string, answer: KeptAnswer): void {
    this.delete(artifactId, url);
    const bytes = bytesOf(answer);
    if (bytes > LIMITS.proxyKeptAnswerBytesMax) return;
    while ((this.#bytesOf.get(artifactId) ?? 0) + bytes > LIMITS.proxyKeptBytesPerArtifactMax) this.#deleteOldest(artifactId);
    while (this.#bytes + bytes > LIMITS.proxyKeptBytesMax) this.#deleteOldest(this.#artifacts.keys().next().value);
    const answers = this.#artifacts.get(artifactId) ?? new Map<string, KeptAnswer>();
    answers.set(url, answer);
    this.#artifacts.set(artifactId, answers);
    this.#count(artifactId, bytes);
  }

  delete(artifactId: ArtifactId, url: string): void {
    const answers = this.#artifacts.get(artifactId);
    const found = answers?.get(url);
    if (answers === undefined || found === undefined) return;
    answers.delete(url);
    if (answers.size === 0) this.#artifacts.delete(artifactId);
    this.#count(artifactId, -bytesOf(found));
  }

  forget(artifactId: ArtifactId): void {
    this.#artifacts.delete(artifactId);
    this.#count(artifactId, -(this.#bytesOf.get(artifactId) ?? 0));
  }

  clear(): void {
    this.#artifacts.clear();
    this.#bytesOf.clear();
    this.#bytes = 0;
  }

  #deleteOldest(artifactId: ArtifactId | undefined): void {
    const url = artifactId === undefined ? undefined : this.#artifacts.get(artifactId)?.keys().next().value;
    if (artifactId === undefined || url === undefined) throw new Error('the bytes of kept answers are counted wrong');
    this.delete(artifactId, url);
  }

  #count(artifactId: ArtifactId, bytes: number): void {
    this.#bytes += bytes;
    const now = (this.#bytesOf.get(artifactId) ?? 0) + bytes;
    if (now > 0) this.#bytesOf.set(artifactId, now);
    else this.#bytesOf.delete(artifactId);
  }
}

function bytesOf({ reply }: KeptAnswer): number {
  return reply.body.length + reply.url.length + ENTRY_BYTES;
}
