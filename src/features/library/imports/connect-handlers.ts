/** The endpoints that connect drives and look into them. */
import { createHash, randomBytes } from 'node:crypto';
import { generateRandomCodeVerifier } from 'oauth4webapi';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { ImportProvider } from '../../../../protocol/library/file-imports.ts';
import type { BaseCall, Handlers } from '../../../edge/call.ts';
import type { Sql } from '../../../storage/sql.ts';
import type { InstanceSettings } from '../../business/instance/settings.ts';
import type { ModuleDeps } from '../../module.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import type { SessionService } from '../../people/sessions/sessions.ts';
import { type AuditedCall, audit } from '../../workspaces/audit/audit.ts';
import type { WorkspaceDirectory } from '../../workspaces/workspaces/directory.ts';
import { lockWorkspace, type WorkspaceRow } from '../../workspaces/workspaces/rows.ts';
import { memberAccount } from '../connections/rows.ts';
import type { Drives } from './drives.ts';
import { DriveFailure } from './providers/calls.ts';
import { type ConnectionKey, deleteConnectionsOf, insertAttempt, listConnectionsOf, putConnection, takeAttempt } from './rows.ts';
import { placeOfRef, refOf, refusalOfDrive, requireImports, storedName, tokensPlace } from './rules.ts';

/** All calls of one answer of browse. */
const BROWSE_MS = 60_000;

type Ids = 'fileImports.connect' | 'fileImports.callback' | 'fileImports.disconnect' | 'fileImports.browse';

export interface ConnectDeps extends Pick<ModuleDeps, 'sql' | 'sealer' | 'config' | 'clock' | 'log'> {
  readonly drives: Drives;
  readonly sessions: SessionService;
  readonly workspaces: WorkspaceDirectory;
  readonly flags: Pick<InstanceSettings, 'require'>;
}

export function connectHandlers(deps: ConnectDeps): Handlers<Ids> {
  const { sql, sealer, drives, workspaces } = deps;
  return {
    'fileImports.connect': async ({ workspace, principal, params, nowMs }) => {
      await deps.flags.require('file_imports');
      requireImports(await found(workspaces, workspace.id));
      const { provider, oauth } = drives.drive(params.provider);
      const key = { workspaceId: workspace.id, userId: await memberOf(sql, workspace.id, accountsOf(principal)), provider: provider.id };
      // Where nothing can be sealed, nobody is sent away in vain.
      sealer.seal(tokensPlace(key), '');
      const state = randomBytes(32).toString('base64url');
      const codeVerifier = generateRandomCodeVerifier();
      const attempt = { stateSha256: digestOf(state), codeVerifier, expiresAtMs: nowMs + LIMITS.importConnectTtlMs };
      await insertAttempt(sql, key, attempt);
      const asked = { state, codeVerifier, redirectUri: redirectUri(deps, provider.id), scope: provider.scope };
      return { reply: 'ok', body: { authorize_url: await oauth.authorizeUrl(asked, provider.authorizeParameters) } };
    },
    'fileImports.callback': (call) => connected(deps, call),
    'fileImports.disconnect': async (call) => {
      const { workspace, principal, params } = call;
      await sql.begin(async (tx) => {
        const isGone = await deleteConnectionsOf(tx, workspace.id, accountsOf(principal), params.provider);
        if (!isGone) throw new Failure('IMPORT_NOT_CONNECTED');
        await audit(tx, call, entry(workspace.id, 'file_import.disconnect', params.provider, null));
      });
      return { reply: 'ok', body: { success: true } };
    },
    'fileImports.browse': async ({ workspace, principal, params, query: { ref, q }, nowMs }) => {
      requireImports(await found(workspaces, workspace.id));
      const { provider } = drives.drive(params.provider);
      const key = await requireConnected(sql, workspace.id, accountsOf(principal), provider.id);
      const isRoot = ref === 'root';
      const searchable = isRoot && provider.searchable;
      if (q !== undefined && !searchable) {
        throw new Failure('INVALID_REQUEST', {
          param: 'q',
          message: 'q: only the root of office_suite can be searched.',
          hint: 'Leave it out.',
        });
      }
      try {
        const entries = await provider.browse(
          drives.calls(key, { endsAtMs: nowMs + BROWSE_MS }),
          isRoot ? null : placeOfRef(sealer, key, ref).place,
          q,
        );
        const shown = entries.map((one) => ({
          ref: refOf(sealer, key, one),
          name: storedName(one.name),
          kind: one.place.kind,
          selectable: one.selectable,
        }));
        return { reply: 'ok', body: { searchable, entries: shown } };
      } catch (error) {
        throw refusalOfDrive(error);
      }
    },
  };
}

