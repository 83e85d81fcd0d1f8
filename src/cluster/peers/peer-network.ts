/** What a node is to its peers: the door at which they reach it, and its own connections to theirs. */
import { readFile } from 'node:fs/promises';
import type { Log, Placement } from '../../../actors/runtime/ports.ts';
import type { Peers } from '../../edge/forwarding/forwarder.ts';
import type { PeerStream } from '../../edge/forwarding/peer-stream.ts';
import { systemClock } from '../../platform/clock.ts';
import { peerEndpoint, type Settings } from '../../platform/config.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { inWords, peerWords } from '../../storage/start-failures.ts';
import { PeerDoor, type PeerTls } from './peer-door.ts';
import { PeerLinks } from './peer-links.ts';

export interface PeerNetwork extends Peers {
  /** From here on forwarded calls are taken; before, they are refused. */
  serve(take: (stream: PeerStream, head: Buffer) => void): void;
  close(): void;
}

export type PeerSettings = Required<Pick<Settings, 'CLUSTER_SECRET' | 'PEER_ADDRESS'>> &
  Pick<Settings, 'PEER_TLS_CERT' | 'PEER_TLS_KEY' | 'PEER_TLS_CA'>;

/** Throws `SettingUnusable` where PEER_ADDRESS cannot be listened on, or a certificate cannot be read. */
export async function openPeers(settings: PeerSettings, placement: Placement, metrics: Metrics, log: Log): Promise<PeerNetwork> {
  const { CLUSTER_SECRET: secret, PEER_ADDRESS: address } = settings;
  const endpoint = peerEndpoint(address);
  if (endpoint === undefined) throw new Error('PEER_ADDRESS was checked with the settings');
  const clock = systemClock;
  const self = () => ({ address, incarnation: placement.self()?.incarnation ?? '' });
  let take: ((stream: PeerStream, head: Buffer) => void) | undefined;
  const open = async () => {
    const tls = await readTls(settings);
    const opened = (stream: PeerStream, head: Buffer) => (take === undefined ? stream.reset() : take(stream, head));
    return { tls, door: await PeerDoor.open({ ...endpoint, secret, tls, self, clock, log, opened }) };
  };
  const { tls, door } = await inWords(open(), peerWords(address));
  const links = new PeerLinks({ secret, tls, self, clock, log });
  metrics.watch('easel_peer_streams', 'Forwarded calls under way, in both directions.', () => door.streams + links.streams);
  metrics.watch('easel_peer_bytes_queued', 'Bytes that wait for the connections to peers.', () => door.queuedBytes + links.queuedBytes);
  return {
    locate: (id) => placement.locate(id),
    claim: (id) => placement.claim(id),
    forget: (id) => placement.forget(id),
    open: (to, head) => links.open(to, head),
    serve: (by) => {
      take = by;
    },
    close() {
      links.close();
      door.close();
    },
  };
}

async function readTls({ PEER_TLS_CERT, PEER_TLS_KEY, PEER_TLS_CA }: PeerSettings): Promise<PeerTls | undefined> {
  if (PEER_TLS_CERT === undefined || PEER_TLS_KEY === undefined || PEER_TLS_CA === undefined) return undefined;
  const [cert, key, ca] = await Promise.all([PEER_TLS_CERT, PEER_TLS_KEY, PEER_TLS_CA].map((file) => readFile(file)));
  return cert && key && ca && { cert, key, ca };
}
