/** Protocol B of wire.md: many documents on one socket, each authenticated by a frame of its own. */
import type { Principal } from '../../actors/access/access.ts';
import type { Timer } from '../../actors/runtime/ports.ts';
import { CLOSE, type CloseCode } from '../../protocol/core/close-codes.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { networkOf } from '../edge/address.ts';
import { type AccessEnd, closeCodeOf, ENDS } from '../edge/open-access.ts';
import type { Link, SocketCall, SocketProtocol, SocketSession } from '../edge/socket.ts';
import { AnswerBatch } from './answer-batch.ts';
import { type DocumentHost, DocumentSession, type HocuspocusDeps } from './hocuspocus-document.ts';
import { type AddressedMessage, frameDenied, frameKeepAlive, framePing, framePong, keptFrame, readAddressedMessage } from './wire.ts';

/** Interval of pings. Clients give up a connection on which they receive nothing for 30 s. */
const KEEP_ALIVE_MS = 20_000;
/** Twice the limit of an update. An update above the limit is refused and the connection stays; a larger frame closes it. */
const MESSAGE_BYTES_MAX = 2 * LIMITS.updateBytesMax;
const HIGH_WATER_BYTES = 256 * 1024;
/** Answers that wait for the peer to read. A peer with more sends without reading, and is closed. */
const UNSENT_FRAMES_MAX = 1000;
/** Bytes that may wait while documents are opened for a caller with access. */
const OPENING_BYTES_MAX = MESSAGE_BYTES_MAX;
/** Overhead in bytes of a message that waits. */
const WAITING_MESSAGE_BYTES = 200;

export function hocuspocus(deps: HocuspocusDeps): SocketProtocol {
  const sessions = new Set<HocuspocusSession>();
  let timer: Timer | undefined;
  const keepAlive = () => {
    timer = sessions.size === 0 ? undefined : deps.clock.after(KEEP_ALIVE_MS, keepAlive);
    for (const session of sessions) session.keepAlive();
  };
  return {
    messageBytesMax: MESSAGE_BYTES_MAX,
    highWaterBytes: HIGH_WATER_BYTES,
    open: (link, call) => {
      const session = new HocuspocusSession(link, call, deps, () => {
        sessions.delete(session);
        if (sessions.size > 0) return;
        timer?.cancel();
        timer = undefined;
      });
      sessions.add(session);
      timer ??= deps.clock.after(KEEP_ALIVE_MS, keepAlive);
      return session;
    },
  };
}

class HocuspocusSession implements SocketSession, DocumentHost {
  readonly artifactId: ArtifactId;
  readonly network: string;
  readonly link: Link;
  readonly deps: HocuspocusDeps;
  readonly sessionId: string;
  readonly #onClosed: () => void;
  readonly #prove: SocketCall['prove'];
  /** Keyed by address. */
  readonly #documents = new Map<string, DocumentSession>();
  readonly #deadline: Timer;
  /** Answers that the link could not take, in their order. */
  #unsent: Uint8Array[] = [];
  readonly #statuses: AnswerBatch;
  #waitingBytes = 0;
  #waitingMessages = 0;
  readonly #call: SocketCall;
  /** Why the access of the caller who opened the connection has ended. */
  #over: AccessEnd | undefined;
  #tokens = 0;
  #isKnown = false;
  #answersPings = false;

