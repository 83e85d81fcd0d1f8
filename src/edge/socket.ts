/** The interface between the edge and the protocols over WebSockets. Only `src/edge` touches uWebSockets' own socket. */
import type { ArtifactHead, Principal } from '../../actors/access/access.ts';
import type { AccessEnd } from './open-access.ts';

/** `queued`: it leaves as the socket drains, and `drained` follows. `skipped`: it is dropped, because the peer is beyond its high-water mark. */
export type SendOutcome = 'sent' | 'queued' | 'skipped';

export interface Link {
  readonly isOpen: boolean;
  /** Bytes that the peer has not yet taken. */
  readonly bufferedBytes: number;
  /** Sends a Uint8Array as a binary frame, a string as a text frame. */
  send(frame: Uint8Array | string): SendOutcome;
  /** Sends everything that `sending` sends in one write. */
  together(sending: () => void): void;
  subscribe(topic: string): void;
  unsubscribe(topic: string): void;
  /** Sends to every other link that has subscribed to the topic. */
  publish(topic: string, frame: Uint8Array | string): void;
  /** Sends to every link that has subscribed to the topic, including this one. */
  broadcast(topic: string, frame: Uint8Array | string): void;
  /** Closes after everything sent before has left, or at once where the peer leaves a long backlog unread. Codes: `protocol/core/close-codes.ts`. */
  close(code: number, reason: string): void;
}

/** The protocol's side of one connection. None of these may throw. */
export interface SocketSession {
  /** `data` is borrowed: copy what outlives this turn. */
  message(data: ArrayBuffer, isBinary: boolean): void;
  /** All queued bytes have left. */
  drained(): void;
  /** A published frame was dropped because the peer is beyond its high-water mark. */
  skipped(): void;
  /** Called once, whichever side closed. */
  closed(): void;
  /** The access of the caller who opened the connection has ended. Without this method the connection is closed. */
  accessOver?(over: AccessEnd): void;
}

/** An upgrade that was admitted. */
export interface SocketCall {
  readonly requestId: string;
  /** As of now: read it again where it may have changed. */
  readonly principal: Principal;
  /** Decided for the endpoint's `need`; undefined only where the protocol authorises by its own frames. */
  readonly head: ArtifactHead | undefined;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly host: string;
  readonly address: string;
  /**
   * Tells that a caller has access whom the connection named only by its frames. False where no seat is left for callers with access; then
   * the protocol closes the connection. Without a head it keeps one of the few seats for callers who have yet to prove their access.
   */
  readonly prove?: (principal: Principal) => boolean;
}

export interface SocketProtocol {
  /** A longer message closes the connection. */
  readonly messageBytesMax: number;
  /** Bytes that may be queued for a peer; frames published beyond it are dropped for that peer. */
  readonly highWaterBytes: number;
  /** The last check before the upgrade, while a refusal can still be answered. Throws or rejects with a Failure. */
  admit?(call: SocketCall): void | Promise<void>;
  open(link: Link, call: SocketCall): SocketSession;
}
