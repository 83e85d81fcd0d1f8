/** One stream of changes for everything that a page watches: server-sent events, or pages of JSON where those do not come through. */
import type { State } from './api.ts';
import { EaselError, isFinalError } from './errors.ts';
import type { Surroundings, Transport } from './transport.ts';
import type { ChangeEvent, ChangesPage } from './wire.ts';

type FeedType = 'json' | 'tables' | 'blobs';

/** When each thing that was read was last changed, by its key or id. */
export type Known = ReadonlyMap<string, string>;

export interface Watcher {
  readonly type: FeedType;
  /** Whether the change is of what is watched. */
  wants(event: ChangeEvent): boolean;
  /** Reads and tells what is there now. */
  load(): Promise<Known>;
  /** In the order of `seq`; nothing else is told until it is settled. */
  take(event: ChangeEvent): void | Promise<void>;
}

/** The part of EventSource that is used. */
export interface EventStream {
  readonly readyState: number;
  addEventListener(type: string, listener: (event: { readonly data?: string }) => void): void;
  close(): void;
}

export interface FeedSurroundings extends Surroundings {
  /** Undefined where the browser has none. */
  readonly openStream: ((url: string) => EventStream) | undefined;
  /** Calls `run` whenever the network is back or the page is shown again. */
  readonly onWake: (run: () => void) => void;
  /** Calls `run` when nobody has looked at the page for a while. */
  readonly onSleep: (run: () => void) => void;
}

interface Watching {
  readonly watcher: Watcher;
  /** Told one after the other, after what is being read. */
  pending: ChangeEvent[];
  /** What is there was told; from then on changes are. */
  isRead: boolean;
  /** To be read, for the first time or once more. */
  again: boolean;
  isBusy: boolean;
}

const CLOSED = 2;
/** More than that are not kept: all is read again instead. */
const PENDING_MAX = 1000;
const POLL_MS = 5000;
/** Then the stream is tried again. */
const POLLS_MAX = 12;
const FAILED_WAIT_MS_MAX = 30_000;
/** No change has this number yet: the answer is `reset`, with the number of the last one. */
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
  /** Ends what the last opening began. */
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
    // Browsers open six connections to a host: pages in forgotten tabs must not hold them all.
    around.onSleep(() => {
      if (this.state === 'idle' || this.state === 'refused') return;
      this.#close();
      this.#become('connecting');
    });
  }

  add(watcher: Watcher): () => void {
    const watching: Watching = { watcher, pending: [], isRead: false, again: false, isBusy: false };
    this.#watchings.add(watching);
    // Those that are added together share one opening.
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
      // The browser comes back by itself, with the number of the last event, unless it was refused or cut off in another way.
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

  /** Asks for pages, which also says why a stream was refused; then the stream is tried again. */
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
      // It rejects only when it was stopped, which the loop sees.
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

  /** What was missed is not known any more. */
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
      // What is still to be read will hold it.
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

  /** Tells what there is to tell, one after the other, until nothing is left. */
  async #tell(watching: Watching): Promise<void> {
    if (watching.isBusy) return;
    watching.isBusy = true;
    try {
      while (this.#watchings.has(watching)) {
        if (watching.again) {
          watching.again = false;
          watching.pending = [];
          const known = await watching.watcher.load();
          // What came during the read may be older than what was read.
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
    // A new opening reads it anyway.
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
