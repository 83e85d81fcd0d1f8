/**
 * Idempotency-Key on POST: the first answer is kept for a day and replayed. Source: contract.md §0.
 * Answers can hold secrets (a new token). They are sealed under the caller's key, of which only the digest is stored:
 * who reads the table learns nothing, who has the key gets the answer again.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, webcrypto } from 'node:crypto';
import type { Principal } from '../../actors/access.ts';
import { ERRORS, type ErrorCode, Failure, type FailureDetails } from '../../protocol/errors.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Sql } from '../storage/sql.ts';
import type { Answer } from './answer.ts';

/** A first call that has not answered after this long is given up (its process died), and the key may be used again. */
const ABANDONED_MS = 10 * 60_000;
/** Without a token all callers of an address share a scope: a short key could be guessed and somebody's new token be read. */
const ANONYMOUS_KEY_CHARS_MIN = 16;

export interface IdempotentRequest {
  readonly principal: Principal;
  readonly address: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly key: string;
  readonly body: Uint8Array;
  readonly nowMs: number;
}

interface Scope {
  readonly principal: string;
  readonly method: string;
  readonly path: string;
  /** Digest of the key, base64url. */
  readonly keyDigest: string;
}

/** What is sealed: an answer, or the failure that it was. */
type Kept =
  | { readonly answer: { status: number; type: string | undefined; etag: string | undefined; lines: string; payload: string | null } }
  | { readonly failure: { code: ErrorCode; details: FailureDetails } };

interface Row {
  readonly body_sha256: Buffer;
  readonly status: number | null;
  readonly body: Buffer | null;
  readonly created_at_ms: number;
}

export type IdempotentResult = { readonly answer: Answer; readonly replayed: boolean };

/** A failure that is replayed, so that its answer can say so. */
export class ReplayedFailure extends Error {
  override readonly name = 'ReplayedFailure';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Throws IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS, INVALID_REQUEST, whatever `perform` throws, or ReplayedFailure. */
export async function performOnce(
  sql: Sql,
  request: IdempotentRequest,
  perform: () => Answer | Promise<Answer>,
): Promise<IdempotentResult> {
  checkKey(request);
  const scope = scopeOf(request);
  const query = Buffer.from(`${request.query}\0`);
  const bodySha256 = Buffer.from(await webcrypto.subtle.digest('SHA-256', Buffer.concat([query, request.body])));
  const known = await begin(sql, scope, bodySha256, request.nowMs);
  if (known !== null) return replay(known, bodySha256, request.key);
  const answer = await performed(sql, scope, request, perform);
  // What is streamed is not at hand any more: it cannot be replayed.
  if (answer.stream !== undefined) {
    await forget(sql, scope, request.nowMs);
    return { answer, replayed: false };
  }
  // Where this fails the key stays taken until it is abandoned: late, but never done twice.
  await keep(sql, scope, request, answer.status, answerToKeep(answer));
  return { answer, replayed: false };
}

async function performed(sql: Sql, scope: Scope, request: IdempotentRequest, perform: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await perform();
  } catch (error) {
    if (error instanceof Failure && isKept(error.code)) {
      await keep(sql, scope, request, error.status, { failure: { code: error.code, details: error.details } });
    } else {
      await forget(sql, scope, request.nowMs);
    }
    throw error;
  }
}

function checkKey({ key, principal }: IdempotentRequest): void {
  const charsMin = principal.kind === 'anonymous' ? ANONYMOUS_KEY_CHARS_MIN : 1;
  if (key.length >= charsMin && key.length <= LIMITS.idempotencyKeyCharsMax) return;
  throw new Failure('INVALID_REQUEST', {
    message: `Idempotency-Key: must have ${charsMin} to ${LIMITS.idempotencyKeyCharsMax} characters.`,
    param: 'Idempotency-Key',
    hint: 'Use a fresh UUID for every new request.',
  });
}

function scopeOf(request: IdempotentRequest): Scope {
  const { principal } = request;
  return {
    principal: callerOf(principal, request.address),
    method: request.method,
    path: request.path,
    keyDigest: createHash('sha256').update(request.key).digest('base64url'),
  };
}

function callerOf(principal: Principal, address: string): string {
  switch (principal.kind) {
    case 'anonymous':
      return `address:${address}`;
    case 'user':
      return `user:${principal.userId}`;
    case 'guest':
      return `guest:${principal.guestId}`;
    case 'agent':
      return `agent:${principal.tokenId}`;
    default:
      return principal satisfies never;
  }
}

