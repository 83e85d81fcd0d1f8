/** Short forms of requests that many tests make. */
import { createHash } from 'node:crypto';
import type { TestEasel, TestUser } from './easel.ts';

// biome-ignore lint/suspicious/noExplicitAny: replies are checked by what the tests expect of them, their schemas by test/contract.
export async function json(reply: Response): Promise<any> {
  return reply.json();
}

export function post(body: unknown): { method: string; body: string; headers: Record<string, string> } {
  return { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

export function patch(body: unknown, headers: Record<string, string> = {}) {
  return { method: 'PATCH', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } };
}

export const PAGE = [{ path: 'index.html', content: '<!doctype html><title>A page</title><p>Hello' }];

/** Publishes `PAGE`; members of `body` replace the defaults. */
export function publish(easel: TestEasel, user: Pick<TestUser, 'token'>, body: object = {}): Promise<Response> {
  return easel.fetch('/v1/publish', { token: user.token, ...post({ files: PAGE, ...body }) });
}

/** Publishes and throws when that fails. */
export async function published(easel: TestEasel, user: Pick<TestUser, 'token'>, body: object = {}) {
  const reply = await publish(easel, user, body);
  const answer = await json(reply);
  if (reply.status >= 300) throw new Error(`publish answered ${reply.status}: ${JSON.stringify(answer)}`);
  return { id: answer.artifact.id as string, versionId: answer.version.id as string, slug: answer.deployment.slug as string, answer };
}

export async function artifact(easel: TestEasel, user: Pick<TestUser, 'token'>, id: string) {
  const reply = await easel.fetch(`/v1/artifacts/${id}`, { token: user.token });
  return { status: reply.status, etag: reply.headers.get('etag') ?? '', ...(await json(reply)) };
}

/** Status and code of a refusal, for one comparison. */
export async function refusal(reply: Response | Promise<Response>): Promise<[number, string, string | undefined]> {
  const settled = await reply;
  const body = await json(settled);
  return [settled.status, body.code, body.param];
}

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
