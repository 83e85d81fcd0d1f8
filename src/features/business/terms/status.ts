/** How the parts of the service are, as an outsider may know it: states, no addresses, reasons or numbers. */
import type { z } from 'zod';
import type { serviceStatus } from '../../../../protocol/business/terms.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { DependencyName, Health } from '../../../platform/dependency-watch.ts';
import type { ServiceDeps } from '../../deps.ts';
import { type Backlogs, readBacklogs } from './rows.ts';

type Status = z.input<typeof serviceStatus>;
type Part = Status['parts'][number];

/** Null where this installation does without it. */
export type HealthOf = (name: DependencyName) => Health | null;

export interface StatusDeps extends Pick<ServiceDeps, 'sql' | 'clock' | 'log'> {
  readonly health: HealthOf;
  /** Real time: the age of an answer, and the deadline of a question. */
  readonly ioClock: ServiceDeps['clock'];
}

/** Whoever asks within this time gets the same answer, so that a storm of calls costs one question. */
const FRESH_MS = 5000;
/** The database that answers later counts as unknown. */
const DEADLINE_MS = 2000;

const BACKLOG_PARTS = ['mail', 'jobs', 'search', 'imports'] as const;

export class StatusReader {
  readonly #deps: StatusDeps;
  #last: { readonly status: Status; readonly atMs: number } | undefined;
  #reading: Promise<Status> | undefined;

  constructor(deps: StatusDeps) {
    this.#deps = deps;
  }

  read(): Promise<Status> {
    const nowMs = this.#deps.ioClock.monotonicMs();
    if (this.#last !== undefined && nowMs - this.#last.atMs < FRESH_MS) return Promise.resolve(this.#last.status);
    this.#reading ??= this.#look().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #look(): Promise<Status> {
    const { health, clock, ioClock } = this.#deps;
    const backlogs = health('database')?.state === 'down' ? null : await this.#backlogs();
    const dependencies = [
      partOf('database', health('database')),
      partOf('files', health('objects')),
      partOf('nodes', health('redis')),
    ].filter((part) => part !== null);
    const mailHealth = health('mail');
    const waiting = BACKLOG_PARTS.map((name): Part => {
      if (name === 'mail' && mailHealth?.state === 'down') return downPart('mail', mailHealth.sinceMs);
      return { name, state: backlogs === null ? 'unknown' : backlogs[name] ? 'delayed' : 'up' };
    });
    const parts: Part[] = [{ name: 'api', state: 'up' }, ...dependencies, ...waiting];
    const status: Status = { status: overallOf(parts), checked_at: dateTime(clock.nowMs()), parts };
    this.#last = { status, atMs: ioClock.monotonicMs() };
    return status;
  }

  /** Null where the database does not answer in time. */
  async #backlogs(): Promise<Backlogs | null> {
    const { sql, clock, ioClock, log } = this.#deps;
    let stop = (): void => undefined;
    const late = new Promise<null>((resolve) => {
      const timer = ioClock.after(DEADLINE_MS, () => resolve(null));
      stop = () => timer.cancel();
    });
    const asked = readBacklogs(sql, clock.nowMs()).catch((err: unknown) => {
      log.warn({ err }, 'the backlogs could not be read for the status page');
      return null;
    });
    try {
      return await Promise.race([asked, late]);
    } finally {
      stop();
    }
  }
}

function partOf(name: Part['name'], health: Health | null): Part | null {
  if (health === null) return null;
  return health.state === 'up' ? { name, state: 'up' } : downPart(name, health.sinceMs);
}

function downPart(name: Part['name'], sinceMs: number): Part {
  return { name, state: 'down', since: dateTime(sinceMs) };
}

/** Without the database or the files nothing can be served. */
function overallOf(parts: readonly Part[]): Status['status'] {
  if (parts.some(({ name, state }) => state === 'down' && (name === 'database' || name === 'files'))) return 'down';
  return parts.every(({ state }) => state === 'up') ? 'up' : 'degraded';
}
