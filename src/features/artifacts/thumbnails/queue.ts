/**
 * Makes the pictures that were asked for, one at a time in a process, in turn by the holders of the pages. Rows of the database are the queue,
 * so that several processes share the work and what one left behind is made by another.
 */
import type { Clock, Log, Timer } from '../../../../actors/runtime/ports.ts';
import { type Config, pageUrl } from '../../../platform/config.ts';
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
  readonly #stopping = new AbortController();
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;
  #wokenMeanwhile = false;

  constructor(deps: QueueDeps) {
    this.#deps = deps;
    deps.wishes.listen(() => this.#wake());
  }

  /** Makes what an earlier process left behind, a while after the start, which it must not slow down. */
  start(): void {
    this.#timer = this.#deps.clock.after(POLL_MS, () => this.#wake());
  }

  /** Settles when no picture is being made or due. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** Ends the picture that is being made. The rest stays in the queue for the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#timer?.cancel();
    await this.#running;
  }

  #wake(): void {
    if (this.#stopping.signal.aborted) return;
    if (this.#running !== undefined) {
      this.#wokenMeanwhile = true;
      return;
    }
    this.#timer?.cancel();
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (this.#wokenMeanwhile) this.#wake();
    });
  }

  async #run(): Promise<void> {
    const { sql, clock, log, renderer, wishes } = this.#deps;
    let waitMs = POLL_MS;
    try {
      do {
        this.#wokenMeanwhile = false;
        if (!(await renderer.isUsable())) {
          wishes.take();
          return;
        }
      } while (await this.#makeNext());
      if (this.#stopping.signal.aborted) return;
      const dueMs = await nextDueMs(sql);
      if (dueMs !== null) waitMs = Math.min(POLL_MS, Math.max(1000, dueMs - clock.nowMs()));
    } catch (err) {
      log.warn({ err }, 'the queue of pictures of pages could not be read or written; it is tried again');
    }
    if (!this.#stopping.signal.aborted) this.#timer = clock.after(waitMs, () => this.#wake());
  }

  /** Records what was wished and makes one picture. False where nothing is left to do now. */
  async #makeNext(): Promise<boolean> {
    const { sql, clock, wishes } = this.#deps;
    if (this.#stopping.signal.aborted) return false;
    const wished = wishes.take();
    if (wished.length > 0) await askFor(sql, wished, clock.nowMs());
    const nowMs = clock.nowMs();
    const claimed = await takeNext(sql, { nowMs, untilMs: nowMs + LEASE_MS });
    if (claimed === null) return this.#wokenMeanwhile;
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
      if (this.#stopping.signal.aborted || err instanceof RendererUnusable) return giveBack(sql, claimed, clock.nowMs());
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
    const bytes = await renderer.draw({ origin, files }, this.#stopping.signal);
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
