/** Workspaces by id and by slug, cached; and the caller's seat in one, for access rules by workspace. */
import { type Principal, workspaceRoleOf } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { SubjectResolver, WorkspaceSeat } from '../../../edge/subjects.ts';
import type { Bus } from '../../../platform/bus.ts';
import { ReadCache } from '../../../platform/cache.ts';
import type { Sql } from '../../../storage/sql.ts';
import { readWorkspaceByRef, type WorkspaceRow } from './rows.ts';

const CACHED_WORKSPACES_MAX = 10_000;

export class WorkspaceDirectory implements SubjectResolver<WorkspaceSeat> {
  /** By id, and by slug. */
  readonly #known: ReadCache<string, WorkspaceRow>;

  constructor({ sql, bus }: { readonly sql: Sql; readonly bus: Bus }) {
    this.#known = new ReadCache({ entriesMax: CACHED_WORKSPACES_MAX, load: (ref) => readWorkspaceByRef(sql, ref) });
    bus.cache('workspaces', {
      everything: () => this.#known.clear(),
      'workspace.changed': ({ workspaceId }) => this.#known.invalidateWhere(({ id }) => id === workspaceId),
    });
  }

  /** `ref`: an id or a slug. Null where there is no such workspace, or no longer. */
  get(ref: string): WorkspaceRow | Promise<WorkspaceRow | null> {
    return this.#known.get(ref);
  }

  find(ref: string, principal: Principal): WorkspaceSeat | null | Promise<WorkspaceSeat | null> {
    // What a caller belongs to comes with the principal, so that a workspace which is named by its id is not looked up.
    const role = workspaceRoleOf(principal, ref as WorkspaceId);
    if (role !== undefined) return { id: ref as WorkspaceId, role };
    refuseSuspended(ref as WorkspaceId, principal);
    const found = this.#known.get(ref);
    return found instanceof Promise ? found.then((row) => seatIn(row, principal)) : seatIn(found, principal);
  }
}

/** Its people are told why they are nobody there; for others there is no such workspace, as ever. */
function refuseSuspended(id: WorkspaceId, principal: Principal): void {
  if (principal.kind === 'user' && principal.person.suspendedWorkspaces?.has(id) === true) throw new Failure('WORKSPACE_SUSPENDED');
}

function seatIn(row: WorkspaceRow | null, principal: Principal): WorkspaceSeat | null {
  if (row !== null) refuseSuspended(row.id, principal);
  const role = row === null ? undefined : workspaceRoleOf(principal, row.id);
  return row === null || role === undefined ? null : { id: row.id, role };
}
