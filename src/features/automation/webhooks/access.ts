/** Who may manage a webhook: the owner and editors of its artifact, or the admins of its workspace. */
import { administers, decide, type Person, type Principal, type UserPrincipal, workspaceRoleOf } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId, TokenId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { readHead } from '../../artifacts/artifacts/rows.ts';
import type { Queries } from '../../deps.ts';
import { readStandings } from '../../people/persons/rows.ts';

export interface Watched {
  readonly artifactId: ArtifactId | null;
  readonly workspaceId: WorkspaceId | null;
}

/** Throws ARTIFACT_NOT_FOUND, WORKSPACE_NOT_FOUND or FORBIDDEN. */
export async function requireManaged(sql: Queries, principal: Principal, { artifactId, workspaceId }: Watched): Promise<void> {
  if (artifactId !== null) {
    const head = await readHead(sql, artifactId);
    const decision = decide(head?.deletedAtMs === null ? head : null, principal, 'manage', null);
    if (decision === 'allowed') return;
    if (decision === 'forbidden') throw new Failure('FORBIDDEN', { message: 'Only its owner and editors manage webhooks of an artifact.' });
    throw new Failure('ARTIFACT_NOT_FOUND', { param: 'artifact_id' });
  }
  const role = workspaceId === null ? undefined : workspaceRoleOf(principal, workspaceId);
  if (role === undefined) throw new Failure('WORKSPACE_NOT_FOUND', { param: 'workspace_id' });
  if (!administers(role)) throw new Failure('FORBIDDEN', { message: 'Only its owners and admins manage webhooks of a workspace.' });
}

/** The same for who knows the webhook already. In the trash an artifact still has its managers. */
export async function isManagedBy(sql: Queries, principal: Principal, { artifactId, workspaceId }: Watched): Promise<boolean> {
  if (artifactId !== null) {
    const head = await readHead(sql, artifactId);
    return head !== null && decide(head, principal, 'manage', null) === 'allowed';
  }
  return workspaceId !== null && administers(workspaceRoleOf(principal, workspaceId));
}

/** Whether the account may manage it now, by all that is stored. */
export async function mayAccountManage(sql: Queries, userId: UserId, watched: Watched, nowMs: number): Promise<boolean> {
  const person = (await readStandings(sql, [userId], nowMs)).get(userId)?.person;
  return person !== undefined && (await isManagedBy(sql, principalOf(userId, person), watched));
}

/** The account as it would call with a token of its own. */
function principalOf(userId: UserId, person: Person): UserPrincipal {
  return { kind: 'user', userId, person, tokenId: '' as TokenId, tokenKind: 'personal', isAdmin: false };
}
