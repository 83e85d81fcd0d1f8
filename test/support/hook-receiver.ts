/** A server of the tests to which webhooks are sent, over https with a certificate of its own. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { SELF_SIGNED } from './certificates.ts';
import { temporaryDir } from './database.ts';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body as JSON. */
  readonly event: {
    readonly id: string;
    readonly number: number;
    readonly type: string;
    readonly artifact_id: string | null;
    readonly workspace_id: string | null;
    // biome-ignore lint/suspicious/noExplicitAny: each type of event has data of its own
    readonly data: any;
  };
}

type Answers = (received: Received, response: ServerResponse, request: IncomingMessage) => void;

export class HookReceiver {
  readonly received: Received[] = [];
  /** Settings of a service that trusts it. */
  readonly settings: Readonly<Record<string, string>>;
  answers: Answers = (_, response) => response.writeHead(204).end();
  readonly #server: Server;
  readonly #remove: () => void;

  private constructor() {
    const { cert, key } = SELF_SIGNED;
    const folder = temporaryDir();
    const file = join(folder.path, 'authority.pem');
    writeFileSync(file, cert);
    this.settings = { EGRESS_CA_FILE: file };
    this.#remove = () => folder.remove();
    this.#server = createServer({ cert, key }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        const received = { path: request.url ?? '', headers: request.headers, body, event: JSON.parse(body) as Received['event'] };
        this.received.push(received);
        this.answers(received, response, request);
      });
    });
  }

  static async start(): Promise<HookReceiver> {
    const receiver = new HookReceiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  url(path = '/'): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  /** What came to a path, in order. */
  at(path: string): readonly Received[] {
    return this.received.filter((one) => one.path === path);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#remove();
  }
}