  constructor(link: Link, call: SocketCall, deps: HocuspocusDeps, onClosed: () => void) {
    this.link = link;
    this.#call = call;
    this.deps = deps;
    this.artifactId = call.params.artifactId as ArtifactId;
    this.network = networkOf(call.address);
    this.sessionId = deps.newSessionId();
    this.#isKnown = call.head !== undefined;
    this.#prove = call.prove;
    this.#onClosed = onClosed;
    this.#statuses = new AnswerBatch(link, (frame) => this.send(frame));
    this.#deadline = deps.clock.after(LIMITS.preAuthDeadlineMs, () => {
      // A client without credentials must not hold a connection; an authenticated one may open its first document later.
      if (call.head === undefined && this.#documents.size === 0) this.close(CLOSE.timeout, 'nobody said who is there');
    });
  }

  message(data: ArrayBuffer, isBinary: boolean): void {
    if (!this.link.isOpen) return;
    if (!isBinary) {
      this.close(CLOSE.malformed, 'this protocol has binary frames only');
      return;
    }
    // The bytes are valid in this turn only, and updates outlive it.
    const read = readAddressedMessage(keptFrame(data));
    if (read.kind === 'malformed') this.close(CLOSE.malformed, read.reason.slice(0, 100));
    else if (read.kind === 'ping') this.send(framePong());
    else if (read.kind === 'addressed') this.#addressed(read, data.byteLength);
  }

  #addressed({ address, document, message }: AddressedMessage, bytes: number): void {
    if (message.kind === 'unexpected') {
      this.close(CLOSE.malformed, `clients do not send messages of type ${message.type}`);
      return;
    }
    if (message.kind === 'close') {
      this.#closeDocument(address);
      return;
    }
    const session = this.#documents.get(address) ?? this.#meet(address, document);
    if (session !== undefined) session.handle(message, bytes);
    else if (message.kind === 'token' || message.kind === 'step1') {
      this.send(frameDenied(`A connection may have ${LIMITS.documentsPerSocketMax} documents.`, address));
    }
  }

  get opener(): Principal | AccessEnd {
    return this.#over ?? this.#call.principal;
  }

  /** Documents with tokens of their own stay open. Those of the opener are denied, and a connection that serves no other is closed. */
  accessOver(over: AccessEnd): void {
    this.#over = over;
    if (over === 'undecided') this.close(CLOSE.moved, 'access has to be decided again');
    else {
      this.#isKnown = false;
      this.denied();
    }
  }

  /** The documents of the opener may be denied before or after the access is over. */
  denied(): void {
    const over = this.#over;
    if (over === undefined || [...this.#documents.values()].some(({ isServed }) => isServed)) return;
    this.close(closeCodeOf(over), ENDS[over]);
  }

  send(frame: Uint8Array): void {
    if (this.#unsent.length === 0 && this.link.send(frame) !== 'skipped') return;
    this.#unsent.push(frame);
    if (this.#unsent.length > UNSENT_FRAMES_MAX) this.close(CLOSE.overloaded, 'the client does not read what it is sent');
  }

  acknowledge(frame: Uint8Array): void {
    this.#statuses.add(frame);
  }

  close(code: CloseCode, reason: string): void {
    if (this.link.isOpen) this.link.close(code, reason);
  }

  known(principal: Principal, version: string | undefined): void {
    if (!this.#isKnown && this.#prove?.(principal) === false) {
      this.close(CLOSE.overloaded, 'too many connections are open');
      return;
    }
    this.#isKnown = true;
    // Clients that send their version answer pings.
    this.#answersPings ||= version !== undefined;
  }

  mayTry(): boolean {
    this.#tokens += 1;
    if (this.#isKnown || this.#tokens <= LIMITS.preAuthMessagesMax) return true;
    this.close(CLOSE.refused, 'too many tokens that open nothing');
    return false;
  }

  holdBack(bytes: number): boolean {
    this.#waitingBytes += bytes + WAITING_MESSAGE_BYTES;
    this.#waitingMessages += 1;
    if (this.#isKnown) {
      if (this.#waitingBytes <= OPENING_BYTES_MAX) return true;
      this.close(CLOSE.overloaded, 'more than may wait until a document is open');
    } else {
      if (this.#waitingBytes <= LIMITS.preAuthBytesMax && this.#waitingMessages <= LIMITS.preAuthMessagesMax) return true;
      this.close(CLOSE.refused, 'more than may wait until it is known who is there');
    }
    return false;
  }

  letGo(bytes: number, messages: number): void {
    this.#waitingBytes -= bytes + messages * WAITING_MESSAGE_BYTES;
    this.#waitingMessages -= messages;
  }

  keepAlive(): void {
    if (!this.link.isOpen || this.link.bufferedBytes > 0) return;
    const [address] = this.#documents.keys();
    // Every provider accepts an empty awareness message under an address that it knows; only those that sent their version accept a bare ping.
    if (address !== undefined) this.link.send(frameKeepAlive(address));
    else if (this.#answersPings) this.link.send(framePing());
  }

  skipped(): void {
    for (const document of this.#documents.values()) document.skipped();
  }

  drained(): void {
    const unsent = this.#unsent;
    this.#unsent = [];
    for (const frame of unsent) this.send(frame);
    for (const document of this.#documents.values()) document.drained();
  }

  closed(): void {
    this.#deadline.cancel();
    this.#onClosed();
    for (const document of this.#documents.values()) document.end();
    this.#documents.clear();
    this.#unsent = [];
  }

  /** Undefined where the connection already has its maximum of documents. */
  #meet(address: string, name: string): DocumentSession | undefined {
    if (this.#documents.size >= LIMITS.documentsPerSocketMax) return undefined;
    const session = new DocumentSession(this, address, name);
    this.#documents.set(address, session);
    return session;
  }

  /** Sends no answer, because the client has dropped the address or reused it already. */
  #closeDocument(address: string): void {
    this.#documents.get(address)?.end();
    this.#documents.delete(address);
  }
}
