/** Calls that prepare a measurement; none of them is measured. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Server } from './processes.ts';

export async function newAccount(easel: Server): Promise<{ token: string; userId: string }> {
  const answer = await fetch(`${easel.origin}/v1/auth/create-account`, { method: 'POST' });
  if (answer.status !== 201) throw new Error(`The account was not created: ${answer.status} ${await answer.text()}`);
  const account = (await answer.json()) as { token: string; user_id: string };
  return { token: account.token, userId: account.user_id };
}

/** With node:http, because fetch does not let a caller choose the Host header. */
export async function get(server: Server, path: string, headers: Record<string, string>): Promise<string> {
  const asked = request(server.origin + path, { headers, agent: false }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  const body = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`${server.name} answered ${path} with ${answer.statusCode}: ${body}`);
  return body;
}
