/** The port between the queue of pictures and the browser that makes them. */

/** A file of a page, as a browser gets it. */
export interface PageReply {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array | string | null;
}

export interface PageFiles {
  /** `path`: as sent, with a leading slash. `query`: without the question mark. */
  get(file: { readonly path: string; readonly query: string; readonly accept: string }): PageReply | Promise<PageReply>;
}

export interface PageToDraw {
  /** Scheme, host and port under which the page believes to be. Nothing is ever asked there. */
  readonly origin: string;
  readonly files: PageFiles;
  /** Of all its files together; default: what a page may need. */
  readonly bytesMax?: number;
}

export interface Renderer {
  /** Whether pages can be drawn here. The first call finds out. */
  isUsable(): boolean | Promise<boolean>;
  /**
   * A WebP picture of the page. Rejects with `RendererUnusable` where no page can be drawn here after all, and with any other error where this
   * one cannot. Leaves nothing behind: no process, no file.
   */
  draw(page: PageToDraw, signal: AbortSignal): Promise<Buffer>;
}

/** No page can be drawn here; `isUsable` answers false from then on. */
export class RendererUnusable extends Error {
  override readonly name = 'RendererUnusable';
}
