/** A proxy that a test can cut, to simulate a lost network. */

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CuttableProxy {
  readonly port: number;
  /** The target port. */
  lead(port: number): void;
  /** Breaks open connections and refuses new ones. */
  cut(): void;
  restore(): void;
  close(): Promise<void>;
}

export async function startProxy(): Promise<CuttableProxy> {
  const sockets = new Set<Socket>();
  let target = 0;
  let isCut = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    // The test itself breaks connections, so errors are expected.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((incoming) => {
    if (isCut) {
      incoming.destroy();
      return;
    }
    const outgoing = keep(connect(target, '127.0.0.1'));
    keep(incoming).pipe(outgoing).pipe(incoming);
    incoming.on('close', () => outgoing.destroy());
    outgoing.on('close', () => incoming.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    lead: (port) => {
      target = port;
    },
    cut,
    restore: () => {
      isCut = false;
    },
    close: () => {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
