/** What actors need of the outside. The same actor code runs against the real ones and in a simulation with a virtual clock. */
import type { ArtifactId } from '../../protocol/core/ids.ts';

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Unix ms. */
  nowMs(): number;
  /** Never goes back; for leases, windows and idleness. */
  monotonicMs(): number;
  after(delayMs: number, run: () => void): Timer;
}

/** A node of the cluster, as its peers see it. */
export interface ClusterNode {
  /** `host:port` at which its peers reach it. */
  readonly address: string;
  /** New at each start, and whenever a node begins again after it lost its lease: what was said to an earlier one is void. */
  readonly incarnation: string;
  /** It hands over its artifacts and takes no further ones. */
  readonly isDraining: boolean;
}

/** Where an artifact's actor lives. `incarnation` is that of the node at `address`. */
export type Location = { readonly here: true } | { readonly here: false; readonly address: string; readonly incarnation: string };

/** `joined` and `left` name live nodes other than this one; `draining` is told once for a node that stays. */
export interface MembershipChange {
  readonly kind: 'joined' | 'left' | 'draining';
  readonly node: ClusterNode;
}

/** What an artifact's owner knows that is not stored: the calls of its rate windows. */
export interface Luggage {
  /** Called as a claim is released: at most a few KB; undefined where there is nothing. From here on it belongs to the next owner. */
  pack(artifactId: ArtifactId): string | undefined;
  /** Called before a new claim is answered, with what the last owner packed `ageMs` ago. */
  unpack(artifactId: ArtifactId, packed: string, ageMs: number): void;
}

/**
 * Who owns which artifact. A claim says where to look; that nobody else writes is kept by `owner_epoch`, which each load raises after its claim.
 * `locate` and `claim` throw or reject with UNAVAILABLE when the registry does not answer in time, and with OWNER_MOVED while this node hands over.
 */
export interface Placement {
  /**
   * Where the actor lives. One that lives nowhere is claimed for this node if this node is chosen for it; otherwise the answer is the node
   * that is chosen, which has not claimed it yet. At once for artifacts that this node owns or has lately asked about.
   */
  locate(artifactId: ArtifactId): Location | Promise<Location>;
  /** Evidence that an answer of `locate` is out of date, such as a refusal by that node: the next `locate` asks again. */
  forget(artifactId: ArtifactId): void;
  /**
   * Makes this node the owner unless another live node is: called before an actor loads, and for a call that a peer has forwarded here, whichever
   * node is chosen. False when another node holds it, or while this node drains. Repeating it changes nothing.
   */
  claim(artifactId: ArtifactId): boolean | Promise<boolean>;
  /**
   * Gives up this node's own claim, after an actor has left memory. Settles when others can claim it, or when that was tried long enough: the
   * claim then ends with this node's lease. Never rejects.
   */
  release(artifactId: ArtifactId): void | Promise<void>;
  /** Sets what a claim takes along when it moves to another node within a minute. */
  carry(luggage: Luggage): void;
  /** Whether this node may still answer for its actors: false before its lease can have ended for others. Cheap; asked at every turn. */
  holds(): boolean;
  /** Told of each artifact that is no longer this node's without a release. */
  onLost(listener: (artifactId: ArtifactId) => void): void;
  /** This node; undefined where there is no cluster, and while it has no lease. */
  self(): ClusterNode | undefined;
  /** The live nodes, this one included; empty where there is no cluster. */
  nodes(): readonly ClusterNode[];
  onMembership(listener: (change: MembershipChange) => void): void;
  /** Joins the cluster. Rejects when that is not possible. Listeners are set before. */
  start(): Promise<void>;
  /** From here on this node claims nothing more, and others are chosen for what it releases. */
  drain(): Promise<void>;
  /** Gives up all claims and leaves the cluster. Never rejects. */
  stop(): Promise<void>;
}

export interface SlowTurn {
  /** Unix ms at its end. */
  readonly atMs: number;
  readonly durationMs: number;
  readonly operation: string;
}

/** What the runtime tells operations. Implemented over prom-client; a no-op in tests. */
export interface RuntimeMeter {
  commit(changes: number, artifacts: number, durationMs: number, outcome: 'ok' | 'failed'): void;
  loaded(durationMs: number): void;
  /** A write was refused, because too many changes wait for a commit: of its artifact, or of all. */
  writeRefused(by: 'artifact' | 'total'): void;
  /** Called after every turn. */
  turn(durationMs: number): void;
  /** One that held the event loop for long. `operation`: what it did; nothing of its data. */
  slowTurn?(turn: SlowTurn): void;
}

export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
