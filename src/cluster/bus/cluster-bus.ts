/**
 * The bus of a node among others. A fact is reacted to here at once, and by the others when Redis has carried it there. Redis loses messages, so
 * each node numbers its facts and sends a heartbeat with its last number. Where a number is missing, everything is decided anew; while it is
 * not known whether one is missing, nothing is answered from a cache that is older than `DOUBT_MS`.
 */
import { randomBytes } from 'node:crypto';
import type { Clock, Log, Placement, Timer } from '../../../actors/runtime/ports.ts';
import { type Bus, type Drops, type Fact, FactReactions, type Hearing } from '../../platform/bus.ts';
import { type Envelope, type FactMessage, parseMessage } from './messages.ts';
import { LINGER_MS, PeerStreams, SILENCE_MS } from './peer-streams.ts';
import { FactPublisher } from './publisher.ts';
import type { FactWire } from './wire.ts';

const BEAT_MS = 250;
/** How often it is looked whether anybody is silent. */
const LOOK_MS = 50;
/** While facts may be missing everything is dropped this often. With `SILENCE_MS` and `LOOK_MS` it makes less than a second. */
export const DOUBT_MS = 250;
/** A subscription by which not even this node's own heartbeats arrive is replaced. */
const DEAF_MS = 2000;

export interface ClusterBusDeps {
  /** At which peers reach this node. */
  readonly address: string;
  readonly wire: FactWire;
  /** Real time. */
  readonly clock: Clock;
  readonly log: Log;
  readonly placement: Pick<Placement, 'nodes' | 'self'>;
}

export class ClusterBus implements Bus {
  readonly #deps: ClusterBusDeps;
  readonly #epoch = randomBytes(16).toString('hex');
  readonly #reactions: FactReactions;
  readonly #publisher: FactPublisher;
  readonly #streams = new PeerStreams();
  #isSubscribed = false;
  /** When this node's own message came back last. Nothing is known before the first. */
  #ownMs = Number.NEGATIVE_INFINITY;
  /** When it was deaf last. It begins so. */
  #deafMs: number;
  /** As which this node is and was a member. */
  #incarnation: string | undefined;
  #incarnationBefore: string | undefined;
  /** When anything was heard last, or the subscription was replaced. */
  #heardMs: number;
  #isInDoubt = true;
  #droppedMs = Number.NEGATIVE_INFINITY;
  /** A gap that is not dealt with yet. */
  #hasGap = false;
  #lookedMs: number;
  #look: Timer | undefined;
  #beat: Timer | undefined;
  #hasStopped = false;

