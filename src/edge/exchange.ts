/** One request and its one answer. The only place, with the sink of a streamed body, that touches uWebSockets' borrowed request and response. */

import type { HttpRequest, HttpResponse, us_socket_context_t } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import type { Pass } from '../../actors/access.ts';
import type { Answer, Upgrade } from './answer.ts';
import { RequestHeaders } from './headers.ts';
import type { ReplyStream } from './reply-stream.ts';
import { requestId } from './request-id.ts';
import { ResponseSink, type StreamEnd } from './response-sink.ts';

/** Larger bodies are handed to the socket as it drains, instead of being copied whole for a slow reader. */
const WHOLE_BODY_BYTES_MAX = 128 * 1024;

/** The client has closed the connection; nobody is there to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

interface Taken {
  readonly nowMs: number;
  readonly startedMs: number;
  readonly trustProxy: boolean;
  /** Where the path speaks a protocol over WebSockets and the request has a key for it. */
  readonly upgrade: us_socket_context_t | undefined;
}

const statusLines = new Map(Object.entries(STATUS_CODES).map(([status, text]) => [Number(status), `${status} ${text}`]));

export class Exchange {
  readonly headers: RequestHeaders;
  /** As sent; methods are case-sensitive. */
  readonly method: string;
  /** As sent, still percent-encoded, without the query. */
  readonly path: string;
  readonly query: string;
  readonly requestId: string;
  /** Unix ms and monotonic ms at which it was taken. */
  readonly nowMs: number;
  readonly startedMs: number;
  /** Header lines that every answer to this request carries: rate limit, CORS, replay. */
  rateLines = '';
  corsLines = '';
  replayed = false;
  /** What its cookies open, on the page's own host. */
  pass: Pass | null = null;
  /** Bytes of body that this request holds in memory. */
  reservedBytes = 0;
  /** A place for whoever receives its body, from the first byte on until it is answered. */
  reception: object | undefined;
  readonly #response: HttpResponse;
  readonly #trustProxy: boolean;
  readonly #upgradeContext: us_socket_context_t | undefined;
  #aborted = false;
  #detached = false;
  #address: string | undefined;
  #onAborted: (() => void) | undefined;
  #sink: ResponseSink | undefined;
  #bodyPaused = false;

