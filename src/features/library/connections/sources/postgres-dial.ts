/** Connections to somebody's Postgres server: with TLS where the settings ask for it, and a second one that cancels what runs on the first. */
import { once } from 'node:events';
import { isIP, isIPv6, type Socket } from 'node:net';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { secured } from '../../../../egress/dial.ts';
import { EgressFailure } from '../../../../egress/failure.ts';
import { withDeadline } from '../deadline.ts';
import type { Reach } from './target.ts';

const POSTGRES_PORT = 5432;

export interface PostgresPlace {
  readonly host: string;
  readonly port: number;
  readonly ssl: 'disable' | 'require' | 'verify-full';
}

export interface Dialed {
  /** Without its TLS. Ends with the signal of the reach. */
  readonly bare: Socket;
  /** What the protocol is spoken on. */
  readonly socket: Socket;
  /** Ends what the server is doing for the connection that was given this key. Never throws, and takes a bounded time. */
  cancel(key: Buffer): Promise<void>;
}

/** The length of the message and the code of "there is TLS" in the protocol's SSLRequest, and its answer. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const WILL_DO = 0x53;
/** CancelRequest, before the process and the key. */
const CANCEL_REQUEST = Buffer.from([0, 0, 0, 16, 0x04, 0xd2, 0x16, 0x2e]);

/** Throws EgressFailure, and the reason of the signal. */
export async function dialPostgres(reach: Reach, place: PostgresPlace): Promise<Dialed> {
  const bare = await dialBare(reach, place, place.host);
  // Another address of the same name may be another server, which does not have the query.
  const address = bare.remoteAddress ?? place.host;
  const socket = place.ssl === 'disable' ? bare : await withTls(bare, reach, place);
  return { bare, socket, cancel: (key) => cancelAt(reach, place, isIPv6(address) ? `[${address}]` : address, key) };
}

function dialBare({ egress, share, signal }: Reach, { port }: PostgresPlace, host: string): Promise<Socket> {
  return egress.dial({ host, port, usualPort: POSTGRES_PORT, share, signal });
}

/** With a deadline of its own: that of the reach may be why it is cancelled. */
async function cancelAt(reach: Reach, place: PostgresPlace, address: string, key: Buffer): Promise<void> {
  const cancelling = withDeadline(LIMITS.connectionCancelMs, undefined, async (signal) => {
    const within = { ...reach, signal };
    const bare = await dialBare(within, place, address);
    try {
      const socket = place.ssl === 'disable' ? bare : await withTls(bare, within, place);
      socket.end(Buffer.concat([CANCEL_REQUEST, key]));
      // The server closes without an answer, once it has passed the request on.
      socket.resume();
      await once(socket, 'close', { signal });
    } finally {
      bare.destroy();
    }
  });
  // Where it cannot be cancelled, the time limit of the query is left.
  await cancelling.catch(() => undefined);
}

async function withTls(socket: Socket, { egress, signal }: Reach, { host, ssl }: PostgresPlace): Promise<Socket> {
  try {
    socket.write(SSL_REQUEST);
    const [answer] = (await Promise.race([once(socket, 'data', { signal }), closed(socket)])) as [Buffer];
    // What somebody on the way has put behind the answer would be taken for the server's, read in the clear.
    if (answer[0] !== WILL_DO || answer.length > 1) throw new EgressFailure('connect', 'The database does not offer TLS.');
    const name = host.replace(/^\[(.*)\]$/, '$1');
    const servername = isIP(name) === 0 ? name : undefined;
    return await secured(socket, { servername, isVerified: ssl === 'verify-full', trusted: egress.trusted, signal });
  } catch (error) {
    socket.destroy();
    if (signal.aborted) throw signal.reason;
    throw error;
  }
}

async function closed(socket: Socket): Promise<never> {
  await once(socket, 'close');
  throw new EgressFailure('connect', 'The host ended the connection.');
}
