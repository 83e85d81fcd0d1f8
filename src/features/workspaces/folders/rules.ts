/** Who may do what with a folder, decided without I/O. */
import { administers, folderGrant, type Principal, workspaceRoleOf } from '../../../../actors/access/access.ts';
import type { FolderSeat } from '../../../edge/subjects.ts';
import type { EffectiveVisibility, FolderHead, FolderRow } from './rows.ts';

/**
 * The caller's role in a folder; null where they may not know of it. A personal folder is its owner's alone. A Team Space folder is that of
 * its maker, as long as they are a member, and of those who run the workspace; its members see it unless it comes to be private, everybody
 * sees it where it comes to be public, and so do those with whom it is shared.
 */
export function folderRoleOf(folder: FolderHead, principal: Principal): FolderSeat['role'] | null {
  const isOne = (id: FolderHead['ownerId']) => id !== null && principal.kind === 'user' && principal.person.accounts.has(id);
  if (folder.workspaceId === null) return isOne(folder.ownerId) ? 'owner' : null;
  const role = workspaceRoleOf(principal, folder.workspaceId);
  if (administers(role) || (role !== undefined && isOne(folder.makerId))) return 'owner';
  if (folder.visibility === 'public') return 'viewer';
  if (role !== undefined && folder.visibility === 'workspace') return 'viewer';
  return principal.kind === 'user' && folderGrant(folder, principal.person, false) !== undefined ? 'viewer' : null;
}

const SLUG_CHARS_MAX = 63;
const NUMBER_CHARS = 5;
const WIDTH: Readonly<Record<EffectiveVisibility, number>> = { private: 0, workspace: 1, public: 2 };

/** The visibility to store with a folder that comes to another place: where it would be seen by more people there, it keeps what it came to. */
export function keptVisibility(
  own: FolderRow['visibility'],
  before: EffectiveVisibility,
  there: EffectiveVisibility,
): FolderRow['visibility'] {
  return WIDTH[there] > WIDTH[before] ? before : own;
}

/** The slug of a folder without one: `Q3 Résumés` becomes `q3-resumes`. */
export function slugOfName(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARS_MAX - NUMBER_CHARS)
    .replace(/^-+|-+$/g, '');
  return plain === '' ? 'folder' : plain;
}

/** `slug`, or where it is taken the first of `slug-2`, `slug-3`, … that is free. */
export function numbered(slug: string, isTaken: (slug: string) => boolean): string {
  if (!isTaken(slug)) return slug;
  const base = slug.slice(0, SLUG_CHARS_MAX - NUMBER_CHARS).replace(/-+$/, '');
  for (let number = 2; ; number += 1) {
    const next = `${base}-${number}`;
    if (!isTaken(next)) return next;
  }
}

/** The folders that cannot have the same slug at the same place: private ones only those of the same maker. Mirrors the index `folder_slug`. */
export function sharesNames(one: Naming, other: Naming): boolean {
  return one.parent_id === other.parent_id && spaceOf(one) === spaceOf(other);
}

type Naming = Pick<FolderRow, 'parent_id' | 'visibility' | 'created_by'>;

function spaceOf({ visibility, created_by }: Naming): string {
  return visibility === 'private' ? (created_by ?? '') : '';
}
