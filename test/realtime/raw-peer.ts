/** A plain WebSocket: the test sends bytes and reads the received frames. */
import { once } from 'node:events';
import { WebSocket } from 'ws';

export interface Ending {
  readonly code: number;
  readonly reason: string;
}

export class RawPeer {
  readonly closed: Promise<Ending>;
  readonly #socket: WebSocket;
  readonly #frames: string[] = [];
  #waiter: ((frame: string) => void) | undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    socket.on('message', (data: Buffer) => {
      const waiter = this.#waiter;
      this.#waiter = undefined;
      if (waiter === undefined) this.#frames.push(data.toString('hex'));
      else waiter(data.toString('hex'));
    });
  }

  /** Rejects with "Unexpected server response: 401" where the upgrade is refused. */
  static async open(url: string, options: { readonly localAddress?: string } = {}): Promise<RawPeer> {
    const socket = new WebSocket(url, options);
    const peer = new RawPeer(socket);
    await once(socket, 'open');
    return peer;
  }

  send(...frames: readonly (Uint8Array | string)[]): void {
    for (const frame of frames) this.#socket.send(frame);
  }

  /** The next frame in hex. One reader at a time. */
  next(): Promise<string> {
    const frame = this.#frames.shift();
    if (frame !== undefined) return Promise.resolve(frame);
    return new Promise((resolve) => {
      this.#waiter = resolve;
    });
  }

  async take(count: number): Promise<string[]> {
    const frames: string[] = [];
    while (frames.length < count) frames.push(await this.next());
    return frames;
  }

  close(): void {
    this.#socket.terminate();
  }
}
