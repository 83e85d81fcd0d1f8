/**
 * Sends a call to the node that owns the artifact, whole and before anything is decided about it: the owner authenticates, limits and answers.
 * This node keeps the connection to the caller, passes bytes on in both directions, and holds at most one window of each. What becomes of
 * WebSockets is told in `sockets/`.
 */
import type { Location } from '../../../actors/runtime/ports.ts';
import { Failure } from '../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import type { Answer } from '../answer.ts';
import { chain } from '../chain.ts';
import type { Exchange } from '../exchange.ts';
import type { ReplySink } from '../reply-stream.ts';
import { type AnswerHead, decodeHead, encodeHead, headersOf, SHORT_BODY_BYTES } from './heads.ts';
import type { PeerStream } from './peer-stream.ts';
import { RelayedBody } from './relayed-body.ts';
import type { RelayedSockets } from './sockets/relayed-sockets.ts';

/** What the edge needs of the cluster. */
export interface Peers {
  locate(artifactId: ArtifactId): Location | Promise<Location>;
  /** Makes this node the owner, for a call that a peer has sent here. False where another node is. */
  claim(artifactId: ArtifactId): boolean | Promise<boolean>;
  /** The location has proved to be out of date. */
  forget(artifactId: ArtifactId): void;
  /** Opens a stream to the node at the address. Throws or rejects where it cannot be reached. */
  open(address: string, head: Buffer): PeerStream | Promise<PeerStream>;
}

const RETRY_AFTER_S = 1;
/** The first attempt and one more. */
const ATTEMPTS = 2;
/** In the answer of a node that does not own the artifact, or not any more: nothing has happened. */
const NOT_HERE = '"code":"OWNER_MOVED"';

type Outcome =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'moved' }
  | { readonly kind: 'lost'; readonly isSent: boolean };

export class Forwarder {
  readonly #peers: Peers;
  readonly #sockets: RelayedSockets;

  constructor(peers: Peers, sockets: RelayedSockets) {
    this.#peers = peers;
    this.#sockets = sockets;
  }

