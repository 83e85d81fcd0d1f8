/** One call that is forwarded: the ways of its request and of its answer over a connection that many calls share. */

/** What one side hears of a stream. None may throw. `data` is a view of received memory. */
export interface StreamEvents {
  /** The head of the answer; only the side that opened the stream hears it. */
  head?(payload: Buffer): void;
  data(payload: Buffer): void;
  end(): void;
  /** Bytes that did not fit can be sent now. */
  writable(): void;
  /** The other side has given the call up, or the connection is lost. Nothing follows. */
  reset(): void;
}

export interface PeerStream {
  events: StreamEvents;
  readonly isOpen: boolean;
  /** Bytes that may be sent now; more is an error of the caller. */
  readonly room: number;
  head(payload: Buffer): void;
  data(payload: Uint8Array): void;
  /** Nothing more comes from this side. When both have ended the stream is over. */
  end(): void;
  /** Gives the call up. Without effect on a stream that is over. */
  reset(): void;
  /** So many received bytes have been passed on, and as many more may come. */
  took(bytes: number): void;
}
