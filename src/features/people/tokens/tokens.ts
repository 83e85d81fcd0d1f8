/** Tells callers apart by their credentials, revokes tokens and tracks the last use of credentials. */
import { type Principal, standingAt } from '../../../../actors/access/access.ts';
import type { Clock, Log, Timer } from '../../../../actors/runtime/ports.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { TokenId, UserId } from '../../../../protocol/core/ids.ts';
import type { Bus } from '../../../platform/bus.ts';
import { BoundedMap, ReadCache } from '../../../platform/cache.ts';
import type { Sql } from '../../../storage/sql.ts';
import type { Accounts } from '../accounts/rules.ts';
import { readUsableStandings, type Standing } from '../persons/rows.ts';
import { BEARERS, type CredentialKind, credentialName, nameOfSecret } from './kinds.ts';
import { readEnded, revokeToken } from './rows.ts';
import { type KnownToken, requireUsable, unauthorized, wasIdle } from './rules.ts';

const CACHED_TOKENS_MAX = 20_000;
// `last_used_at` is for people: it is exact to the minute and written in batches.
const USED_GRAIN_MS = 60_000;
const USED_FLUSH_MS = 5_000;

export interface TokenServiceDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly bus: Bus;
  /** How browser sessions are stored, where there are any. */
  readonly sessions?: CredentialKind;
}

/** A credential that was found, with its kind. */
interface Cached {
  readonly token: KnownToken;
  readonly kind: CredentialKind;
}

export class TokenService {
  readonly #sql: Sql;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #kinds: ReadonlyMap<string, CredentialKind>;
  readonly #sessions: CredentialKind | undefined;
  /** Names of bearer tokens that exist, so that guesses do not fill it. A token's name never changes, so no entry goes stale. */
  readonly #bearers = new BoundedMap<string, string>(CACHED_TOKENS_MAX);
  /** The same for the secrets of sessions: apart, because neither may pass for the other. */
  readonly #cookies = new BoundedMap<string, string>(CACHED_TOKENS_MAX);
  /** By name. */
  readonly #known: ReadCache<string, Cached>;
  readonly #used = new Map<CredentialKind, Map<TokenId, number>>();
  #flushTimer: Timer | null = null;
  #flushing: Promise<void> = Promise.resolve();
  readonly #bus: Bus;
  #stopped = false;

