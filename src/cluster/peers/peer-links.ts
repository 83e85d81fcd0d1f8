/** The connections that this node has opened to its peers: one each, made when it is first needed and again after it was lost. */
import { type Socket, connect as tcpConnect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import type { Clock, Log } from '../../../actors/runtime/ports.ts';
import type { PeerStream } from '../../edge/forwarding/peer-stream.ts';
import { peerEndpoint } from '../../platform/config.ts';
import { introduction, isProof, type PeerName, PROOF_BYTES, proofOf, readIntroduction } from './handshake.ts';
import { PeerConnection } from './peer-connection.ts';
import { HANDSHAKE_MS, type PeerTls } from './peer-door.ts';

/** A handshake is shorter, also with the first frames behind it: the door opens no streams. */
const HANDSHAKE_BYTES_MAX = 4096;
/** After a failed attempt calls to that peer fail at once for so long, so that they do not all wait for the same deadline. */
const PAUSE_MS = 250;

export interface LinksDeps {
  readonly secret: string;
  readonly tls: PeerTls | undefined;
  readonly self: () => PeerName;
  readonly clock: Clock;
  readonly log: Log;
}

/** The peer cannot be reached, or has no room for a further call. */
export class PeerUnreachable extends Error {
  override readonly name = 'PeerUnreachable';
}

export class PeerLinks {
  readonly #deps: LinksDeps;
  readonly #connections = new Map<string, PeerConnection>();
  readonly #connecting = new Map<string, Promise<PeerConnection>>();
  /** Monotonic ms until which a peer is not tried again. */
  readonly #pausedUntilMs = new Map<string, number>();
  #isClosed = false;

  constructor(deps: LinksDeps) {
    this.#deps = deps;
  }

  get streams(): number {
    return [...this.#connections.values()].reduce((sum, { streams }) => sum + streams, 0);
  }

  get queuedBytes(): number {
    return [...this.#connections.values()].reduce((sum, { queuedBytes }) => sum + queuedBytes, 0);
  }

  /** Forwards a call. At once where there is a connection. Throws or rejects with `PeerUnreachable`. */
  open(address: string, head: Buffer): PeerStream | Promise<PeerStream> {
    const connection = this.#connections.get(address);
    if (connection !== undefined) return opened(connection, head);
    return this.#connected(address).then((made) => opened(made, head));
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of [...this.#connections.values()]) connection.close('this node stops');
  }

  #connected(address: string): Promise<PeerConnection> {
    const connecting = this.#connecting.get(address);
    if (connecting !== undefined) return connecting;
    const { clock, log } = this.#deps;
    if (this.#isClosed || clock.monotonicMs() < (this.#pausedUntilMs.get(address) ?? 0))
      return Promise.reject(new PeerUnreachable(`${address} could not be reached a moment ago`));
    const attempt = this.#connect(address)
      .catch((error: Error) => {
        this.#pausedUntilMs.set(address, clock.monotonicMs() + PAUSE_MS);
        log.warn({ err: error, address }, 'a peer cannot be reached');
        throw new PeerUnreachable(error.message);
      })
      .finally(() => this.#connecting.delete(address));
    this.#connecting.set(address, attempt);
    return attempt;
  }

  #connect(address: string): Promise<PeerConnection> {
    const { secret, tls, self, clock } = this.#deps;
    const endpoint = peerEndpoint(address);
    if (endpoint === undefined) return Promise.reject(new Error(`${address} is not host:port`));
    return new Promise((resolve, reject) => {
      const socket: Socket = tls === undefined ? tcpConnect(endpoint) : tlsConnect({ ...endpoint, ...tls, minVersion: 'TLSv1.3' });
      const deadline = clock.after(HANDSHAKE_MS, () => fail(new Error('no handshake within its deadline')));
      const fail = (error: Error) => {
        deadline.cancel();
        socket.destroy();
        reject(error);
      };
      socket.on('error', fail);
      socket.once('close', () => fail(new Error('it was closed during the handshake')));
      const own = introduction(self());
      let received = Buffer.alloc(0);
      let expected: { readonly proof: Buffer; readonly from: number; readonly peer: PeerName } | undefined;
      const listen = (bytes: Buffer) => {
        received = Buffer.concat([received, bytes]);
        if (received.length > HANDSHAKE_BYTES_MAX) fail(new Error('what it says is no handshake'));
        if (expected === undefined) {
          const read = readIntroduction(received);
          if (read === undefined) return;
          socket.write(Buffer.concat([own.encoded, proofOf(secret, 'client', read.introduction, own)]));
          expected = { proof: proofOf(secret, 'server', read.introduction, own), from: read.end, peer: read.introduction.name };
        }
        const { proof, from, peer } = expected;
        if (received.length < from + PROOF_BYTES) return;
        if (!isProof(received.subarray(from, from + PROOF_BYTES), proof)) {
          fail(new Error('it does not know CLUSTER_SECRET'));
          return;
        }
        deadline.cancel();
        socket.removeAllListeners();
        resolve(this.#keep(address, socket, peer, received.subarray(from + PROOF_BYTES)));
      };
      socket.on('data', listen);
    });
  }

  #keep(address: string, socket: Socket, peer: PeerName, early: Buffer): PeerConnection {
    const { clock, log } = this.#deps;
    const connection: PeerConnection = new PeerConnection(socket, peer, {
      clock,
      closed: (why) => {
        if (this.#connections.get(address) === connection) this.#connections.delete(address);
        log.info({ address, why }, 'the connection to a peer has ended');
      },
    });
    this.#connections.set(address, connection);
    if (early.length > 0) connection.received(early);
    if (this.#isClosed) connection.close('this node stops');
    return connection;
  }
}

function opened(connection: PeerConnection, head: Buffer): PeerStream {
  const stream = connection.open(head);
  if (stream === undefined) throw new PeerUnreachable('the peer has no room for a further call');
  return stream;
}
