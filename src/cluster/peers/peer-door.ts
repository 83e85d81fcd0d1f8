/** The port on which a node hears its peers: whoever cannot prove that it is one is refused before it costs anything. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Clock, Log } from '../../../actors/runtime/ports.ts';
import type { PeerStream } from '../../edge/forwarding/peer-stream.ts';
import { introduction, isProof, type PeerName, PROOF_BYTES, proofOf, readIntroduction } from './handshake.ts';
import { PeerConnection } from './peer-connection.ts';

/** From the connection to the proof. */
export const HANDSHAKE_MS = 2000;
/** Connections that have proved nothing yet. */
export const UNPROVEN_MAX = 64;
/** A handshake is shorter. */
const UNPROVEN_BYTES_MAX = 512;

/** Certificates in PEM; peers show theirs to each other. */
export interface PeerTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer;
}

export interface DoorDeps {
  readonly host: string;
  readonly port: number;
  readonly secret: string;
  readonly tls: PeerTls | undefined;
  readonly self: () => PeerName;
  readonly clock: Clock;
  readonly log: Log;
  readonly opened: (stream: PeerStream, head: Buffer, peer: PeerName) => void;
}

export class PeerDoor {
  readonly #deps: DoorDeps;
  readonly #server: Server;
  readonly #unproven = new Set<Socket>();
  readonly #connections = new Set<PeerConnection>();

  private constructor(deps: DoorDeps) {
    this.#deps = deps;
    const greet = (socket: Socket) => this.#greet(socket);
    const { tls } = deps;
    this.#server =
      tls === undefined
        ? createServer(greet)
        : createTlsServer(
            { ...tls, requestCert: true, rejectUnauthorized: true, handshakeTimeout: HANDSHAKE_MS, minVersion: 'TLSv1.3' },
            greet,
          );
  }

  /** Rejects with the system's error where the address cannot be listened on. */
  static async open(deps: DoorDeps): Promise<PeerDoor> {
    const door = new PeerDoor(deps);
    door.#server.listen(deps.port, deps.host);
    await once(door.#server, 'listening');
    return door;
  }

  get port(): number {
    const address = this.#server.address();
    return address === null || typeof address === 'string' ? this.#deps.port : address.port;
  }

  get streams(): number {
    return [...this.#connections].reduce((sum, { streams }) => sum + streams, 0);
  }

  get queuedBytes(): number {
    return [...this.#connections].reduce((sum, { queuedBytes }) => sum + queuedBytes, 0);
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#unproven) socket.destroy();
    for (const connection of [...this.#connections]) connection.close('this node stops');
  }

  #greet(socket: Socket): void {
    const { clock, log, secret, self } = this.#deps;
    socket.on('error', () => undefined);
    if (this.#unproven.size >= UNPROVEN_MAX) {
      socket.destroy();
      return;
    }
    this.#unproven.add(socket);
    const deadline = clock.after(HANDSHAKE_MS, () => socket.destroy());
    const settle = () => {
      deadline.cancel();
      this.#unproven.delete(socket);
    };
    socket.once('close', settle);
    const own = introduction(self());
    socket.write(own.encoded);
    let received = Buffer.alloc(0);
    const listen = (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      const read = readIntroduction(received);
      if (read === undefined || received.length < read.end + PROOF_BYTES) {
        if (received.length > UNPROVEN_BYTES_MAX) socket.destroy();
        return;
      }
      const begin = read.end + PROOF_BYTES;
      socket.off('data', listen);
      settle();
      if (!isProof(received.subarray(read.end, begin), proofOf(secret, 'client', own, read.introduction))) {
        log.warn({ address: socket.remoteAddress }, 'somebody at the port for peers does not know CLUSTER_SECRET');
        socket.destroy();
        return;
      }
      socket.write(proofOf(secret, 'server', own, read.introduction));
      this.#admit(socket, read.introduction.name, received.subarray(begin));
    };
    socket.on('data', listen);
  }

  #admit(socket: Socket, peer: PeerName, early: Buffer): void {
    const { clock, opened } = this.#deps;
    const connection: PeerConnection = new PeerConnection(socket, peer, {
      clock,
      opened,
      closed: () => this.#connections.delete(connection),
    });
    this.#connections.add(connection);
    if (early.length > 0) connection.received(early);
  }
}
