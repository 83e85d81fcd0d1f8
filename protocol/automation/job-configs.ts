/** What each action of a job is told. Source: contract.md §8. */
import { z } from 'zod';
import { storedText } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull } from '../core/round-trip.ts';
import { hasPlaceForFiles, mailAttachments, templateData } from './email.ts';

/** What answers show in the place of a secret. Sent back, it keeps the one that is stored. */
export const MASK = '********';
/** Of a secret that calls are signed with; the mask is shorter, and may come back. */
const SECRET_CHARS_MIN = 16;

const httpUrl = z
  .string()
  .max(LIMITS.egressUrlCharsMax)
  .refine((text) => /^https?:[/][/]/i.test(text) && URL.canParse(text), 'must be a URL that begins with http:// or https://')
  .refine((text) => !URL.canParse(text) || new URL(text).username + new URL(text).password === '', 'must not hold a user or a password');

const headers = z
  .record(
    z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'must be the name of a header'),
    z
      .string()
      .max(2048)
      .regex(/^[\t\x20-\x7e]*$/, 'must be the value of a header, on one line'),
  )
  .refine((given) => Object.keys(given).length <= 20, 'may have 20 headers')
  .meta({ description: 'values are secrets: they are sealed, and shown as ********' });

export const emailConfig = z
  .strictObject({
    to: z.array(z.email().max(254)).min(1).max(10),
    subject: absentOrNull(storedText(LIMITS.jobMailSubjectCharsMax)).meta({
      description: 'default: that of the template, else the title of the job',
    }),
    text: absentOrNull(storedText(LIMITS.jobMailTextCharsMax)),
    html: absentOrNull(storedText(LIMITS.jobMailTextCharsMax)),
    template_id: absentOrNull(idSchema('template')).meta({
      description: 'instead of text and html: of the artifact, or of who makes the job',
    }),
    data: absentOrNull(templateData).meta({ description: 'values for the template; after an event, data.events is what happened' }),
    attachments: absentOrNull(mailAttachments).meta({
      description: 'files of libraries that who makes the job may open; each run sends the version that is the newest one then',
    }),
  })
  .refine(({ text, html, template_id }) => (template_id === undefined) !== (text === undefined && html === undefined), {
    path: ['text'],
    error: 'must have either template_id, or text, html or both',
  })
  .refine(({ template_id, data }) => template_id !== undefined || data === undefined, { path: ['data'], error: 'is for a template_id' })
  .refine(hasPlaceForFiles, { path: ['attachments'], error: 'with a cid need html or a template_id' });

export const webhookConfig = z.strictObject({
  url: httpUrl,
  headers: absentOrNull(headers),
  secret: absentOrNull(
    storedText(200).refine((text) => text === MASK || text.length >= SECRET_CHARS_MIN, `must have at least ${SECRET_CHARS_MIN} characters`),
  ).meta({ description: 'the call is signed with it, as outgoing webhooks are' }),
  data: absentOrNull(z.unknown()).meta({ description: 'sent along as `data`' }),
});

export const httpGetConfig = z.strictObject({
  url: httpUrl,
  headers: absentOrNull(headers),
  save_key: absentOrNull(z.string().regex(/^[A-Za-z0-9_.-]{1,256}$/, 'must be a JSON key')).meta({
    description: 'the JSON key that the answer is stored under: JSON as it is, other texts as a string',
  }),
});

export const scriptConfig = z.strictObject({
  source: storedText(LIMITS.scriptCharsMax).min(1),
  params: absentOrNull(z.unknown()).meta({ description: 'what the script finds as `params`' }),
});

const OF_A_TABLE = ['filter', 'sort', 'select'] as const;
const OF_A_CONNECTION = ['query', 'path', 'key', 'rows', 'format', 'cursor_column', 'cursor_param'] as const;

export const materializeConfig = z
  .strictObject({
    table: absentOrNull(z.string().regex(/^[a-zA-Z][a-zA-Z0-9_]{0,63}$/, 'must be the name of a table')),
    filter: absentOrNull(z.record(z.string(), z.unknown())),
    sort: absentOrNull(z.string().max(1000)),
    select: absentOrNull(z.array(z.string().max(256)).min(1).max(100)),
    connection_id: absentOrNull(idSchema('connection')).meta({
      description: 'instead of a table: of a workspace that the maker of the job belongs to',
    }),
    query: absentOrNull(storedText(LIMITS.connectionQueryCharsMax).min(1)).meta({
      description: 'postgres: one statement that selects rows, run in a read-only transaction',
    }),
    path: absentOrNull(storedText(LIMITS.connectionUrlCharsMax)).meta({
      description: 'http: below the URL of the connection, with its query',
    }),
    key: absentOrNull(storedText(1024).min(1)).meta({ description: 's3: of the object' }),
    format: absentOrNull(z.enum(['csv', 'ndjson', 'json'])).meta({ description: 'default: as the host says, or the end of the key' }),
    rows: absentOrNull(storedText(500).regex(/^(?:\/.*)?$/, 'must be a JSON pointer such as /data/items')).meta({
      description: 'JSON: where the rows are. An array of arrays has the names of the columns in the first one',
    }),
    cursor_column: absentOrNull(storedText(LIMITS.datasetColumnCharsMax).min(1)).meta({
      description:
        'a column that only grows: each run appends the rows beyond the last value that it has seen; rows without one are left out',
    }),
    cursor_param: absentOrNull(z.string().regex(/^[A-Za-z0-9_.$[\]-]{1,100}$/, 'must be the name of a parameter')).meta({
      description: 'http: the parameter by which the host is told the last value',
    }),
    dataset: z
      .string()
      .regex(/^[a-zA-Z][A-Za-z0-9_-]{0,63}$/, 'must be a letter, then at most 63 letters, digits, underscores and hyphens'),
  })
  .superRefine((config, context) => {
    const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    const { table, connection_id, cursor_column, cursor_param } = config;
    if (table !== undefined && connection_id !== undefined) refuse('connection_id', 'does not go with a table');
    else if (table === undefined && connection_id === undefined) refuse('table', 'is required, or a connection_id');
    const [foreign, other] = connection_id === undefined ? [OF_A_CONNECTION, 'a connection_id'] : [OF_A_TABLE, 'a table'];
    for (const field of foreign) if (config[field] !== undefined) refuse(field, `goes with ${other} only`);
    if (cursor_param !== undefined && cursor_column === undefined) refuse('cursor_param', 'goes with a cursor_column only');
  });

export const JOB_CONFIGS = {
  email: emailConfig,
  webhook: webhookConfig,
  http_get: httpGetConfig,
  script: scriptConfig,
  materialize: materializeConfig,
} as const;
