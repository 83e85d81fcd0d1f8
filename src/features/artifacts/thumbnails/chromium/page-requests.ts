/** What a page asks for while it is drawn. Its own files are answered here, from what is stored; everything else is refused. No request reaches a network. */
import { z } from 'zod';
import type { PageReply, PageToDraw } from '../renderer.ts';
import type { DevtoolsPipe } from './devtools-pipe.ts';

const REQUESTS_MAX = 400;
const FILE_BYTES_MAX = 6 * 1024 * 1024;
const BYTES_MAX = 24 * 1024 * 1024;

export const pausedRequest = z.object({
  requestId: z.string(),
  request: z.object({ url: z.string(), method: z.string(), headers: z.record(z.string(), z.string()) }),
});
type Paused = z.output<typeof pausedRequest>;

/** The service's own paths on a page's origin. Data is refused, because a picture is shown to whoever may see the page, and so is the overlay of comments. */
const OURS = /^\/(?:v1\/|_easel\/(?!sdk))/;

export class PageRequests {
  readonly #pipe: DevtoolsPipe;
  readonly #sessionId: string;
  readonly #page: PageToDraw;
  #hasStarted = false;
  #asked = 0;
  #bytes = 0;
  /** One after the other, so that no more than one file of a page is in memory. */
  #last: Promise<void> = Promise.resolve();

  constructor(pipe: DevtoolsPipe, sessionId: string, page: PageToDraw) {
    this.#pipe = pipe;
    this.#sessionId = sessionId;
    this.#page = page;
  }

  take(paused: Paused): void {
    this.#asked += 1;
    const url = this.#ownFile(paused);
    if (url === null || this.#asked > REQUESTS_MAX) this.#refuse(paused);
    else this.#last = this.#last.then(() => this.#answer(paused, url)).catch((error: Error) => this.#pipe.break(error));
  }

  #ownFile({ request: { url: text, method } }: Paused): URL | null {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null || method !== 'GET' || `${url.protocol}//${url.host}` !== this.#page.origin) return null;
    return OURS.test(url.pathname) ? null : url;
  }

  /** As aborted: a page whose navigation is refused in this way stays where it is. */
  #refuse({ requestId }: Paused): void {
    this.#pipe.tell('Fetch.failRequest', { requestId, errorReason: 'Aborted' }, this.#sessionId);
  }

  async #answer(paused: Paused, { pathname, search }: URL): Promise<void> {
    const accept = paused.request.headers.Accept ?? paused.request.headers.accept ?? '';
    const reply = await this.#page.files.get({ path: pathname, query: search.slice(1), accept });
    if (!this.#hasStarted && reply.status >= 400) throw new Error(`the page begins with the status ${reply.status}`);
    this.#hasStarted = true;
    const body = bytesOf(reply);
    this.#bytes += body.length;
    if (body.length > FILE_BYTES_MAX || this.#bytes > (this.#page.bytesMax ?? BYTES_MAX)) return this.#refuse(paused);
    this.#pipe.tell(
      'Fetch.fulfillRequest',
      {
        requestId: paused.requestId,
        responseCode: reply.status,
        responseHeaders: reply.headers.map(([name, value]) => ({ name, value })),
        body: body.toString('base64'),
      },
      this.#sessionId,
    );
  }
}

function bytesOf({ body }: PageReply): Buffer {
  if (body === null) return Buffer.alloc(0);
  return typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}
