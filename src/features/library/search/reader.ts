/** Who searches, and the SQL of which artifacts they may open. Everything that finds something asks here, inside its query. */
import type { Principal } from '../../../../actors/access/access.ts';
import type { ArtifactId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Statement } from '../../../storage/sql.ts';
import { isSeen, type Viewer, viewerOf } from '../../artifacts/artifacts/lists.ts';
import { isSuspended } from '../../artifacts/artifacts/rows.ts';
import type { Queries } from '../../deps.ts';

export interface Reader {
  readonly viewer: Viewer;
  /** The workspace that an agent never leaves. */
  readonly pinnedTo: WorkspaceId | null;
  /** The artifact that a password or a preview link has opened. */
  readonly letInto: ArtifactId | null;
  /** The one artifact that somebody signed in on a page, or a job, is confined to. */
  readonly only: ArtifactId | null;
}

/** The principal is as it stands now (`standingAt`), which every call has. */
export function readerOf(principal: Principal): Reader {
  return {
    viewer: viewerOf(principal),
    pinnedTo: principal.kind === 'agent' ? principal.workspaceId : null,
    letInto: principal.kind === 'agent' ? null : (principal.letInto ?? null),
    only: principal.kind === 'user' ? (principal.onPage?.artifactId ?? principal.run?.artifactId ?? null) : null,
  };
}

export interface Within {
  readonly workspaceId?: WorkspaceId | undefined;
  readonly artifactId?: ArtifactId | undefined;
}

/** Whether the reader may open the live artifact `a`, without a password that they have not given. Nobody opens a suspended one. */
export function mayOpen(sql: Queries, reader: Reader, within: Within = {}): Statement {
  const { viewer, letInto } = reader;
  const { workspaces, artifacts } = boundsOf(reader, within);
  return sql`(
    a.deleted_at_ms is null
    and (${workspaces}::text[] is null or a.workspace_id = any(${workspaces}))
    and (${artifacts}::text[] is null or a.id = any(${artifacts}))
    and (a.id = ${letInto} or ${isSeen(sql, viewer)})
    and not ${isSuspended(sql)})`;
}

/** The workspaces and the artifacts that are looked at alone; null where there is no bound. */
export function boundsOf(reader: Reader, within: Within) {
  return { workspaces: bounds(reader.pinnedTo, within.workspaceId), artifacts: bounds(reader.only, within.artifactId) };
}

/** Null where there is no bound; nothing at all where two do not meet. */
function bounds<Id extends string>(one: Id | null, other: Id | undefined): Id[] | null {
  if (one === null) return other === undefined ? null : [other];
  return other === undefined || other === one ? [one] : [];
}
