/**
 * One follower of an artifact's changes, independent of the protocol it is served over. It keeps no queue: events that it could not send
 * are read again from the store, where ten changes of one thing are one event.
 */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ChangeEvent } from './events.ts';
import { mustReset } from './rules.ts';
import type { ChangesRead } from './store.ts';

/** Events in one read for a follower that is behind. */
export const PAGE_EVENTS = 200;
/** A blocked client is disconnected after this many heartbeats. */
const STALLED_BEATS_MAX = 4;

/** `queued`: taken, but send no more until it has drained. `skipped`: not taken; it must be sent again. */
export type Taken = 'sent' | 'queued' | 'skipped';

/** How events are sent to the client in its protocol. */
export interface Outlet {
  /** The events that follow come after `seq`; `headSeq` is the last change of the artifact. */
  begin(seq: number, headSeq: number): Taken;
  /** Deletions are no longer known: the client must read everything again, and the events that follow come after `seq`. */
  reset(seq: number): Taken;
  event(event: ChangeEvent): Taken;
  /** Sends a heartbeat, in protocols that have none of their own. */
  beat?(): Taken;
  /** Checks again whether comments may be read. Without it the client is disconnected and has to reconnect. */
  recheck?(): void;
  /** Disconnects the client; access is checked when it reconnects. */
  end(): void;
  /** Reports that the store could not be read or that the artifact no longer exists. */
  fail(error: unknown): void;
}

export interface FollowerDeps {
  readonly outlet: Outlet;
  /** Reads events of the wanted types after a seq, at most `PAGE_EVENTS`. Null if the artifact does not exist. */
  readonly read: (sinceSeq: number, reserved: boolean) => Promise<EventsRead | null>;
  /** The last change that the client has seen; undefined to start with the next one. */
  readonly sinceSeq: number | undefined;
  /** The latest change of the artifact known so far. */
  readonly knownSeq: number;
  readonly onClosed: () => void;
}

export interface EventsRead extends Pick<ChangesRead, 'hasMore' | 'headSeq' | 'trimmedSeq'> {
  /** In order of seq. */
  readonly events: readonly ChangeEvent[];
}

/** `live`: gets events as they are committed. `reading`: behind, a page is being read. `blocked`: waits until the client has drained. */
type State = 'reading' | 'live' | 'blocked' | 'closed';

export class Follower {
  /** Whether it gets changes of keys that begin with `_`. */
  reserved: boolean;
  readonly #deps: FollowerDeps;
  #state: State = 'reading';
  /** All changes up to here are sent or not meant for this follower. */
  #sentSeq = 0;
  /** The latest change it knows of; it is behind while this is greater than `#sentSeq`. */
  #knownSeq: number;
  #stalledBeats = 0;

  constructor(reserved: boolean, deps: FollowerDeps) {
    this.reserved = reserved;
    this.#deps = deps;
    this.#knownSeq = deps.knownSeq;
  }

  /** Sends `begin` and what the client missed. Call it after subscribing to commits, so that none in between is lost. */
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
   * Call for each commit with changes of the wanted types; `events` are all of those changes. A live follower has then seen every earlier
   * commit, or heard of the gap by `missed`; any other state reads the store afterwards.
   */
  committed(events: readonly ChangeEvent[], lastSeq: number): void {
    this.#knownSeq = Math.max(this.#knownSeq, lastSeq);
    if (this.#state === 'live' && this.#sendEvents(events)) this.#sentSeq = Math.max(this.#sentSeq, lastSeq);
  }

  /** Call when the artifact turns out to have a change that `committed` did not report. */
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

  /** Call when the client has received everything queued. */
  drained(): void {
    if (this.#state !== 'blocked') return;
    this.#stalledBeats = 0;
    this.#state = 'live';
    this.#settle();
  }

  /** Call when the comment settings have changed. */
  recheck(): void {
    const { outlet } = this.#deps;
    if (outlet.recheck === undefined) this.end();
    else outlet.recheck();
  }

  /** Disconnects the client, which then reconnects. */
  end(): void {
    if (this.#state === 'closed') return;
    this.#deps.outlet.end();
    this.close();
  }

  /** Call when the client has disconnected or unsubscribed. */
  close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#deps.onClosed();
  }

  /** Reads on if it is behind. */
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
      // Whether the artifact or the database is gone, the client finds out when it reconnects.
      this.#deps.outlet.fail(error instanceof Failure ? error : new Error('Changes could not be read', { cause: error }));
      this.close();
      return;
    }
    // `run` may have set `blocked` or `closed`.
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
    // Changes up to the head that are not in the last page are not meant for this follower.
    if (all && !hasMore) this.#sentSeq = Math.max(this.#sentSeq, headSeq);
  }

  /** False if the client did not take all of them. */
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
