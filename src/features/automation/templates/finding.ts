/** Who may see and use which template. */
import { type ArtifactHead, decide, type Principal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId, TemplateId } from '../../../../protocol/core/ids.ts';
import { readHead } from '../../artifacts/artifacts/rows.ts';
import type { Queries } from '../../deps.ts';
import { type Accounts, accountsOf } from '../../people/accounts/rules.ts';
import type { MailTemplate } from './render.ts';
import { readTemplate, type TemplateRow } from './rows.ts';

/** The live artifact, which the caller edits. Throws ARTIFACT_NOT_FOUND, and FORBIDDEN for who only sees it. */
export async function requireEditable(sql: Queries, id: ArtifactId, principal: Principal, why: string): Promise<ArtifactHead> {
  const head = await readHead(sql, id);
  if (head === null || head.deletedAtMs !== null || decide(head, principal, 'view', 'artifacts:read') !== 'allowed') {
    throw new Failure('ARTIFACT_NOT_FOUND', { param: 'artifact_id' });
  }
  if (!isEditor(head, principal)) throw new Failure('FORBIDDEN', { message: why });
  return head;
}

export function isEditor(head: ArtifactHead, principal: Principal): boolean {
  return decide(head, principal, 'edit', 'artifacts:read') === 'allowed';
}

/** A template of the caller's accounts, or of a live artifact that they edit. Throws TEMPLATE_NOT_FOUND. */
export async function requireTemplateOf(sql: Queries, id: TemplateId, principal: Principal): Promise<TemplateRow> {
  const row = await readTemplate(sql, id);
  if (row === null) throw new Failure('TEMPLATE_NOT_FOUND');
  if (row.artifact_id === null) {
    if (!accountsOf(principal).includes(row.owner_id)) throw new Failure('TEMPLATE_NOT_FOUND');
    return row;
  }
  const head = await readHead(sql, row.artifact_id);
  if (head === null || head.deletedAtMs !== null || !isEditor(head, principal)) throw new Failure('TEMPLATE_NOT_FOUND');
  return row;
}

/**
 * A template for a mail of this artifact: of the artifact itself, or of one of these accounts, whose owner sends it. Throws TEMPLATE_NOT_FOUND.
 */
export async function requireUsable(sql: Queries, id: TemplateId, artifactId: ArtifactId, accounts: Accounts): Promise<MailTemplate> {
  const row = await readTemplate(sql, id);
  const isUsable = row !== null && (row.artifact_id === null ? accounts.includes(row.owner_id) : row.artifact_id === artifactId);
  if (!isUsable) throw new Failure('TEMPLATE_NOT_FOUND', { param: 'template_id' });
  return templateOf(row);
}

export function templateOf({
  subject,
  html,
  text_body,
  variables,
}: Pick<TemplateRow, 'subject' | 'html' | 'text_body' | 'variables'>): MailTemplate {
  return { subject, html, text: text_body, variables };
}
