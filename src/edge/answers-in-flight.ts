/** Bounds the bytes of answers that wait for their readers, and disconnects readers who take too little. */
import type { Clock } from '../../actors/runtime/ports.ts';
import { Failure } from '../../protocol/core/errors.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { type Exhausted, type Holders, type Refusals, type ShareBounds, Shares } from '../platform/shares.ts';
import { networkOf } from './address.ts';

/** An answer of at least this many bytes needs room before its head is written; a smaller one only where its reader does not take it at once. */
export const LARGE_BYTES = 64 * 1024;
/** What a waiting answer costs besides its bytes: the connection and its request. It bounds how many wait for one holder. */
const CONNECTION_BYTES = 16 * 1024;
const SWEEP_MS = 1000;
const RETRY_AFTER_S = 5;
const RESOURCE = 'answers';

const BOUNDS: ShareBounds = {
  total: LIMITS.answersBytesMax,
  network: LIMITS.answersBytesPerCallerMax,
  caller: LIMITS.answersBytesPerCallerMax,
  artifact: LIMITS.answersBytesPerArtifactMax,
};

/** The request that an answer is for. */
export interface Receiver {
  readonly address: string;
  readonly caller: string | undefined;
  readonly artifact: string | undefined;
  /** Closes its connection. */
  drop(): void;
}

export interface AnswersDeps {
  readonly clock: Clock;
  readonly refusals: Refusals;
  readonly bounds?: ShareBounds;
}

/** One buffer that several answers send: a file of a page in the cache. */
interface Common {
  readonly bytes: number;
  /** Of the first one to send it. */
  readonly holders: Holders;
  senders: number;
}

export class AnswersInFlight {
  readonly #shares: Shares;
  readonly #refusals: Refusals;
  readonly #clock: Clock;
  /** The most that one answer is charged, so that a larger one can still be sent to a holder with nothing else in flight. */
  readonly #chargeMax: number;
  readonly #waiting = new Set<WaitingAnswer>();
  readonly #common = new Map<ArrayBufferLike, Common>();
  #isSweeping = false;

  constructor({ clock, refusals, bounds = BOUNDS }: AnswersDeps) {
    this.#shares = new Shares(bounds);
    this.#clock = clock;
    this.#refusals = refusals;
    this.#chargeMax = Math.min(bounds.total, bounds.network, bounds.caller, bounds.artifact);
  }

  /** Bytes charged for answers in flight. */
  get bytes(): number {
    return this.#shares.total;
  }

  /** Answers whose readers have not taken everything. */
  get count(): number {
    return this.#waiting.size;
  }