  constructor(deps: TokenServiceDeps) {
    this.#sql = deps.sql;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#sessions = deps.sessions;
    const kinds = deps.sessions === undefined ? BEARERS : [...BEARERS, deps.sessions];
    this.#kinds = new Map(kinds.map((kind) => [kind.name, kind]));
    this.#known = new ReadCache({ entriesMax: CACHED_TOKENS_MAX, load: (name) => this.#load(name) });
    this.#bus = deps.bus;
    deps.bus.cache('tokens', {
      everything: () => this.#known.clear(),
      'token.revoked': ({ credential }) => this.#known.invalidate(credential),
      'person.changed': ({ userIds }) => {
        const meant = new Set(userIds);
        this.#known.invalidateWhere(({ token: { principal } }) => principal.kind === 'user' && meant.has(principal.userId));
      },
      'workspace.changed': ({ workspaceId }) =>
        this.#known.invalidateWhere(
          ({ token: { principal } }) =>
            (principal.kind === 'user' && principal.person.grants.sharedBy.has(workspaceId)) ||
            (principal.kind === 'agent' && principal.workspaceId === workspaceId),
        ),
    });
  }

  /** Who this token speaks for; synchronous when the token is cached. Throws or rejects UNAUTHORIZED with its reason. */
  authenticate(bearer: string): Principal | Promise<Principal> {
    const name = this.#bearers.get(bearer);
    if (name !== undefined) return this.#byName(name);
    if (bearer === '') throw unauthorized('missing');
    const kind = BEARERS.find(({ form }) => form.test(bearer));
    if (kind === undefined) throw unauthorized('invalid');
    return this.#meet(bearer, kind, this.#bearers);
  }

  /** The same for the secret in a session's cookie. */
  authenticateSession(secret: string): Principal | Promise<Principal> {
    const name = this.#cookies.get(secret);
    if (name !== undefined) return this.#byName(name);
    if (this.#sessions?.form.test(secret) !== true) throw unauthorized('invalid');
    return this.#meet(secret, this.#sessions, this.#cookies);
  }

  /** The same for a session by its `credentialName`, which another credential has come from. */
  authenticateNamed(name: string): Principal | Promise<Principal> {
    return this.#byName(name);
  }

  /** Which of these credentials have been revoked, or are gone. */
  endedOf(ids: readonly TokenId[]): Promise<Set<TokenId>> {
    return readEnded(this.#sql, ids);
  }

  /** What these accounts stand for now. Left out: accounts that are gone or suspended. */
  standingsOf(userIds: readonly UserId[]): Promise<Map<UserId, Standing>> {
    return readUsableStandings(this.#sql, userIds, this.#clock.nowMs());
  }

  /** Revokes a token of one of these accounts; open streams and sockets that use it end too. Throws TOKEN_NOT_FOUND. */
  async revoke(accounts: Accounts, id: TokenId): Promise<void> {
    const sha256 = await revokeToken(this.#sql, accounts, id, this.#clock.nowMs());
    if (sha256 === null) throw new Failure('TOKEN_NOT_FOUND');
    this.#bus.tell({ kind: 'token.revoked', tokenId: id, credential: credentialName('personal', sha256) });
  }

  /** Writes the collected times of last use. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#writeUsed());
    return this.#flushing;
  }

  /** Writes the collected times and starts no further timer. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#flushTimer?.cancel();
    await this.flush();
  }

  #byName(name: string): Principal | Promise<Principal> {
    const known = this.#known.get(name);
    if (known instanceof Promise) return known.then((cached) => this.#admit(cached));
    return wasIdle(known.token, this.#clock.nowMs()) ? this.#readAgain(name) : this.#admit(known);
  }

  /** Another process may have seen it in use since it was read here. */
  async #readAgain(name: string): Promise<Principal> {
    this.#known.invalidate(name);
    return this.#admit(await this.#known.get(name));
  }

  async #meet(secret: string, kind: CredentialKind, names: BoundedMap<string, string>): Promise<Principal> {
    const name = nameOfSecret(kind.name, secret);
    const known = await this.#known.get(name);
    if (known !== null) names.set(secret, name);
    return this.#admit(known);
  }

  #admit(found: Cached | null): Principal {
    const nowMs = this.#clock.nowMs();
    const token = requireUsable(found === null ? null : found.token, nowMs);
    if (nowMs - token.lastUsedAtMs >= USED_GRAIN_MS && found !== null) {
      token.lastUsedAtMs = nowMs;
      this.#noteUse(found.kind, token.principal.tokenId, nowMs);
    }
    // In place, so that what has ended is left out once.
    token.principal = standingAt(token.principal, nowMs);
    return token.principal;
  }

  async #load(name: string): Promise<Cached | null> {
    const colon = name.indexOf(':');
    const kind = this.#kinds.get(name.slice(0, colon));
    if (kind === undefined) throw new Error(`no credential is of the kind that ${name.slice(0, colon)} names`);
    const token = await kind.read(this.#sql, Buffer.from(name.slice(colon + 1), 'hex'));
    return token === null ? null : { token, kind };
  }

  #noteUse(kind: CredentialKind, id: TokenId, usedMs: number): void {
    const used = this.#used.get(kind) ?? new Map<TokenId, number>();
    this.#used.set(kind, used);
    used.set(id, usedMs);
    if (this.#flushTimer === null && !this.#stopped) this.#schedule();
  }

  #schedule(): void {
    this.#flushTimer = this.#clock.after(USED_FLUSH_MS, () => {
      this.#flushTimer = null;
      void this.flush();
    });
  }

  async #writeUsed(): Promise<void> {
    const batches = [...this.#used];
    this.#used.clear();
    for (const [kind, batch] of batches) {
      try {
        await kind.writeUses?.(this.#sql, [...batch]);
      } catch (error) {
        // A failure here must not fail the calls whose use is tracked: the times are written with the next batch.
        this.#log.warn({ error: String(error), tokens: batch.size }, 'times of last use not written yet');
        this.#used.set(kind, new Map([...batch, ...(this.#used.get(kind) ?? [])]));
        if (!this.#stopped && this.#flushTimer === null) this.#schedule();
      }
    }
  }
}