  constructor(response: HttpResponse, request: HttpRequest, taken: Taken) {
    this.#response = response;
    this.#trustProxy = taken.trustProxy;
    this.#upgradeContext = taken.upgrade;
    this.nowMs = taken.nowMs;
    this.startedMs = taken.startedMs;
    this.method = request.getCaseSensitiveMethod();
    this.path = request.getUrl();
    this.query = request.getQuery() ?? '';
    this.headers = new RequestHeaders(request);
    this.requestId = requestId(this.headers.get('x-request-id'));
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  /** It asks for a WebSocket, in the one version that there is. */
  get isUpgrade(): boolean {
    if (this.#upgradeContext === undefined) return false;
    return this.headers.get('upgrade').toLowerCase() === 'websocket' && this.headers.get('sec-websocket-version') === '13';
  }

  /** The peer's address; behind a trusted proxy the one that it names last. Empty when it has gone before anybody asked. */
  get address(): string {
    if (this.#address === undefined) {
      const forwarded = this.#trustProxy ? this.headers.get('x-forwarded-for').split(',').pop()?.trim() : '';
      this.#address = forwarded || (this.#aborted ? '' : Buffer.from(this.#response.getRemoteAddressAsText()).toString('latin1'));
    }
    return this.#address;
  }

  /** Before the answer may come later than this turn. Call in the turn that took the request. */
  detach(): void {
    if (this.#detached) return;
    this.#detached = true;
    this.#response.onAborted(() => {
      this.#aborted = true;
      this.#onAborted?.();
    });
  }

  /** Hands over the body as it comes. `chunk` is borrowed: copy it. */
  receive(onChunk: (chunk: ArrayBuffer, isLast: boolean) => void, onAborted: () => void): void {
    this.detach();
    this.#onAborted = onAborted;
    this.#response.onData(onChunk);
  }

  /** Stops the sender of the body, which the kernel then holds up; what has been read already still comes. */
  pauseBody(): void {
    if (this.#aborted || this.#bodyPaused) return;
    this.#bodyPaused = true;
    this.#response.pause();
  }

  resumeBody(): void {
    if (this.#aborted || !this.#bodyPaused) return;
    this.#bodyPaused = false;
    this.#response.resume();
  }

  /** Closes the connection without an answer. */
  drop(): void {
    if (!this.#aborted) this.#response.close();
  }

  /** Ends a streamed answer that would not end by itself. */
  stopStream(): void {
    this.#sink?.stop();
  }

  /** Writes the answer. `onSent` runs once all of it has left for the socket, or the client has gone; with an error where a stream failed. */
  send(answer: Answer, closeAfter: boolean, onSent: StreamEnd): void {
    // The rest of a body that nobody wants must pass before the connection is of use again.
    this.resumeBody();
    if (this.#aborted) {
      answer.upgrade?.abandoned();
      onSent();
    } else if (answer.upgrade !== undefined) {
      this.#upgrade(answer.upgrade);
      onSent();
    } else if (this.#detached) this.#response.cork(() => this.#write(answer, closeAfter, onSent));
    else this.#write(answer, closeAfter, onSent);
  }

  #write(answer: Answer, closeAfter: boolean, onSent: StreamEnd): void {
    const response = this.#response;
    const { payload } = answer;
    if (answer.status !== 200) response.writeStatus(statusLines.get(answer.status) ?? `${answer.status} Status`);
    // One call carries all headers: each call costs a crossing into C++.
    response.writeHeader('X-Request-Id', this.#headerText(answer));
    if (answer.stream !== undefined && !(closeAfter && answer.stream.endless) && this.#streams(answer.stream, onSent)) return;
    // Handing the length to `endWithoutBody` leaves the response open in the binary for Node 20, so it goes as a header.
    if (payload !== null && this.method === 'HEAD' && !closeAfter)
      response.writeHeader('Content-Length', String(Buffer.byteLength(payload)));
    if (payload !== null && this.method !== 'HEAD' && payload.length > WHOLE_BODY_BYTES_MAX) {
      this.#stream(typeof payload === 'string' ? Buffer.from(payload) : payload, onSent);
      return;
    }
    if (payload !== null && this.method !== 'HEAD') response.end(payload, closeAfter);
    else if (closeAfter) response.end('', true);
    // Without a length a client would wait for the body of anything but these; a redirect for example.
    else if (this.method === 'HEAD' || answer.status === 204 || answer.status === 304) response.endWithoutBody();
    else response.end('');
    onSent();
  }

  #upgrade({ userData }: Upgrade): void {
    const response = this.#response;
    const { headers } = this;
    const writeHead = () => {
      response.writeStatus('101 Switching Protocols');
      response.writeHeader('X-Request-Id', this.requestId);
    };
    if (this.#detached) response.cork(writeHead);
    else writeHead();
    const [key, protocol, extensions] = ['key', 'protocol', 'extensions'].map((name) => headers.get(`sec-websocket-${name}`));
    // Never within `cork`: the socket may be made anew in the same place, is then taken for the HTTP one that it was, and what memory
    // happens to hold there can read as "close after this".
    response.upgrade(userData, key ?? '', protocol ?? '', extensions ?? '', this.#upgradeContext as us_socket_context_t);
  }

  #headerText(answer: Answer): string {
    let text = this.requestId;
    if (answer.type !== undefined) text += `\r\nContent-Type: ${answer.type}`;
    if (answer.etag !== undefined) text += `\r\nETag: ${answer.etag}`;
    text += answer.lines + this.rateLines + this.corsLines;
    return this.replayed ? `${text}\r\nIdempotent-Replayed: true` : text;
  }

  /** False where only the head is wanted. */
  #streams(stream: ReplyStream, onSent: StreamEnd): boolean {
    const { lengthBytes } = stream;
    if (this.method === 'HEAD') {
      if (lengthBytes !== undefined) this.#response.writeHeader('Content-Length', String(lengthBytes));
      return false;
    }
    this.detach();
    const sink = new ResponseSink(this.#response, lengthBytes, onSent);
    this.#sink = sink;
    this.#onAborted = () => sink.aborted();
    stream.start(sink);
    return true;
  }

  #stream(payload: Uint8Array, onSent: () => void): void {
    const response = this.#response;
    const start = response.getWriteOffset();
    let open = true;
    const finish = () => {
      if (open) onSent();
      open = false;
    };
    this.#onAborted = finish;
    this.detach();
    const [, done] = response.tryEnd(payload, payload.byteLength);
    if (done) {
      finish();
      return;
    }
    response.onWritable((offset) => {
      const [taken, ended] = response.tryEnd(payload.subarray(offset - start), payload.byteLength);
      if (ended) finish();
      return taken;
    });
  }
}
