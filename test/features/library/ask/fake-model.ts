/** An OpenAI-compatible endpoint that answers as a test says. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What comes of a call: pieces of an answer, a status, or nothing at all after some pieces. */
export interface Behaviour {
  readonly pieces?: readonly string[];
  readonly status?: number;
  /** The connection stays open after the pieces. */
  readonly hangs?: boolean;
  /** The connection breaks after the pieces. */
  readonly breaks?: boolean;
}

export interface ModelCall {
  readonly authorization: string | undefined;
  readonly body: { readonly model: string; readonly messages: readonly { readonly role: string; readonly content: string }[] };
}

export class FakeModel {
  behaviour: Behaviour = {};
  readonly calls: ModelCall[] = [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  #waiting: (() => void)[] = [];
  /** Open connections whose answer has no end. */
  hanging = 0;

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Settles with the next call whose pieces were sent. */
  sent(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.calls.push({ authorization: request.headers.authorization, body: JSON.parse(Buffer.concat(chunks).toString()) });
    const { pieces = [], status = 200, hangs = false, breaks = false } = this.behaviour;
    response.writeHead(status, { 'content-type': 'text/event-stream' });
    for (const content of pieces) response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
    const told = () => {
      for (const resolve of this.#waiting.splice(0)) resolve();
    };
    if (hangs) {
      this.hanging += 1;
      response.once('close', () => {
        this.hanging -= 1;
      });
      response.flushHeaders();
    } else if (breaks) response.destroy();
    else response.end('data: [DONE]\n\n');
    told();
  }
}
