/** The SQL of `workspace_mail`. */
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

export interface WorkspaceMailFields {
  readonly subject: string;
  readonly html: string;
  readonly text_body: string;
}

export interface WorkspaceMailRow extends WorkspaceMailFields {
  readonly kind: string;
  readonly locale: string;
  readonly updated_at_ms: number;
}

/** At most one of each kind and language. */
export function listWorkspaceMails(sql: Queries, workspaceId: WorkspaceId): Promise<WorkspaceMailRow[]> {
  return sql<WorkspaceMailRow[]>`
    select kind, locale, subject, html, text_body, updated_at_ms from workspace_mail where workspace_id = ${workspaceId}`;
}

export async function readWorkspaceMail(
  sql: Queries,
  workspaceId: WorkspaceId,
  kind: string,
  locale: string,
): Promise<WorkspaceMailRow | null> {
  const [row] = await sql<WorkspaceMailRow[]>`
    select kind, locale, subject, html, text_body, updated_at_ms from workspace_mail
    where workspace_id = ${workspaceId} and kind = ${kind} and locale = ${locale}`;
  return row ?? null;
}

interface Place {
  readonly workspaceId: WorkspaceId;
  readonly kind: string;
  readonly locale: string;
}

export async function writeWorkspaceMail(
  tx: Queries,
  { workspaceId, kind, locale }: Place,
  fields: WorkspaceMailFields,
  nowMs: number,
): Promise<void> {
  await tx`
    insert into workspace_mail (workspace_id, kind, locale, subject, html, text_body, updated_at_ms)
    values (${workspaceId}, ${kind}, ${locale}, ${fields.subject}, ${fields.html}, ${fields.text_body}, ${nowMs})
    on conflict (workspace_id, kind, locale) do update
      set subject = excluded.subject, html = excluded.html, text_body = excluded.text_body,
        updated_at_ms = greatest(excluded.updated_at_ms, workspace_mail.updated_at_ms + 1)`;
}

export async function deleteWorkspaceMail(tx: Queries, { workspaceId, kind, locale }: Place): Promise<void> {
  await tx`delete from workspace_mail where workspace_id = ${workspaceId} and kind = ${kind} and locale = ${locale}`;
}
