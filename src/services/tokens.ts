/** Access tokens: made, told apart, tracked and revoked. At rest there is only their SHA-256. */
import { createHash, randomBytes } from 'node:crypto';
import type { Principal } from '../../actors/access.ts';
import type { Clock, Log, Timer } from '../../actors/ports.ts';
import { Failure, type UnauthorizedReason } from '../../protocol/errors.ts';
import { type ArtifactId, type GuestId, newId, type TokenId, type UserId } from '../../protocol/ids.ts';
import { BoundedMap, ReadCache } from '../cache.ts';
import type { Sql } from '../storage/sql.ts';
import type { Queries } from './deps.ts';

const TOKEN_FORM = /^sog?_[0-9a-f]{64}$/;
/** Of guests, who have proved an e-mail address to comment on one artifact. */
const GUEST_PREFIX = 'sog_';
/** Before the digest of a guest's token where it is a name in the cache: they are kept in a table of their own. */
const GUEST_MARK = 'guest:';
const CACHED_TOKENS_MAX = 20_000;
// last_used_at is for people: a minute's grain, written behind in batches.
const USED_GRAIN_MS = 60_000;
const USED_FLUSH_MS = 5_000;

interface KnownToken {
  readonly principal: Extract<Principal, { kind: 'user' | 'guest' }>;
  readonly expiresAtMs: number | null;
  readonly revoked: boolean;
  /** Infinity where that is not kept. */
  lastUsedAtMs: number;
}

