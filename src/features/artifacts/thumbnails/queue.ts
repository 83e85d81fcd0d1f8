/**
 * Makes the pictures that were asked for, one at a time in a process, in turn by the holders of the pages. Rows of the database are the queue,
 * so that several processes share the work and what one left behind is made by another.
 */
import type { Clock, Log } from '../../../../actors/runtime/ports.ts';
import { type Config, pageUrl } from '../../../platform/config.ts';
import { Passes } from '../../../platform/passes.ts';
import type { Sql } from '../../../storage/sql.ts';
import type { ServiceDeps } from '../../deps.ts';
import { sha256Of, storeContents } from '../publish/contents.ts';
import { holdObjects } from '../publish/rows.ts';
import { type PageReply, type Renderer, RendererUnusable } from './renderer.ts';
import { askFor, type Claimed, forget, giveBack, liveSlug, nextDueMs, takeNext, writeFailure, writePicture } from './rows.ts';
import { isPicture, retryAtMs } from './rules.ts';
import type { ThumbnailWishes } from './wishes.ts';

/** Longer than a renderer takes for a page, so that a lease only ends early when its process has died. */
const LEASE_MS = 2 * 60_000;
/** How often the queue is looked at for what another process has left behind. */
const POLL_MS = 60_000;

type PicturedPage = Pick<Claimed, 'artifactId' | 'versionId'> & { readonly slug: string };
type PicturedFile = { readonly path: string; readonly query: string; readonly accept: string };

export interface QueueDeps extends Pick<ServiceDeps, 'objects'> {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: Pick<Config, 'baseUrl' | 'contentHost'>;
  readonly renderer: Renderer;
  readonly wishes: ThumbnailWishes;
  readonly content: { pictured(page: PicturedPage, file: PicturedFile): PageReply | Promise<PageReply> };
}

export class ThumbnailQueue {
  readonly #deps: QueueDeps;
  readonly #passes: Passes;

  constructor(deps: QueueDeps) {
    this.#deps = deps;
    this.#passes = new Passes(deps.clock, () => this.#pass());
    deps.wishes.listen(() => this.#passes.wake());
  }

  /** Makes what an earlier process left behind, a while after the start, which it must not slow down. */
  start(): void {
    this.#passes.after(POLL_MS);
  }

  /** Settles when no picture is being made or due. */
  idle(): Promise<void> {
    return this.#passes.idle();
  }

  /** Ends the picture that is being made. The rest stays in the queue for the next start. */
  stop(): Promise<void> {
    return this.#passes.stop();
  }

  async #pass(): Promise<number | null> {
    const { sql, clock, log, renderer, wishes } = this.#deps;
    try {
      do {
        if (!(await renderer.isUsable())) {
          wishes.take();
          return null;
        }
      } while (await this.#makeNext());
      const dueMs = this.#passes.isStopped ? null : await nextDueMs(sql);
      if (dueMs !== null) return Math.min(POLL_MS, Math.max(1000, dueMs - clock.nowMs()));
    } catch (err) {
      log.warn({ err }, 'the queue of pictures of pages could not be read or written; it is tried again');
    }
    return POLL_MS;
  }

  /** Records what was wished and makes one picture. False where nothing is left to do now. */
  async #makeNext(): Promise<boolean> {
    const { sql, clock, wishes } = this.#deps;
    if (this.#passes.isStopped) return false;
    const wished = wishes.take();
    if (wished.length > 0) await askFor(sql, wished, clock.nowMs());
    const nowMs = clock.nowMs();
    const claimed = await takeNext(sql, { nowMs, untilMs: nowMs + LEASE_MS });
    if (claimed === null) return false;
    await this.#make(claimed);
    return true;
  }

  async #make(claimed: Claimed): Promise<void> {
    const { sql, clock, log } = this.#deps;
    const slug = await liveSlug(sql, claimed);
    if (slug === null) return forget(sql, claimed);
    try {
      await this.#store(claimed, await this.#draw({ ...claimed, slug }));
    } catch (err) {
      if (this.#passes.isStopped || err instanceof RendererUnusable) return giveBack(sql, claimed, clock.nowMs());
      const dueAtMs = retryAtMs(claimed.attempts, clock.nowMs());
      const { artifactId, attempts } = claimed;
      log.warn(
        { err, artifactId, attempts },
        dueAtMs === null ? 'a page cannot be pictured' : 'a page could not be pictured; it is tried again',
      );
      await writeFailure(sql, claimed, dueAtMs);
    }
  }

  async #draw(page: PicturedPage): Promise<Buffer> {
    const { renderer, content, config } = this.#deps;
    const origin = new URL(pageUrl(config, page.slug)).origin;
    const files = { get: (file: PicturedFile) => content.pictured(page, file) };
    const bytes = await renderer.draw({ origin, files }, this.#passes.signal);
    if (!isPicture(bytes)) throw new Error(`the browser made no picture that can be kept, but ${bytes.length} bytes`);
    return bytes;
  }

  async #store(claimed: Claimed, bytes: Buffer): Promise<void> {
    const sha256 = await sha256Of(bytes);
    await storeContents(this.#deps, new Map([[sha256, bytes]]));
    await this.#deps.sql.begin(async (tx) => {
      if (!(await holdObjects(tx, new Set([sha256])))) throw new Error('the sweep has removed the picture');
      await writePicture(tx, claimed, sha256);
    });
  }
}
