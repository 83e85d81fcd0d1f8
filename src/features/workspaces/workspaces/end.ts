/** The end of a workspace: its artifacts go to the trash of people who can restore them, everything else ends at once. */
import { type Conditions, checkConditions } from '../../../../actors/json/json-conditions.ts';
import type { UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { RETENTION_MS } from '../../artifacts/artifacts/rows.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { readLinked } from '../../people/persons/rows.ts';
import { credentialName } from '../../people/tokens/kinds.ts';
import { correctUsage, type Holder, lockUsage, recount } from '../../people/usage/rows.ts';
import { type AuditedCall, audit } from '../audit/audit.ts';
import { lockFolders } from '../folders/rows.ts';
import { listMemberIds, requireActor } from '../members/rows.ts';
import { workspaceState } from './conditions.ts';
import { deleteWorkspace, lockWorkspace, releaseArtifacts, revokeAgentTokens, showWorkspace } from './rows.ts';
import { requireConfirmed } from './rules.ts';

export type DeleteDeps = Pick<ServiceDeps, 'sql' | 'bus' | 'clock'>;

type Call = AuditedCall & Conditions & { readonly user: UserId };

export async function endWorkspace({ sql, bus }: DeleteDeps, call: Call, id: WorkspaceId, confirm: string | undefined) {
  const { nowMs } = call;
  const { artifacts, people, tokens } = await sql.begin((tx) => endIn(tx, call, id, confirm));
  for (const { id: artifactId, slug } of artifacts) bus.tell({ kind: 'artifact.gone', artifactId, slugs: [slug] });
  for (const token of tokens)
    bus.tell({ kind: 'token.revoked', tokenId: token.id, credential: credentialName('agent', token.token_sha256) });
  bus.tell({ kind: 'workspace.changed', workspaceId: id });
  bus.tell({ kind: 'person.changed', userIds: people });
  const body = {
    success: true,
    deleted: id,
    artifacts_trashed: artifacts.length,
    recoverable_until: dateTime(nowMs + RETENTION_MS),
  } as const;
  return { reply: 'ok', body } as const;
}

async function endIn(tx: Queries, call: Call, id: WorkspaceId, confirm: string | undefined) {
  const { nowMs, user } = call;
  // Folders before the workspace before artifacts, the order in which moves and publishes lock them.
  await lockFolders(tx, { workspaceId: id, ownerId: null });
  await lockWorkspace(tx, id);
  await requireActor(tx, call, id, 'owner');
  const row = await showWorkspace(tx, id, accountsOf(call.principal));
  checkConditions(workspaceState(row), call);
  requireConfirmed(row, confirm);
  const people = await readLinked(tx, await listMemberIds(tx, id));
  const artifacts = await releaseArtifacts(tx, id, user, nowMs);
  await countAgain(tx, user);
  await countAgain(tx, id);
  const tokens = await revokeAgentTokens(tx, id, nowMs);
  await deleteWorkspace(tx, id, nowMs);
  const target = { type: 'workspace', id, name: row.name };
  await audit(tx, call, { workspaceId: id, action: 'workspace.delete', target, detail: { artifacts_trashed: artifacts.length } });
  return { artifacts, people, tokens };
}

/** What the workspace owned counted for it, and counts for its heir now, even beyond their maximum. */
async function countAgain(tx: Queries, holder: Holder): Promise<void> {
  await lockUsage(tx, holder);
  const counted = await recount(tx, holder);
  if (counted !== null) await correctUsage(tx, holder, counted);
}
