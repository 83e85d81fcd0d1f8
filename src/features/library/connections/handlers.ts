/** The endpoints of connections. */
import type { z } from 'zod';
import { administers } from '../../../../actors/access/access.ts';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { connection } from '../../../../protocol/library/connections.ts';
import { contentDigest } from '../../../edge/answer.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { ModuleDeps } from '../../module.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { type AuditedCall, audit } from '../../workspaces/audit/audit.ts';
import { lockWorkspace } from '../../workspaces/workspaces/rows.ts';
import { addConnection, changeConnection, type PersonsCall } from './connections.ts';
import {
  type ConnectionRow,
  countConnections,
  deleteConnection,
  listConnections,
  lockConnection,
  noteUse,
  readConnection,
  readSecrets,
} from './rows.ts';
import { hostOf, type Target } from './sources/target.ts';
import { givenTarget, storedTarget, testConnection } from './testing.ts';

type ConnectionIds =
  | 'connections.list'
  | 'connections.test'
  | 'connections.create'
  | 'connections.get'
  | 'connections.update'
  | 'connections.delete';

export function connectionHandlers({
  sql,
  sealer,
  egress,
  clock,
}: Pick<ModuleDeps, 'sql' | 'sealer' | 'egress' | 'clock'>): Handlers<ConnectionIds> {
  return {
    'connections.list': async ({ workspace, principal, query }) => {
      const rows = await listConnections(sql, workspace.id, accountsOf(principal), decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = query.count ? { total: await countConnections(sql, workspace.id) } : {};
      return { reply: 'ok', body: { connections: items.map(present), ...page, ...total } };
    },
    'connections.create': async (call) => {
      const by = personsCall(call);
      const row = await sql.begin(async (tx) => {
        const workspaceId = call.workspace.id;
        await lockWorkspace(tx, workspaceId);
        const id = await addConnection({ tx, sealer, workspaceId }, by, call.body);
        return readConnection(tx, workspaceId, id, accountsOf(call.principal));
      });
      return { reply: 'created', body: present(requireFound(row)) };
    },
    'connections.test': async (call) => {
      const { workspace, principal, body } = call;
      const way = { egress, share: workspace.id };
      if (body.connection_id === undefined) {
        const given = givenTarget(body);
        await recordTest(sql, call, workspace.id, given);
        return { reply: 'ok', body: await testConnection(way, given) };
      }
      const stored = await readConnection(sql, workspace.id, body.connection_id, accountsOf(principal));
      const row = requireFound(stored);
      const secrets = await readSecrets(sql, row.id, accountsOf(principal));
      await sql.begin(async (tx) => {
        const target = { type: 'connection', id: row.id, name: row.name };
        await audit(tx, call, { workspaceId: workspace.id, action: 'connection.use', target, detail: { by: 'test' } });
      });
      const tested = await testConnection(way, storedTarget(sealer, row, secrets));
      await noteUse(sql, row, tested.error ?? null, clock.nowMs());
      return { reply: 'ok', body: tested };
    },
    'connections.get': async ({ workspace, principal, params }) => {
      const row = await readConnection(sql, workspace.id, params.connectionId, accountsOf(principal));
      return shown(requireFound(row));
    },
    'connections.update': async (call) => {
      const { workspace, params, body, principal } = call;
      const by = personsCall(call);
      const row = await sql.begin(async (tx) => {
        await lockConnection(tx, workspace.id, params.connectionId);
        const before = requireFound(await readConnection(tx, workspace.id, params.connectionId, accountsOf(principal)));
        checkConditions({ etag: etagOf(before), updatedAtMs: before.updated_at_ms }, call);
        requireMayChange(administers(workspace.role), before, Object.keys(body));
        await changeConnection({ tx, sealer, workspaceId: workspace.id }, by, before, body);
        return readConnection(tx, workspace.id, params.connectionId, accountsOf(principal));
      });
      return shown(requireFound(row));
    },
    'connections.delete': async (call) => {
      const { workspace, params, principal } = call;
      await sql.begin(async (tx) => {
        await lockConnection(tx, workspace.id, params.connectionId);
        const row = requireFound(await readConnection(tx, workspace.id, params.connectionId, accountsOf(principal)));
        checkConditions({ etag: etagOf(row), updatedAtMs: row.updated_at_ms }, call);
        const { id, name } = row;
        await deleteConnection(tx, id);
        const target = { type: 'connection', id, name };
        await audit(tx, call, { workspaceId: workspace.id, action: 'connection.delete', target, detail: { type: row.type } });
      });
      return { reply: 'ok', body: { success: true } };
    },
  };
}

/** A member has the service call where they like; the record says where, and nothing that could be a secret. */
async function recordTest(sql: ModuleDeps['sql'], call: AuditedCall, workspaceId: WorkspaceId, given: Target): Promise<void> {
  const target = { type: 'connection', id: null, name: null };
  const detail = { type: given.type, host: hostOf(given) };
  await sql.begin((tx) => audit(tx, call, { workspaceId, action: 'connection.test', target, detail }));
}

/** Field by field: those of a call are accessors, which a spread leaves out. */
function personsCall({ principal, address, requestId, nowMs }: AuditedCall): PersonsCall {
  if (principal.kind !== 'user') throw new Error('only people are admitted to connections');
  return { principal, address, requestId, nowMs };
}

/** Members may store and remove their own credentials. Throws FORBIDDEN. */
function requireMayChange(isAdministrator: boolean, row: ConnectionRow, changed: readonly string[]): void {
  if (isAdministrator || (row.credential_scope === 'person' && changed.every((field) => field === 'credentials'))) return;
  throw new Failure('FORBIDDEN', { message: 'Only owners and admins of the workspace change its connections.' });
}

/** Throws CONNECTION_NOT_FOUND. */
function requireFound(row: ConnectionRow | null): ConnectionRow {
  if (row === null) throw new Failure('CONNECTION_NOT_FOUND');
  return row;
}

/** Uses change how it looks, and so do one's own credentials; neither is a change that a write could miss. */
function etagOf(row: ConnectionRow): string {
  return `"${row.updated_at_ms.toString(36)}.${contentDigest(JSON.stringify(present(row)))}"`;
}

function shown(row: ConnectionRow) {
  return { reply: 'ok', body: present(row), etag: etagOf(row) } as const;
}

function present(row: ConnectionRow): z.input<typeof connection> {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    credentialScope: row.credential_scope,
    authType: row.auth_type,
    // Checked when it was stored.
    config: row.config as z.input<typeof connection>['config'],
    has_credentials: row.has_credentials,
    created_at: dateTime(row.created_at_ms),
    updated_at: dateTime(row.updated_at_ms),
    last_used_at: row.last_used_at_ms === null ? null : dateTime(row.last_used_at_ms),
    last_error: row.last_error,
  };
}
