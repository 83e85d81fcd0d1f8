/** The SQL of `sharee_note`. */
import type { ShareeId, UserId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

export interface NoteRow {
  readonly name: string;
  readonly size_bytes: number;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

function noteColumns(sql: Queries) {
  return sql`name, octet_length(content) as size_bytes, created_at_ms, updated_at_ms`;
}

/** All of one organisation: their number is bounded. */
export function listNotes(sql: Queries, shareeId: ShareeId) {
  return sql<NoteRow[]>`select ${noteColumns(sql)} from sharee_note where sharee_id = ${shareeId} order by name`;
}

export async function readNote(sql: Queries, shareeId: ShareeId, name: string): Promise<(NoteRow & { readonly content: string }) | null> {
  const [row] = await sql<(NoteRow & { content: string })[]>`
    select ${noteColumns(sql)}, content from sharee_note where sharee_id = ${shareeId} and name = ${name}`;
  return row ?? null;
}

export async function countNotes(sql: Queries, shareeId: ShareeId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from sharee_note where sharee_id = ${shareeId}`;
  return row?.total ?? 0;
}

export async function putNote(tx: Queries, shareeId: ShareeId, name: string, content: string, by: UserId, atMs: number): Promise<void> {
  await tx`
    insert into sharee_note (sharee_id, name, content, updated_by, created_at_ms, updated_at_ms)
    values (${shareeId}, ${name}, ${content}, ${by}, ${atMs}, ${atMs})
    on conflict (sharee_id, name) do update set content = excluded.content, updated_by = excluded.updated_by, updated_at_ms = excluded.updated_at_ms`;
}

export async function deleteNote(tx: Queries, shareeId: ShareeId, name: string): Promise<void> {
  await tx`delete from sharee_note where sharee_id = ${shareeId} and name = ${name}`;
}
