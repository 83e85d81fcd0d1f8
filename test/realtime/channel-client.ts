/** A client of …/channels that records its frames. */
import { once } from 'node:events';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { type ServerFrame, serverFrame } from '../../protocol/data/realtime.ts';

export interface ChannelClientOptions {
  readonly token?: string | undefined;
  readonly origin?: string;
}

type FrameType = ServerFrame['type'];
type Of<T extends FrameType> = Extract<ServerFrame, { type: T }>;

export class ChannelClient {
  readonly frames: ServerFrame[] = [];
  readonly socket: WebSocket;
  /** Code and reason; undefined while it is open. */
  ended: { readonly code: number; readonly reason: string } | undefined;

  /** Settles when the server has sent hello. */
  static async open(port: number, artifactId: string, { token }: ChannelClientOptions = {}): Promise<ChannelClient> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const client = new ChannelClient(
      new WebSocket(`ws://127.0.0.1:${port}/v1/data/${artifactId}/channels`, { headers, perMessageDeflate: false }),
    );
    await client.until(({ type }) => type === 'hello');
    return client;
  }

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => {
      // Every frame must match the schema.
      this.frames.push(serverFrame.parse(JSON.parse(String(data))));
      socket.emit('told');
    });
    socket.on('close', (code, reason) => {
      this.ended = { code, reason: reason.toString() };
      socket.emit('told');
    });
    socket.on('error', () => undefined);
  }

  get connectionId(): string {
    return this.of('hello')[0]?.connectionId ?? '';
  }

  of<T extends FrameType>(type: T): Of<T>[] {
    return this.frames.filter((frame): frame is Of<T> => frame.type === type);
  }

  /** Events of one channel as `[seq, kind, data]`. */
  events(channel: string): [seq: number | undefined, kind: string, data: unknown][] {
    return this.of('event')
      .filter((frame) => frame.channel === channel)
      .map((frame) => ['seq' in frame ? frame.seq : undefined, frame.kind, frame.data]);
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === 'string' || frame instanceof Uint8Array ? frame : JSON.stringify(frame));
  }

  async subscribe(channel: string, since?: number): Promise<void> {
    const before = this.frames.length;
    this.send({ type: 'subscribe', channel, ...(since !== undefined && { since }) });
    await this.until((frame) => frame.type === 'subscribed' && frame.channel === channel, before);
  }

  /** Waits for the first frame like this from index `from` on. */
  async until(isIt: (frame: ServerFrame) => boolean, from = 0): Promise<ServerFrame> {
    for (;;) {
      const found = this.frames.slice(from).find(isIt);
      if (found !== undefined) return found;
      if (this.ended !== undefined) throw new Error(`closed with ${this.ended.code} ${this.ended.reason}`);
      await once(this.socket, 'told');
    }
  }

  /** Settles when the server has handled everything that was sent before. */
  async settled(): Promise<void> {
    const id = `s${this.frames.length}`;
    this.send({ type: 'ping', id });
    await this.until((frame) => frame.type === 'pong' && frame.id === id);
  }

  async closed(): Promise<number> {
    while (this.ended === undefined) await once(this.socket, 'told');
    return this.ended.code;
  }

  close(): void {
    this.socket.terminate();
  }
}

export async function eventually<T>(read: () => T, expected: T): Promise<void> {
  await expect.poll(read).toEqual(expected);
}
