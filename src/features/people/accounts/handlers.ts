/** The endpoints of accounts and their profiles. */
import type { z } from 'zod';
import { type AgentPrincipal, isInstanceStaff, type UserPrincipal } from '../../../../actors/access/access.ts';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import { SCOPES } from '../../../../protocol/core/endpoint.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { newId, type UserId } from '../../../../protocol/core/ids.ts';
import type { me, Tier } from '../../../../protocol/people/accounts.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Handlers } from '../../../edge/call.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { violates } from '../../../storage/pg-errors.ts';
import type { InstanceSettings } from '../../business/instance/settings.ts';
import { describeAccount } from '../../business/tiers/presenting.ts';
import { tierInForce } from '../../business/tiers/rules.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import type { WorkspaceDirectory } from '../../workspaces/workspaces/directory.ts';
import { listOwnWorkspaces } from '../../workspaces/workspaces/rows.ts';
import { insertToken } from '../tokens/rows.ts';
import { newToken } from '../tokens/secret.ts';
import { type AccountRow, insertAccount, lockAccount, readAccount, tierOf, updateProfile } from './rows.ts';
import { accountsOf } from './rules.ts';

/** Makes an account without e-mail and its first token. Run it in a transaction: both or neither. */
export async function createAccount(
  tx: Queries,
  spec: { readonly tier: Tier; readonly isAdmin: boolean; readonly nowMs: number },
): Promise<{ userId: UserId; token: string }> {
  const userId = newId('user');
  const { token, id, sha256 } = newToken('personal');
  await insertAccount(tx, { id: userId, personId: newId('person'), ...spec });
  await insertToken(tx, { id, userId, name: null, sha256, expiresAtMs: null, nowMs: spec.nowMs });
  return { userId, token };
}

type AccountIds = 'accounts.create' | 'accounts.me' | 'accounts.account' | 'accounts.profile' | 'accounts.updateProfile';

export type AccountDeps = Pick<ServiceDeps, 'sql' | 'clock' | 'config' | 'bus'> & {
  readonly workspaces: WorkspaceDirectory;
  readonly flags: Pick<InstanceSettings, 'require'>;
};

export function accountHandlers(deps: AccountDeps): Handlers<AccountIds> {
  const { sql, clock, config, bus } = deps;
  return {
    'accounts.create': async () => {
      await deps.flags.require('anonymous_accounts');
      const spec = { tier: config.DEFAULT_TIER, isAdmin: false, nowMs: clock.nowMs() };
      const { userId, token } = await sql.begin((tx) => createAccount(tx, spec));
      return { reply: 'created', body: { token, user_id: userId } };
    },
    'accounts.me': async ({ principal }) => {
      if (principal.kind === 'agent') return { reply: 'ok', body: await describeAgent(deps, principal) };
      if (principal.kind === 'user') return { reply: 'ok', body: await describePerson(deps, principal) };
      throw new Error('only accounts and agents are admitted');
    },
    'accounts.account': async ({ user, principal }) => ({
      reply: 'ok',
      body: await describeAccount(sql, user, accountsOf(principal), clock.nowMs()),
    }),
    'accounts.profile': async ({ user }) => profileReply(await readAccount(sql, user)),
    'accounts.updateProfile': async (call) => {
      const row = await sql
        .begin(async (tx) => {
          await lockAccount(tx, call.user);
          checkConditions({ etag: bodyEtag(presentProfile(await readAccount(tx, call.user))) }, call);
          return updateProfile(tx, call.user, call.body);
        })
        .catch((error) => {
          if (violates(error, 'account_username_key')) throw new Failure('USERNAME_TAKEN', { param: 'username' });
          throw error;
        });
      bus.tell({ kind: 'account.changed', userId: row.id });
      return profileReply(row);
    },
  };
}

type Me = z.input<typeof me>;

async function describePerson({ sql }: AccountDeps, principal: UserPrincipal): Promise<Me> {
  const { userId, tokenKind, person } = principal;
  const [account, tier, workspaces] = await Promise.all([
    readAccount(sql, userId),
    tierOf(sql, userId),
    listOwnWorkspaces(sql, [...person.accounts]),
  ]);
  return {
    user: presentProfile(account),
    token: { kind: tokenKind, scopes: [...SCOPES] },
    tier,
    is_admin: principal.isAdmin && tokenKind !== 'external',
    is_staff: isInstanceStaff(principal),
    workspaces,
  };
}

async function describeAgent({ workspaces }: AccountDeps, agent: AgentPrincipal): Promise<Me> {
  const workspace = await workspaces.get(agent.workspaceId);
  // Its token ends with its workspace.
  if (workspace === null) throw new Failure('UNAUTHORIZED', { reason: 'revoked' });
  const { id, name, slug } = workspace;
  return {
    user: null,
    token: { kind: 'agent', agent: { id: agent.principalId, name: agent.name }, scopes: [...agent.scopes], workspace_id: id },
    tier: tierInForce(workspace),
    is_admin: false,
    is_staff: false,
    workspaces: [{ id, name, slug, role: 'member', billing_manager: false }],
  };
}

function profileReply(row: AccountRow) {
  const body = presentProfile(row);
  return { reply: 'ok', body, etag: bodyEtag(body) } as const;
}

export function presentProfile(row: AccountRow) {
  return {
    id: row.id,
    username: row.username,
    name: row.name,
    email: row.email,
    metadata: row.metadata,
    created_at: dateTime(row.created_at_ms),
  };
}
