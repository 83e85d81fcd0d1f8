/** An edge with one recording protocol at its WebSocket endpoints. */
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import type { Link, SocketCall, SocketProtocol, SocketSession } from '../../src/edge/socket.ts';
import { realtimeHandlers } from '../../src/realtime/handlers.ts';
import { startFakeEdge } from '../edge/fake-edge.ts';

/** Records its calls and echoes each message. */
export class Recorder implements SocketProtocol {
  messageBytesMax = 1024;
  highWaterBytes = 64 * 1024;
  readonly calls: SocketCall[] = [];
  readonly links: Link[] = [];
  readonly told: string[] = [];
  admit: (call: SocketCall) => void | Promise<void> = () => undefined;
  onOpen: (link: Link) => void = () => undefined;
  onMessage: (link: Link, data: ArrayBuffer, isBinary: boolean) => void = (link, data, isBinary) => {
    const bytes = new Uint8Array(data.slice(0));
    link.send(isBinary ? bytes : new TextDecoder().decode(bytes));
  };
  #waiting: { readonly what: string; readonly resolve: () => void }[] = [];

  open(link: Link, call: SocketCall): SocketSession {
    this.calls.push(call);
    this.links.push(link);
    this.onOpen(link);
    this.tell('open');
    return {
      message: (data, isBinary) => this.onMessage(link, data, isBinary),
      drained: () => this.tell('drained'),
      skipped: () => this.tell('skipped'),
      closed: () => this.tell('closed'),
    };
  }

  tell(what: string): void {
    this.told.push(what);
    for (const waiting of this.#waiting.filter((one) => one.what === what)) waiting.resolve();
    this.#waiting = this.#waiting.filter((one) => one.what !== what);
  }

  /** From now on. */
  next(what: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ what, resolve }));
  }
}

export type FakeOptions = NonNullable<Parameters<typeof startFakeEdge>[0]>;

export async function edge(options: FakeOptions = {}) {
  const protocol = new Recorder();
  const handlers = realtimeHandlers() as unknown as FakeOptions['handlers'];
  const fake = await startFakeEdge({
    ...(handlers && { handlers }),
    sockets: { 'realtime.sync': protocol, 'realtime.hocuspocus': protocol },
    ...options,
  });
  onTestFinished(() => fake.close());
  return { ...fake, protocol, connect: (path: string, client?: ClientOptions) => socketTo(fake, path, client) };
}

export function socketTo({ port }: { readonly port: number }, path: string, client: ClientOptions = {}): WebSocket {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { perMessageDeflate: false, ...client });
  onTestFinished(() => socket.terminate());
  socket.on('error', () => undefined);
  return socket;
}

interface Refusal {
  readonly status: number;
  readonly body: { readonly code: string; readonly reason?: string; readonly request_id: string };
  readonly headers: NodeJS.Dict<string | string[]>;
}

/** The answer to an upgrade that is refused. */
export async function refusal(socket: WebSocket): Promise<Refusal> {
  const [, response] = await once(socket, 'unexpected-response');
  let text = '';
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, body: JSON.parse(text), headers: response.headers };
}

/** The close code and reason. `once` would reject on an error event before it. */
export function closing(socket: WebSocket): Promise<[number, string]> {
  return new Promise((resolve) => socket.once('close', (code, reason) => resolve([code, String(reason)])));
}