/** The access of a person in a workspace that counts. Throws IMPORT_NOT_CONNECTED. */
export async function requireConnected(
  sql: Sql,
  workspaceId: WorkspaceId,
  accounts: readonly UserId[],
  provider: ImportProvider,
): Promise<ConnectionKey> {
  const connections = await listConnectionsOf(sql, workspaceId, accounts);
  const one = connections.find((connection) => connection.provider === provider && connection.tokens !== null);
  if (one === undefined) throw new Failure('IMPORT_NOT_CONNECTED');
  return { workspaceId, userId: one.user_id, provider };
}

export async function found(workspaces: WorkspaceDirectory, id: WorkspaceId): Promise<WorkspaceRow> {
  const row = await workspaces.get(id);
  if (row === null) throw new Failure('WORKSPACE_NOT_FOUND');
  return row;
}

async function memberOf(sql: Sql, workspaceId: WorkspaceId, accounts: readonly UserId[]): Promise<UserId> {
  const account = await memberAccount(sql, workspaceId, accounts);
  if (account === null) throw new Failure('WORKSPACE_NOT_FOUND');
  return account;
}

type CallbackCall = BaseCall & {
  readonly params: { readonly provider: string };
  readonly query: { readonly code?: string | undefined; readonly state?: string | undefined; readonly error?: string | undefined };
};

/**
 * Only in a browser in which the person who began is signed in: else somebody could have another person's drive connected to an account of their
 * own, by sending them the address.
 */
async function connected(deps: ConnectDeps, call: CallbackCall) {
  const { sql, drives, sessions } = deps;
  const { provider } = drives.drive(call.params.provider);
  const principal = await sessions.present(call.cookies);
  if (principal === null) return redirect(signInAddress(deps, call));
  const { code, state, error } = call.query;
  const by = { provider: provider.id, accounts: accountsOf(principal), nowMs: call.nowMs };
  const attempt = state === undefined ? null : await takeAttempt(sql, digestOf(state), by);
  if (attempt === null || state === undefined) {
    throw new Failure('CONNECT_FAILED', {
      message: 'You have not begun this, in this browser you are somebody else, or it took too long.',
    });
  }
  const key = { workspaceId: attempt.workspace_id, userId: attempt.user_id, provider: provider.id };
  // Who has left meanwhile hears nothing of the workspace, whatever the provider says.
  if ((await memberAccount(sql, key.workspaceId, [key.userId])) === null) throw new Failure('WORKSPACE_NOT_FOUND');
  try {
    if (code === undefined) {
      const why = error === 'access_denied' ? 'It was canceled there.' : 'The provider has not allowed it.';
      throw new Failure('CONNECT_FAILED', { message: `The drive was not connected. ${why}` });
    }
    const tokens = await redeemed(deps, key, { code, state, codeVerifier: attempt.code_verifier });
    const slug = await store(deps, { ...auditedOf(call), principal }, key, tokens);
    return redirect(screenAddress(deps, slug, provider.id, 'connected'));
  } catch (failure) {
    // A person is looking at this; programs get the failure itself, and who is no member any more hears nothing of the workspace.
    if (!(failure instanceof Failure) || failure.code === 'WORKSPACE_NOT_FOUND' || !call.accept.includes('text/html')) throw failure;
    const workspace = await found(deps.workspaces, key.workspaceId);
    deps.log.info({ err: failure, provider: provider.id }, 'a drive was not connected');
    return redirect(screenAddress(deps, workspace.slug, provider.id, error === 'access_denied' ? 'canceled' : 'failed'));
  }
}

