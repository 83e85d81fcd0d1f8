/** The endpoints of templates. */
import type { z } from 'zod';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import type { template } from '../../../../protocol/automation/templates.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { auditArtifact } from '../../artifacts/artifacts/audit.ts';
import { requireArtifact } from '../../artifacts/artifacts/rows.ts';
import type { LimiterDeps, Queries, ServiceDeps } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import type { AuditedCall } from '../../workspaces/audit/audit.ts';
import { requireEditable, requireTemplateOf, templateOf } from './finding.ts';
import { rehearseMail } from './rehearsal.ts';
import { renderTemplate, requireTemplate } from './render.ts';
import {
  countTemplates,
  deleteTemplate,
  insertTemplate,
  listTemplates,
  lockTemplate,
  lockTemplatesOf,
  type TemplateFields,
  type TemplateRow,
  updateTemplate,
  type Wanted,
} from './rows.ts';
import { requireVariables } from './variables.ts';

export type TemplateDeps = Pick<ServiceDeps, 'sql'> & LimiterDeps;

type Ids = Extract<keyof Endpoints, `templates.${string}`>;

const EDITORS = 'Only editors of the artifact see and change its templates.';

export function templateHandlers(deps: TemplateDeps): Handlers<Ids> {
  const { sql } = deps;
  return {
    'templates.list': async (call) => {
      const which = await wantedBy(sql, call);
      const rows = await listTemplates(sql, which, decodeCursor(call.query.cursor), call.query.limit + 1);
      const { items, page } = cutPage(rows, call.query.limit, ({ updated_at_ms, id }) => ({ number: updated_at_ms, id }));
      const total = call.query.count ? { total: await countTemplates(sql, which) } : {};
      return { reply: 'ok', body: { success: true, data: { templates: items.map(present), ...page, ...total } } };
    },
    'templates.create': async (call) => {
      const row = await sql.begin((tx) => create(tx, call));
      return { reply: 'created', body: { success: true, data: { template: present(row) } } };
    },
    'templates.previewInline': async ({ body }) => {
      requireVariables(body.variables ?? []);
      const shown = { subject: body.subject, html: body.html, text: body.text_body ?? '', variables: body.variables ?? [] };
      return { reply: 'ok', body: { success: true, data: previewed(renderTemplate(shown, body.data ?? {})) } };
    },
    'templates.get': async ({ params, principal }) => shown(await requireTemplateOf(sql, params.templateId, principal)),
    'templates.update': async (call) => shown(await sql.begin((tx) => update(tx, call))),
    'templates.delete': async (call) => {
      await sql.begin(async (tx) => {
        await lockTemplate(tx, call.params.templateId);
        const row = await requireTemplateOf(tx, call.params.templateId, call.principal);
        checkConditions({ etag: shown(row).etag, updatedAtMs: row.updated_at_ms }, call);
        await deleteTemplate(tx, row.id);
        await auditTemplate(tx, call, row, 'template.delete');
      });
      return { reply: 'ok', body: { success: true } };
    },
    'templates.preview': async ({ params, principal, body }) => {
      const row = await requireTemplateOf(sql, params.templateId, principal);
      return { reply: 'ok', body: { success: true, data: previewed(renderTemplate(templateOf(row), body.data ?? {})) } };
    },
    'templates.rehearse': async (call) => {
      const row = await requireTemplateOf(sql, call.params.templateId, call.principal);
      const { to, data, artifact_id } = call.body;
      const artifactId = row.artifact_id ?? artifact_id;
      if (artifactId === undefined) {
        throw new Failure('INVALID_REQUEST', { param: 'artifact_id', message: 'artifact_id: is needed with a template of an account.' });
      }
      await requireEditable(sql, artifactId, call.principal, 'Only editors of the artifact send its mail.');
      const rendered = renderTemplate(templateOf(row), data ?? {});
      const { would, refused } = await rehearseMail(deps, {
        artifactId,
        userId: call.user,
        to,
        subject: rendered.subject,
        nowMs: call.nowMs,
      });
      return { reply: 'ok', body: { success: true, data: { would, refused, ...previewed(rendered) } } };
    },
  };
}

