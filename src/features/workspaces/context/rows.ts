/** The SQL of where a workspace's context begins. */
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

/** Null for the file that it begins with unless another was chosen. Undefined where the workspace is gone. */
export async function readEntry(sql: Queries, id: WorkspaceId, lock = false): Promise<string | null | undefined> {
  const [row] = await sql<{ context_entry: string | null }[]>`
    select context_entry from workspace where id = ${id} and deleted_at_ms is null ${lock ? sql`for update` : sql``}`;
  return row?.context_entry;
}

export async function writeEntry(tx: Queries, id: WorkspaceId, entry: string | null): Promise<void> {
  await tx`update workspace set context_entry = ${entry} where id = ${id}`;
}
