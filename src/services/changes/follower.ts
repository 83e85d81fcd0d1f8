/**
 * One reader of changes, over whatever it is told by. It holds no queue: what it could not send it reads again from the store, where a
 * thing that changed ten times is there once.
 */
import { Failure } from '../../../protocol/errors.ts';
import type { ChangeEvent } from './events.ts';
import type { ChangesRead } from './store.ts';

/** Read at once for a follower that is behind. */
export const PAGE_EVENTS = 200;
/** Heartbeats without anything leaving for the client. */
const STALLED_BEATS_MAX = 4;

/** `queued`: taken, but stop until it has drained. `skipped`: not taken; it must be sent again. */
export type Taken = 'sent' | 'queued' | 'skipped';

/** The client, as its protocol speaks to it. */
export interface Outlet {
  /** What follows is after `seq`; `headSeq` is the last change of the artifact. */
  begin(seq: number, headSeq: number): Taken;
  /** What was deleted is not known any more: everything must be read again, and what follows is after `seq`. */
  reset(seq: number): Taken;
  event(event: ChangeEvent): Taken;
  /** A sign of life, where the protocol has none of its own. */
  beat?(): Taken;
  /** Whether comments may still be read has to be asked anew; without it the client has to come back. */
  recheck?(): void;
  /** The client comes back by itself, and is then told whether it may. */
  end(): void;
  /** The store could not be read, or there is no such artifact any more. */
  fail(error: unknown): void;
}

export interface FollowerDeps {
  readonly outlet: Outlet;
  /** The events of the wanted types after a seq, at most `PAGE_EVENTS`. Null where there is no such artifact. */
  readonly read: (sinceSeq: number, reserved: boolean) => Promise<EventsRead | null>;
  /** Where the client left off; undefined: from now on. */
  readonly sinceSeq: number | undefined;
  /** A change that the artifact is known to have had. */
  readonly knownSeq: number;
  readonly onClosed: () => void;
}

export interface EventsRead extends Pick<ChangesRead, 'hasMore' | 'headSeq' | 'trimmedSeq'> {
  /** In the order of their seq. */
  readonly events: readonly ChangeEvent[];
}

/** `live`: takes events as they are committed. `reading`: behind, a page is on its way. `blocked`: the client reads too slowly. */
type State = 'reading' | 'live' | 'blocked' | 'closed';

export class Follower {
  /** Whether it is told of keys that begin with `_`. */
  reserved: boolean;
  readonly #deps: FollowerDeps;
  #state: State = 'reading';
  /** Everything up to here was sent, or is not for this follower. */
  #sentSeq = 0;
  /** The last change that it has heard of. */
  #knownSeq: number;
  #stalledBeats = 0;

  constructor(reserved: boolean, deps: FollowerDeps) {
    this.reserved = reserved;
    this.#deps = deps;
    this.#knownSeq = deps.knownSeq;
  }

