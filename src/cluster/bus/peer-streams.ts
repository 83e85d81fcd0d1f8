/** What this node has heard of the facts of each other node, and whether any of them may be missing. */
import type { Fact } from '../../platform/bus.ts';
import type { Envelope, FactMessage } from './messages.ts';

/** Nodes send a heartbeat every 250 ms. One that was not heard for so long may have told facts that did not arrive. */
export const SILENCE_MS = 600;
/**
 * A node that went without a word may still have had transactions under way, which commit without telling anybody. For so long after it left
 * nothing is trusted; a node ends every write within this time after its lease.
 */
export const LINGER_MS = 5000;
/** More than the starts of all nodes within `LINGER_MS`. */
const STREAMS_MAX = 2000;

interface Silent {
  readonly node: string;
  /** Since when it is silent and no live node; undefined while it is one. */
  overMs: number | undefined;
}

interface Stream extends Silent {
  /** Of its last message. */
  incarnation: string | null;
  /** Of the last fact that was heard, or that a gap has made unnecessary. */
  seq: number;
  heardMs: number;
  /** It has said that nothing more comes. */
  hasEnded: boolean;
}

/** `facts`: those that are new here, in order. `isGap`: facts before them are missing, so that everything must be decided anew. */
export interface Heard {
  readonly facts: readonly Fact[];
  readonly isGap: boolean;
}

export class PeerStreams {
  /** By epoch. */
  readonly #streams = new Map<string, Stream>();
  /** Live nodes that were never heard, by incarnation. */
  readonly #unmet = new Map<string, Silent>();

  heard(message: FactMessage, nowMs: number): Heard {
    const stream = this.#streamOf(message, nowMs);
    const { seq, facts } = message;
    const known = stream.seq;
    stream.hasEnded = message.bye === true;
    // Sent a second time, because the first answer was lost.
    if (seq <= known) return { facts: [], isGap: false };
    stream.seq = seq;
    const missing = seq - facts.length - known;
    return missing > 0 ? { facts: [], isGap: true } : { facts: facts.slice(-missing), isGap: false };
  }

  /** The facts of a message could not be read: they count as missed. */
  damaged(envelope: Envelope, nowMs: number): void {
    const stream = this.#streamOf(envelope, nowMs);
    stream.seq = Math.max(stream.seq, envelope.seq);
  }

  /** The nodes whose facts may be missing. `members`: addresses of the other live nodes by incarnation. Forgets what is long over. */
  silent(members: ReadonlyMap<string, string>, nowMs: number): ReadonlySet<string> {
    const silent = new Set<string>();
    const met = new Set<string>();
    for (const [epoch, stream] of this.#streams) {
      const isLive = stream.incarnation !== null && members.has(stream.incarnation);
      if (stream.incarnation !== null) met.add(stream.incarnation);
      const isQuiet = nowMs - stream.heardMs > SILENCE_MS;
      if (!isQuiet) stream.overMs = undefined;
      // The lease of one that has ended may last a little longer.
      if (stream.hasEnded ? !isLive : isQuiet && !this.#isMissed(stream, isLive, nowMs)) this.#streams.delete(epoch);
      else if (isQuiet && !stream.hasEnded) silent.add(stream.node);
    }
    for (const node of this.#neverHeard(members, met, nowMs)) silent.add(node);
    return silent;
  }

  /** `met`: the incarnations that were heard. */
  *#neverHeard(members: ReadonlyMap<string, string>, met: ReadonlySet<string>, nowMs: number): Generator<string> {
    for (const [incarnation, node] of members) {
      if (!met.has(incarnation) && !this.#unmet.has(incarnation)) this.#unmet.set(incarnation, { node, overMs: undefined });
    }
    for (const [incarnation, unmet] of this.#unmet) {
      if (!met.has(incarnation) && this.#isMissed(unmet, members.has(incarnation), nowMs)) yield unmet.node;
      else this.#unmet.delete(incarnation);
    }
  }

  /** False once what it may have had under way is over. */
  #isMissed(node: Silent, isLive: boolean, nowMs: number): boolean {
    if (isLive) node.overMs = undefined;
    else node.overMs ??= nowMs;
    return node.overMs === undefined || nowMs - node.overMs < LINGER_MS;
  }

  #streamOf({ node, incarnation, epoch }: Envelope, nowMs: number): Stream {
    const known = this.#streams.get(epoch);
    if (known !== undefined) {
      known.heardMs = nowMs;
      known.incarnation = incarnation;
      return known;
    }
    // One that was never heard begins with no fact: where it has told some before, its first message shows a gap.
    const stream: Stream = { node, incarnation, seq: 0, heardMs: nowMs, overMs: undefined, hasEnded: false };
    this.#streams.set(epoch, stream);
    if (this.#streams.size > STREAMS_MAX) this.#forgetOldest();
    return stream;
  }

  #forgetOldest(): void {
    const [oldest] = this.#streams.keys();
    if (oldest !== undefined) this.#streams.delete(oldest);
  }
}
