/** A connection to a host that users name, for protocols other than HTTP. Addresses, ports and slots are decided by `Egress`. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type SecureContext, connect as secure, type TLSSocket } from 'node:tls';
import type { Clock } from '../../actors/runtime/ports.ts';
import { EgressFailure } from './failure.ts';

export interface DialRequest {
  /** A name or an address, IPv6 in brackets. */
  readonly host: string;
  readonly port: number;
  /** May be called whatever ports the service calls otherwise: what the protocol always uses. */
  readonly usualPort: number;
  /** As with `EgressRequest`. */
  readonly share: string;
  readonly signal: AbortSignal;
}

const CONNECT_MS = 4000;

/** To exactly this address. Throws EgressFailure connect, and the signal's reason. */
export async function dialAddress(clock: Pick<Clock, 'after'>, address: string, port: number, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ host: address, port });
  const timer = clock.after(CONNECT_MS, () => socket.destroy(new EgressFailure('connect', 'The host does not answer.')));
  try {
    await once(socket, 'connect', { signal });
    // An error may come before the caller listens; the close that follows tells of it.
    socket.on('error', () => undefined);
    return socket;
  } catch (error) {
    socket.on('error', () => undefined);
    socket.destroy();
    if (signal.aborted) throw signal.reason;
    if (error instanceof EgressFailure) throw error;
    const isRefused = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
    throw new EgressFailure('connect', isRefused ? 'The host refuses the connection.' : 'The host does not accept the connection.', {
      cause: error,
    });
  } finally {
    timer.cancel();
  }
}

export interface Secured {
  /** Undefined for an address, which no certificate is asked for by name. */
  readonly servername: string | undefined;
  /** Whether the certificate has to be valid for the name. */
  readonly isVerified: boolean;
  /** Undefined: the public authorities. */
  readonly trusted: SecureContext | undefined;
  readonly signal: AbortSignal;
}

/** TLS over an open connection. Throws EgressFailure connect, and the signal's reason. */
export async function secured(socket: Socket, { servername, isVerified, trusted, signal }: Secured): Promise<TLSSocket> {
  const upgraded = secure({
    socket,
    rejectUnauthorized: isVerified,
    ...(servername !== undefined && { servername }),
    ...(trusted !== undefined && { secureContext: trusted }),
  });
  try {
    await once(upgraded, 'secureConnect', { signal });
    upgraded.on('error', () => undefined);
    return upgraded;
  } catch (error) {
    upgraded.on('error', () => undefined);
    upgraded.destroy();
    if (signal.aborted) throw signal.reason;
    const { code = '' } = error as { readonly code?: string };
    const isUntrusted = /CERT|SELF_SIGNED|UNABLE_TO/.test(code);
    throw new EgressFailure('connect', isUntrusted ? 'The host has no valid certificate for its name.' : 'The host does not come to TLS.', {
      cause: error,
    });
  }
}