function tokenSha256(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

export interface NewToken {
  readonly userId: UserId;
  readonly name: string | null;
  /** Unix ms; null never expires. */
  readonly expiresAtMs: number | null;
  readonly nowMs: number;
}

/** Makes a token. The secret is in the answer and nowhere else. */
export async function insertToken(sql: Queries, spec: NewToken): Promise<{ id: TokenId; token: string }> {
  const id = newId('token');
  const token = `so_${randomBytes(32).toString('hex')}`;
  await sql`
    insert into access_token (id, user_id, name, token_sha256, created_at_ms, expires_at_ms)
    values (${id}, ${spec.userId}, ${spec.name}, ${tokenSha256(token)}, ${spec.nowMs}, ${spec.expiresAtMs})`;
  return { id, token };
}

export class TokenService {
  readonly #sql: Sql;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Only digests of tokens that exist, so that nobody can fill it with guesses. A digest never changes, so it cannot go stale. */
  readonly #digests = new BoundedMap<string, string>(CACHED_TOKENS_MAX);
  /** By digest; those of guests with GUEST_MARK before it. */
  readonly #known: ReadCache<string, KnownToken>;
  readonly #used = new Map<TokenId, number>();
  #flushTimer: Timer | null = null;
  #flushing: Promise<void> = Promise.resolve();
  readonly #revokedListeners: ((id: TokenId) => void)[] = [];
  #stopped = false;

  constructor(deps: { readonly sql: Sql; readonly clock: Clock; readonly log: Log }) {
    this.#sql = deps.sql;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#known = new ReadCache({ entriesMax: CACHED_TOKENS_MAX, load: (name) => this.#load(name) });
  }

  /** Who this token speaks for; at once when the token is known. Throws or rejects UNAUTHORIZED with its reason. */
  authenticate(bearer: string): Principal | Promise<Principal> {
    const digest = this.#digests.get(bearer);
    if (digest !== undefined) {
      const known = this.#known.get(digest);
      return known instanceof Promise ? known.then((token) => this.#admit(token)) : this.#admit(known);
    }
    if (bearer === '') throw unauthorized('missing');
    if (!TOKEN_FORM.test(bearer)) throw unauthorized('invalid');
    return this.#meet(bearer);
  }

  /** Ends a token of this account at once. Throws TOKEN_NOT_FOUND. */
  async revoke(userId: UserId, id: TokenId): Promise<void> {
    const [row] = await this.#sql<{ token_sha256: Buffer }[]>`
      update access_token set revoked_at_ms = ${this.#clock.nowMs()}
      where id = ${id} and user_id = ${userId} and revoked_at_ms is null
      returning token_sha256`;
    if (row === undefined) throw new Failure('TOKEN_NOT_FOUND');
    this.#known.invalidate(row.token_sha256.toString('hex'));
    for (const listener of this.#revokedListeners) listener(id);
  }

  /** Tells of tokens that have just been revoked: what they opened must end. */
  onRevoked(listener: (id: TokenId) => void): void {
    this.#revokedListeners.push(listener);
  }

  /** Writes the collected times of last use. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#writeUsed());
    return this.#flushing;
  }

  /** Writes what is collected and starts nothing more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#flushTimer?.cancel();
    await this.flush();
  }

  async #meet(bearer: string): Promise<Principal> {
    const digest = (bearer.startsWith(GUEST_PREFIX) ? GUEST_MARK : '') + tokenSha256(bearer).toString('hex');
    const token = await this.#known.get(digest);
    if (token !== null) this.#digests.set(bearer, digest);
    return this.#admit(token);
  }

  #admit(token: KnownToken | null): Principal {
    if (token === null) throw unauthorized('invalid');
    if (token.revoked) throw unauthorized('revoked');
    const nowMs = this.#clock.nowMs();
    if (token.expiresAtMs !== null && token.expiresAtMs <= nowMs) throw unauthorized('expired');
    if (nowMs - token.lastUsedAtMs >= USED_GRAIN_MS) {
      token.lastUsedAtMs = nowMs;
      this.#used.set(token.principal.tokenId, nowMs);
      if (this.#flushTimer === null && !this.#stopped) this.#schedule();
    }
    return token.principal;
  }

  #load(name: string): Promise<KnownToken | null> {
    if (!name.startsWith(GUEST_MARK)) return readUserToken(this.#sql, Buffer.from(name, 'hex'));
    return readGuestToken(this.#sql, Buffer.from(name.slice(GUEST_MARK.length), 'hex'));
  }

  #schedule(): void {
    this.#flushTimer = this.#clock.after(USED_FLUSH_MS, () => {
      this.#flushTimer = null;
      void this.flush();
    });
  }

  async #writeUsed(): Promise<void> {
    if (this.#used.size === 0) return;
    const batch = [...this.#used];
    this.#used.clear();
    try {
      await writeLastUsed(this.#sql, batch);
    } catch (error) {
      // Tracking must not fail the calls that are tracked; the times are kept and written with the next batch.
      this.#log.warn({ error: String(error), tokens: batch.length }, 'times of last use not written yet');
      for (const [id, usedMs] of batch) if (!this.#used.has(id)) this.#used.set(id, usedMs);
      if (!this.#stopped && this.#flushTimer === null) this.#schedule();
    }
  }
}

async function readUserToken(sql: Queries, sha256: Buffer): Promise<KnownToken | null> {
  const [row] = await sql<
    {
      id: TokenId;
      user_id: UserId;
      is_admin: boolean;
      expires_at_ms: number | null;
      revoked_at_ms: number | null;
      last_used_at_ms: number | null;
    }[]
  >`
    select t.id, t.user_id, a.is_admin, t.expires_at_ms, t.revoked_at_ms, t.last_used_at_ms
    from access_token t join account a on a.id = t.user_id
    where t.token_sha256 = ${sha256}`;
  if (row === undefined) return null;
  return {
    principal: {
      kind: 'user',
      userId: row.user_id,
      tokenId: row.id,
      tokenKind: 'personal',
      isAdmin: row.is_admin,
      expiresAtMs: row.expires_at_ms,
    },
    expiresAtMs: row.expires_at_ms,
    revoked: row.revoked_at_ms !== null,
    lastUsedAtMs: row.last_used_at_ms ?? 0,
  };
}

async function readGuestToken(sql: Queries, sha256: Buffer): Promise<KnownToken | null> {
  const [row] = await sql<
    {
      id: GuestId;
      artifact_id: ArtifactId;
      email: string;
      name: string;
      token_id: TokenId;
      expires_at_ms: number;
      revoked_at_ms: number | null;
    }[]
  >`
    select id, artifact_id, email, name, token_id, expires_at_ms, revoked_at_ms
    from comment_guest where token_sha256 = ${sha256}`;
  if (row === undefined) return null;
  return {
    principal: {
      kind: 'guest',
      guestId: row.id,
      artifactId: row.artifact_id,
      name: row.name,
      email: row.email,
      tokenId: row.token_id,
      expiresAtMs: row.expires_at_ms,
    },
    expiresAtMs: row.expires_at_ms,
    revoked: row.revoked_at_ms !== null,
    lastUsedAtMs: Infinity,
  };
}

async function writeLastUsed(sql: Queries, batch: readonly (readonly [TokenId, number])[]): Promise<void> {
  await sql`
    update access_token t set last_used_at_ms = greatest(t.last_used_at_ms, u.used_ms)
    from unnest(${batch.map(([id]) => id)}::text[], ${batch.map(([, usedMs]) => usedMs)}::bigint[]) as u (id, used_ms)
    where t.id = u.id`;
}

function unauthorized(reason: UnauthorizedReason): Failure {
  return new Failure('UNAUTHORIZED', { reason });
}
