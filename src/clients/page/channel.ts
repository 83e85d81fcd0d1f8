/** `easel.channel()`: one WebSocket for all channels of the artifact. After a reconnect, each channel resumes after its last event. */
import type * as api from './api.ts';
import type { Stop } from './api-outside.ts';
import type { Connection, ConnectionUser } from './connection.ts';
import { EaselError } from './errors.ts';
import { tell } from './listeners.ts';
import type { Surroundings } from './transport.ts';
import type { Person } from './wire.ts';

/** All fields of the server's frames; each frame type has some of them. */
interface Frame extends Omit<api.ChannelEvent, 'type'> {
  readonly type: 'hello' | 'access' | 'subscribed' | 'unsubscribed' | 'reset' | 'event' | 'error' | 'ping' | 'pong';
  readonly connectionId: string;
  readonly you: Person;
  readonly canWrite: boolean;
  readonly error?: string;
  readonly hint?: string;
}

interface Listener {
  readonly run: (event: api.ChannelEvent) => void;
  /** The last `seq` that this listener has received; older events are not passed on. */
  seq: number | undefined;
}

interface Subscription {
  readonly listeners: Set<Listener>;
  seq: number | undefined;
  /** The server has confirmed the subscription. */
  isLive: boolean;
}

export interface ChannelDeps {
  readonly around: Surroundings;
  readonly connect: (user: ConnectionUser) => Connection;
  readonly token: () => string | undefined;
  readonly became: (state: api.ConnectionState) => void;
  readonly failed: (error: EaselError) => void;
  /** Called when the connection is refused; true if it should be retried with another identity. */
  readonly retries: (error: EaselError) => boolean;
}

/** Messages queued while there is no connection; beyond this the oldest are dropped. */
const WAITING_MAX = 100;
const AGAIN_MS = 5000;
const PASSING = ['RATE_LIMITED', 'UNAVAILABLE', 'OWNER_MOVED'];

export class ArtifactChannel implements api.Channel {
  me: api.Channel['me'];
  canWrite = false;
  readonly #deps: ChannelDeps;
  readonly #connection: Connection;
  readonly #subscriptions = new Map<api.ChannelName, Subscription>();
  #waiting: string[] = [];
  /** The server's `hello` has arrived on this connection. */
  #isReady = false;