  /** Begins and sends what was missed. Call after it has been made known to whoever tells it of commits. */
  async start(): Promise<void> {
    const { sinceSeq, outlet } = this.#deps;
    await this.#reading(async () => {
      const page = await this.#page(sinceSeq ?? Number.MAX_SAFE_INTEGER);
      if (this.#state === 'closed') return;
      this.#sentSeq = sinceSeq ?? page.headSeq;
      this.#took(outlet.begin(this.#sentSeq, page.headSeq));
      if (sinceSeq === undefined) return;
      if (mustReset(sinceSeq, page)) {
        this.#sentSeq = page.headSeq;
        this.#took(outlet.reset(page.headSeq));
      } else {
        this.#sendPage(page);
      }
    });
  }

  /**
   * A commit that holds something of the wanted types: `events`, all of it. Who is live has been told of every such commit before, or of a
   * gap by `missed`; who is not reads the store afterwards.
   */
  committed(events: readonly ChangeEvent[], lastSeq: number): void {
    this.#knownSeq = Math.max(this.#knownSeq, lastSeq);
    if (this.#state === 'live' && this.#sendEvents(events)) this.#sentSeq = Math.max(this.#sentSeq, lastSeq);
  }

  /** The artifact has had this change, of which nobody told. */
  missed(seq: number): void {
    this.#knownSeq = Math.max(this.#knownSeq, seq);
    this.#settle();
  }

  beat(): void {
    if (this.#state === 'blocked') {
      this.#stalledBeats += 1;
      if (this.#stalledBeats >= STALLED_BEATS_MAX) this.end();
    } else if (this.#state === 'live') {
      this.#took(this.#deps.outlet.beat?.() ?? 'sent');
    }
  }

  /** What the client was sent has left. */
  drained(): void {
    if (this.#state !== 'blocked') return;
    this.#stalledBeats = 0;
    this.#state = 'live';
    this.#settle();
  }

  /** The settings of comments have changed. */
  recheck(): void {
    const { outlet } = this.#deps;
    if (outlet.recheck === undefined) this.end();
    else outlet.recheck();
  }

  /** The client is told to come back. */
  end(): void {
    if (this.#state === 'closed') return;
    this.#deps.outlet.end();
    this.close();
  }

  /** The client has gone, or wants no more. */
  close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#deps.onClosed();
  }

  /** Goes on reading where it is behind. */
  #settle(): void {
    if (this.#state === 'live' && this.#knownSeq > this.#sentSeq) this.#catchUp();
  }

  #catchUp(): void {
    void this.#reading(async () => this.#sendPage(await this.#page(this.#sentSeq)));
  }

  async #reading(run: () => Promise<void>): Promise<void> {
    this.#state = 'reading';
    try {
      await run();
    } catch (error) {
      if (this.#closedMeanwhile()) return;
      // Whatever it is (the artifact is gone, the database is), coming back is how the client learns.
      this.#deps.outlet.fail(error instanceof Failure ? error : new Error('Changes could not be read', { cause: error }));
      this.close();
      return;
    }
    // `run` may have ended anything but this state.
    if (this.#state === 'reading') this.#state = 'live';
    this.#settle();
  }

  #closedMeanwhile(): boolean {
    return this.#state === 'closed';
  }

  async #page(sinceSeq: number): Promise<EventsRead> {
    const read = await this.#deps.read(sinceSeq, this.reserved);
    if (read === null) throw new Failure('ARTIFACT_NOT_FOUND');
    return read;
  }

  #sendPage({ events, hasMore, headSeq }: EventsRead): void {
    this.#knownSeq = Math.max(this.#knownSeq, headSeq);
    const all = this.#sendEvents(events);
    // What is not in the page up to the end of the snapshot is not for this follower.
    if (all && !hasMore) this.#sentSeq = Math.max(this.#sentSeq, headSeq);
  }

  /** False where the client did not take them all. */
  #sendEvents(events: readonly ChangeEvent[]): boolean {
    for (const event of events) {
      if (this.#state === 'closed' || this.#state === 'blocked') return false;
      if (event.seq <= this.#sentSeq) continue;
      if (this.reserved || !event.reserved) {
        const taken = this.#deps.outlet.event(event);
        this.#took(taken);
        if (taken === 'skipped') return false;
      }
      this.#sentSeq = event.seq;
    }
    return this.#state !== 'blocked';
  }

  #took(taken: Taken): void {
    if (taken !== 'sent' && this.#state !== 'closed') this.#state = 'blocked';
  }
}

/** Whether what was deleted since then is not known any more; or the caller knows of changes that there never were. */
export function mustReset(sinceSeq: number, { headSeq, trimmedSeq }: Pick<ChangesRead, 'headSeq' | 'trimmedSeq'>): boolean {
  return sinceSeq > headSeq || (sinceSeq > 0 && sinceSeq < trimmedSeq);
}
