/** Draws pages with Chromium: a browser for each page, so that no page finds anything of another, and none stays when nobody asks. */
import type { Clock, Log } from '../../../../../actors/runtime/ports.ts';
import { type PageToDraw, type Renderer, RendererUnusable } from '../renderer.ts';
import { BrowserProcess, BrowserUnstartable, type Launch } from './browser-process.ts';
import type { DevtoolsPipe } from './devtools-pipe.ts';
import { type Found, findChromium } from './find.ts';
import { drawPage } from './page-drawing.ts';

/** From the start of the browser on; then it is killed. Some 2 s are usual. */
const DEADLINE_MS = 20_000;
/** The part of it after which a page that is not complete is drawn as it is. */
const LOADING = 0.3;

export interface ChromiumDeps {
  readonly mode: 'auto' | 'on';
  readonly path: string | undefined;
  /** Of real time. */
  readonly clock: Clock;
  readonly log: Log;
  readonly deadlineMs?: number;
}

interface Time {
  readonly clock: Clock;
  /** From the start of the browser on. */
  readonly deadlineMs: number;
}

export class ChromiumRenderer implements Renderer {
  readonly #deps: ChromiumDeps;
  #launch: Launch | null | undefined;
  /** The search, for all who ask before it has ended. */
  #finding: Promise<boolean> | undefined;

  constructor(deps: ChromiumDeps) {
    this.#deps = deps;
  }

  isUsable(): boolean | Promise<boolean> {
    if (this.#launch !== undefined) return this.#launch !== null;
    this.#finding ??= this.#find();
    return this.#finding;
  }

  draw(page: PageToDraw, signal: AbortSignal): Promise<Buffer> {
    return this.inBrowser((pipe, { clock, deadlineMs }) => drawPage(pipe, page, { clock, loadMsMax: LOADING * deadlineMs }), signal);
  }

  /** Runs `work` with a browser of its own, which is gone afterwards. Rejects as `draw` does. */
  async inBrowser<T>(work: (pipe: DevtoolsPipe, time: Time) => Promise<T>, signal: AbortSignal): Promise<T> {
    const launch = (await this.isUsable()) ? this.#launch : null;
    if (!launch) throw new RendererUnusable('there is no Chromium that may be used');
    const { clock, deadlineMs = DEADLINE_MS } = this.#deps;
    const browser = await BrowserProcess.start(launch, clock, signal);
    const deadline = clock.after(deadlineMs, () => browser.pipe.break(new Error(`the page was not drawn within ${deadlineMs} ms`)));
    try {
      await browser.ready();
      return await Promise.race([work(browser.pipe, { clock, deadlineMs }), browser.pipe.failed]);
    } catch (error) {
      if (error instanceof BrowserUnstartable) throw this.#giveUp(launch, error);
      throw error;
    } finally {
      deadline.cancel();
      await browser.end();
    }
  }

  async #find(): Promise<boolean> {
    const { mode, path } = this.#deps;
    const isRoot = process.getuid?.() === 0;
    const found = await findChromium({ mode, path, searched: process.env.PATH ?? '', isRoot });
    this.#say(found);
    this.#launch = 'none' in found ? null : found;
    return this.#launch !== null;
  }

  #say(found: Found): void {
    const { mode, log } = this.#deps;
    if (!('none' in found)) {
      const { file, sandboxed } = found;
      if (sandboxed) log.info({ file }, 'pictures of pages are made by Chromium');
      else
        log.warn(
          { file },
          'pictures of pages are made by Chromium without its sandbox, because the service runs as root and THUMBNAILS is on',
        );
    } else if (found.none === 'root') {
      log.info(
        {},
        'pages have no pictures, because root cannot use the sandbox of Chromium: run the service as another user, or allow it with THUMBNAILS=on',
      );
    } else if (mode === 'on') {
      log.warn({}, 'pages have no pictures, because there is no Chromium: CHROMIUM_PATH names it');
    }
  }

  #giveUp({ file }: Launch, { message }: BrowserUnstartable): RendererUnusable {
    this.#launch = null;
    this.#deps.log.warn({ file }, `pages have no pictures until the next start, because Chromium cannot be started: ${message}`);
    return new RendererUnusable(message);
  }
}
