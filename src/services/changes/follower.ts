/**
 * One open stream of changes. It holds no queue: what it could not send it reads again from the store, where a thing that changed
 * ten times is there once.
 */
import { Failure } from '../../../protocol/errors.ts';
import type { ReplySink } from '../../edge/reply-stream.ts';
import { type ChangeEvent, eventOf } from './events.ts';
import type { ChangesRead, ChangesWanted } from './store.ts';

/** Read at once for a follower that is behind. */
const PAGE_EVENTS = 200;
/** Of the browser, before it comes back. */
const RETRY_MS = 2000;
/** Heartbeats without anything leaving for the client. */
const STALLED_BEATS_MAX = 4;

export interface FollowerDeps {
  readonly wanted: Pick<ChangesWanted, 'types'>;
  readonly read: (wanted: Pick<ChangesWanted, 'sinceSeq' | 'types' | 'reserved' | 'limit'>) => Promise<ChangesRead | null>;
  /** Where the client left off; undefined: from now on. */
  readonly sinceSeq: number | undefined;
  readonly onClosed: () => void;
}

export interface Committed {
  /** In the order of their seq. */
  readonly events: readonly ChangeEvent[];
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** `live`: takes events as they are committed. `reading`: behind, a page is on its way. `blocked`: the client reads too slowly. */
type State = 'reading' | 'live' | 'blocked' | 'closed';

export class Follower {
  /** Whether it is told of keys that begin with `_`. */
  reserved: boolean;
  readonly #deps: FollowerDeps;
  readonly #sink: ReplySink;
  #state: State = 'reading';
  /** Everything up to here was sent, or is not for this follower. */
  #sentSeq = 0;
  /** The last change that it has heard of. */
  #knownSeq = 0;
  #stalledBeats = 0;

  constructor(sink: ReplySink, reserved: boolean, deps: FollowerDeps) {
    this.#sink = sink;
    this.reserved = reserved;
    this.#deps = deps;
    sink.onClose(() => this.#closed());
    sink.onDrain(() => this.#drained());
  }

  /** Says hello and sends what was missed. Call after it has been made known to whoever tells it of commits. */
  async start(): Promise<void> {
    const { sinceSeq } = this.#deps;
    await this.#reading(async () => {
      const state = await this.#page(sinceSeq ?? Number.MAX_SAFE_INTEGER);
      this.#sentSeq = sinceSeq ?? state.headSeq;
      this.#send(`retry: ${RETRY_MS}\nid: ${this.#sentSeq}\nevent: hello\ndata: {"seq":${state.headSeq}}\n\n`);
      if (sinceSeq === undefined) return;
      if (mustReset(sinceSeq, state)) {
        this.#sentSeq = state.headSeq;
        this.#send(`id: ${state.headSeq}\nevent: reset\ndata: {"seq":${state.headSeq}}\n\n`);
      } else {
        this.#sendPage(state);
      }
    });
  }

  /** All changes from `firstSeq` to `lastSeq`; those that no stream tells of have no event. */
  committed({ events, firstSeq, lastSeq }: Committed): void {
    this.#knownSeq = Math.max(this.#knownSeq, lastSeq);
    if (this.#state !== 'live') return;
    if (firstSeq > this.#sentSeq + 1) this.#catchUp();
    else if (this.#sendEvents(events)) this.#sentSeq = Math.max(this.#sentSeq, lastSeq);
  }

  /** A sign of life. `headSeq` is what the store has: something may have been committed of which nobody told. */
  beat(headSeq: number | undefined): void {
    if (headSeq !== undefined) this.#knownSeq = Math.max(this.#knownSeq, headSeq);
    if (this.#state === 'blocked') {
      this.#stalledBeats += 1;
      if (this.#stalledBeats >= STALLED_BEATS_MAX) this.close();
    } else if (this.#state === 'live') {
      this.#send(':\n\n');
      this.#settle();
    }
  }

  /** The client comes back by itself, and is then told whether it may. */
  close(): void {
    if (this.#state === 'closed') return;
    this.#sink.end();
    this.#closed();
  }

  #closed(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#deps.onClosed();
  }

  #drained(): void {
    if (this.#state !== 'blocked') return;
    this.#stalledBeats = 0;
    this.#state = 'live';
    this.#settle();
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
      // Whatever it is (the artifact is gone, the database is), coming back is how the client learns.
      this.#sink.fail(error instanceof Failure ? error : new Error('Changes could not be read', { cause: error }));
      this.#closed();
      return;
    }
    // `run` may have ended anything but this state.
    if (this.#state === 'reading') this.#state = 'live';
    this.#settle();
  }

  async #page(sinceSeq: number): Promise<ChangesRead> {
    const { types } = this.#deps.wanted;
    const read = await this.#deps.read({ sinceSeq, types, reserved: this.reserved, limit: PAGE_EVENTS });
    if (read === null) throw new Failure('ARTIFACT_NOT_FOUND');
    return read;
  }

  #sendPage({ things, hasMore, headSeq }: ChangesRead): void {
    this.#knownSeq = Math.max(this.#knownSeq, headSeq);
    const all = this.#sendEvents(things.map(eventOf));
    // What is not in the page up to the end of the snapshot is not for this follower.
    if (all && !hasMore) this.#sentSeq = Math.max(this.#sentSeq, headSeq);
  }

  /** False where the client did not take them all. */
  #sendEvents(events: readonly ChangeEvent[]): boolean {
    for (const event of events) {
      if (event.seq <= this.#sentSeq) continue;
      const isWanted = this.#deps.wanted.types.includes(event.type) && (this.reserved || !event.reserved);
      const goesOn = !isWanted || this.#send(`id: ${event.seq}\nevent: change\ndata: ${event.json}\n\n`);
      this.#sentSeq = event.seq;
      if (!goesOn) return false;
    }
    return true;
  }

  #send(text: string): boolean {
    if (this.#state === 'closed') return false;
    if (this.#sink.write(text)) return this.#state !== 'blocked';
    this.#state = 'blocked';
    return false;
  }
}

/** Whether what was deleted since then is not known any more; or the caller knows of changes that there never were. */
export function mustReset(sinceSeq: number, { headSeq, trimmedSeq }: Pick<ChangesRead, 'headSeq' | 'trimmedSeq'>): boolean {
  return sinceSeq > headSeq || (sinceSeq > 0 && sinceSeq < trimmedSeq);
}
