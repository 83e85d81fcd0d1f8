/**
 * Idempotency-Key on POST: the first answer is kept for a day and replayed. Source: contract.md §0.
 * A large answer is not kept: its repetition learns that the request was done, and does not do it again.
 * Answers can hold secrets, such as a new token. They are encrypted with the caller's key, of which only a digest is stored, so a reader of
 * the table cannot decrypt them.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, webcrypto } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { Principal } from '../../actors/access/access.ts';
import { ERRORS, type ErrorCode, Failure, type FailureDetails } from '../../protocol/core/errors.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import type { Queries, Sql } from '../storage/sql.ts';
import { networkOf } from './address.ts';
import type { Answer } from './answer.ts';
import { IdempotencyShares, type KeyHolders } from './idempotency-shares.ts';

/** A first call that has not answered after this long counts as dead with its process, and the key may be used again. */
const ABANDONED_MS = 10 * 60_000;
/** All callers without a token at one address share a scope, so a short key could be guessed and another caller's new token be read. */
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

/** What is encrypted: an answer or a failure. */
type Kept =
  | { readonly answer: { status: number; type: string | undefined; etag: string | undefined; lines: string; payload: string | null } }
  | { readonly failure: { code: ErrorCode; details: FailureDetails } }
  /** The request was done, and its answer is too large. */
  | { readonly done: true };

interface Row {
  readonly body_sha256: Buffer;
  readonly status: number | null;
  readonly body: Buffer | null;
  readonly created_at_ms: number;
}

export type IdempotentResult = { readonly answer: Answer; readonly replayed: boolean };

/** A failure that is replayed; its answer carries `Idempotent-Replayed`. */
export class ReplayedFailure extends Error {
  override readonly name = 'ReplayedFailure';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

export class Idempotency {
  readonly #sql: Sql;
  readonly #shares: IdempotencyShares;

  constructor(sql: Sql, shares = new IdempotencyShares()) {
    this.#sql = sql;
    this.#shares = shares;
  }

