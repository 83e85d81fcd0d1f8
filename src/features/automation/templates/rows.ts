/** The SQL of `template`. */
import type { JSONValue } from 'postgres';
import { type ArtifactId, newId, type TemplateId, type UserId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Statement } from '../../../storage/sql.ts';
import type { Queries } from '../../deps.ts';
import type { Accounts } from '../../people/accounts/rules.ts';
import type { TemplateVariable } from './variables.ts';

export interface TemplateFields {
  readonly name: string;
  readonly subject: string;
  readonly html: string;
  readonly text_body: string;
  readonly variables: readonly TemplateVariable[];
}

export interface TemplateRow extends TemplateFields {
  readonly id: TemplateId;
  readonly owner_id: UserId;
  readonly artifact_id: ArtifactId | null;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

const columns = (sql: Queries) => sql`
  t.id, t.owner_id, t.artifact_id, t.name, t.subject, t.html, t.text_body, t.variables, t.created_at_ms, t.updated_at_ms`;

/** Which templates are listed. */
export interface Wanted {
  /** Those of these accounts without an artifact. */
  readonly ofAccounts: Accounts;
  /** Those of this artifact, or of all artifacts of these accounts; null for none. */
  readonly ofArtifact: ArtifactId | Accounts | null;
}

function wanted(sql: Queries, { ofAccounts, ofArtifact }: Wanted): Statement {
  const ofOwn = sql`t.artifact_id is null and t.owner_id = any(${ofAccounts as UserId[]})`;
  if (ofArtifact === null || typeof ofArtifact === 'string') return sql`((${ofOwn}) or t.artifact_id = ${ofArtifact})`;
  return sql`((${ofOwn}) or exists (
    select 1 from artifact r where r.id = t.artifact_id and r.owner_id = any(${ofArtifact as UserId[]}) and r.deleted_at_ms is null))`;
}

/** Last changed first. */
export function listTemplates(sql: Queries, which: Wanted, after: PageKey, rowsMax: number): Promise<TemplateRow[]> {
  return sql<TemplateRow[]>`
    select ${columns(sql)} from template t
    where ${wanted(sql, which)} and (t.updated_at_ms < ${after.number} or (t.updated_at_ms = ${after.number} and t.id > ${after.id}))
    order by t.updated_at_ms desc, t.id limit ${rowsMax}`;
}

export async function countTemplates(sql: Queries, which: Wanted): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from template t where ${wanted(sql, which)}`;
  return row?.total ?? 0;
}

export async function readTemplate(sql: Queries, id: TemplateId): Promise<TemplateRow | null> {
  const [row] = await sql<TemplateRow[]>`select ${columns(sql)} from template t where t.id = ${id}`;
  return row ?? null;
}

/** Those who make templates of one account or artifact wait for each other, so that they cannot exceed the maximum together. */
export async function lockTemplatesOf(tx: Queries, holder: UserId | ArtifactId): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`templates of ${holder}`}, 0))`;
}

/** Changes of one template wait for each other until the transaction ends. */
export async function lockTemplate(tx: Queries, id: TemplateId): Promise<void> {
  await tx`select 1 from template where id = ${id} for update`;
}

export async function insertTemplate(
  tx: Queries,
  fields: TemplateFields,
  { ownerId, artifactId, nowMs }: { readonly ownerId: UserId; readonly artifactId: ArtifactId | null; readonly nowMs: number },
): Promise<TemplateId> {
  const id = newId('template');
  await tx`
    insert into template (id, owner_id, artifact_id, name, subject, html, text_body, variables, created_at_ms, updated_at_ms)
    values (
      ${id}, ${ownerId}, ${artifactId}, ${fields.name}, ${fields.subject}, ${fields.html}, ${fields.text_body},
      ${tx.json(fields.variables as unknown as JSONValue)}, ${nowMs}, ${nowMs})`;
  return id;
}

/** Its time of change grows also where the clock stands still. */
export async function updateTemplate(tx: Queries, id: TemplateId, fields: TemplateFields, nowMs: number): Promise<void> {
  await tx`
    update template set name = ${fields.name}, subject = ${fields.subject}, html = ${fields.html}, text_body = ${fields.text_body},
      variables = ${tx.json(fields.variables as unknown as JSONValue)}, updated_at_ms = greatest(${nowMs}, updated_at_ms + 1)
    where id = ${id}`;
}

export async function deleteTemplate(tx: Queries, id: TemplateId): Promise<void> {
  await tx`delete from template where id = ${id}`;
}
