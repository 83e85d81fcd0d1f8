/** A TCP proxy between a node and what it depends on, which can hold back one or both directions, delay, cut, and refuse. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** `there`: from the node to the server. */
export type Direction = 'there' | 'back';

interface Pipe {
  readonly from: Socket;
  readonly to: Socket;
  readonly direction: Direction;
  /** Chunks on their way, in order. */
  readonly late: { readonly chunk: Buffer; readonly dueMs: number }[];
}

export class NetworkLink {
  readonly port: number;
  readonly #server: Server;
  readonly #pipes = new Set<Pipe>();
  readonly #held = new Set<Direction>();
  #delayMs = 0;
  #isDown = false;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async to(host: string, port: number): Promise<NetworkLink> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const link = new NetworkLink(server);
    server.on('connection', (near) => link.#accept(near, host, port));
    return link;
  }

  /** Nothing gets through in these directions, and nothing closes, as with a host that has vanished. What was sent arrives after `heal`. */
  hold(...directions: Direction[]): void {
    for (const direction of directions) this.#held.add(direction);
    for (const { from, direction } of this.#pipes) if (this.#held.has(direction)) from.pause();
  }

  /** Every chunk arrives later by so much; chunks keep their order. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Ends every connection at once and refuses new ones until `heal`. */
  cut(): void {
    this.#isDown = true;
    this.drop();
  }

  /** Ends every connection at once. */
  drop(): void {
    for (const { from } of this.#pipes) from.destroy();
  }

  heal(): void {
    this.#held.clear();
    this.#delayMs = 0;
    this.#isDown = false;
    for (const { from } of this.#pipes) from.resume();
  }

  async close(): Promise<void> {
    this.drop();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(near: Socket, host: string, port: number): void {
    if (this.#isDown) {
      near.on('error', () => undefined);
      near.destroy();
      return;
    }
    const far = connect(port, host);
    this.#pipe({ from: near, to: far, direction: 'there', late: [] });
    this.#pipe({ from: far, to: near, direction: 'back', late: [] });
  }

  #pipe(pipe: Pipe): void {
    const { from, to, direction } = pipe;
    this.#pipes.add(pipe);
    from.on('data', (chunk) => {
      if (this.#delayMs === 0 && pipe.late.length === 0) {
        to.write(chunk);
        return;
      }
      pipe.late.push({ chunk, dueMs: performance.now() + this.#delayMs });
      if (pipe.late.length === 1) deliver(pipe);
    });
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.#pipes.delete(pipe);
      to.destroy();
    });
    if (this.#held.has(direction)) from.pause();
  }
}

/** Writes what is due, and comes back for the rest. */
function deliver(pipe: Pipe): void {
  for (let next = pipe.late[0]; next !== undefined; next = pipe.late[0]) {
    const waitMs = next.dueMs - performance.now();
    if (waitMs > 0) {
      setTimeout(() => deliver(pipe), waitMs);
      return;
    }
    pipe.late.shift();
    pipe.to.write(next.chunk);
  }
}
