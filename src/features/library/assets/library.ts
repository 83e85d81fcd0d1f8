/** A library of assets: a person's own, or a workspace's, as one caller has it. */
import { administers } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { BaseCall } from '../../../edge/call.ts';
import type { WorkspaceSeat } from '../../../edge/subjects.ts';
import { creatorOf } from '../../data/blobs/rules.ts';
import type { Queries } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import type { Holder } from '../../people/usage/rows.ts';
import { type AuditedCall, audit } from '../../workspaces/audit/audit.ts';

export interface Library {
  /** Null for a personal one. */
  readonly workspaceId: WorkspaceId | null;
  /** For whom what is stored in it from now on counts. */
  readonly holder: Holder;
  /** Of the person whose library it is. */
  readonly accounts: readonly UserId[];
  /** What the caller is recorded as. */
  readonly creator: string;
  /** What the caller may be recorded as: one person may have several accounts. */
  readonly own: readonly string[];
  /** Whose things the caller may change; null where it is everybody's. */
  readonly keeps: readonly string[] | null;
}

type Caller = Pick<BaseCall, 'principal'>;

export function mine(call: Caller & { readonly user: UserId }): Library {
  const accounts = accountsOf(call.principal);
  return { workspaceId: null, holder: call.user, accounts, creator: call.user, own: [call.user, ...accounts], keeps: null };
}

export function ours({ principal, workspace }: Caller & { readonly workspace: WorkspaceSeat }): Library {
  const creator = creatorOf(principal);
  if (creator === null) throw new Error('only members and agents are admitted to the assets of a workspace');
  // An agent is an editor of what its workspace has; its scopes and the endpoints narrow that.
  const keepsAll = principal.kind === 'agent' || administers(workspace.role);
  const own = [creator, ...accountsOf(principal)];
  return { workspaceId: workspace.id, holder: workspace.id, accounts: [], creator, own, keeps: keepsAll ? null : own };
}

/** SQL condition: the row `l` belongs to the library. */
export function within(sql: Queries, { workspaceId, accounts }: Library) {
  return workspaceId === null ? sql`l.owner_id = any(${[...accounts]}::text[])` : sql`l.workspace_id = ${workspaceId}`;
}

/** Values of the columns `owner_id, workspace_id` of what is made in it. */
export function ownership(sql: Queries, { workspaceId, holder }: Library) {
  return workspaceId === null ? sql`${holder}, null` : sql`null, ${workspaceId}`;
}

/** Throws FORBIDDEN. */
export function requireKeeper({ keeps }: Library, createdBy: string): void {
  if (keeps === null || keeps.includes(createdBy)) return;
  throw new Failure('FORBIDDEN', { message: 'Only who has stored it, and owners and admins of the workspace, may do this.' });
}

/** Throws ASSET_LIMIT_EXCEEDED. */
export function requireFewer(count: number, most: number, things: string): void {
  if (count >= most) throw new Failure('ASSET_LIMIT_EXCEEDED', { message: `There may be ${most} ${things}.` });
}

interface Noted {
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string; readonly name: string };
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** What is done in a workspace goes to its record. */
export async function note(tx: Queries, { workspaceId }: Library, by: AuditedCall, noted: Noted): Promise<void> {
  if (workspaceId !== null) await audit(tx, by, { workspaceId, ...noted });
}

/** The paging fields of a page, as libraries spell them. */
export function camelPage({ has_more, next_cursor }: { readonly has_more: boolean; readonly next_cursor: string | null }) {
  return { hasMore: has_more, nextCursor: next_cursor };
}