  /** A call that a peer has sent here: it goes no further. The claim comes first, because what the last owner has counted comes with it. */
  arrived(artifactId: ArtifactId, local: () => Answer | Promise<Answer>): Answer | Promise<Answer> {
    return chain(this.#peers.claim(artifactId), (isOurs) => {
      if (!isOurs) throw moved();
      return local();
    });
  }

  /** The answer of the owner; undefined where this node is the owner, or becomes it. `local` goes on with the call on this node. */
  elsewhere(exchange: Exchange, artifactId: ArtifactId, local: () => Answer | Promise<Answer>): Answer | Promise<Answer> | undefined {
    const location = this.#peers.locate(artifactId);
    if (!(location instanceof Promise) && location.here) return undefined;
    const call = exchange.isUpgrade
      ? new ForwardedUpgrade(this.#peers, exchange, artifactId, local, this.#sockets)
      : new ForwardedCall(this.#peers, exchange, artifactId, local);
    return call.run(location);
  }
}

class ForwardedCall {
  protected readonly exchange: Exchange;
  protected readonly artifactId: ArtifactId;
  readonly #peers: Peers;
  readonly #local: () => Answer | Promise<Answer>;
  readonly #body: RelayedBody | undefined;

  constructor(peers: Peers, exchange: Exchange, artifactId: ArtifactId, local: () => Answer | Promise<Answer>) {
    this.#peers = peers;
    this.exchange = exchange;
    this.artifactId = artifactId;
    this.#local = local;
    const { contentLength } = exchange.headers;
    // From this turn on, because uWebSockets discards bytes that nobody receives.
    this.#body = contentLength === 0 ? undefined : new RelayedBody(exchange, contentLength <= SHORT_BODY_BYTES);
  }

  async run(first: Location | Promise<Location>): Promise<Answer> {
    let location = await first;
    for (let attempt = 1; ; attempt += 1) {
      if (location.here) {
        // What has arrived is received once more by whoever reads the body here.
        this.#body?.handBack();
        return this.#local();
      }
      const outcome = await this.attempt(location.address);
      if (outcome.kind === 'answered') return outcome.answer;
      this.#peers.forget(this.artifactId);
      if (outcome.kind === 'lost' && outcome.isSent && this.#mayHaveChanged()) throw unavailable();
      if (attempt === ATTEMPTS || this.exchange.aborted || this.#body?.canRepeat === false) throw moved();
      location = await this.#peers.locate(this.artifactId);
    }
  }

  protected async attempt(address: string): Promise<Outcome> {
    const { method, path, query, headers, requestId, address: caller } = this.exchange;
    const head = encodeHead({ method, path, query, headers: headersOf(headers, requestId), address: caller });
    let stream: PeerStream;
    try {
      stream = await this.#peers.open(address, head);
    } catch {
      return { kind: 'lost', isSent: false };
    }
    return this.#answered(stream);
  }

  /** Settles with the head of the answer; its body may follow. */
  #answered(stream: PeerStream): Promise<Outcome> {
    return new Promise((resolve) => {
      const relayed = new RelayedAnswer(stream);
      stream.events = {
        head: (payload) => {
          const { head, body } = decodeHead<AnswerHead>(payload);
          if (isMoved(head, body)) {
            stream.reset();
            resolve({ kind: 'moved' });
            return;
          }
          this.#body?.answered();
          resolve({ kind: 'answered', answer: relayed.answerOf(head, Buffer.from(body)) });
        },
        data: (payload) => relayed.data(payload),
        end: () => relayed.end(),
        writable: () => this.#body?.flush(),
        reset: () => {
          relayed.lost();
          resolve({ kind: 'lost', isSent: true });
        },
      };
      this.exchange.onAbort(() => {
        stream.reset();
        resolve({ kind: 'lost', isSent: true });
      });
      if (this.#body === undefined) stream.end();
      else this.#body.relayTo(stream);
    });
  }

  #mayHaveChanged(): boolean {
    return this.exchange.method !== 'GET' && this.exchange.method !== 'HEAD';
  }
}

/** A WebSocket: the client's end of it stays at this node. */
class ForwardedUpgrade extends ForwardedCall {
  readonly #sockets: RelayedSockets;

  constructor(...[peers, exchange, artifactId, local, sockets]: [...ConstructorParameters<typeof ForwardedCall>, RelayedSockets]) {
    super(peers, exchange, artifactId, local);
    this.#sockets = sockets;
  }

  protected override async attempt(address: string): Promise<Outcome> {
    try {
      const decision = await this.#sockets.ask(this.exchange, this.artifactId, address);
      if (decision.kind === 'lost') return { kind: 'lost', isSent: true };
      if (decision.kind === 'upgraded') return { kind: 'answered', answer: decision.relayed.answer() };
      const { head, body } = decision;
      return isMoved(head, body) ? { kind: 'moved' } : { kind: 'answered', answer: wholeAnswer(head, body) };
    } catch (error) {
      if (error instanceof Failure) throw error;
      return { kind: 'lost', isSent: false };
    }
  }
}

/** The answer of the owner as one of this node, with its body as a stream where it did not come with the head. */
class RelayedAnswer {
  readonly #stream: PeerStream;
  /** What came before the sink was there. */
  readonly #early: Buffer[] = [];
  /** Bytes that the client has not taken. */
  #untaken = 0;
  #isEnded = false;
  #isLost = false;
  #sink: ReplySink | undefined;

  constructor(stream: PeerStream) {
    this.#stream = stream;
  }

  answerOf(head: AnswerHead, body: Buffer): Answer {
    const answer = wholeAnswer(head, body);
    if (head.body === 'none' || head.body === 'whole') return answer;
    return {
      ...answer,
      payload: null,
      stream: {
        ...(head.body === 'length' && { lengthBytes: head.lengthBytes }),
        ...(/\r\ncontent-type: text\/event-stream/i.test(answer.lines) && { endless: true }),
        start: (sink) => this.#start(sink),
        abandon: () => this.#stream.reset(),
      },
    };
  }

  data(payload: Buffer): void {
    const copy = Buffer.from(payload);
    if (this.#sink === undefined) this.#early.push(copy);
    else this.#write(copy);
  }

  end(): void {
    this.#isEnded = true;
    this.#sink?.end();
  }

  lost(): void {
    this.#isLost = true;
    this.#sink?.fail(unavailable());
  }

  #start(sink: ReplySink): void {
    this.#sink = sink;
    sink.onClose(() => this.#stream.reset());
    sink.onDrain(() => {
      this.#stream.took(this.#untaken);
      this.#untaken = 0;
    });
    for (const chunk of this.#early.splice(0)) this.#write(chunk);
    if (this.#isLost) sink.fail(unavailable());
    else if (this.#isEnded) sink.end();
  }

  #write(chunk: Buffer): void {
    if (this.#sink?.write(chunk)) this.#stream.took(chunk.length);
    else this.#untaken += chunk.length;
  }
}

/** The answer to a HEAD has no body that tells. */
function isMoved(head: AnswerHead, body: Buffer): boolean {
  return head.status.startsWith('503') && (body.includes(NOT_HERE) || head.body === 'none');
}

function wholeAnswer({ status, headers, body: kind, closes }: AnswerHead, body: Buffer): Answer {
  const payload = kind === 'none' ? null : body;
  return {
    status: Number.parseInt(status, 10),
    type: undefined,
    etag: undefined,
    lines: linesOf(headers),
    payload,
    ...(closes && kind !== 'length' && kind !== 'open' && { closes: true }),
  };
}

/** Header lines of an answer. The owner puts the id of the request first, which this node writes itself. */
function linesOf(headers: readonly string[]): string {
  let lines = '';
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = headers.slice(at, at + 2);
    // All of the owner's header lines are in the value of the first.
    const begin = name === 'X-Request-Id' ? value.indexOf('\r\n') : 0;
    if (begin === -1) continue;
    if (begin > 0) lines += value.slice(begin);
    else lines += `\r\n${name}: ${value}`;
  }
  return lines;
}

function moved(): Failure {
  return new Failure('OWNER_MOVED', { retryAfterS: RETRY_AFTER_S });
}

function unavailable(): Failure {
  return new Failure('UNAVAILABLE', { message: 'The node that has the artifact was lost before it answered.', retryAfterS: RETRY_AFTER_S });
}
