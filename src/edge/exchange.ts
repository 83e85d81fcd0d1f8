/** One request and its answer. Only this file and the sink of a streamed body touch uWebSockets' borrowed request and response. */

import type { HttpRequest, HttpResponse, us_socket_context_t } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { Failure } from '../../protocol/core/errors.ts';
import { canonicalAddress, networkOf } from './address.ts';
import type { Answer, Upgrade } from './answer.ts';
import type { AnswersInFlight, WaitingAnswer } from './answers-in-flight.ts';
import { RequestHeaders } from './headers.ts';
import type { Admittance } from './open-access.ts';
import { NO_CALLER, type PageCaller } from './page-caller.ts';
import type { ReplyStream } from './reply-stream.ts';
import { requestId } from './request-id.ts';
import { ResponseSink, type StreamEnd } from './response-sink.ts';
import type { UpgradeCork } from './upgrade-cork.ts';
import { utf8 } from './utf8.ts';
import { sendWhole } from './whole-answer.ts';

/** The client has closed the connection, so there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** Present on a request with a WebSocket key to a path of a WebSocket endpoint. */
export interface UpgradeOffer {
  readonly context: us_socket_context_t;
  readonly cork: Pick<UpgradeCork, 'run'>;
}

/** A body that arrives. */
export interface BodyReception {
  readonly isReceiving: boolean;
  end(failure: Failure): void;
}

interface Taken {
  readonly nowMs: number;
  readonly startedMs: number;
  readonly trustProxy: boolean;
  readonly upgrade: UpgradeOffer | undefined;
  /** Undefined while the process starts. */
  readonly answers: AnswersInFlight | undefined;
  /** Another node of the cluster has taken it from the caller. */
  readonly isCarried?: boolean;
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
  /** Another node of the cluster has taken it from the caller, and it goes no further. */
  readonly isCarried: boolean;
  /** Header lines that the answer to this request carries whatever it is: rate limit, CORS, replay. */
  rateLines = '';
  corsLines = '';
  replayed = false;
  /** It is for the API's host, where cookies are those of signed-in people. */
  isForApi = false;
  /** Who its cookies say calls, on the page's own host. */
  pageCaller: PageCaller = NO_CALLER;
  /** Names an artifact that is not the one of the page's host that it came to: there is none, as far as this host goes. */
  isForeign = false;
  /** The credential that it came with and the artifact that it is about, for the shares of its answer. */
  caller: string | undefined;
  artifact: string | undefined;
  /** Room for its answer; without it a small answer takes room only where its reader leaves some of it. */
  waiting: WaitingAnswer | undefined;
  /** The receiver of its body, from the first byte until the answer. */
  reception: BodyReception | undefined;
  /** What it was admitted with; undefined until then, and where its operation reads no credential. */
  admittance: Admittance | undefined;
  /** Its place among the calls that are not over. */
  pending: object | undefined;
  readonly #response: HttpResponse;
  readonly #trustProxy: boolean;
  readonly #upgradeOffer: UpgradeOffer | undefined;
  readonly #answers: AnswersInFlight | undefined;
  #refusal: Failure | undefined;
  /** Made for those that ask for it. */
  #ended: AbortController | undefined;
  #aborted = false;
  #detached = false;
  #address: string | undefined;
  #onAborted: (() => void) | undefined;
  #sink: ResponseSink | undefined;
  #bodyPaused = false;
  /** What has arrived of its body before whoever reads it. */
  #kept: { readonly chunks: readonly Buffer[]; readonly isComplete: boolean } | undefined;

  constructor(response: HttpResponse, request: HttpRequest, taken: Taken) {
    this.#response = response;
    this.#trustProxy = taken.trustProxy;
    this.#upgradeOffer = taken.upgrade;
    this.#answers = taken.answers;
    this.nowMs = taken.nowMs;
    this.startedMs = taken.startedMs;
    this.isCarried = taken.isCarried === true;
    this.method = request.getCaseSensitiveMethod();
    this.path = request.getUrl();
    this.query = request.getQuery() ?? '';
    this.headers = new RequestHeaders(request);
    this.requestId = requestId(this.headers.get('x-request-id'));
  }

