/** Stores and changes connections, each in the transaction of its caller. Credentials leave this file only sealed. */
import type { UserPrincipal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { type ConnectionId, newId, type UserId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { ConnectionUpdate, NewConnection } from '../../../../protocol/library/connections.ts';
import type { Sealer } from '../../../storage/sealing/sealer.ts';
import type { Queries } from '../../deps.ts';
import { type AuditedCall, audit } from '../../workspaces/audit/audit.ts';
import {
  type ConnectionRow,
  countConnections,
  deleteOwnCredentials,
  hasConnectionNamed,
  insertConnection,
  insertOwnCredentials,
  memberAccount,
  setCredentials,
  updateConnection,
} from './rows.ts';
import {
  authOf,
  isSentElsewhere,
  placeOf,
  readConfig,
  readCredentials,
  refuseWithoutCredentials,
  requireRoomForConnection,
} from './rules.ts';

/** The call of a person, whose accounts say which credentials are theirs. */
export type PersonsCall = AuditedCall & { readonly principal: UserPrincipal };

export interface ConnectionStore {
  readonly tx: Queries;
  readonly sealer: Sealer;
  readonly workspaceId: WorkspaceId;
}

/**
 * The caller holds the lock of the workspace. Throws INVALID_REQUEST, CONNECTION_NAME_TAKEN, CONNECTION_LIMIT_EXCEEDED or
 * SECRETS_NOT_CONFIGURED.
 */
export async function addConnection(store: ConnectionStore, by: PersonsCall, given: NewConnection): Promise<ConnectionId> {
  const { tx, workspaceId } = store;
  const authType = authOf(given.type, given.authType);
  const config = readConfig(given.type, given.config);
  const text = given.credentials === undefined ? null : readCredentials(authType, given.credentials);
  if (await hasConnectionNamed(tx, workspaceId, given.name)) throw new Failure('CONNECTION_NAME_TAKEN', { param: 'name' });
  requireRoomForConnection(await countConnections(tx, workspaceId));
  const id = newId('connection');
  const { name, type, credentialScope } = given;
  const isShared = credentialScope === 'workspace';
  const credentials = text !== null && isShared ? store.sealer.seal(placeOf(id, null), text) : null;
  await insertConnection(tx, {
    id,
    workspaceId,
    name,
    type,
    credentialScope,
    authType,
    config,
    credentials,
    createdBy: by.principal.userId,
    nowMs: by.nowMs,
  });
  if (text !== null && !isShared) await storeOwn(store, by, id, text);
  const detail = { type, credentialScope, authType, has_credentials: text !== null };
  await audit(tx, by, { workspaceId, action: 'connection.create', target: { type: 'connection', id, name }, detail });
  return id;
}

/** The caller holds the lock of the connection and may change it. Throws as `addConnection` does. */
export async function changeConnection(
  store: ConnectionStore,
  by: PersonsCall,
  row: ConnectionRow,
  change: ConnectionUpdate,
): Promise<void> {
  const { tx, workspaceId } = store;
  const { id, type } = row;
  const before = { authType: row.auth_type, config: row.config };
  const after = {
    authType: authOf(type, change.authType ?? row.auth_type),
    config: change.config === undefined ? row.config : readConfig(type, change.config),
  };
  const name = change.name ?? row.name;
  if (name.toLowerCase() !== row.name.toLowerCase() && (await hasConnectionNamed(tx, workspaceId, name)))
    throw new Failure('CONNECTION_NAME_TAKEN', { param: 'name' });
  const isElsewhere = isSentElsewhere(type, before, after);
  if (isElsewhere) await withdrawFrom(store, row, change.credentials);
  await updateConnection(tx, id, { ...after, name, nowMs: by.nowMs });
  if (change.credentials !== undefined) {
    const text = change.credentials === null ? null : readCredentials(after.authType, change.credentials);
    await storeCredentials(store, by, row, text);
  }
  const target = { type: 'connection', id, name };
  await audit(tx, by, { workspaceId, action: 'connection.update', target, detail: { changed: Object.keys(change) } });
}

/** Stored credentials never reach a destination that was not known when they were stored. */
async function withdrawFrom({ tx }: ConnectionStore, row: ConnectionRow, given: ConnectionUpdate['credentials']): Promise<void> {
  if (row.credential_scope === 'person') return deleteOwnCredentials(tx, row.id, null);
  if (row.has_credentials && given === undefined) refuseWithoutCredentials();
}

async function storeCredentials(store: ConnectionStore, by: PersonsCall, row: ConnectionRow, text: string | null): Promise<void> {
  const { tx, sealer } = store;
  const { id } = row;
  if (row.credential_scope === 'workspace') return setCredentials(tx, id, text === null ? null : sealer.seal(placeOf(id, null), text));
  await deleteOwnCredentials(tx, id, accountsOf(by));
  if (text !== null) await storeOwn(store, by, id, text);
}

/** Throws INVALID_REQUEST where the caller is no member, whose membership the credentials would go with. */
async function storeOwn({ tx, sealer, workspaceId }: ConnectionStore, by: PersonsCall, id: ConnectionId, text: string): Promise<void> {
  const userId = await memberAccount(tx, workspaceId, accountsOf(by));
  if (userId === null) {
    throw new Failure('INVALID_REQUEST', {
      param: 'credentials',
      message: 'credentials: must be left out, because with credentialScope person each member stores their own, and you are no member.',
      hint: 'Leave credentials out, or use credentialScope workspace.',
    });
  }
  const credentials = sealer.seal(placeOf(id, userId), text);
  await insertOwnCredentials(tx, { connectionId: id, workspaceId, userId, credentials, nowMs: by.nowMs });
}

function accountsOf({ principal }: PersonsCall): readonly UserId[] {
  return [...principal.person.accounts];
}
