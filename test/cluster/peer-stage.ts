/** Edges over fakes that are nodes of one cluster: who owns what is set by the test, what goes between them is real. */
import { onTestFinished } from 'vitest';
import type { Location } from '../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { PeerDoor } from '../../src/cluster/peers/peer-door.ts';
import { PeerLinks } from '../../src/cluster/peers/peer-links.ts';
import type { Peers } from '../../src/edge/forwarding/forwarder.ts';
import type { PeerStream } from '../../src/edge/forwarding/peer-stream.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { type FakeEdge, startFakeEdge } from '../edge/fake-edge.ts';
import { SILENT } from '../support/database.ts';

export const SECRET = 'the same on all nodes of the test, nowhere else';

export type NodeOptions = NonNullable<Parameters<typeof startFakeEdge>[0]>;

export interface StageNode {
  readonly fake: FakeEdge;
  readonly address: string;
  readonly links: PeerLinks;
  readonly door: PeerDoor;
  /** Where this node looks for artifacts: a node, or itself. Each look takes the first, and the last stays. */
  owners: (StageNode | 'here')[];
  /** Whether it may become the owner of what a peer sends to it. */
  owns: boolean;
  /** How often a location has proved to be out of date. */
  forgotten: number;
}

export async function startNode(options: NodeOptions = {}): Promise<StageNode> {
  let take: ((stream: PeerStream, head: Buffer) => void) | undefined;
  const self = () => ({ address: node.address, incarnation: 'first' });
  const own = { secret: SECRET, tls: undefined, self, clock: systemClock, log: SILENT };
  const door = await PeerDoor.open({ ...own, host: '127.0.0.1', port: 0, opened: (stream, head) => take?.(stream, head) });
  const links = new PeerLinks(own);
  const locate = (_id: ArtifactId): Location | Promise<Location> => {
    const owner = node.owners.length > 1 ? node.owners.shift() : node.owners[0];
    if (owner === undefined || owner === 'here') return { here: true };
    return { here: false, address: owner.address, incarnation: 'first' };
  };
  const peers: Peers = {
    locate,
    claim: () => node.owns,
    forget: () => {
      node.forgotten += 1;
    },
    open: (address, head) => links.open(address, head),
  };
  const fake = await startFakeEdge({ ...options, peers });
  take = (stream, head) => fake.edge.takeCarried(stream, head);
  const node: StageNode = { fake, address: `127.0.0.1:${door.port}`, links, door, owners: ['here'], owns: true, forgotten: 0 };
  onTestFinished(() => {
    links.close();
    door.close();
    fake.close();
  });
  return node;
}

/** Two nodes, of which the second owns everything. */
export async function frontAndOwner(owner: NodeOptions = {}, front: NodeOptions = {}) {
  const nodes = { front: await startNode(front), owner: await startNode(owner) };
  nodes.front.owners = [nodes.owner];
  return nodes;
}
