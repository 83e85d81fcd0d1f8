/**
 * Bounds what the answers to SyncStep1 and QueryAwareness cost. Ten bytes ask for a whole document, so a member, its connection, its network
 * and its artifact have a budget each. What is asked beyond it is not refused: only the newest request of a member is answered, after a pause.
 */
import type { Clock, Timer } from '../../actors/runtime/ports.ts';
import { CLOSE } from '../../protocol/core/close-codes.ts';
import type { Link } from '../edge/socket.ts';

/** Per second and at once, in units of 2 ms of the event loop or 1 MB of answers. */
const CONNECTION = { perSecond: 4, burst: 120 } as const;
const NETWORK = { perSecond: 100, burst: 500 } as const;
const ARTIFACT = { perSecond: 200, burst: 1000 } as const;
/** Answers of one member. Providers ask once for each connection, and some again at intervals of their own. */
const MEMBER = { perSecond: 1, burst: 4 } as const;
const LEAST_COST = 0.05;
const MS_A_UNIT = 2;
const BYTES_A_UNIT = 1024 * 1024;
/** A request over a budget is answered after this at the earliest, with all that come meanwhile. */
const PAUSE_MS = 200;
/** Requests of one member that wait together. With more its connection is closed, and a provider begins again. */
const REPEATS_MAX = 1000;

interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** May go into debt, because what an answer costs is known only afterwards. */
class Budget {
  readonly #rate: Rate;
  #left: number;
  #atMs: number;

  constructor(rate: Rate, nowMs: number) {
    this.#rate = rate;
    this.#left = rate.burst;
    this.#atMs = nowMs;
  }

  /** 0 where something may be spent now. */
  waitMs(nowMs: number): number {
    this.#refill(nowMs);
    return this.#left > 0 ? 0 : (-this.#left / this.#rate.perSecond) * 1000 + 1;
  }

  spend(cost: number): void {
    this.#left -= cost;
  }

  isFull(nowMs: number): boolean {
    this.#refill(nowMs);
    return this.#left === this.#rate.burst;
  }

  #refill(nowMs: number): void {
    this.#left = Math.min(this.#rate.burst, this.#left + ((nowMs - this.#atMs) / 1000) * this.#rate.perSecond);
    this.#atMs = nowMs;
  }
}

export interface Asker {
  readonly link: Link;
  readonly network: string | undefined;
  readonly artifactId: string;
}

/** The budgets that members share, of one process. */
export class SyncBudgets {
  readonly clock: Clock;
  readonly #connections = new WeakMap<Link, Budget>();
  readonly #networks = new Map<string, Budget>();
  readonly #artifacts = new Map<string, Budget>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  waitMs(asker: Asker): number {
    const nowMs = this.clock.monotonicMs();
    return Math.max(...this.#of(asker, nowMs).map((budget) => budget.waitMs(nowMs)));
  }

  spend(asker: Asker, bytes: number, ms: number): void {
    const cost = LEAST_COST + ms / MS_A_UNIT + bytes / BYTES_A_UNIT;
    for (const budget of this.#of(asker, this.clock.monotonicMs())) budget.spend(cost);
  }

  member(): Budget {
    return new Budget(MEMBER, this.clock.monotonicMs());
  }

  /** Called every few seconds: forgets budgets of which nothing is spent. */
  sweep(): void {
    const nowMs = this.clock.monotonicMs();
    for (const budgets of [this.#networks, this.#artifacts]) {
      for (const [name, budget] of budgets) if (budget.isFull(nowMs)) budgets.delete(name);
    }
  }

  #of({ link, network, artifactId }: Asker, nowMs: number): readonly Budget[] {
    const connection = this.#connections.get(link) ?? new Budget(CONNECTION, nowMs);
    this.#connections.set(link, connection);
    const budgets = [connection, named(this.#artifacts, artifactId, ARTIFACT, nowMs)];
    if (network !== undefined) budgets.push(named(this.#networks, network, NETWORK, nowMs));
    return budgets;
  }
}

function named(budgets: Map<string, Budget>, name: string, rate: Rate, nowMs: number): Budget {
  const budget = budgets.get(name) ?? new Budget(rate, nowMs);
  budgets.set(name, budget);
  return budget;
}

/** What a member asks for. */
export interface SyncRequest {
  /** What it lacks beyond this state. */
  readonly stateVector?: Uint8Array;
  /** Called before the answer. */
  readonly before?: (() => void) | undefined;
  /** The awareness states of all. */
  readonly awareness?: boolean;
}

/** The requests of one member. */
export class SyncRequests {
  readonly #budgets: SyncBudgets;
  readonly #asker: Asker;
  readonly #own: Budget;
  readonly #answer: (request: SyncRequest) => number;
  #waiting: SyncRequest | undefined;
  #repeats = 0;
  #timer: Timer | undefined;

  /** `answer` sends what was asked for and tells its bytes. */
  constructor(budgets: SyncBudgets, asker: Asker, answer: (request: SyncRequest) => number) {
    this.#budgets = budgets;
    this.#asker = asker;
    this.#own = budgets.member();
    this.#answer = answer;
  }

  ask(request: SyncRequest): void {
    const waitMs = this.#timer === undefined ? this.#waitMs() : PAUSE_MS;
    if (waitMs === 0) {
      this.#perform(request);
      return;
    }
    this.#repeats += 1;
    if (this.#repeats > REPEATS_MAX) {
      this.stop();
      this.#asker.link.close(CLOSE.overloaded, 'The document is asked for too often.');
      return;
    }
    // The frame of a request shares its memory with others, and this may wait.
    const { stateVector } = request;
    this.#waiting = { ...this.#waiting, ...request, ...(stateVector !== undefined && { stateVector: stateVector.slice() }) };
    this.#pause(waitMs);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#waiting = undefined;
  }

  #pause(waitMs: number): void {
    this.#timer ??= this.#budgets.clock.after(Math.max(PAUSE_MS, waitMs), () => {
      this.#timer = undefined;
      const stillMs = this.#waitMs();
      if (stillMs > 0) this.#pause(stillMs);
      else this.#performWaiting();
    });
  }

  #performWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#repeats = 0;
    if (waiting !== undefined) this.#perform(waiting);
  }

  #waitMs(): number {
    const { clock } = this.#budgets;
    return Math.max(this.#own.waitMs(clock.monotonicMs()), this.#budgets.waitMs(this.#asker));
  }

  #perform(request: SyncRequest): void {
    const { clock } = this.#budgets;
    const startedMs = clock.monotonicMs();
    const bytes = this.#answer(request);
    this.#own.spend(1);
    this.#budgets.spend(this.#asker, bytes, clock.monotonicMs() - startedMs);
  }
}
