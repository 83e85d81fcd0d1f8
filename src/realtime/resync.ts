/** Asks a member for what its updates build on and the document lacks: it sends its whole difference, which holds those updates too. */
import type { Clock, Timer } from '../../actors/runtime/ports.ts';
import { Failure } from '../../protocol/core/errors.ts';
import { TokenBucket } from './channels/buckets.ts';

/** A member that does not answer in this time is refused, which closes its connection; its provider then syncs from the start. */
const ANSWER_DEADLINE_MS = 10_000;
/** Updates that may wait for one answer. */
const GAPPED_MAX = 1000;
/** A member with a gap after each answer does not send what it has. */
const REQUESTS_PER_SECOND = 0.1;
const REQUESTS_BURST = 5;

interface Open {
  /** The number of the request. */
  readonly request: number;
  readonly answer: Promise<boolean>;
  readonly deadline: Timer;
  resolve(isNew: boolean | Promise<boolean>): void;
  reject(error: unknown): void;
  waiting: number;
}

export class Resync {
  readonly #clock: Clock;
  /** Sends a SyncStep1; false where the link has no room for it. */
  readonly #send: () => boolean;
  readonly #bucket: TokenBucket;
  /** SyncStep1 sent to the member, and SyncStep2 received. Members answer in order. */
  #requests = 0;
  #answers = 0;
  #open: Open | undefined;

  constructor(clock: Clock, send: () => boolean) {
    this.#clock = clock;
    this.#send = send;
    this.#bucket = new TokenBucket(clock, REQUESTS_PER_SECOND, REQUESTS_BURST);
  }

  /** A SyncStep1 was sent. */
  sent(): void {
    this.#requests += 1;
  }

  /** A SyncStep2 has come. Answers whether it is the answer to the open request. */
  answered(): boolean {
    this.#answers += 1;
    this.#requests = Math.max(this.#requests, this.#answers);
    return this.#open !== undefined && this.#answers >= this.#open.request;
  }

  /** Settles once the answer of the member is stored. Rejects UNAVAILABLE where none comes, or too many updates had gaps. */
  missing(): Promise<boolean> {
    this.#open ??= this.#ask();
    const open = this.#open;
    if (open === undefined) return Promise.reject(unresolved());
    open.waiting += 1;
    if (open.waiting > GAPPED_MAX) this.fail(unresolved());
    return open.answer;
  }

  /** Asks without anybody waiting. */
  again(): void {
    this.#open ??= this.#ask();
  }

  /** The answer to the open request was applied; `outcome` settles with its commit. */
  settle(outcome: boolean | Promise<boolean>): void {
    this.#close()?.resolve(outcome);
  }

  fail(error: unknown): void {
    this.#close()?.reject(error);
  }

  stop(): void {
    this.#close();
  }

  #ask(): Open | undefined {
    if (!this.#bucket.take() || !this.#send()) return undefined;
    let resolve: Open['resolve'] = () => undefined;
    let reject: Open['reject'] = () => undefined;
    const answer = new Promise<boolean>((resolved, rejected) => {
      resolve = resolved;
      reject = rejected;
    });
    // Nobody may be waiting.
    answer.catch(() => undefined);
    const deadline = this.#clock.after(ANSWER_DEADLINE_MS, () => this.fail(unresolved()));
    return { request: this.#requests, answer, deadline, resolve, reject, waiting: 0 };
  }

  #close(): Open | undefined {
    const open = this.#open;
    this.#open = undefined;
    open?.deadline.cancel();
    return open;
  }
}

function unresolved(): Failure {
  return new Failure('UNAVAILABLE', { message: 'Changes build on others that did not come.', retryAfterS: 1 });
}
