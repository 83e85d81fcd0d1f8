/** The headers of what an alert sends: the id of its event, the same for each attempt, and the signature where the rule has a secret. */
import { signedHeaders } from '../webhooks/sign.ts';

export interface SignedCall {
  readonly id: string;
  readonly secret: string | null;
  readonly timestampS: number;
  readonly body: string | null;
}

export function callHeaders({ id, secret, timestampS, body }: SignedCall): Readonly<Record<string, string>> {
  const headers = { 'user-agent': 'Easel-Alerts', 'webhook-id': id };
  if (body === null) return headers;
  const unsigned = { ...headers, 'content-type': 'application/json', 'webhook-timestamp': String(timestampS) };
  return secret === null ? unsigned : { ...unsigned, ...signedHeaders({ id, secrets: [secret], timestampS, body }) };
}
