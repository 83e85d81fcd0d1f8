/** The endpoints of mails of the service that a workspace replaces. */
import type { z } from 'zod';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import type { systemMail } from '../../../../protocol/automation/templates.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Handlers } from '../../../edge/call.ts';
import { LOCALES, type Locale } from '../../../mail/templates/message.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { lockWorkspace } from '../../workspaces/workspaces/rows.ts';
import { renderText, requireTemplate } from './render.ts';
import { builtIn, SYSTEM_MAILS, SYSTEM_VARIABLES, type SystemMailKind } from './system.ts';
import { deleteWorkspaceMail, listWorkspaceMails, readWorkspaceMail, type WorkspaceMailRow, writeWorkspaceMail } from './system-rows.ts';

type Ids = Extract<keyof Endpoints, `systemMails.${string}`>;

export function systemMailHandlers({ sql }: Pick<ServiceDeps, 'sql'>): Handlers<Ids> {
  return {
    'systemMails.list': async ({ workspace }) => {
      const own = await listWorkspaceMails(sql, workspace.id);
      const mails = SYSTEM_MAILS.flatMap((kind) =>
        LOCALES.map((locale) => present(kind, locale, own.find((row) => row.kind === kind && row.locale === locale) ?? null)),
      );
      return { reply: 'ok', body: { success: true, data: { mails } } };
    },
    'systemMails.get': async ({ workspace, params }) => shown(await read(sql, workspace.id, params)),
    'systemMails.put': async (call) => {
      const { workspace, params, body } = call;
      const fields = { subject: body.subject, html: body.html, text_body: body.text_body ?? '' };
      requireTemplate({ subject: fields.subject, html: fields.html, text: fields.text_body });
      requireLink('html', fields.html);
      if (fields.text_body !== '') requireLink('text_body', fields.text_body);
      requireKnownValues(params.kind, fields);
      const stored = await sql.begin(async (tx) => {
        await lockWorkspace(tx, workspace.id);
        checkConditions({ etag: shown(await read(tx, workspace.id, params)).etag }, call);
        await writeWorkspaceMail(tx, { ...params, workspaceId: workspace.id }, fields, call.nowMs);
        const target = { type: 'mail', id: null, name: `${params.kind} ${params.locale}` };
        await audit(tx, call, { workspaceId: workspace.id, action: 'mail.replace', target, detail: { subject: body.subject } });
        return read(tx, workspace.id, params);
      });
      return shown(stored);
    },
    'systemMails.reset': async (call) => {
      const { workspace, params } = call;
      await sql.begin(async (tx) => {
        await lockWorkspace(tx, workspace.id);
        checkConditions({ etag: shown(await read(tx, workspace.id, params)).etag }, call);
        await deleteWorkspaceMail(tx, { ...params, workspaceId: workspace.id });
        const target = { type: 'mail', id: null, name: `${params.kind} ${params.locale}` };
        await audit(tx, call, { workspaceId: workspace.id, action: 'mail.reset', target });
      });
      return { reply: 'ok', body: { success: true } };
    },
  };
}

interface Named {
  readonly kind: SystemMailKind;
  readonly locale: Locale;
}

async function read(sql: Queries, workspaceId: WorkspaceId, { kind, locale }: Named) {
  return present(kind, locale, await readWorkspaceMail(sql, workspaceId, kind, locale));
}

function present(kind: SystemMailKind, locale: Locale, own: WorkspaceMailRow | null): z.input<typeof systemMail> {
  const { subject, html, text } = own === null ? builtIn(kind, locale) : { subject: own.subject, html: own.html, text: own.text_body };
  return {
    kind,
    locale,
    subject,
    html,
    text_body: text,
    variables: SYSTEM_VARIABLES[kind] as z.input<typeof systemMail>['variables'],
    is_system: own === null,
    updated_at: own === null ? null : dateTime(own.updated_at_ms),
  };
}

function shown(mail: z.input<typeof systemMail>) {
  const body = { success: true, data: mail } as const;
  return { reply: 'ok', body, etag: bodyEtag(body) } as const;
}

/** A name that the mail does not have would leave a hole in it, which nobody sees before it is sent. */
function requireKnownValues(kind: SystemMailKind, { subject, html, text_body }: Pick<WorkspaceMailRow, 'subject' | 'html' | 'text_body'>) {
  const names = SYSTEM_VARIABLES[kind].map(({ name }) => name);
  const values = Object.fromEntries(names.map((name) => [name, name]));
  for (const [param, source] of Object.entries({ subject, html, text_body })) {
    const [unknown] = renderText(source, values, param).warnings;
    if (unknown === undefined) continue;
    throw new Failure('INVALID_REQUEST', {
      param,
      message: `${param}: ${unknown}`,
      hint: `This mail has ${names.map((name) => `data.${name}`).join(', ')}.`,
    });
  }
}

/** Without its link the mail would be of no use to who gets it. */
function requireLink(param: string, source: string): void {
  if (/\{\{\s*data\.url\s*\}\}/.test(source)) return;
  throw new Failure('INVALID_REQUEST', {
    param,
    message: `${param}: has no {{data.url}}, so that the mail leads nowhere.`,
    hint: 'Add {{data.url}} where the link belongs.',
  });
}