  /**
   * Throws UNAVAILABLE where this caller or its network leaves so much unread that a large answer would be refused, before work is spent on
   * one. An artifact's share does not count here: small answers about it are still served to everybody else.
   */
  requireRoom(receiver: Receiver): void {
    if (this.#shares.total < this.#chargeMax) return;
    const exhausted = this.#shares.exhausted(LARGE_BYTES, { network: networkOf(receiver.address), caller: receiver.caller });
    if (exhausted === 'network' || exhausted === 'caller') throw this.#refusal(exhausted);
  }

  /** Room for an answer of so many bytes. Throws UNAVAILABLE where there is none. `common`: the buffer is shared and outlives the answer. */
  admit(receiver: Receiver, bytes: number, common?: ArrayBufferLike): WaitingAnswer {
    const holders = holdersOf(receiver);
    const charge = common === undefined ? this.#chargeOf(bytes) : CONNECTION_BYTES;
    const exhausted = this.#shares.take(charge, holders);
    if (exhausted !== undefined) throw this.#refusal(exhausted);
    if (common !== undefined) {
      const refused = this.#sendCommon(common, holders);
      if (refused !== undefined) {
        this.#shares.give(charge, holders);
        throw this.#refusal(refused);
      }
    }
    return new WaitingAnswer(this, receiver, { holders, bytes, charge, common });
  }

  /** The same for an answer that is made while it is sent: it is charged for what its reader leaves waiting, while it does. */
  admitStream(receiver: Receiver): WaitingAnswer {
    const holders = holdersOf(receiver);
    const exhausted = this.#shares.exhausted(LARGE_BYTES, holders);
    if (exhausted !== undefined) throw this.#refusal(exhausted);
    return new WaitingAnswer(this, receiver, { holders, bytes: 0, charge: 0, common: undefined });
  }

  /** The same for the answer to a call that has changed something, which is always sent. Beyond its shares it makes the next call wait. */
  admitAnyway(receiver: Receiver, bytes: number): WaitingAnswer {
    const holders = holdersOf(receiver);
    const charge = this.#chargeOf(bytes);
    this.#shares.takeAnyway(charge, holders);
    return new WaitingAnswer(this, receiver, { holders, bytes, charge, common: undefined });
  }

  /** Adjusts the charge of an answer of which so many bytes are left. False where it has grown and there is no room for that. */
  recharge(answer: WaitingAnswer, bytes: number): boolean {
    const charge = this.#chargeOf(bytes);
    if (charge <= answer.charge) {
      this.#shares.give(answer.charge - charge, answer.holders);
      answer.charge = charge;
      return true;
    }
    const exhausted = this.#shares.take(charge - answer.charge, answer.holders);
    if (exhausted !== undefined) {
      this.#refusals.refused(RESOURCE, exhausted);
      return false;
    }
    answer.charge = charge;
    return true;
  }

  /** Begins to watch how fast it leaves. */
  watch(answer: WaitingAnswer): void {
    answer.windowEndsMs = this.#clock.monotonicMs() + LIMITS.answerWindowMs;
    if (this.#waiting.has(answer)) return;
    this.#waiting.add(answer);
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    this.#clock.after(SWEEP_MS, () => this.#sweep());
  }

  over(answer: WaitingAnswer): void {
    this.#waiting.delete(answer);
    this.#shares.give(answer.charge, answer.holders);
    answer.charge = 0;
    const { common } = answer;
    const sent = common === undefined ? undefined : this.#common.get(common);
    if (common === undefined || sent === undefined) return;
    sent.senders -= 1;
    if (sent.senders > 0) return;
    this.#common.delete(common);
    this.#shares.give(sent.bytes, sent.holders);
  }

  /** The buffer is charged once, to the first who sends it. */
  #sendCommon(common: ArrayBufferLike, holders: Holders): Exhausted | undefined {
    const sent = this.#common.get(common);
    if (sent !== undefined) {
      sent.senders += 1;
      return undefined;
    }
    const bytes = Math.min(common.byteLength, this.#chargeMax - CONNECTION_BYTES);
    const exhausted = this.#shares.take(bytes, holders);
    if (exhausted === undefined) this.#common.set(common, { bytes, holders, senders: 1 });
    return exhausted;
  }

  #chargeOf(bytes: number): number {
    return bytes === 0 ? 0 : Math.min(this.#chargeMax, CONNECTION_BYTES + bytes);
  }

  #refusal(exhausted: Exhausted): Failure {
    this.#refusals.refused(RESOURCE, exhausted);
    return new Failure('UNAVAILABLE', {
      message: MESSAGES[exhausted],
      hint: 'Read the open answers to their end.',
      retryAfterS: RETRY_AFTER_S,
    });
  }

  #sweep(): void {
    this.#isSweeping = false;
    const nowMs = this.#clock.monotonicMs();
    for (const answer of [...this.#waiting]) answer.check(nowMs);
    if (this.#waiting.size === 0) return;
    this.#isSweeping = true;
    this.#clock.after(SWEEP_MS, () => this.#sweep());
  }
}

const MESSAGES: Readonly<Record<Exhausted, string>> = {
  total: 'Too many bytes of answers wait for their readers.',
  network: 'Too many bytes of answers wait for readers in this network.',
  caller: 'Too many bytes of answers wait for readers with this credential.',
  artifact: 'Too many bytes of answers about this artifact wait for their readers.',
};

interface Charged {
  readonly holders: Holders;
  readonly bytes: number;
  readonly charge: number;
  readonly common: ArrayBufferLike | undefined;
}

/** An answer from the moment at which it has room until its reader has taken it or has gone. */
export class WaitingAnswer {
  readonly holders: Holders;
  readonly common: ArrayBufferLike | undefined;
  /** What it holds of the shares. */
  charge: number;
  windowEndsMs = Number.POSITIVE_INFINITY;
  readonly #answers: AnswersInFlight;
  readonly #receiver: Receiver;
  #leftBytes: number;
  /** Taken by the reader in this window. */
  #takenBytes = 0;
  #isOver = false;

  constructor(answers: AnswersInFlight, receiver: Receiver, { holders, bytes, charge, common }: Charged) {
    this.#answers = answers;
    this.#receiver = receiver;
    this.holders = holders;
    this.charge = charge;
    this.common = common;
    this.#leftBytes = bytes;
  }

  /** The reader has not taken everything, and from now on it has to take the rest fast enough. */
  waits(leftBytes: number, keptBytes: number): void {
    this.left(leftBytes, keptBytes);
    this.#takenBytes = 0;
    if (!this.#isOver) this.#answers.watch(this);
  }

  /** So many bytes are left: fewer than before, because the reader has taken some. `keptBytes` are still in memory for them. */
  left(leftBytes: number, keptBytes: number): void {
    if (this.#isOver) return;
    this.#takenBytes += this.#leftBytes - leftBytes;
    this.#leftBytes = leftBytes;
    if (this.common === undefined) this.#answers.recharge(this, keptBytes);
  }

  /** More bytes wait, in an answer that is made while it is sent. False where there is no room for them. */
  grows(bytes: number): boolean {
    if (this.#isOver) return false;
    if (!this.#answers.recharge(this, this.#leftBytes + bytes)) return false;
    if (this.#leftBytes === 0) {
      this.#takenBytes = 0;
      this.#answers.watch(this);
    }
    this.#leftBytes += bytes;
    return true;
  }

  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#answers.over(this);
  }

  check(nowMs: number): void {
    if (this.#leftBytes === 0 || nowMs < this.windowEndsMs) return;
    const wasTaken = this.#takenBytes;
    this.#takenBytes = 0;
    this.#answers.watch(this);
    if (wasTaken < LIMITS.answerBytesPerWindowMin) this.#receiver.drop();
  }
}

function holdersOf({ address, caller, artifact }: Receiver): Holders {
  return { network: networkOf(address), caller, artifact };
}
