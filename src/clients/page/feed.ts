/** One stream of changes for all watches of a page: server-sent events, or polling where the network does not let those through. */
import type { State } from './api.ts';
import { EaselError, isFinalError } from './errors.ts';
import type { Surroundings, Transport } from './transport.ts';
import type { ChangeEvent, ChangesPage } from './wire.ts';

type FeedType = 'json' | 'tables' | 'blobs';

/** The `updatedAt` of everything that was read, by key or id. */
export type Known = ReadonlyMap<string, string>;

export interface Watcher {
  readonly type: FeedType;
  /** True if the change concerns what is watched. */
  wants(event: ChangeEvent): boolean;
  /** Reads the current state and passes it to the page. */
  load(): Promise<Known>;
  /** Passes one change to the page. Called in the order of `seq`, one call at a time. */
  take(event: ChangeEvent): void | Promise<void>;
}

/** The part of EventSource that is used. */
export interface EventStream {
  readonly readyState: number;
  addEventListener(type: string, listener: (event: { readonly data?: string }) => void): void;
  close(): void;
}

export interface FeedSurroundings extends Surroundings {
  /** Undefined if the browser has no EventSource. */
  readonly openStream: ((url: string) => EventStream) | undefined;
  /** Calls `run` whenever the network is back or the page is shown again. */
  readonly onWake: (run: () => void) => void;
  /** Calls `run` when the page has been hidden for a while. */
  readonly onSleep: (run: () => void) => void;
}

interface Watching {
  readonly watcher: Watcher;
  /** Changes to pass on after the current read. */
  pending: ChangeEvent[];
  /** The current state was passed to the page, so changes can follow. */
  isRead: boolean;
  /** A read is due, for the first time or again. */
  again: boolean;
  isBusy: boolean;
}

const CLOSED = 2;
/** Beyond this, queued changes are dropped and everything is read again. */
const PENDING_MAX = 1000;
const POLL_MS = 5000;
/** Polls before the stream is tried again. */
const POLLS_MAX = 12;
const FAILED_WAIT_MS_MAX = 30_000;
/** Larger than every `seq`: the server answers with `reset` and its latest `seq`. */
const FUTURE_SEQ = Number.MAX_SAFE_INTEGER;

export class ChangeFeed {
  state: State = 'idle';
  readonly #transport: Transport;
  readonly #around: FeedSurroundings;
  readonly #onState: (state: State) => void;
  readonly #onError: (error: EaselError) => void;
  readonly #watchings = new Set<Watching>();
  #stream: EventStream | undefined;
  #types = '';
  /** Aborts the requests and timers of the current stream. */
  #stop = new AbortController();
  #seq: number | undefined;

  constructor(transport: Transport, around: FeedSurroundings, onState: (state: State) => void, onError: (error: EaselError) => void) {
    this.#transport = transport;
    this.#around = around;
    this.#onState = onState;
    this.#onError = onError;
    around.onWake(() => {
      if (this.state === 'connecting' || this.state === 'polling') this.#open();
    });
    // Browsers open at most six connections to a host; pages in background tabs must not occupy them.
    around.onSleep(() => {
      if (this.state === 'idle' || this.state === 'refused') return;
      this.#close();
      this.#become('connecting');
    });
  }

