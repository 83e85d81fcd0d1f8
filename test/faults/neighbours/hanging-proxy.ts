/** A TCP proxy that can stop forwarding without closing anything, as a host does that has vanished or a process that is stopped. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class HangingProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isHanging = false;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async before(host: string, port: number): Promise<HangingProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new HangingProxy(server);
    server.on('connection', (near) => proxy.#pair(near, connect(port, host)));
    return proxy;
  }

  hang(): void {
    this.#isHanging = true;
    for (const socket of this.#sockets) socket.pause();
  }

  goOn(): void {
    this.#isHanging = false;
    for (const socket of this.#sockets) socket.resume();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #pair(near: Socket, far: Socket): void {
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (chunk) => to.write(chunk));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      if (this.#isHanging) from.pause();
    }
  }
}
