/** An upgrade that another node has sent here, until it is decided. */
import type { HttpResponse } from 'uWebSockets.js';
import { CarriedResponse } from '../carried-call.ts';
import type { RequestHead } from '../heads.ts';
import type { PeerStream } from '../peer-stream.ts';

/** The way back of an upgrade until it is decided: an answer other than an upgrade is short. */
export class Asking implements PeerStream {
  events: PeerStream['events'] = { data: () => undefined, end: () => undefined, writable: () => undefined, reset: () => undefined };
  readonly room = 0;
  readonly #answered: (head: Buffer | undefined) => void;
  #isOpen = true;

  constructor(answered: (head: Buffer | undefined) => void) {
    this.#answered = answered;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  response(head: RequestHead, upgraded: (data: object) => void): HttpResponse {
    return new CarriedUpgrade(this, head.address, (data) => {
      this.#isOpen = false;
      upgraded(data);
    }) as unknown as HttpResponse;
  }

  head(payload: Buffer): void {
    this.#answer(payload);
  }

  reset(): void {
    this.#answer(undefined);
  }

  // The answer is over with its head, and the request has no body.
  readonly data = (): void => undefined;
  readonly end = (): void => undefined;
  readonly took = (): void => undefined;

  #answer(head: Buffer | undefined): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#answered(head);
  }
}

class CarriedUpgrade extends CarriedResponse {
  readonly #upgraded: (data: object) => void;

  constructor(stream: PeerStream, address: string, upgraded: (data: object) => void) {
    super(stream, address, 0);
    this.#upgraded = upgraded;
  }

  upgrade(data: object): void {
    this.#upgraded(data);
  }
}
