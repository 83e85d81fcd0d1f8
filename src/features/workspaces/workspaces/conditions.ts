/** ETags of workspaces. Source: contract.md §0, "Conditional requests". */
import { contentDigest } from '../../../edge/answer.ts';
import { presentWorkspace, type WorkspaceReply } from './present.ts';
import type { ShownWorkspace, WorkspaceRow } from './rows.ts';

/** The version rises with every change of the workspace; the view is how one caller sees it, with their role and the number of members. */
export function workspaceEtag(row: Pick<WorkspaceRow, 'updated_at_ms'>, shown: WorkspaceReply): string {
  return `"${row.updated_at_ms.toString(36)}.${contentDigest(JSON.stringify(shown))}"`;
}

/** What `checkConditions` compares with, for a workspace whose row is locked, as its caller sees it. */
export function workspaceState(row: ShownWorkspace) {
  return { etag: workspaceEtag(row, presentWorkspace(row)), updatedAtMs: row.updated_at_ms };
}