  add(watcher: Watcher): () => void {
    const watching: Watching = { watcher, pending: [], isRead: false, again: false, isBusy: false };
    this.#watchings.add(watching);
    // Watches that are added in the same tick share one stream.
    queueMicrotask(() => this.#adjust(watching));
    return () => {
      if (!this.#watchings.delete(watching) || this.#watchings.size > 0) return;
      this.#close();
      this.#seq = undefined;
      this.#become('idle');
    };
  }

  #adjust(added: Watching): void {
    if (!this.#watchings.has(added)) return;
    const isOpen = this.state !== 'idle' && this.state !== 'refused';
    if (isOpen && this.#types.split(',').includes(added.watcher.type)) {
      if (this.state !== 'connecting') this.#read(added);
      return;
    }
    this.#open();
  }

  #open(): void {
    this.#close();
    this.#types = [...new Set([...this.#watchings].map(({ watcher }) => watcher.type))].sort().join();
    this.#become('connecting');
    const { openStream } = this.#around;
    if (openStream === undefined) {
      void this.#poll(this.#stop.signal);
      return;
    }
    const stream = openStream(this.#transport.url('/changes', { types: this.#types, since: this.#seq }));
    this.#stream = stream;
    const on = (type: string, run: (body: { readonly seq: number }) => void) =>
      stream.addEventListener(type, ({ data }) => {
        if (stream === this.#stream && data !== undefined) run(JSON.parse(data));
      });
    on('hello', ({ seq }) => {
      this.#seq ??= seq;
      this.#become('live');
      this.#readUnread();
    });
    on('reset', ({ seq }) => this.#restart(seq));
    for (const type of ['message', 'change']) on(type, (event) => this.#take(event as ChangeEvent));
    stream.addEventListener('error', () => {
      if (stream !== this.#stream) return;
      // EventSource reconnects by itself with the last event id, unless its state is CLOSED, for example after a refusal.
      this.#become('connecting');
      if (stream.readyState !== CLOSED) return;
      this.#stream = undefined;
      void this.#poll(this.#stop.signal);
    });
  }

  #close(): void {
    this.#stop.abort();
    this.#stop = new AbortController();
    this.#stream?.close();
    this.#stream = undefined;
  }

  /** Polls for a while, which also shows why a stream was refused, and then opens the stream again. */
  async #poll(signal: AbortSignal): Promise<void> {
    let failures = 0;
    for (let polls = 0; polls < POLLS_MAX && !signal.aborted; ) {
      let waitMs = POLL_MS;
      try {
        const query = { types: this.#types, since: this.#seq ?? FUTURE_SEQ };
        const page = await this.#transport.call<ChangesPage>({ method: 'GET', path: '/changes', query, signal });
        if (signal.aborted) return;
        this.#takePage(page);
        failures = 0;
        if (page.hasMore) continue;
        polls += 1;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof EaselError && isFinalError(error)) {
          this.#become('refused');
          this.#onError(error);
          return;
        }
        this.#become('connecting');
        waitMs = Math.min(POLL_MS * 2 ** failures, FAILED_WAIT_MS_MAX);
        failures += 1;
      }
      const spreadMs = waitMs * (0.75 + this.#around.random() / 2);
      // `wait` rejects only on abort, which the loop checks.
      await this.#around.wait(spreadMs, signal).catch(() => undefined);
    }
    if (signal.aborted) return;
    if (this.#around.openStream === undefined) void this.#poll(signal);
    else this.#open();
  }

  #takePage(page: ChangesPage): void {
    this.#become('polling');
    if (page.reset) this.#restart(page.nextSeq);
    for (const event of page.events) this.#take(event);
    this.#seq = page.nextSeq;
    this.#readUnread();
  }

  /** The missed changes are no longer available: everything is read again. */
  #restart(seq: number): void {
    this.#seq = seq;
    for (const watching of this.#watchings) this.#read(watching);
  }

  #readUnread(): void {
    for (const watching of this.#watchings) if (!watching.isRead && !watching.isBusy) this.#read(watching);
  }

  #take(event: ChangeEvent): void {
    this.#seq = event.seq;
    for (const watching of this.#watchings) {
      // A watch that has not begun its first read will read this change anyway.
      if (!watching.watcher.wants(event) || !(watching.isRead || watching.isBusy)) continue;
      if (watching.pending.length >= PENDING_MAX) watching.again = true;
      else watching.pending.push(event);
      void this.#tell(watching);
    }
  }

  #read(watching: Watching): void {
    watching.again = true;
    void this.#tell(watching);
  }

  /** Performs the due read and the queued changes, one after the other, until nothing is left. */
  async #tell(watching: Watching): Promise<void> {
    if (watching.isBusy) return;
    watching.isBusy = true;
    try {
      while (this.#watchings.has(watching)) {
        if (watching.again) {
          watching.again = false;
          watching.pending = [];
          const known = await watching.watcher.load();
          // Changes that arrived during the read may already be in it.
          watching.pending = watching.pending.filter((event) => !isOlder(event, known));
          watching.isRead = true;
        } else {
          const event = watching.pending.shift();
          if (event === undefined) break;
          await watching.watcher.take(event);
        }
      }
    } catch (error) {
      this.#readFailed(watching, error);
    }
    watching.isBusy = false;
  }

  #readFailed(watching: Watching, error: unknown): void {
    watching.isRead = false;
    watching.pending = [];
    const known =
      error instanceof EaselError ? error : new EaselError({ code: 'UNREADABLE_REPLY', status: 0, message: String(error) }, error);
    this.#onError(known);
    if (isFinalError(known)) return;
    // If the stream is opened again before, the abort ends this wait: the new stream reads everything unread.
    this.#around.wait(FAILED_WAIT_MS_MAX, this.#stop.signal).then(
      () => this.#watchings.has(watching) && this.#read(watching),
      () => undefined,
    );
  }

  #become(state: State): void {
    if (state === this.state) return;
    this.state = state;
    this.#onState(state);
  }
}

function isOlder(event: ChangeEvent, known: Known): boolean {
  const updatedAt = known.get(event.key ?? event.id ?? '');
  return updatedAt !== undefined && event.updatedAt <= updatedAt;
}