interface Redeeming {
  readonly code: string;
  readonly state: string;
  readonly codeVerifier: string;
}

/** Throws PLAN_REQUIRED, CONNECT_FAILED, DRIVE_UNAVAILABLE. */
async function redeemed(deps: ConnectDeps, { workspaceId, provider: id }: ConnectionKey, { code, state, codeVerifier }: Redeeming) {
  const { drives } = deps;
  const { provider, oauth } = drives.drive(id);
  requireImports(await found(deps.workspaces, workspaceId));
  try {
    const tokens = await oauth.redeem({ code, state }, codeVerifier, redirectUri(deps, id), workspaceId);
    return { email: await provider.accountEmail(drives.callsWith(tokens, workspaceId)), text: JSON.stringify(tokens) };
  } catch (failure) {
    if (failure instanceof DriveFailure && failure.kind !== 'unavailable')
      throw new Failure('CONNECT_FAILED', { message: failure.message });
    throw refusalOfDrive(failure);
  }
}

/** Where the app shows what came of it. Its screens take no query. */
function screenAddress({ config }: ConnectDeps, slug: string, drive: ImportProvider, outcome: 'connected' | 'canceled' | 'failed'): string {
  return `${config.baseUrl}/w/${slug}/imports#${new URLSearchParams({ drive, outcome })}`;
}

/** Stores the access of who is a member still. Answers the slug of the workspace. */
function store(
  { sql, sealer, clock }: ConnectDeps,
  by: AuditedCall,
  key: ConnectionKey,
  { email, text }: { readonly email: string | null; readonly text: string },
): Promise<string> {
  return sql.begin(async (tx) => {
    const { slug } = await lockWorkspace(tx, key.workspaceId);
    if ((await memberAccount(tx, key.workspaceId, [key.userId])) === null) throw new Failure('WORKSPACE_NOT_FOUND');
    const shown = email === null ? null : storedName(email);
    await putConnection(tx, key, { email: shown, tokens: sealer.seal(tokensPlace(key), text), nowMs: clock.nowMs() });
    await audit(tx, by, entry(key.workspaceId, 'file_import.connect', key.provider, shown));
    return slug;
  });
}

function entry(workspaceId: WorkspaceId, action: string, provider: ImportProvider, email: string | null) {
  return { workspaceId, action, target: { type: 'file_import_connection', id: provider, name: email } };
}

/** Field by field: those of a call are accessors, which a spread leaves out. */
function auditedOf({ address, requestId, nowMs }: BaseCall) {
  return { address, requestId, nowMs };
}

function redirectUri({ config }: Pick<ConnectDeps, 'config'>, provider: ImportProvider): string {
  return `${config.baseUrl}/v1/file-imports/callback/${provider}`;
}

/** After it, the browser comes back with the same answer, whose state counts still. */
function signInAddress({ config }: ConnectDeps, { params, query }: CallbackCall): string {
  const given = new URLSearchParams();
  for (const name of ['code', 'state', 'error'] as const) {
    const value = query[name];
    if (value !== undefined) given.set(name, value);
  }
  const path = `/v1/file-imports/callback/${params.provider}?${given}`;
  return `${config.baseUrl}/sign-in?return_to=${encodeURIComponent(path)}`;
}

function redirect(location: string) {
  return { reply: 'found', body: 'Go on at the address in Location.\n', headers: { Location: location } } as const;
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
