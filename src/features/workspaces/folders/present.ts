/** Folders as one caller sees them. */
import type { z } from 'zod';
import type { FolderId } from '../../../../protocol/core/ids.ts';
import type { folder, folderWithPath } from '../../../../protocol/workspaces/folders.ts';
import type { personalFolder, personalFolderWithPath } from '../../../../protocol/workspaces/personal-folders.ts';
import { contentDigest } from '../../../edge/answer.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { FolderRow } from './rows.ts';
import type { FolderView } from './tree.ts';

/** How many artifacts the caller sees in each folder. */
export type Counts = ReadonlyMap<FolderId, number>;

/** Answers a function, because a list looks up the same parents for every folder. */
export function presenter(view: FolderView, counts: Counts): (row: FolderRow) => z.input<typeof personalFolder> {
  const parents = new Map(view.seen().map((row) => [row.id, view.parentOf(row)?.id ?? null]));
  const below = new Map<FolderId | null, number>();
  for (const parent of parents.values()) below.set(parent, (below.get(parent) ?? 0) + 1);
  return (row) => ({
    id: row.id,
    name: row.name,
    slug: row.slug,
    description: row.description,
    artifact_count: counts.get(row.id) ?? 0,
    parent_id: parents.get(row.id) ?? null,
    subfolder_count: below.get(row.id) ?? 0,
    guest_comments: row.guest_comments,
    created_at: dateTime(row.created_at_ms),
  });
}

export function presentFolders(view: FolderView, rows: readonly FolderRow[], counts: Counts): z.input<typeof folder>[] {
  const present = presenter(view, counts);
  return rows.map((row) => ({ ...present(row), visibility: row.visibility }));
}

export interface Shown {
  readonly view: FolderView;
  readonly row: FolderRow;
  readonly readme: string | null;
  readonly counts: Counts;
}

export function presentPersonal({ view, row, readme, counts }: Shown): z.input<typeof personalFolderWithPath> {
  return { ...presenter(view, counts)(row), path: view.pathOf(row), readme };
}

export function presentFolder(shown: Shown): z.input<typeof folderWithPath> {
  const { view, row } = shown;
  return { ...presentPersonal(shown), visibility: row.visibility, effective_visibility: view.tree.effectiveOf(row) };
}

/** The ETag of a folder as the caller sees it: counts and path are not a part of the version that writes compare. */
export function viewEtag(row: FolderRow, body: object): string {
  return `"${row.updated_at_ms.toString(36)}.${contentDigest(JSON.stringify(body))}"`;
}
