/** Makes the calls of a script in its world. What arrives here comes out of the sandbox, so everything is checked. */
import { z } from 'zod';
import { Failure } from '../../../../protocol/core/errors.ts';
import { EgressFailure } from '../../../egress/failure.ts';
import type { Answer } from './bridge.ts';
import { SCRIPT } from './script-limits.ts';
import type { ScriptWorld, WorldCall } from './world.ts';

/** One line, as a header may be. */
const headerValue = z
  .string()
  .max(SCRIPT.fetchHeaderCharsMax)
  .regex(/^[^\p{Cc}]*$/u);

const dataHead = z.strictObject({
  method: z.enum(['GET', 'PUT', 'POST', 'PATCH', 'DELETE']),
  path: z.string().max(16 * 1024),
  headers: z.strictObject({
    'content-type': z.enum(['application/json', 'application/merge-patch+json', 'application/json-patch+json']).optional(),
    'if-match': headerValue.optional(),
    'if-none-match': headerValue.optional(),
  }),
});

const fetchHead = z.strictObject({
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'], { error: 'the method must be GET, HEAD, POST, PUT, PATCH or DELETE' }),
  url: z.string().max(SCRIPT.fetchUrlCharsMax),
  headers: z
    .record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/), headerValue)
    .refine((headers) => Object.keys(headers).length <= SCRIPT.fetchHeadersMax, { error: `at most ${SCRIPT.fetchHeadersMax} headers` }),
  hasBody: z.boolean(),
});

/** What the methods of a script call, and nothing else. */
const ROUTES: readonly (readonly [methods: string, path: RegExp])[] = [
  ['GET', /^\/json$/],
  ['GET PUT PATCH DELETE', /^\/json\/([^/]+)$/],
  ['POST', /^\/tables\/([^/]+)$/],
  ['POST', /^\/tables\/([^/]+)\/(?:query|count|aggregate)$/],
  ['GET PATCH DELETE', /^\/tables\/([^/]+)\/([^/]+)$/],
];

/** As it comes out of the sandbox. */
export interface SentCall {
  readonly of: 'data' | 'fetch';
  readonly head: string;
  readonly body: string;
}

/** The answer as JSON. Never rejects: what failed is an answer too. `onBug` hears of errors that no caller is to see. */
export async function answerOf(world: ScriptWorld, call: SentCall, onBug: (error: unknown) => void): Promise<string> {
  let text: string;
  try {
    text = call.of === 'data' ? await called(world, call) : JSON.stringify(await fetched(world, call));
  } catch (error) {
    text = JSON.stringify(failureOf(error, onBug));
  }
  if (text.length <= SCRIPT.answerCharsMax) return text;
  return JSON.stringify(refused('ANSWER_TOO_LARGE', `The answer has more than ${SCRIPT.answerCharsMax} characters.`));
}

async function called(world: ScriptWorld, { head, body }: SentCall): Promise<string> {
  const { data: call } = dataHead.safeParse(JSON.parse(head));
  if (call === undefined || !isRoute(call.method, call.path))
    return JSON.stringify(refused('INVALID_REQUEST', 'A script cannot make this call.'));
  const reply = await world.call((body === '' ? call : { ...call, bodyText: body }) as WorldCall);
  // Not parsed on its way: a page of rows may have megabytes, and this is the thread that everybody shares.
  return `{"status":${reply.status},"body":${reply.text ?? JSON.stringify(reply.body ?? null)}}`;
}

async function fetched(world: ScriptWorld, { head, body }: SentCall): Promise<Answer> {
  const { data: request, error } = fetchHead.safeParse(JSON.parse(head));
  if (request === undefined) {
    const [issue] = error.issues;
    return refused('INVALID_REQUEST', `easel.fetch: ${issue?.path.join('.') || 'the call'} is not valid (${issue?.message ?? 'unknown'}).`);
  }
  const { hasBody, ...rest } = request;
  const { status, headers, body: text, url } = await world.fetch(hasBody ? { ...rest, body } : rest);
  return { status, text, headers, url };
}

/** Also where a segment is encoded: what reads the path may decode it and find another one. */
function isRoute(method: string, path: string): boolean {
  const [beforeQuery = '', ...others] = path.split('?');
  if (others.length > 1 || /[^\x21-\x7e]|[#\\]/.test(path)) return false;
  return ROUTES.some(([methods, pattern]) => {
    const found = methods.split(' ').includes(method) ? pattern.exec(beforeQuery) : null;
    return found?.slice(1).every(isName) ?? false;
  });
}

function isName(segment: string): boolean {
  try {
    const name = decodeURIComponent(segment);
    return name !== '.' && name !== '..' && !/[/\\]/.test(name);
  } catch {
    return false;
  }
}

function failureOf(error: unknown, onBug: (error: unknown) => void): Answer {
  if (error instanceof Failure) return { failure: { code: error.code, message: error.message, status: error.status } };
  if (error instanceof EgressFailure) return refused('FETCH_FAILED', error.message);
  onBug(error);
  return refused('INTERNAL', 'The call failed.');
}

function refused(code: string, message: string): Answer {
  return { failure: { code, message, status: 0 } };
}
