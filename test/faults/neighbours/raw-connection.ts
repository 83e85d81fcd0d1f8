/** A TCP connection from an address of its own that reads only when it is told to. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestEasel } from '../../support/easel.ts';

const CLOSE_OPCODE = 8;
const PING = 9;

export interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly host?: string;
  readonly lines?: readonly string[];
  readonly body?: string;
}

export class RawConnection {
  readonly socket: Socket;
  /** Settles when the connection is over, whichever side ended it. A connection that does not read notices only when it does. */
  readonly closed: Promise<void>;
  #text = '';

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.pause();
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
  }

  static async open({ port }: Pick<TestEasel, 'port'>, localAddress: string): Promise<RawConnection> {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    const connection = new RawConnection(socket);
    await once(socket, 'connect');
    return connection;
  }

  send({ method = 'GET', path, host = 'localhost', lines = [], body = '' }: Sent): void {
    const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`, 'Content-Type: application/json'];
    this.socket.write([`${method} ${path} HTTP/1.1`, `Host: ${host}`, ...lines, ...length, '', body].join('\r\n'));
  }

  upgrade(path: string): void {
    const lines = ['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
    this.send({ path, lines });
  }

  /** A frame with a mask of zeros. */
  frame(opcode: number, payload: Uint8Array = new Uint8Array(0)): void {
    this.socket.write(Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]));
  }

  /** Reads the first line of the answer, and no more than comes with it. Empty where the server has closed the connection without one. */
  async status(): Promise<string> {
    while (!this.#text.includes('\r\n\r\n')) {
      const chunk: Buffer | null = this.socket.read();
      if (chunk !== null) this.#text += chunk.toString('latin1');
      else if (this.socket.readableEnded || this.socket.destroyed) return '';
      else await Promise.race([once(this.socket, 'readable'), once(this.socket, 'end'), this.closed]);
    }
    return this.#text.slice(0, this.#text.indexOf('\r\n'));
  }

  /** Pings, by which uWebSockets takes it for alive although it reads nothing. */
  staysAlive(everyMs = 5000): void {
    const timer = setInterval(() => this.frame(PING), everyMs);
    this.socket.once('close', () => clearInterval(timer));
  }

  /** Goes on reading until it has had so many bytes, which may never come. */
  take(bytes: number): void {
    let left = bytes;
    const read = (chunk: Buffer) => {
      left -= chunk.length;
      if (left > 0) return;
      this.socket.off('data', read);
      this.socket.pause();
    };
    this.socket.on('data', read).resume();
  }

  /** Reads the frames of a WebSocket to their end, and answers the code of the last one, which closes it. */
  async closeCode(): Promise<number | undefined> {
    let bytes = Buffer.from(this.#text.slice(this.#text.indexOf('\r\n\r\n') + 4), 'latin1');
    this.socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
    });
    this.socket.resume();
    await Promise.race([once(this.socket, 'end'), this.closed]);
    while (bytes.length > 1) {
      const short = (bytes[1] ?? 0) & 127;
      const headBytes = short === 127 ? 10 : short === 126 ? 4 : 2;
      const length = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
      if (((bytes[0] ?? 0) & 15) === CLOSE_OPCODE) return bytes.readUInt16BE(headBytes);
      bytes = bytes.subarray(headBytes + length);
    }
    return undefined;
  }

  close(): void {
    this.socket.destroy();
  }
}

/** The value of a metric, 0 where it has not been set. `name` with its labels, as /metrics prints them. */
export async function metric(easel: TestEasel, name: string): Promise<number> {
  const text = await (await easel.fetch('/metrics')).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length + 1));
}