  /**
   * Throws IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_ANSWER_NOT_KEPT, INVALID_REQUEST, RATE_LIMITED, whatever `perform`
   * throws, or ReplayedFailure.
   */
  async perform(request: IdempotentRequest, perform: () => Answer | Promise<Answer>): Promise<IdempotentResult> {
    checkKey(request);
    const scope = scopeOf(request);
    const holders: KeyHolders = { caller: scope.principal, network: networkOf(request.address) };
    // Refused here, a call costs the database nothing.
    const leave = this.#shares.enter(holders, request.nowMs);
    try {
      const query = Buffer.from(`${request.query}\0`);
      const bodySha256 = Buffer.from(await webcrypto.subtle.digest('SHA-256', Buffer.concat([query, request.body])));
      const known = await begin(this.#sql, scope, bodySha256, request.nowMs);
      if (known !== null) return await replay(known, bodySha256, request.key);
      return await this.#first(scope, holders, request, perform);
    } finally {
      leave();
    }
  }

  async #first(
    scope: Scope,
    holders: KeyHolders,
    request: IdempotentRequest,
    perform: () => Answer | Promise<Answer>,
  ): Promise<IdempotentResult> {
    this.#shares.record(holders, request.nowMs);
    const answer = await performed(this.#sql, scope, request, perform);
    // A streamed body is not kept, so it cannot be replayed.
    if (answer.stream !== undefined) {
      await forget(this.#sql, scope, request.nowMs);
      return { answer, replayed: false };
    }
    // Where this fails the key stays taken for ABANDONED_MS: the caller waits, but nothing is done twice.
    await keep(this.#sql, scope, request, answer.status, await this.#bodyToKeep(answer, holders, request));
    return { answer, replayed: false };
  }

  /** What is stored of an answer: all of it, or only that there was one. */
  async #bodyToKeep(answer: Answer, holders: KeyHolders, { key, nowMs }: IdempotentRequest): Promise<Buffer> {
    const bytes = answer.payload === null ? 0 : Buffer.byteLength(answer.payload);
    if (bytes <= LIMITS.idempotencyAnswerBytesMax) {
      const packed = await pack(JSON.stringify(answerToKeep(answer)));
      const isSmall = packed.length <= LIMITS.idempotencyRecordBytesMax;
      if (isSmall && this.#shares.store(packed.length, holders, nowMs)) return seal(packed, key);
    }
    return seal(await pack(JSON.stringify({ done: true } satisfies Kept)), key);
  }
}

async function performed(sql: Sql, scope: Scope, request: IdempotentRequest, perform: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await perform();
  } catch (error) {
    if (error instanceof Failure && isKept(error.code)) {
      const kept: Kept = { failure: { code: error.code, details: error.details } };
      await keep(sql, scope, request, error.status, seal(await pack(JSON.stringify(kept)), request.key));
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

/** After 400, 413 and 415 the caller corrects the request and uses the key again; after 401, 429 and 5xx nothing was decided. */
function isKept(code: ErrorCode): boolean {
  const { status } = ERRORS[code];
  return status === 402 || status === 403 || status === 404 || status === 409;
}

/** Takes the key for this call, or returns the row of the call that holds it. */
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
  // The row was deleted between the two queries because its call has just failed, so this call can be repeated soon.
  if (row === undefined) throw new Failure('IDEMPOTENCY_IN_PROGRESS', { retryAfterS: 1 });
  return row;
}

async function replay(row: Row, bodySha256: Buffer, key: string): Promise<IdempotentResult> {
  if (!row.body_sha256.equals(bodySha256)) throw new Failure('IDEMPOTENCY_KEY_REUSED', { param: 'Idempotency-Key' });
  if (row.status === null || row.body === null) throw new Failure('IDEMPOTENCY_IN_PROGRESS', { retryAfterS: 1 });
  const kept: Kept = JSON.parse(await unpack(unseal(row.body, key)));
  if ('done' in kept) throw new ReplayedFailure(new Failure('IDEMPOTENCY_ANSWER_NOT_KEPT', { param: 'Idempotency-Key' }));
  if ('failure' in kept) throw new ReplayedFailure(new Failure(kept.failure.code, kept.failure.details));
  return { answer: { ...kept.answer, type: kept.answer.type, etag: kept.answer.etag }, replayed: true };
}

function answerToKeep(answer: Answer): Kept {
  const { payload } = answer;
  const text = payload === null || typeof payload === 'string' ? payload : Buffer.from(payload).toString('utf8');
  return { answer: { status: answer.status, type: answer.type, etag: answer.etag, lines: answer.lines, payload: text } };
}

async function keep(sql: Sql, scope: Scope, request: IdempotentRequest, status: number, body: Buffer): Promise<void> {
  await sql`
    update idempotency_record set status = ${status}, body = ${body}
    where principal = ${scope.principal} and method = ${scope.method} and path = ${scope.path} and key = ${scope.keyDigest}
      and created_at_ms = ${request.nowMs}`;
}

async function forget(sql: Sql, scope: Scope, createdAtMs: number): Promise<void> {
  await sql`
    delete from idempotency_record
    where principal = ${scope.principal} and method = ${scope.method} and path = ${scope.path} and key = ${scope.keyDigest}
      and created_at_ms = ${createdAtMs}`;
}

const deflated = promisify(deflateRaw);
const inflated = promisify(inflateRaw) as (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

/** The first byte of packed text; plain JSON, which earlier releases kept, begins with a brace. */
const PACKED = 1;
/** JSON within JSON escapes every quote, and a control character takes six. */
const UNPACKED_BYTES_MAX = 8 * LIMITS.idempotencyAnswerBytesMax;

async function pack(text: string): Promise<Buffer> {
  return Buffer.concat([Buffer.of(PACKED), await deflated(text)]);
}

async function unpack(content: Buffer): Promise<string> {
  if (content[0] !== PACKED) return content.toString('utf8');
  return (await inflated(content.subarray(1), { maxOutputLength: UNPACKED_BYTES_MAX })).toString('utf8');
}

const SALT_BYTES = 16;
const IV_BYTES = 12;
const TAG_BYTES = 16;

function cipherKey(key: string, salt: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, salt, 'easel idempotent answer', 32));
}

/** Salt, IV, tag, ciphertext. */
function seal(content: Buffer, key: string): Buffer {
  const salt = randomBytes(SALT_BYTES);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', cipherKey(key, salt), iv);
  const sealed = Buffer.concat([cipher.update(content), cipher.final()]);
  return Buffer.concat([salt, iv, cipher.getAuthTag(), sealed]);
}

function unseal(sealed: Buffer, key: string): Buffer {
  const ivAt = SALT_BYTES;
  const tagAt = ivAt + IV_BYTES;
  const textAt = tagAt + TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', cipherKey(key, sealed.subarray(0, ivAt)), sealed.subarray(ivAt, tagAt));
  decipher.setAuthTag(sealed.subarray(tagAt, textAt));
  return Buffer.concat([decipher.update(sealed.subarray(textAt)), decipher.final()]);
}

/** Removes what was kept for repetitions and is too old to be replayed. */
export async function deleteOldRecords(sql: Queries, createdBeforeMs: number): Promise<number> {
  return (await sql`delete from idempotency_record where created_at_ms <= ${createdBeforeMs}`).count;
}