  constructor(deps: ClusterBusDeps) {
    const { address, wire, clock, log, placement } = deps;
    this.#deps = deps;
    this.#reactions = new FactReactions(log);
    this.#publisher = new FactPublisher({
      node: address,
      incarnation: () => placement.self()?.incarnation ?? null,
      epoch: this.#epoch,
      log,
      send: (text) => wire.publish(text),
    });
    this.#lookedMs = clock.monotonicMs();
    this.#heardMs = this.#lookedMs;
    this.#deafMs = this.#lookedMs;
  }

  /** Whether facts of other nodes may be missing. */
  get isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  tell(fact: Fact): void {
    this.#reactions.react(fact);
    this.#publisher.tell(fact);
  }

  cache(name: string, drops: Drops): void {
    this.#reactions.cache(name, drops);
  }

  listen(name: string, hearing: Hearing): void {
    this.#reactions.listen(name, hearing);
  }

  /** Everybody who reacts has been declared. Call it before this node joins the others, so that they hear it from the beginning. */
  start(): void {
    this.#deps.wire.listen({
      message: (text) => this.#message(text),
      up: () => {
        this.#isSubscribed = true;
        void this.#publisher.send();
      },
      down: () => {
        this.#isSubscribed = false;
        this.#examine();
      },
    });
    this.#beatLater();
    this.#lookLater();
  }

  /**
   * Called before each request. A process that was paused wakes with caches that are as old as the pause, and what it missed may arrive after the
   * next request.
   */
  awake(): void {
    if (this.#deps.clock.monotonicMs() - this.#lookedMs > SILENCE_MS) this.#examine();
  }

  /** Sends what waits and says goodbye, so that the others need not wait for what may have been left untold. Call it when nothing is told any more. */
  async stop(): Promise<void> {
    this.#hasStopped = true;
    this.#beat?.cancel();
    this.#look?.cancel();
    await this.#publisher.end();
  }

  #beatLater(): void {
    if (this.#hasStopped) return;
    void this.#publisher.send();
    this.#beat = this.#deps.clock.after(BEAT_MS, () => this.#beatLater());
  }

  #lookLater(): void {
    if (this.#hasStopped) return;
    this.#examine();
    this.#look = this.#deps.clock.after(LOOK_MS, () => this.#lookLater());
  }

  #message(text: string): void {
    const { clock, log } = this.#deps;
    const nowMs = clock.monotonicMs();
    this.#heardMs = nowMs;
    const received = parseMessage(text);
    switch (received.kind) {
      case 'message':
        this.#hear(received.message, nowMs);
        break;
      case 'damaged':
        log.error(
          { node: received.envelope.node, why: received.why },
          'a message about changed facts could not be read, everything is decided anew',
        );
        if (!this.#isOwn(received.envelope, nowMs)) this.#streams.damaged(received.envelope, nowMs);
        this.#gap();
        break;
      case 'unreadable':
        log.error({ why: received.why }, 'a message about changed facts could not be read, everything is decided anew');
        this.#gap();
        break;
      default:
        received satisfies never;
    }
  }

  #hear(message: FactMessage, nowMs: number): void {
    if (this.#isOwn(message, nowMs)) return;
    const { facts, isGap } = this.#streams.heard(message, nowMs);
    if (isGap) {
      this.#deps.log.warn(
        { node: message.node, seq: message.seq },
        'changed facts of another node were missed, everything is decided anew',
      );
      this.#gap();
    }
    for (const fact of facts) this.#reactions.react(fact);
  }

  /** Addresses of the other live nodes by incarnation. One that died at this node's address is another. */
  #others(): Map<string, string> {
    const { placement } = this.#deps;
    const own = placement.self()?.incarnation;
    if (own !== undefined && own !== this.#incarnation) {
      this.#incarnationBefore = this.#incarnation;
      this.#incarnation = own;
    }
    const others = placement
      .nodes()
      .filter(({ incarnation }) => incarnation !== this.#incarnation && incarnation !== this.#incarnationBefore);
    return new Map(others.map(({ incarnation, address }) => [incarnation, address]));
  }

  #isOwn({ epoch }: Envelope, nowMs: number): boolean {
    if (epoch !== this.#epoch) return false;
    this.#ownMs = nowMs;
    return true;
  }

  /** Answered at once, unless everything was dropped a moment ago: a row of gaps must not keep all caches empty. */
  #gap(): void {
    this.#hasGap = true;
    this.#examine();
  }

  #examine(): void {
    const { clock, log, wire } = this.#deps;
    const nowMs = clock.monotonicMs();
    this.#lookedMs = nowMs;
    const silent = this.#streams.silent(this.#others(), nowMs);
    const isDeaf = !this.#isSubscribed || nowMs - this.#ownMs > SILENCE_MS;
    if (isDeaf) this.#deafMs = nowMs;
    const before = this.#isInDoubt;
    // Nodes may have come and died while this one heard nothing; what they had under way commits within that time.
    this.#isInDoubt = nowMs - this.#deafMs < LINGER_MS || silent.size > 0;
    if (this.#isInDoubt !== before) {
      if (before) log.info({}, 'all nodes are heard again');
      else log.warn({ silent: [...silent], isDeaf }, 'facts of other nodes may be missing: nothing is answered from an older cache');
    }
    // Also once when the doubt is over: what was read meanwhile may be older than a fact that did not arrive.
    const mustDrop = (this.#isInDoubt || this.#hasGap) && nowMs - this.#droppedMs >= DOUBT_MS;
    if (mustDrop || this.#isInDoubt !== before) {
      this.#droppedMs = nowMs;
      this.#hasGap = false;
      this.#reactions.resync();
    }
    if (nowMs - this.#heardMs > DEAF_MS) {
      this.#heardMs = nowMs;
      wire.renew();
    }
  }
}
