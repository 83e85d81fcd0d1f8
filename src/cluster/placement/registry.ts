/** What placement needs of the registry that all nodes share. Redis implements it, and a model in memory for the simulation. */
import type { ClusterNode } from '../../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';

/** How long a node counts as live after the registry has received its last heartbeat. */
export const LEASE_MS = 3000;
/** How long the registry keeps what an owner has handed over: no limit of an artifact looks back further. */
export const HANDOVER_MS = 61_000;

export interface Beat {
  /** Whether the node's lease was still there. Where it was not, others may have taken what the node holds. */
  readonly wasAlive: boolean;
  /** Changes when the registry may have forgotten claims: it was emptied, started again, or another server has taken its place. */
  readonly generation: string;
  /** All live nodes, the caller included. */
  readonly nodes: readonly ClusterNode[];
  /** Changes when a node joins, drains or leaves, and when it is noticed that one has died. */
  readonly members: number;
}

export interface Wanted {
  readonly artifactId: ArtifactId;
  /** Claim it under this number if nobody holds it; undefined: only look. */
  readonly claim: number | undefined;
}

/** One claim of a node. Its number is the node's own and tells it from earlier claims of the same artifact. */
export interface Claim {
  readonly artifactId: ArtifactId;
  readonly claim: number;
}

export interface Handover {
  readonly text: string;
  /** Since it was handed over. */
  readonly ageMs: number;
}

export type Found =
  /** Under that number, which is an earlier one where the caller had claimed it already. */
  | { readonly kind: 'mine'; readonly claim: number; readonly handover: Handover | undefined }
  | { readonly kind: 'held'; readonly node: ClusterNode }
  /** Nobody holds it; only where it was not to be claimed. Whom to choose is up to date where `members` is that of the last heartbeat. */
  | { readonly kind: 'free'; readonly members: number }
  /**
   * The registry may have forgotten who holds it. Until every node has had the time to say again what it holds, or to notice that its lease
   * is over, nobody gets it.
   */
  | { readonly kind: 'settling'; readonly leftMs: number }
  /** The caller has no lease. */
  | { readonly kind: 'lapsed' };

export interface Released extends Claim {
  readonly handover: string | undefined;
}

/** Every call may fail and take effect all the same, also later; every call may be repeated. `incarnation` is the caller's. */
export interface Registry {
  /** Renews or begins the lease of a node, in place of the incarnation that it had before, if one is named. */
  beat(node: ClusterNode, replaces: string | undefined): Promise<Beat>;
  /** Answers in the order of `wanted`, at most BATCH_MAX. */
  find(incarnation: string, wanted: readonly Wanted[]): Promise<readonly Found[]>;
  /** Says again what the caller holds. Answers what others have taken meanwhile; rejects where the caller has no lease. */
  reclaim(incarnation: string, claims: readonly Claim[]): Promise<readonly ArtifactId[]>;
  /** Gives up exactly these claims of the caller's, and leaves others and later ones alone, however late this arrives. */
  release(incarnation: string, released: readonly Released[]): Promise<void>;
  /** Ends the caller's lease, and with it its claims. */
  leave(incarnation: string): Promise<void>;
  /** Removes some claims of nodes that are gone, so that they take no memory. Answers the cursor of the next call, '0' at the end, '' where it is not the time. */
  sweep(cursor: string): Promise<string>;
}

/** Artifacts in one call: Redis serves nobody else meanwhile. */
export const BATCH_MAX = 200;