  constructor(deps: ChannelDeps) {
    this.#deps = deps;
    this.#connection = deps.connect({
      path: '/channels',
      token: deps.token,
      probe: '{"type":"ping"}',
      opened: () => undefined,
      heard: (data) => this.#heard(JSON.parse(String(data))),
      became: (state, error) => this.#became(state, error),
    });
  }

  get state(): api.ConnectionState {
    return this.#connection.state;
  }

  subscribe(channel: api.ChannelName, run: Listener['run'], { since }: { readonly since?: number | undefined } = {}): Stop {
    const known = this.#subscriptions.get(channel);
    const subscription: Subscription = known ?? { listeners: new Set(), seq: since, isLive: false };
    const listener: Listener = { run, seq: since ?? subscription.seq };
    this.#subscriptions.set(channel, subscription);
    subscription.listeners.add(listener);
    if (known === undefined) this.#ask(channel, since);
    // Older events come from the server only. Listeners that already have them skip them by `seq`.
    else if (since !== undefined && subscription.seq !== undefined && since < subscription.seq) this.#ask(channel, since);
    else if (known.isLive) queueMicrotask(() => this.#tell(listener, { type: 'subscribed', channel, seq: subscription.seq ?? 0 }));
    this.#connection.open();
    return () => {
      if (!subscription.listeners.delete(listener) || subscription.listeners.size > 0) return;
      this.#subscriptions.delete(channel);
      if (this.#subscriptions.size === 0) this.#connection.close();
      else if (this.#isReady) this.#send({ type: 'unsubscribe', channel });
    };
  }

  broadcast(event: string, data: unknown = null): void {
    this.#say({ type: 'broadcast', event, data });
  }

  typing(typing: Parameters<api.Channel['typing']>[0]): void {
    this.#say({ type: 'typing', ...typing });
  }

  /** Sends the presence state; false if there is no connection, so that it must be sent again after `hello`. */
  show(state: object | null): boolean {
    return this.#isReady && this.#send({ type: 'presence', state });
  }

  /** Reconnects with the current token. */
  reopen(): void {
    if (this.state === 'idle') return;
    this.#connection.close();
    this.#connection.open();
  }

  #say(frame: object): void {
    if (this.#isReady && this.#send(frame)) return;
    this.#waiting.push(JSON.stringify(frame));
    if (this.#waiting.length > WAITING_MAX) this.#waiting.shift();
    this.#connection.open();
  }

  #send(frame: object): boolean {
    return this.#connection.send(JSON.stringify(frame));
  }

  #ask(channel: api.ChannelName, since: number | undefined): void {
    if (this.#isReady) this.#send({ type: 'subscribe', channel, since, id: channel });
  }

  #heard(frame: Frame): void {
    switch (frame.type) {
      case 'hello':
        this.#hello(frame);
        break;
      case 'access':
        this.canWrite = frame.canWrite;
        break;
      case 'subscribed':
      case 'reset':
      case 'event':
        this.#happened(frame as Frame & api.ChannelEvent);
        break;
      case 'unsubscribed':
        // Without a code it confirms our own `unsubscribe`.
        if (frame.code !== undefined) this.#refused(frame.channel, frame.code);
        break;
      case 'error':
        this.#failed(frame);
        break;
      case 'ping':
        this.#send({ type: 'pong' });
        break;
      default:
      // A pong, or a frame of a later version.
    }
  }

  #hello({ connectionId, you, canWrite }: Frame): void {
    this.me = { ...you, connectionId };
    this.canWrite = canWrite;
    this.#isReady = true;
    this.#connection.ready();
    for (const [channel, { seq, listeners }] of this.#subscriptions) {
      const resumes = channel !== 'presence' && channel !== 'broadcast';
      this.#ask(channel, resumes ? seq : undefined);
      // Broadcasts are not stored: those sent while we were away are lost.
      if (channel === 'broadcast' && seq !== undefined) for (const one of listeners) this.#tell(one, { type: 'reset', channel, seq: 0 });
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const text of waiting) this.#connection.send(text);
  }

  #happened(event: Frame & api.ChannelEvent): void {
    const { type, channel, seq } = event;
    const subscription = this.#subscriptions.get(channel);
    if (subscription === undefined) return;
    if (type === 'subscribed') subscription.isLive = true;
    if (seq !== undefined) subscription.seq = seq;
    for (const listener of [...subscription.listeners]) {
      if (type === 'event' && isOld(channel, seq, listener.seq)) continue;
      // `subscribed` may answer another listener's older `since`; it must not move this listener back.
      if (seq !== undefined && type !== 'subscribed') listener.seq = seq;
      else listener.seq ??= seq;
      this.#tell(listener, event);
    }
  }

  #tell(listener: Listener, event: api.ChannelEvent): void {
    tell(listener.run, event);
  }

  #refused(channel: api.ChannelName, code: string): void {
    const subscription = this.#subscriptions.get(channel);
    if (subscription === undefined) return;
    subscription.isLive = false;
    for (const listener of [...subscription.listeners]) this.#tell(listener, { type: 'refused', channel, code });
  }

  #failed({ id, code = '', error = code, hint }: Frame): void {
    const channel = id as api.ChannelName;
    if (!this.#subscriptions.has(channel)) {
      this.#deps.failed(new EaselError({ code: code as api.Problem['code'], status: 0, message: error, hint }));
    } else if (PASSING.includes(code)) void this.#askLater(channel);
    else this.#refused(channel, code);
  }

  async #askLater(channel: api.ChannelName): Promise<void> {
    await this.#deps.around.wait(AGAIN_MS);
    const subscription = this.#subscriptions.get(channel);
    if (subscription?.isLive === false) this.#ask(channel, subscription.seq);
  }

  #became(state: api.ConnectionState, error: EaselError | undefined): void {
    if (state !== 'live') {
      this.#isReady = false;
      for (const subscription of this.#subscriptions.values()) subscription.isLive = false;
    }
    if (error !== undefined && this.#deps.retries(error)) {
      this.#connection.open();
      return;
    }
    this.#deps.became(state);
    if (error === undefined) return;
    for (const channel of [...this.#subscriptions.keys()]) this.#refused(channel, error.code);
    this.#deps.failed(error);
  }
}

/** Several events of the channel `versions` may have the same `seq`. */
function isOld(channel: api.ChannelName, seq: number | undefined, known: number | undefined): boolean {
  if (seq === undefined || known === undefined) return false;
  return channel === 'versions' ? seq < known : seq <= known;
}
