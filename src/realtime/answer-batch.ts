/** One commit acknowledges several updates of one connection: their answers leave in one write. */
import type { Link } from '../edge/socket.ts';

export class AnswerBatch {
  readonly #link: Pick<Link, 'together'>;
  readonly #send: (frame: Uint8Array) => void;
  #frames: Uint8Array[] = [];

  constructor(link: Pick<Link, 'together'>, send: (frame: Uint8Array) => void) {
    this.#link = link;
    this.#send = send;
  }

  /** Leaves once everything that is settled in this turn has answered. */
  add(frame: Uint8Array): void {
    this.#frames.push(frame);
    if (this.#frames.length === 1) queueMicrotask(() => this.#leave());
  }

  #leave(): void {
    const frames = this.#frames;
    this.#frames = [];
    this.#link.together(() => {
      for (const frame of frames) this.#send(frame);
    });
  }
}
