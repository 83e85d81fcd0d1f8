/** Subjects of access rules that the edge does not know itself; the features that own them resolve the caller's rights. */
import type { Principal } from '../../actors/access/access.ts';
import type { Endpoint, WorkspaceRole } from '../../protocol/core/endpoint.ts';
import type { FolderId, UserId, WorkspaceId } from '../../protocol/core/ids.ts';

/** The caller's role in a workspace. */
export interface WorkspaceSeat {
  readonly id: WorkspaceId;
  readonly role: WorkspaceRole;
}

/** The caller's role in a folder; the roles are those on an artifact. */
export interface FolderSeat {
  readonly id: FolderId;
  /** Null for a personal folder of `ownerId`. */
  readonly workspaceId: WorkspaceId | null;
  readonly ownerId: UserId | null;
  readonly role: 'owner' | 'editor' | 'viewer';
}

export interface SubjectResolver<Seat> {
  /** Null where there is no such subject or the caller may not know of it. `principal` is an account or an agent that has the scope. */
  find(id: string, principal: Principal): Seat | null | Promise<Seat | null>;
}

/** Registered by the composition. */
export interface Subjects {
  readonly workspace?: SubjectResolver<WorkspaceSeat>;
  readonly folder?: SubjectResolver<FolderSeat>;
}

/** Throws where an endpoint names a kind of subject without a resolver, so that no process starts that cannot decide who may call. */
export function requireSubjects(table: Readonly<Record<string, Pick<Endpoint, 'access'>>>, subjects: Subjects): void {
  for (const [id, { access }] of Object.entries(table)) {
    if ((access.who === 'workspace' || access.who === 'folder') && subjects[access.who] === undefined) {
      throw new Error(`${id} is declared with access by ${access.who}, and no resolver of ${access.who}s is registered`);
    }
  }
}
