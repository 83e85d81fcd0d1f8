/** Templates of mails: of an account, of an artifact, and those of the service that a workspace can replace. Source: spec.md, "Template". */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, nameSchema, pageQuery, pageReply, storedText, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { missingAs } from '../core/missing.ts';
import { absentOrNull, changesTo } from '../core/round-trip.ts';
import { enveloped } from '../data/json-keys.ts';
import { emailAddress } from '../people/sign-in.ts';
import { admin, params as inWorkspace, member } from '../workspaces/access.ts';
import { templateData } from './email.ts';

export const templateVariable = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'must be a letter, then at most 63 letters, digits, underscores and hyphens')
    .meta({ description: 'used in the template as {{data.name}}' }),
  type: z.enum(['string', 'number', 'boolean', 'date']),
  required: z.boolean().optional(),
  default: z.unknown().optional(),
  description: storedText(LIMITS.descriptionCharsMax).optional(),
});

const unixMs = z.number().int().meta({ description: 'Unix milliseconds' });

export const template = z.object({
  id: idSchema('template'),
  artifact_id: idSchema('artifact').nullable().meta({ description: 'null: of the account, for all its artifacts' }),
  owner_id: idSchema('user'),
  name: z.string(),
  subject: z.string(),
  html: z.string(),
  text_body: z.string().meta({ description: "empty: the text of the rendered html is the mail's text" }),
  variables: z.array(templateVariable),
  is_system: z.boolean(),
  created_at: unixMs,
  updated_at: unixMs,
});

const subject = storedText(LIMITS.mailSubjectCharsMax).trim().min(1).meta({ description: 'values are not escaped' });
const html = storedText(LIMITS.mailHtmlCharsMax).min(1).meta({ description: 'values are HTML-escaped, always' });
const textBody = storedText(LIMITS.mailTextCharsMax).meta({ description: 'values are not escaped' });
const variables = z.array(templateVariable).max(LIMITS.templateVariablesMax);
const fields = { name: nameSchema, subject, html, text_body: textBody, variables };

export const templateCreate = z.strictObject({
  ...fields,
  text_body: absentOrNull(textBody),
  variables: absentOrNull(variables),
  artifact_id: idSchema('artifact').nullish(),
});
const { name: _, ...sources } = fields;
export const templateUpdate = changesTo(
  template,
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.optional()])) as {
    [F in keyof typeof fields]: z.ZodOptional<(typeof fields)[F]>;
  },
);

const data = absentOrNull(templateData);
export const templateInline = z.strictObject({
  ...sources,
  text_body: absentOrNull(textBody),
  variables: absentOrNull(variables),
  data,
});
const warnings = z.array(z.string()).meta({ description: 'what has no value, so that nothing is shown for it' });
export const templatePreview = z.object({ subject: z.string(), html: z.string(), text: z.string(), warnings });

export const templateRehearsal = z.object({
  would: z.object({
    send: z.array(
      z.object({
        to: z.string(),
        subject: z.string(),
        status: z.enum(['queued', 'suppressed']).meta({ description: 'suppressed: this address gets no mail of the artifact' }),
      }),
    ),
  }),
  refused: z
    .object({ code: z.string(), error: z.string() })
    .nullable()
    .meta({ description: 'why nothing would be sent now, such as the limits of the day; null where nothing stands in the way' }),
  subject: z.string(),
  html: z.string(),
  text: z.string(),
  warnings,
});

export const systemMailKind = z.enum(['invite', 'alert', 'notice']);
export const mailLocale = z.enum(['en', 'es']);
export const systemMail = z.object({
  kind: systemMailKind,
  locale: mailLocale,
  subject: z.string(),
  html: z.string(),
  text_body: z.string().meta({ description: "empty: the text of the html is the mail's text" }),
  variables: z.array(templateVariable),
  is_system: z.boolean().meta({ description: 'false: the workspace has its own' }),
  updated_at: dateTime.nullable(),
});
export const systemMailUpdate = changesTo(systemMail, { subject, html, text_body: absentOrNull(textBody) });

const account = { who: 'account', person: true } as const;
const group = 'templates';
const params = z.object({ templateId: idSchema('template') });
const one = enveloped(z.object({ template }));
const json = <S extends z.ZodType>(schema: S) => ({ kind: 'json', schema, bytesMax: LIMITS.mailBodyBytesMax }) as const;
const MISSING = ['TEMPLATE_NOT_FOUND'] as const;
const ofWorkspace = inWorkspace.extend({
  kind: missingAs(z.enum(systemMailKind.options), 'NOT_FOUND'),
  locale: missingAs(z.enum(mailLocale.options), 'NOT_FOUND'),
});
const mail = enveloped(systemMail);

