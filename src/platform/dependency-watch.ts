/**
 * Watches what the service depends on. Probes run in the background and have a deadline, because a connection whose other end hangs reports no
 * error by itself. Time is real here, whatever time the service runs on: it is other programs that are late.
 */
import type { Clock, Log, Timer } from '../../actors/runtime/ports.ts';

const TICK_MS = 250;
/** From the end of one probe to the next. */
const PAUSE_TICKS = 4;
/**
 * A probe without an answer for so many ticks means that the dependency is down. Ticks are counted instead of time, so that a pause of this
 * process, in which no answer could be read, is not taken for one of the dependency.
 */
const DEADLINE_TICKS = 12;
/** Failed probes in a row that mean the same; a single one may be a connection that was closed. */
const FAILURES_MAX = 2;

export type DependencyName = 'database' | 'objects' | 'mail' | 'redis';

export type Health =
  | { readonly state: 'up' }
  /** Unix ms since when, and what the last probe got. */
  | { readonly state: 'down'; readonly sinceMs: number; readonly reason: string };

export interface Probe {
  readonly name: DependencyName;
  check(): Promise<unknown>;
  /** Ends what hangs on the dependency, so that it is tried on new connections. Called at each deadline. */
  cut?(): void;
  /** Calls that wait are answered while it is down. */
  readonly endsCalls: boolean;
}

const UP: Health = { state: 'up' };

class Watched {
  readonly probe: Probe;
  health: Health = UP;
  ticks = PAUSE_TICKS;
  failures = 0;
  isRunning = false;

  constructor(probe: Probe) {
    this.probe = probe;
  }
}

export interface DependencyWatchDeps {
  /** Real time. */
  readonly clock: Clock;
  readonly log: Log;
}

export class DependencyWatch {
  readonly #deps: DependencyWatchDeps;
  readonly #watched: readonly Watched[];
  #timer: Timer | undefined;
  #isStopped = false;
  #whileDown: (name: DependencyName) => void = () => undefined;

  constructor(probes: readonly Probe[], deps: DependencyWatchDeps) {
    this.#deps = deps;
    this.#watched = probes.map((probe) => new Watched(probe));
  }

  /** `listener` runs at every tick while a dependency is down that ends calls. */
  start(listener: (name: DependencyName) => void): void {
    this.#whileDown = listener;
    this.#tickLater();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /** Whether this process needs it at all. */
  watches(name: DependencyName): boolean {
    return this.#watched.some(({ probe }) => probe.name === name);
  }

  health(name: DependencyName): Health {
    return this.#watched.find(({ probe }) => probe.name === name)?.health ?? UP;
  }

  #tickLater(): void {
    if (!this.#isStopped) this.#timer = this.#deps.clock.after(TICK_MS, () => this.#tick());
  }

  #tick(): void {
    for (const watched of this.#watched) {
      watched.ticks += 1;
      if (!watched.isRunning && watched.ticks >= PAUSE_TICKS) void this.#run(watched);
      else if (watched.isRunning && watched.ticks >= DEADLINE_TICKS) this.#late(watched);
      const { health, probe } = watched;
      if (health.state === 'down' && probe.endsCalls) this.#whileDown(probe.name);
    }
    this.#tickLater();
  }

  async #run(watched: Watched): Promise<void> {
    watched.isRunning = true;
    watched.ticks = 0;
    try {
      await watched.probe.check();
      watched.failures = 0;
      this.#change(watched, UP);
      watched.ticks = 0;
    } catch (error) {
      watched.failures += 1;
      if (watched.failures >= FAILURES_MAX) this.#down(watched, error instanceof Error ? error.message : String(error));
      // The second look follows at once.
      watched.ticks = watched.failures < FAILURES_MAX ? PAUSE_TICKS : 0;
    } finally {
      watched.isRunning = false;
    }
  }

  #late(watched: Watched): void {
    watched.ticks = 0;
    this.#down(watched, `no answer within ${(DEADLINE_TICKS * TICK_MS) / 1000} s`);
    watched.probe.cut?.();
  }

  #down(watched: Watched, reason: string): void {
    const { health } = watched;
    const sinceMs = health.state === 'down' ? health.sinceMs : this.#deps.clock.nowMs();
    this.#change(watched, { state: 'down', sinceMs, reason });
  }

  #change(watched: Watched, health: Health): void {
    const before = watched.health.state;
    watched.health = health;
    if (this.#isStopped || before === health.state) return;
    const fields = { dependency: watched.probe.name, ...(health.state === 'down' && { reason: health.reason }) };
    if (health.state === 'down') this.#deps.log.error(fields, 'a dependency is down');
    else this.#deps.log.info(fields, 'a dependency is up again');
  }
}
