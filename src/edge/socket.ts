/** What a protocol spoken over WebSockets sees of the edge. Only `src/edge` touches uWebSockets' own socket. */
import type { ArtifactHead, Principal } from '../../actors/access.ts';

/** `queued`: it will leave as the socket drains, and `drained` follows. `skipped`: the peer is beyond its high-water mark and does not get it. */
export type SendOutcome = 'sent' | 'queued' | 'skipped';

export interface Link {
  readonly isOpen: boolean;
  /** Bytes that wait for the peer. */
  readonly bufferedBytes: number;
  /** A Uint8Array goes as a binary frame, a string as a text frame. */
  send(frame: Uint8Array | string): SendOutcome;
  /** What `sending` sends leaves in one write. */
  together(sending: () => void): void;
  subscribe(topic: string): void;
  unsubscribe(topic: string): void;
  /** To every other link that has subscribed to the topic. */
  publish(topic: string, frame: Uint8Array | string): void;
  /** The same, and to this one too where it has subscribed. */
  broadcast(topic: string, frame: Uint8Array | string): void;
  /** What was sent before leaves first. Codes: `protocol/close-codes.ts`. */
  close(code: number, reason: string): void;
}

/** One connection as its protocol has it. None of these may throw. */
export interface SocketSession {
  /** `data` is borrowed: copy what is kept beyond this turn. */
  message(data: ArrayBuffer, isBinary: boolean): void;
  /** What was queued has left. */
  drained(): void;
  /** A published frame was left out because the peer is beyond its high-water mark. */
  skipped(): void;
  /** Called once, whoever closed it. */
  closed(): void;
}

/** An upgrade that was admitted. */
export interface SocketCall {
  readonly requestId: string;
  readonly principal: Principal;
  /** Decided for the endpoint's `need`; undefined only where the protocol authorises by its own frames. */
  readonly head: ArtifactHead | undefined;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly host: string;
  readonly address: string;
}

export interface SocketProtocol {
  /** A longer message closes the connection. */
  readonly messageBytesMax: number;
  /** Bytes that may wait for a peer; what is published beyond is skipped for it. */
  readonly highWaterBytes: number;
  /** Last before the upgrade, while a refusal can still be answered: throws or rejects with a Failure. */
  admit?(call: SocketCall): void | Promise<void>;
  open(link: Link, call: SocketCall): SocketSession;
}