/** 400, 413, 415: correct it and use the key again. 401, 429, 5xx: nothing was decided. */
function isKept(code: ErrorCode): boolean {
  const { status } = ERRORS[code];
  return status === 402 || status === 403 || status === 404 || status === 409;
}

/** Takes the key for this call, or returns the row of the call that has it. */
async function begin(sql: Sql, scope: Scope, bodySha256: Buffer, nowMs: number): Promise<Row | null> {
  const [taken] = await sql`
    insert into idempotency_record as known (principal, method, path, key, body_sha256, created_at_ms)
    values (${scope.principal}, ${scope.method}, ${scope.path}, ${scope.keyDigest}, ${bodySha256}, ${nowMs})
    on conflict (principal, method, path, key) do update
    set body_sha256 = excluded.body_sha256, created_at_ms = excluded.created_at_ms, status = null, headers = null, body = null
    where known.created_at_ms <= ${nowMs - LIMITS.idempotencyTtlMs}
       or (known.status is null and known.created_at_ms <= ${nowMs - ABANDONED_MS})
    returning created_at_ms`;
  if (taken !== undefined) return null;
  const [row] = await sql<Row[]>`
    select body_sha256, status, body, created_at_ms from idempotency_record
    where principal = ${scope.principal} and method = ${scope.method} and path = ${scope.path} and key = ${scope.keyDigest}`;
  // It was forgotten between the two queries: its call has just failed, so this one may as well wait and come again.
  if (row === undefined) throw new Failure('IDEMPOTENCY_IN_PROGRESS', { retryAfterS: 1 });
  return row;
}

function replay(row: Row, bodySha256: Buffer, key: string): IdempotentResult {
  if (!row.body_sha256.equals(bodySha256)) throw new Failure('IDEMPOTENCY_KEY_REUSED', { param: 'Idempotency-Key' });
  if (row.status === null || row.body === null) throw new Failure('IDEMPOTENCY_IN_PROGRESS', { retryAfterS: 1 });
  const kept: Kept = JSON.parse(unseal(row.body, key));
  if ('failure' in kept) throw new ReplayedFailure(new Failure(kept.failure.code, kept.failure.details));
  return { answer: { ...kept.answer, type: kept.answer.type, etag: kept.answer.etag }, replayed: true };
}

function answerToKeep(answer: Answer): Kept {
  const { payload } = answer;
  const text = payload === null || typeof payload === 'string' ? payload : Buffer.from(payload).toString('utf8');
  return { answer: { status: answer.status, type: answer.type, etag: answer.etag, lines: answer.lines, payload: text } };
}

async function keep(sql: Sql, scope: Scope, request: IdempotentRequest, status: number, kept: Kept): Promise<void> {
  await sql`
    update idempotency_record set status = ${status}, body = ${seal(JSON.stringify(kept), request.key)}
    where principal = ${scope.principal} and method = ${scope.method} and path = ${scope.path} and key = ${scope.keyDigest}
      and created_at_ms = ${request.nowMs}`;
}

async function forget(sql: Sql, scope: Scope, createdAtMs: number): Promise<void> {
  await sql`
    delete from idempotency_record
    where principal = ${scope.principal} and method = ${scope.method} and path = ${scope.path} and key = ${scope.keyDigest}
      and created_at_ms = ${createdAtMs}`;
}

const SALT_BYTES = 16;
const IV_BYTES = 12;
const TAG_BYTES = 16;

function cipherKey(key: string, salt: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, salt, 'easel idempotent answer', 32));
}

/** Salt, IV, tag, ciphertext. */
function seal(text: string, key: string): Buffer {
  const salt = randomBytes(SALT_BYTES);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', cipherKey(key, salt), iv);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([salt, iv, cipher.getAuthTag(), sealed]);
}

function unseal(sealed: Buffer, key: string): string {
  const ivAt = SALT_BYTES;
  const tagAt = ivAt + IV_BYTES;
  const textAt = tagAt + TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', cipherKey(key, sealed.subarray(0, ivAt)), sealed.subarray(ivAt, tagAt));
  decipher.setAuthTag(sealed.subarray(tagAt, textAt));
  return Buffer.concat([decipher.update(sealed.subarray(textAt)), decipher.final()]).toString('utf8');
}
