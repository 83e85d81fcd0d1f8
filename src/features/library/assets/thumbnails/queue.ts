/** Makes the pictures of files, one at a time in a process, in turn by whose they are. Rows of the database are the queue. */
import type { Clock, Log } from '../../../../../actors/runtime/ports.ts';
import { Passes } from '../../../../platform/passes.ts';
import type { Sql } from '../../../../storage/sql.ts';
import { sha256Of, storeContents } from '../../../artifacts/publish/contents.ts';
import { holdObjects } from '../../../artifacts/publish/rows.ts';
import { RendererUnusable } from '../../../artifacts/thumbnails/renderer.ts';
import type { ServiceDeps } from '../../../deps.ts';
import { type Claimed, type Drawable, giveBack, nextDueMs, takeNext, writeFailure, writePicture } from './rows.ts';
import { isPicture, retryAtMs } from './rules.ts';

/** Longer than a picture may take, so that a lease only ends early when its process has died. */
const LEASE_MS = 2 * 60_000;
/** How often the queue is looked at for what another process has left behind. */
const POLL_MS = 60_000;

/** A stored file that is to be pictured. */
export interface Pictured {
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** The bytes from `start` to `end`, both included, as they come: a large file at once would hold up everybody else. */
  bytes(start: number, end: number): AsyncIterable<Uint8Array>;
}

/** Makes a WebP picture. Rejects where it cannot, within its deadline, and when `signal` ends it. */
export type DrawPicture = (file: Pictured, signal: AbortSignal) => Promise<Buffer>;

interface Deps extends Pick<ServiceDeps, 'objects'> {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly draw: DrawPicture;
  /** Whether videos can be pictured here; otherwise they are left to other nodes, or to a later start. */
  readonly drawsVideos: () => boolean | Promise<boolean>;
}

export class PictureQueue {
  readonly #deps: Deps;
  readonly #passes: Passes;
  #isUnusableForVideos = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#passes = new Passes(deps.clock, () => this.#pass());
  }

  /** Makes what an earlier process left behind, a while after the start, which it must not slow down. */
  start(): void {
    this.#passes.after(POLL_MS);
  }

  /** Ends the picture that is being made. The rest stays in the queue for the next start. */
  stop(): Promise<void> {
    return this.#passes.stop();
  }

  wake(): void {
    this.#passes.wake();
  }

  async #pass(): Promise<number> {
    const { sql, clock, log } = this.#deps;
    try {
      while (await this.#makeNext());
      const dueMs = this.#passes.isStopped ? null : await nextDueMs(sql, await this.#drawable());
      if (dueMs !== null) return Math.min(POLL_MS, Math.max(1000, dueMs - clock.nowMs()));
    } catch (err) {
      log.warn({ err }, 'the queue of pictures of files could not be read or written; it is tried again');
    }
    return POLL_MS;
  }

  /** False where nothing is left to do now. */
  async #makeNext(): Promise<boolean> {
    const { sql, clock } = this.#deps;
    if (this.#passes.isStopped) return false;
    const nowMs = clock.nowMs();
    const claimed = await takeNext(sql, { nowMs, untilMs: nowMs + LEASE_MS, ...(await this.#drawable()) });
    if (claimed === null) return false;
    await this.#make(claimed);
    return true;
  }

  async #drawable(): Promise<Drawable> {
    return { videos: !this.#isUnusableForVideos && (await this.#deps.drawsVideos()) };
  }

  async #make(claimed: Claimed): Promise<void> {
    const { sql, clock, log, objects, draw } = this.#deps;
    const { mimeType, sizeBytes, sha256 } = claimed;
    try {
      const file = { mimeType, sizeBytes, bytes: (start: number, end: number) => objects.readRange(sha256, start, end) };
      const bytes = await draw(file, this.#passes.signal);
      if (!isPicture(bytes)) throw new Error(`the process made no picture that can be kept, but ${bytes.length} bytes`);
      await this.#store(claimed, bytes);
    } catch (err) {
      if (this.#passes.isStopped) return giveBack(sql, claimed, clock.nowMs());
      if (err instanceof RendererUnusable) {
        this.#isUnusableForVideos = true;
        return giveBack(sql, claimed, clock.nowMs());
      }
      const dueAtMs = retryAtMs(claimed.attempts, clock.nowMs());
      const { fileId, attempts } = claimed;
      log.warn(
        { err, fileId, attempts },
        dueAtMs === null ? 'a file cannot be pictured' : 'a file could not be pictured; it is tried again',
      );
      await writeFailure(sql, claimed, dueAtMs);
    }
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
