/** The live nodes, and which of them is chosen for an artifact that nobody owns. */
import type { ClusterNode, MembershipChange } from '../../../actors/runtime/ports.ts';
import { xxh32 } from './xxh32.ts';

interface Candidate {
  readonly node: ClusterNode;
  readonly seed: number;
}

export class Members {
  #nodes = new Map<string, ClusterNode>();
  #candidates: readonly Candidate[] = [];

  get list(): readonly ClusterNode[] {
    return [...this.#nodes.values()];
  }

  get size(): number {
    return this.#nodes.size;
  }

  get(incarnation: string): ClusterNode | undefined {
    return this.#nodes.get(incarnation);
  }

  /** Takes over the list. Answers what has changed, departures first. */
  update(nodes: readonly ClusterNode[]): readonly MembershipChange[] {
    const before = this.#nodes;
    const after = new Map(nodes.map((node) => [node.incarnation, node]));
    this.#nodes = after;
    this.#candidates = nodes.filter(({ isDraining }) => !isDraining).map((node) => ({ node, seed: xxh32(node.address) }));
    const left = [...before.values()].filter(({ incarnation }) => !after.has(incarnation));
    const joined = nodes.filter(({ incarnation }) => !before.has(incarnation));
    const draining = nodes.filter((node) => node.isDraining && before.get(node.incarnation)?.isDraining === false);
    return [
      ...left.map((node) => ({ kind: 'left' as const, node })),
      ...joined.map((node) => ({ kind: 'joined' as const, node })),
      ...draining.map((node) => ({ kind: 'draining' as const, node })),
    ];
  }

  /**
   * Rendezvous hashing: every node has a rank for every artifact, and the highest is chosen. So all nodes choose alike, and when one joins or
   * leaves, only its own share moves. A node is ranked by its address, so that it gets the same artifacts after a restart. Nodes that drain
   * are not chosen. A proxy in front computes the same (`deploy/proxy`).
   */
  chosen(artifactId: string): ClusterNode | undefined {
    let best: ClusterNode | undefined;
    let bestRank = -1;
    for (const candidate of this.#candidates) {
      const rank = xxh32(artifactId, candidate.seed);
      if (rank < bestRank) continue;
      // Two incarnations of one address: the earlier one has just died.
      if (rank === bestRank && best !== undefined && rankOfTie(candidate.node) < rankOfTie(best)) continue;
      best = candidate.node;
      bestRank = rank;
    }
    return best;
  }
}

function rankOfTie({ address, incarnation }: ClusterNode): string {
  return `${address} ${incarnation}`;
}
