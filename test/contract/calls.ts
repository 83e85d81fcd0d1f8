/** Sends the calls of `examples.ts`, for the suites that go through the endpoint table. */
import { expect } from 'vitest';
import type { z } from 'zod';
import type { Endpoint } from '../../protocol/core/endpoint.ts';
import { ERRORS, type ErrorCode, wireCodeOf } from '../../protocol/core/errors.ts';
import { errorBody } from '../../protocol/core/fields.ts';
import { errorCodesOf } from '../../protocol/core/openapi.ts';
import { type EndpointId, endpoints } from '../../protocol/table.ts';
import type { TestEasel } from '../support/easel.ts';
import { type ExampleCall, pathOf } from './examples.ts';

export const table = Object.entries(endpoints) as [EndpointId, Endpoint][];

/** Stands before the cookies of a signed-in browser where a call is made with them instead of a token. */
export const COOKIES = 'cookies ';

export interface Sent {
  readonly token?: string | undefined;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BodyInit | undefined;
}

/** Whether those who run the installation call it: their administrator does in these suites. */
export const ofInstance = ({ access }: Endpoint) => access.who === 'instanceAdmin' || access.who === 'instanceStaff';

/** Makes the example's call; members of `sent` replace those of the example. */
export async function send(easel: TestEasel, id: EndpointId, example: ExampleCall, sent: Sent): Promise<Response> {
  const endpoint: Endpoint = endpoints[id];
  const headers = new Headers({ ...example.headers, ...sent.headers });
  let body = sent.body;
  if (body === undefined && example.body !== undefined) {
    body = example.body instanceof Uint8Array ? new Uint8Array(example.body) : JSON.stringify(example.body);
  }
  if (body !== undefined && !headers.has('content-type')) {
    headers.set('content-type', endpoint.body?.kind === 'json' ? 'application/json' : 'application/octet-stream');
  }
  if (sent.token?.startsWith(COOKIES)) {
    headers.set('cookie', sent.token.slice(COOKIES.length));
    headers.set('origin', easel.baseUrl);
  } else if (sent.token !== undefined) headers.set('authorization', `Bearer ${sent.token}`);
  const method = sent.method ?? endpoint.method;
  const reply = await easel.fetch(pathOf(id, example), { method, headers, redirect: 'manual', ...(body !== undefined && { body }) });
  expect(reply.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
  return reply;
}

/** Expects an error with the catalogue's status, and a code that the endpoint declares or its rules imply. */
export async function expectFailure(endpoint: Endpoint, reply: Response, code: ErrorCode): Promise<z.infer<typeof errorBody>> {
  const body = errorBody.parse(await reply.json());
  expect([body.code, reply.status]).toEqual([wireCodeOf(code), ERRORS[code].status]);
  expect(body.request_id).toBe(reply.headers.get('x-request-id'));
  expect([...errorCodesOf(endpoint), 'METHOD_NOT_ALLOWED']).toContain(code);
  return body;
}
