/** Collects the acknowledgements of one commit for one connection, so that they leave in one write. */
import type { Link } from '../edge/socket.ts';

export class AnswerBatch {
  readonly #link: Pick<Link, 'together'>;
  readonly #send: (frame: Uint8Array) => void;
  #frames: Uint8Array[] = [];

  constructor(link: Pick<Link, 'together'>, send: (frame: Uint8Array) => void) {
    this.#link = link;
    this.#send = send;
  }

  /** Sends the batch after all promises that settle in this turn have added their answers. */
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
