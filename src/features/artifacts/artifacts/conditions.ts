/** ETags of artifacts. Source: contract.md §0, "Conditional requests". */

import type { Principal, Role } from '../../../../actors/access/access.ts';
import { shownFolder } from './present.ts';
import type { ArtifactRow } from './rows.ts';

interface Stamped {
  readonly updated_at_ms: number;
}

/** The ETag of an artifact's state: it rises with every change. Quotes included. */
export function artifactEtag(row: Stamped): string {
  return `"${row.updated_at_ms.toString(36)}"`;
}

const ROLE_MARKS = { owner: '', editor: 'e', viewer: 'v', none: 'n' } as const satisfies Record<Role, string>;

/**
 * The ETag of the artifact as one caller sees it: favourite mark and role are the caller's own, not everybody sees the folder, and the picture
 * comes some time after its version. None is a part of the version that writes compare.
 */
export function viewEtag(
  row: Stamped & Pick<ArtifactRow, 'is_favorite' | 'folder' | 'thumbnail'>,
  principal: Principal,
  role: Role,
): string {
  const marks = [row.is_favorite && 'f', shownFolder(row, principal) !== null && 'd', row.thumbnail === 'ready' && 't', ROLE_MARKS[role]];
  const view = marks.filter(Boolean).join('');
  return view === '' ? artifactEtag(row) : `"${row.updated_at_ms.toString(36)}.${view}"`;
}

/** What `checkConditions` compares with, for an artifact whose row is locked. */
export function artifactState(row: Stamped) {
  return { etag: artifactEtag(row), updatedAtMs: row.updated_at_ms };
}
