/**
 * Bounds the memory of bytes in flight to slow peers, because documents may be large and many peers may need one at once. Each network,
 * credential and artifact has a share. Who has to wait gets its turn by artifact, the one with the least in flight first, and at one artifact
 * callers with a credential before those without.
 */
import type { Clock } from '../../actors/runtime/ports.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { type Holders, type Refusals, type ShareBounds, Shares } from '../platform/shares.ts';

/** Smaller frames are always sent; the number of connections bounds them. */
const SMALL_BYTES = 256 * 1024;
/** How often charges follow what has left, and those that wait for too long are looked for. */
const SWEEP_MS = 1000;
/** Two receivers that had to wait make their differences in different turns of the event loop, because each may take milliseconds. */
const NEXT_TURN_MS = 1;

const BOUNDS: ShareBounds = {
  total: LIMITS.outflowBytesMax,
  network: LIMITS.outflowBytesPerCallerMax,
  caller: LIMITS.outflowBytesPerCallerMax,
  artifact: LIMITS.outflowBytesPerArtifactMax,
};

/** A receiver of large frames. */
export interface Receiver {
  readonly holders: Holders;
  /** Bytes that it has not taken, of this frame and others. */
  readonly unreadBytes: number;
  /** Called when there is room: try again. */
  roomAgain(): void;
  /** Called when it has waited for too long. It has to close. */
  waitedTooLong(): void;
}

export interface OutflowDeps {
  readonly clock: Clock;
  readonly refusals: Refusals;
  readonly bounds?: ShareBounds;
}

interface Waiting {
  readonly charge: number;
  readonly sinceMs: number;
}

export class Outflow {
  readonly #clock: Clock;
  readonly #refusals: Refusals;
  readonly #shares: Shares;
  /** The most that one receiver is charged, so that a document of any size can be sent where nothing else of its holders is in flight. */
  readonly #chargeMax: number;
  /** The charge of each receiver. */
  readonly #flowing = new Map<Receiver, number>();
  readonly #waiting = new Map<Receiver, Waiting>();
  #isSweeping = false;
  #isTurning = false;
  /** Whose turn it is now. */
  #turnOf: Receiver | undefined;

  constructor({ clock, refusals, bounds = BOUNDS }: OutflowDeps) {
    this.#clock = clock;
    this.#refusals = refusals;
    this.#shares = new Shares(bounds);
    this.#chargeMax = Math.min(bounds.total, bounds.network, bounds.caller, bounds.artifact);
  }

  get bytes(): number {
    return this.#shares.total;
  }