/** Throws INVALID_REQUEST, ARTIFACT_NOT_FOUND, FORBIDDEN. */
async function wantedBy(sql: Queries, { query, principal }: Call<Endpoints['templates.list']>): Promise<Wanted> {
  const { scope, artifact_id: artifactId } = query;
  if (artifactId !== undefined) await requireEditable(sql, artifactId, principal, EDITORS);
  return {
    ofAccounts: scope === 'artifact' ? [] : accountsOf(principal),
    ofArtifact: scope === 'account' ? null : (artifactId ?? accountsOf(principal)),
  };
}

/** Throws INVALID_REQUEST, ARTIFACT_NOT_FOUND, FORBIDDEN, TEMPLATE_LIMIT_EXCEEDED. */
async function create(tx: Queries, call: Call<Endpoints['templates.create']>): Promise<TemplateRow> {
  const { body, principal, user, nowMs } = call;
  const fields = {
    name: body.name,
    subject: body.subject,
    html: body.html,
    text_body: body.text_body ?? '',
    variables: body.variables ?? [],
  };
  requireRight(fields);
  const artifactId = body.artifact_id ?? null;
  if (artifactId !== null) await requireEditable(tx, artifactId, principal, EDITORS);
  await lockTemplatesOf(tx, artifactId ?? user);
  const there = await countTemplates(tx, { ofAccounts: artifactId === null ? [user] : [], ofArtifact: artifactId });
  if (there >= LIMITS.templatesMax) throw new Failure('TEMPLATE_LIMIT_EXCEEDED');
  const id = await insertTemplate(tx, fields, { ownerId: user, artifactId, nowMs });
  const row = await requireTemplateOf(tx, id, principal);
  await auditTemplate(tx, call, row, 'template.create');
  return row;
}

/** Throws TEMPLATE_NOT_FOUND, VERSION_CONFLICT, INVALID_REQUEST. */
async function update(tx: Queries, call: Call<Endpoints['templates.update']>): Promise<TemplateRow> {
  const { body, params, principal, nowMs } = call;
  await lockTemplate(tx, params.templateId);
  const before = await requireTemplateOf(tx, params.templateId, principal);
  checkConditions({ etag: shown(before).etag, updatedAtMs: before.updated_at_ms }, call);
  const fields: TemplateFields = {
    name: body.name ?? before.name,
    subject: body.subject ?? before.subject,
    html: body.html ?? before.html,
    text_body: body.text_body ?? before.text_body,
    variables: body.variables ?? before.variables,
  };
  requireRight(fields);
  await updateTemplate(tx, before.id, fields, nowMs);
  await auditTemplate(tx, call, before, 'template.update');
  return requireTemplateOf(tx, before.id, principal);
}

function requireRight({ subject, html, text_body, variables }: TemplateFields): void {
  requireTemplate({ subject, html, text: text_body });
  requireVariables(variables);
}

/** Those of an account are nobody's business but its own. */
async function auditTemplate(tx: Queries, call: AuditedCall, { id, name, artifact_id }: TemplateRow, action: string): Promise<void> {
  if (artifact_id === null) return;
  await auditArtifact(tx, call, await requireArtifact(tx, artifact_id, []), action, { template: id, name });
}

const previewed = ({ subject, html, text, warnings }: ReturnType<typeof renderTemplate>) => ({
  subject,
  html,
  text,
  warnings: [...warnings],
});

function shown(row: TemplateRow) {
  const body = { success: true, data: { template: present(row) } } as const;
  return { reply: 'ok', body, etag: bodyEtag(body) } as const;
}

function present(row: TemplateRow): z.input<typeof template> {
  const { created_at_ms, updated_at_ms, variables, ...fields } = row;
  return {
    ...fields,
    variables: variables as z.input<typeof template>['variables'],
    is_system: false,
    created_at: created_at_ms,
    updated_at: updated_at_ms,
  };
}