export const templateEndpoints = {
  'templates.list': endpoint({
    method: 'GET',
    path: '/v1/templates',
    group,
    summary: 'Templates of the account, of an artifact that the caller edits, or both; last changed first.',
    access: account,
    limit: 'none',
    query: z.object({
      scope: z
        .enum(['account', 'artifact', 'all'])
        .default('all')
        .meta({ description: 'without artifact_id, those of artifacts are of all that the caller owns' }),
      artifact_id: idSchema('artifact').optional(),
      ...pageQuery,
    }),
    replies: { ok: { status: 200, body: enveloped(z.object({ templates: z.array(template), ...pageReply })) } },
    errors: ['ARTIFACT_NOT_FOUND'],
  }),
  'templates.create': endpoint({
    method: 'POST',
    path: '/v1/templates',
    group,
    summary: 'Makes a template: {{data.name}} is a value, {{#data.list}}…{{/data.list}} repeats a part for each item.',
    access: account,
    limit: 'none',
    body: json(templateCreate),
    replies: { created: { status: 201, body: one } },
    errors: ['ARTIFACT_NOT_FOUND', 'TEMPLATE_LIMIT_EXCEEDED'],
  }),
  'templates.previewInline': endpoint({
    method: 'POST',
    path: '/v1/templates/preview',
    group,
    summary: 'Renders a template that is not stored.',
    access: account,
    limit: 'none',
    reads: true,
    body: json(templateInline),
    replies: { ok: { status: 200, body: enveloped(templatePreview) } },
    errors: [],
  }),
  'templates.get': endpoint({
    method: 'GET',
    path: '/v1/templates/{templateId}',
    group,
    summary: 'Reads a template.',
    access: account,
    limit: 'none',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: one } },
    errors: MISSING,
  }),
  'templates.update': endpoint({
    method: 'PATCH',
    path: '/v1/templates/{templateId}',
    group,
    summary: 'Changes a template.',
    access: account,
    limit: 'none',
    params,
    conditional: true,
    resource: 'templates.get',
    body: json(templateUpdate),
    replies: { ok: { status: 200, body: one } },
    errors: [...MISSING, 'VERSION_CONFLICT'],
  }),
  'templates.delete': endpoint({
    method: 'DELETE',
    path: '/v1/templates/{templateId}',
    group,
    summary: 'Deletes a template.',
    access: account,
    limit: 'none',
    params,
    conditional: true,
    resource: 'templates.get',
    replies: { ok: { status: 200, body: success } },
    errors: [...MISSING, 'VERSION_CONFLICT'],
  }),
  'templates.preview': endpoint({
    method: 'POST',
    path: '/v1/templates/{templateId}/preview',
    group,
    summary: 'Renders a template with values.',
    access: account,
    limit: 'none',
    reads: true,
    params,
    body: json(z.strictObject({ data })),
    replies: { ok: { status: 200, body: enveloped(templatePreview) } },
    errors: MISSING,
  }),
  'templates.rehearse': endpoint({
    method: 'POST',
    path: '/v1/templates/{templateId}/rehearse',
    group,
    summary: 'What a mail with this template would be, to whom it would go, and what stands in the way. Nothing is sent or spent.',
    access: account,
    limit: 'none',
    reads: true,
    params,
    body: json(
      z.strictObject({
        artifact_id: absentOrNull(idSchema('artifact')).meta({
          description: 'on behalf of which it would be sent; not needed where the template is of one',
        }),
        to: z.array(emailAddress).min(1).max(LIMITS.mailRecipientsMax),
        data,
      }),
    ),
    replies: { ok: { status: 200, body: enveloped(templateRehearsal) } },
    errors: [...MISSING, 'ARTIFACT_NOT_FOUND'],
  }),
  'pages.mailPreview': endpoint({
    method: 'POST',
    path: '/preview-mail',
    group: 'pages',
    summary: 'Shows the HTML that the form of one of our pages has, in a sandbox, as mail programs show it.',
    access: { who: 'visitor' },
    limit: 'none',
    once: true,
    body: { kind: 'bytes', bytesMax: LIMITS.mailPreviewBytesMax, types: ['application/x-www-form-urlencoded'] },
    replies: { page: { status: 200, media: 'text/html' } },
    errors: [],
  }),
  'systemMails.list': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/mails',
    group,
    summary: 'The mails of the service that a workspace can replace, in every language: its own where it has one, else the built-in.',
    access: member,
    limit: 'none',
    params: inWorkspace,
    replies: { ok: { status: 200, body: enveloped(z.object({ mails: z.array(systemMail) })) } },
    errors: [],
  }),
  'systemMails.get': endpoint({
    method: 'GET',
    path: '/v1/workspaces/{workspaceId}/mails/{kind}/{locale}',
    group,
    summary: 'One of these mails.',
    access: member,
    limit: 'none',
    params: ofWorkspace,
    conditional: true,
    replies: { ok: { status: 200, body: mail } },
    errors: ['NOT_FOUND'],
  }),
  'systemMails.put': endpoint({
    method: 'PUT',
    path: '/v1/workspaces/{workspaceId}/mails/{kind}/{locale}',
    group,
    summary: 'Replaces a mail of the service for this workspace. It must have {{data.url}} where the built-in one has a link.',
    access: admin,
    limit: 'none',
    params: ofWorkspace,
    conditional: true,
    resource: 'systemMails.get',
    body: json(systemMailUpdate),
    replies: { ok: { status: 200, body: mail } },
    errors: ['NOT_FOUND', 'VERSION_CONFLICT'],
  }),
  'systemMails.reset': endpoint({
    method: 'DELETE',
    path: '/v1/workspaces/{workspaceId}/mails/{kind}/{locale}',
    group,
    summary: 'Takes the built-in mail again.',
    access: admin,
    limit: 'none',
    params: ofWorkspace,
    conditional: true,
    resource: 'systemMails.get',
    replies: { ok: { status: 200, body: success } },
    errors: ['NOT_FOUND', 'VERSION_CONFLICT'],
  }),
} as const;