  /** Receivers that wait for room. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether so many bytes may be sent now; if not, `roomAgain` or `waitedTooLong` follows. */
  admits(receiver: Receiver, bytes: number): boolean {
    if (bytes < SMALL_BYTES) return true;
    const charge = this.#chargeOf(receiver, bytes);
    const isFirst = this.#turnOf === receiver || !this.#isBehindOthers(receiver);
    if (isFirst && this.#shares.exhausted(charge, receiver.holders) === undefined) return true;
    this.#waiting.set(receiver, { charge, sinceMs: this.#waiting.get(receiver)?.sinceMs ?? this.#clock.monotonicMs() });
    this.#startSweeping();
    return false;
  }

  /** Counts bytes as in flight until `arrived`. */
  flowing(receiver: Receiver, bytes: number): void {
    if (bytes < SMALL_BYTES) return;
    const charge = this.#chargeOf(receiver, Math.min(bytes, receiver.unreadBytes));
    this.#shares.takeAnyway(charge, receiver.holders);
    this.#flowing.set(receiver, (this.#flowing.get(receiver) ?? 0) + charge);
    this.#startSweeping();
  }

  /** Nothing is in flight to this receiver any more, or it has gone. */
  arrived(receiver: Receiver): void {
    this.#waiting.delete(receiver);
    const charge = this.#flowing.get(receiver);
    if (charge === undefined) return;
    this.#flowing.delete(receiver);
    this.#shares.give(charge, receiver.holders);
    this.#giveTurns();
  }

  /** What it is charged already counts towards the most that it may be charged. */
  #chargeOf(receiver: Receiver, bytes: number): number {
    return Math.max(0, Math.min(bytes, this.#chargeMax - (this.#flowing.get(receiver) ?? 0)));
  }

  /** Others wait for room that this one would take: for the whole, or for the share of its artifact. */
  #isBehindOthers(receiver: Receiver): boolean {
    for (const [other, { charge }] of this.#waiting) {
      if (other === receiver) continue;
      const { artifact } = other.holders;
      const exhausted = this.#shares.exhausted(charge, other.holders);
      if (exhausted === 'total' || (exhausted === 'artifact' && artifact === receiver.holders.artifact)) return true;
    }
    return false;
  }

  #giveTurns(): void {
    if (this.#isTurning || this.#waiting.size === 0) return;
    this.#isTurning = true;
    this.#clock.after(NEXT_TURN_MS, () => {
      this.#isTurning = false;
      const next = this.#next();
      if (next === undefined) return;
      const waited = this.#waiting.get(next);
      this.#waiting.delete(next);
      this.#turnOf = next;
      next.roomAgain();
      this.#turnOf = undefined;
      // Its difference has grown and has to wait again, from when it began to.
      const again = this.#waiting.get(next);
      if (again !== undefined && waited !== undefined) this.#waiting.set(next, { ...again, sinceMs: waited.sinceMs });
      this.#giveTurns();
    });
  }

  /** The receiver whose turn it is. Undefined while there is no room for it, so that smaller ones do not take the room that it waits for. */
  #next(): Receiver | undefined {
    let next: Receiver | undefined;
    let hasRoom = false;
    for (const [receiver, { charge }] of this.#waiting) {
      const exhausted = this.#shares.exhausted(charge, receiver.holders);
      // Whoever waits for a share of its own keeps nobody else waiting.
      if (exhausted !== undefined && exhausted !== 'total') continue;
      if (next !== undefined && this.#order(receiver, next) >= 0) continue;
      next = receiver;
      hasRoom = exhausted === undefined;
    }
    return hasRoom ? next : undefined;
  }

  /** Negative where the first comes before the second, 0 where the one that has waited longer does. */
  #order({ holders: a }: Receiver, { holders: b }: Receiver): number {
    const held = (kind: 'artifact' | 'network', of: Holders) => this.#shares.held(kind, of[kind] ?? '');
    const byArtifact = held('artifact', a) - held('artifact', b);
    if (byArtifact !== 0) return byArtifact;
    // At one artifact, people with a credential do not wait for any number of visitors without one.
    const byCredential = Number(a.caller === undefined) - Number(b.caller === undefined);
    return byCredential === 0 ? held('network', a) - held('network', b) : byCredential;
  }

  #startSweeping(): void {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    this.#clock.after(SWEEP_MS, () => this.#sweep());
  }

  #sweep(): void {
    this.#isSweeping = false;
    for (const [receiver, charge] of this.#flowing) {
      const left = Math.min(charge, receiver.unreadBytes);
      this.#shares.give(charge - left, receiver.holders);
      this.#flowing.set(receiver, left);
    }
    this.#giveTurns();
    const oldestMs = this.#clock.monotonicMs() - LIMITS.outflowWaitMs;
    for (const [receiver, { charge, sinceMs }] of [...this.#waiting]) {
      if (sinceMs > oldestMs || !this.#waiting.delete(receiver)) continue;
      this.#refusals.refused('outflow', this.#shares.exhausted(charge, receiver.holders) ?? 'total');
      receiver.waitedTooLong();
    }
    if (this.#flowing.size + this.#waiting.size > 0) this.#startSweeping();
  }
}
