/** A server with scripted answers. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
export type Answer = (response: ServerResponse, seen: Seen) => void;

/** Sends the answers in order and records the requests; the last answer repeats. Closed at the end of the test. */
export async function serverOf(...answers: Answer[]): Promise<{ baseUrl: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const now = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() };
    seen.push(now);
    answers[Math.min(seen.length, answers.length) - 1]?.(response, now);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => closeServer(server));
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (response) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function failure(status: number, code: string, headers: Record<string, string> = {}, more: object = {}): Answer {
  return json(status, { success: false, error: 'It did not work.', code, request_id: 'req-1', ...more }, headers);
}

export const hangUp: Answer = (response) => response.socket?.destroy();