  /** Bytes of its body are still to come. */
  get isReceiving(): boolean {
    return this.reception?.isReceiving === true;
  }

  /** Ends the arrival of its body: whoever reads it gets this failure. */
  endBody(failure: Failure): void {
    this.reception?.end(failure);
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  /** Why its access has ended, or why it cannot be served any more: turns that it still waits for are refused with this. */
  get refusal(): Failure | undefined {
    return this.#refusal;
  }

  /** The first refusal stays. */
  refuse(failure: Failure): void {
    this.#refusal ??= failure;
    this.#ended?.abort(this.#refusal);
  }

  /** Aborted when the client leaves or the call is refused. */
  get ended(): AbortSignal {
    if (this.#ended === undefined) {
      this.#ended = new AbortController();
      if (this.#aborted) this.#ended.abort(new ClientGone());
      else if (this.#refusal !== undefined) this.#ended.abort(this.#refusal);
    }
    return this.#ended.signal;
  }

  /** The cookies of the API's host; those of a page's host are not read here. */
  get cookies(): string {
    return this.isForApi ? this.headers.cookie : '';
  }

  /** Whether it asks for a WebSocket, in version 13. */
  get isUpgrade(): boolean {
    if (this.#upgradeOffer === undefined) return false;
    return this.headers.get('upgrade').toLowerCase() === 'websocket' && this.headers.get('sec-websocket-version') === '13';
  }

  /** The peer's address in canonical form; behind a trusted proxy, the last one that the proxy names. Empty if the client left before it was read. */
  get address(): string {
    if (this.#address === undefined) {
      const forwarded = this.#trustProxy ? this.headers.get('x-forwarded-for').split(',').pop()?.trim() : '';
      const peer = () => (this.#aborted ? '' : Buffer.from(this.#response.getRemoteAddressAsText()).toString('latin1'));
      this.#address = canonicalAddress(forwarded || peer());
    }
    return this.#address;
  }

  get isDetached(): boolean {
    return this.#detached;
  }

  /** Allows the answer to come later than this turn. Call it in the turn that took the request. */
  detach(): void {
    if (this.#detached) return;
    this.#detached = true;
    this.#response.onAborted(() => {
      this.#aborted = true;
      this.#ended?.abort(new ClientGone());
      this.#onAborted?.();
    });
  }

  /** Delivers the body as it arrives. `chunk` is borrowed: copy it. */
  receive(onChunk: (chunk: ArrayBuffer, isLast: boolean) => void, onAborted: () => void): void {
    this.detach();
    this.#onAborted = onAborted;
    this.#response.onData(onChunk);
    const kept = this.#kept;
    if (kept === undefined) return;
    this.#kept = undefined;
    // In a later step, as with uWebSockets: the reader has finished saying that it reads.
    queueMicrotask(() => {
      kept.chunks.forEach(({ buffer, byteOffset, length }, at) => {
        const chunk = buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer;
        onChunk(chunk, kept.isComplete && at === kept.chunks.length - 1);
      });
    });
  }

  /** Gives what has been received back, to be delivered to the next reader before the rest. */
  keepBody(chunks: readonly Buffer[], isComplete: boolean): void {
    if (chunks.length > 0) this.#kept = { chunks, isComplete };
  }

  /** Tells when the client leaves, at once where it has left; until the answer is sent or somebody else is told. */
  onAbort(run: () => void): void {
    this.detach();
    this.#onAborted = run;
    if (this.#aborted) run();
  }

  /** Stops reading, so that TCP flow control stops the sender. Bytes that were already read are still delivered. */
  pauseBody(): void {
    if (this.#aborted || this.#bodyPaused) return;
    this.#bodyPaused = true;
    this.#response.pause();
  }

  /** The service has stopped reading, because it cannot keep up with the sender. */
  get isBodyPaused(): boolean {
    return this.#bodyPaused;
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

  /** Ends a streamed answer that never ends by itself. */
  stopStream(): void {
    this.#sink?.stop();
  }

  /** Writes the answer. `onSent` runs once the socket has taken all of it or the client has gone, with an error where a stream failed. */
  send(answer: Answer, closeAfter: boolean, onSent: StreamEnd): void {
    // The connection can only be reused once the rest of the unread body has passed.
    this.resumeBody();
    if (this.#aborted) {
      answer.upgrade?.abandoned();
      answer.stream?.abandon?.();
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
    // All headers go in one call, because each call crosses into C++.
    response.writeHeader('X-Request-Id', this.#headerText(answer));
    if (answer.stream !== undefined && !(closeAfter && answer.stream.endless) && this.#streams(answer.stream, onSent)) return;
    answer.stream?.abandon?.();
    // The length is a header, because passing it to `endWithoutBody` leaves the response open in the binary for Node 20.
    if (payload !== null && this.method === 'HEAD' && !closeAfter)
      response.writeHeader('Content-Length', String(Buffer.byteLength(payload)));
    if (payload !== null && payload.length > 0 && this.method !== 'HEAD' && !closeAfter) {
      this.#offer(payload, onSent);
      return;
    }
    if (payload !== null && this.method !== 'HEAD') response.end(utf8(payload), closeAfter);
    else if (closeAfter) response.end('', true);
    // For any other status, such as a redirect, a client without a length would wait for a body.
    else if (this.method === 'HEAD' || answer.status === 204 || answer.status === 304) response.endWithoutBody();
    else response.end('');
    onSent();
  }

  #upgrade({ userData }: Upgrade): void {
    const response = this.#response;
    const { headers } = this;
    const offer = this.#upgradeOffer;
    if (offer === undefined) throw new Error('A request that offers no upgrade was upgraded');
    const writeHead = () => {
      response.writeStatus('101 Switching Protocols');
      response.writeHeader('X-Request-Id', this.requestId);
    };
    const [key = '', protocol = '', extensions = ''] = ['key', 'protocol', 'extensions'].map((name) =>
      headers.get(`sec-websocket-${name}`),
    );
    const upgrade = () => response.upgrade(userData, key, protocol, extensions, offer.context);
    if (this.#detached) {
      response.cork(writeHead);
      // Not within the response's own `cork`; UpgradeCork says why.
      offer.cork.run(upgrade);
    } else {
      writeHead();
      upgrade();
    }
  }

  #headerText(answer: Answer): string {
    let text = this.requestId;
    if (answer.type !== undefined) text += `\r\nContent-Type: ${answer.type}`;
    if (answer.etag !== undefined) text += `\r\nETag: ${answer.etag}`;
    text += answer.lines + this.rateLines + this.corsLines;
    return this.replayed ? `${text}\r\nIdempotent-Replayed: true` : text;
  }

  /** False where the request is a HEAD. */
  #streams(stream: ReplyStream, onSent: StreamEnd): boolean {
    const { lengthBytes } = stream;
    if (this.method === 'HEAD') {
      if (lengthBytes !== undefined) this.#response.writeHeader('Content-Length', String(lengthBytes));
      return false;
    }
    this.detach();
    const sink = new ResponseSink(this.#response, { lengthBytes, waiting: this.waiting, onEnd: onSent });
    this.#sink = sink;
    this.#onAborted = () => sink.aborted();
    stream.start(sink);
    return true;
  }

  #offer(payload: string | Uint8Array, onSent: () => void): void {
    sendWhole(this.#response, payload, {
      lane: () => networkOf(this.address),
      room: (bytes) => this.#wait(bytes),
      detach: (onAborted) => {
        this.#onAborted = onAborted;
        this.detach();
      },
      onSent,
    });
  }

  /** Undefined where there is no room to let it wait. */
  #wait(bytes: number): WaitingAnswer | undefined {
    if (this.waiting !== undefined) return this.waiting;
    try {
      this.waiting = this.#answers?.admit(this, bytes);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
    }
    return this.waiting;
  }
}
