/** Protocol B of wire.md: many documents on one socket, each of which says in a frame of its own who is there. */
import type { Principal } from '../../actors/access.ts';
import type { Timer } from '../../actors/ports.ts';
import { CLOSE, type CloseCode } from '../../protocol/close-codes.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Link, SocketCall, SocketProtocol, SocketSession } from '../edge/socket.ts';
import { AnswerBatch } from './answer-batch.ts';
import { type DocumentHost, DocumentSession, type HocuspocusDeps } from './hocuspocus-document.ts';
import { type AddressedMessage, frameDenied, frameKeepAlive, framePing, framePong, keptFrame, readAddressedMessage } from './wire.ts';

/** Clients give up a connection on which they have got nothing for 30 s. */
const KEEP_ALIVE_MS = 20_000;
/** Twice an update: one that is too large is refused and its sender stays; only what is larger still closes the connection. */
const MESSAGE_BYTES_MAX = 2 * LIMITS.updateBytesMax;
const HIGH_WATER_BYTES = 256 * 1024;
/** Frames that are no deltas (answers to what the peer sends) and wait for it to read. Beyond that it only talks. */
const UNSENT_FRAMES_MAX = 1000;
/** What may wait while documents are opened for somebody who may open them. */
const OPENING_BYTES_MAX = MESSAGE_BYTES_MAX;
/** What a message that waits weighs beside its bytes. */
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
  readonly caller: Principal;
  readonly artifactId: ArtifactId;
  readonly link: Link;
  readonly deps: HocuspocusDeps;
  readonly sessionId: string;
  readonly #onClosed: () => void;
  /** By their addresses. */
  readonly #documents = new Map<string, DocumentSession>();
  readonly #deadline: Timer;
  /** Answers that the link did not take, in their order. */
  #unsent: Uint8Array[] = [];
  readonly #statuses: AnswerBatch;
  #waitingBytes = 0;
  #waitingMessages = 0;
  #tokens = 0;
  #isKnown = false;
  #answersPings = false;

  constructor(link: Link, call: SocketCall, deps: HocuspocusDeps, onClosed: () => void) {
    this.link = link;
    this.caller = call.principal;
    this.deps = deps;
    this.artifactId = call.params.artifactId as ArtifactId;
    this.sessionId = deps.newSessionId();
    this.#isKnown = call.head !== undefined;
    this.#onClosed = onClosed;
    this.#statuses = new AnswerBatch(link, (frame) => this.send(frame));
    this.#deadline = deps.clock.after(LIMITS.preAuthDeadlineMs, () => {
      // Whoever has shown nothing of himself holds no connection; who may connect may be late to open a document.
      if (call.head === undefined && this.#documents.size === 0) this.close(CLOSE.timeout, 'nobody said who is there');
    });
  }

  message(data: ArrayBuffer, isBinary: boolean): void {
    if (!this.link.isOpen) return;
    if (!isBinary) {
      this.close(CLOSE.malformed, 'this protocol has binary frames only');
      return;
    }
    // Updates are kept, and the bytes are lent for this turn only.
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

  known(version: string | undefined): void {
    this.#isKnown = true;
    // A client that tells its version answers pings.
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
    // Every provider takes awareness of nobody, under any address that it knows; a bare ping only those that have told their version.
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

  /** Undefined where the connection has as many documents as it may have. */
  #meet(address: string, name: string): DocumentSession | undefined {
    if (this.#documents.size >= LIMITS.documentsPerSocketMax) return undefined;
    const session = new DocumentSession(this, address, name);
    this.#documents.set(address, session);
    return session;
  }

  /** Without an answer: the client has forgotten the address, or has it for a successor already. */
  #closeDocument(address: string): void {
    this.#documents.get(address)?.end();
    this.#documents.delete(address);
  }
}
