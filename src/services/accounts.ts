/** Accounts and their profiles. */
import type { JSONValue } from 'postgres';
import { Failure } from '../../protocol/errors.ts';
import { newId, type UserId } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Tier } from '../../protocol/schemas/account.ts';
import type { Handlers } from '../edge/call.ts';
import type { Queries, ServiceDeps } from './deps.ts';
import type { Identities } from './identities.ts';
import { violates } from './pg-errors.ts';
import { requireUser } from './principals.ts';
import { insertToken } from './tokens.ts';

interface AccountRow {
  readonly id: UserId;
  readonly username: string | null;
  readonly name: string | null;
  readonly email: string | null;
  readonly tier: Tier;
  readonly metadata: Record<string, unknown>;
  readonly created_at_ms: number;
}

const PERSONAL_SCOPES = ['artifacts:read', 'artifacts:publish', 'data:read', 'data:write'];

/** Makes an account without e-mail and its first token. Run it in a transaction: both or neither. */
export async function createAccount(
  sql: Queries,
  spec: { readonly tier: Tier; readonly isAdmin: boolean; readonly nowMs: number },
): Promise<{ userId: UserId; token: string }> {
  const userId = newId('user');
  await sql`
    insert into account (id, tier, is_admin, created_at_ms)
    values (${userId}, ${spec.tier}, ${spec.isAdmin}, ${spec.nowMs})`;
  const { token } = await insertToken(sql, { userId, name: null, expiresAtMs: null, nowMs: spec.nowMs });
  return { userId, token };
}

export async function tierOf(sql: Queries, userId: UserId): Promise<Tier> {
  return (await readAccount(sql, userId)).tier;
}

type AccountIds = 'accounts.create' | 'accounts.me' | 'accounts.account' | 'accounts.profile' | 'accounts.updateProfile';

type AccountDeps = Pick<ServiceDeps, 'sql' | 'clock' | 'config'> & { readonly identities: Identities };

export function accountHandlers({ sql, clock, config, identities }: AccountDeps): Handlers<AccountIds> {
  return {
    'accounts.create': async () => {
      const spec = { tier: config.DEFAULT_TIER, isAdmin: false, nowMs: clock.nowMs() };
      const { userId, token } = await sql.begin((tx) => createAccount(tx, spec));
      return { reply: 'created', body: { token, user_id: userId } };
    },
    'accounts.me': async ({ principal }) => {
      const account = await readAccount(sql, requireUser(principal));
      const kind = principal.kind === 'user' ? principal.tokenKind : 'agent';
      return {
        reply: 'ok',
        body: { user: present(account), token: { kind, scopes: PERSONAL_SCOPES }, tier: account.tier, workspaces: [] },
      };
    },
    'accounts.account': async ({ principal }) => {
      const tier = await tierOf(sql, requireUser(principal));
      return { reply: 'ok', body: { tier, features: featuresOf(tier) } };
    },
    'accounts.profile': async ({ principal }) => ({ reply: 'ok', body: present(await readAccount(sql, requireUser(principal))) }),
    'accounts.updateProfile': async ({ principal, body }) => {
      const row = await updateAccount(sql, requireUser(principal), body).catch((error) => {
        if (violates(error, 'account_username_key')) throw new Failure('USERNAME_TAKEN', { param: 'username' });
        throw error;
      });
      identities.forget(row.id);
      return { reply: 'ok', body: present(row) };
    },
  };
}

/** Whether a tier may show artifacts to everybody. Source: spec.md, "Artifact", visibility. */
export function mayPublishPublicly(tier: Tier): boolean {
  return tier !== 'free';
}

function featuresOf(tier: Tier) {
  return {
    public_artifacts: mayPublishPublicly(tier),
    publishes_per_hour: LIMITS.publishPerHour,
    version_bytes_max: LIMITS.versionBytesMax,
    version_files_max: LIMITS.versionFilesMax,
  };
}

function present(row: AccountRow) {
  return {
    id: row.id,
    username: row.username,
    name: row.name,
    email: row.email,
    metadata: row.metadata,
    created_at: row.created_at_ms,
  };
}

async function readAccount(sql: Queries, userId: UserId): Promise<AccountRow> {
  const [row] = await sql<AccountRow[]>`
    select id, username, name, email, tier, metadata, created_at_ms from account where id = ${userId}`;
  // Its token was just accepted, so the account has been removed meanwhile, and the token with it.
  if (row === undefined) throw new Failure('UNAUTHORIZED', { reason: 'revoked' });
  return row;
}

interface ProfileChange {
  readonly username?: string | undefined;
  readonly name?: string | null | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
}

async function updateAccount(sql: Queries, userId: UserId, change: ProfileChange): Promise<AccountRow> {
  const metadata = change.metadata === undefined ? null : sql.json(change.metadata as JSONValue);
  const [row] = await sql<AccountRow[]>`
    update account set
      username = coalesce(${change.username ?? null}, username),
      name = case when ${change.name !== undefined} then ${change.name ?? null} else name end,
      metadata = coalesce(${metadata}::jsonb, metadata)
    where id = ${userId}
    returning id, username, name, email, tier, metadata, created_at_ms`;
  if (row === undefined) throw new Failure('UNAUTHORIZED', { reason: 'revoked' });
  return row;
}
