/** A link that falls silent when this node's lease is over: the owner of the artifact may be another by then, and has told others other things. */
import type { Link, SendOutcome, SocketCall, SocketProtocol, SocketSession } from '../edge/socket.ts';

/** `mayAnswer`: see `ActorRuntime.mayAnswer`. The end of the lease closes the link a moment later. */
export function leased(protocol: SocketProtocol, mayAnswer: () => boolean): SocketProtocol {
  return {
    messageBytesMax: protocol.messageBytesMax,
    highWaterBytes: protocol.highWaterBytes,
    admit: (call: SocketCall) => protocol.admit?.(call),
    open: (link: Link, call: SocketCall): SocketSession => protocol.open(new LeasedLink(link, mayAnswer), call),
  };
}

class LeasedLink implements Link {
  readonly #link: Link;
  readonly #mayAnswer: () => boolean;

  constructor(link: Link, mayAnswer: () => boolean) {
    this.#link = link;
    this.#mayAnswer = mayAnswer;
  }

  get isOpen(): boolean {
    return this.#link.isOpen;
  }

  get bufferedBytes(): number {
    return this.#link.bufferedBytes;
  }

  send(frame: Uint8Array | string): SendOutcome {
    return this.#mayAnswer() ? this.#link.send(frame) : 'skipped';
  }

  together(sending: () => void): void {
    this.#link.together(sending);
  }

  subscribe(topic: string): void {
    this.#link.subscribe(topic);
  }

  unsubscribe(topic: string): void {
    this.#link.unsubscribe(topic);
  }

  publish(topic: string, frame: Uint8Array | string): void {
    if (this.#mayAnswer()) this.#link.publish(topic, frame);
  }

  broadcast(topic: string, frame: Uint8Array | string): void {
    if (this.#mayAnswer()) this.#link.broadcast(topic, frame);
  }

  close(code: number, reason: string): void {
    this.#link.close(code, reason);
  }
}
