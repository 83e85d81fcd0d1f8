/** What is typed into the form of a job, and what it becomes. */
import type { Job } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import type { JobBody, JobChanges } from '../../state/jobs.ts';
import { words } from '../../words/words.ts';

export const ACTIONS = ['script', 'webhook', 'http_get', 'email', 'materialize'] as const satisfies readonly Job['action'][];
export const EVENTS = ['data.changed', 'artifact.updated', 'artifact.viewed', 'comment.added'] as const;
export const ORIGINS = ['table', 'connection'] as const;
export const BACKOFFS = ['exponential', 'fixed'] as const;
/** What the service shows in the place of a secret; sent back, it keeps what is stored. */
export const MASK = '********';

const SCRIPT = "const orders = await easel.table('orders').count();\nawait easel.json.set('orders-today', orders);\n";

export interface JobDraft {
  readonly title: string;
  readonly description: string;
  readonly trigger: Job['trigger_type'];
  readonly schedule: string;
  readonly timezone: string;
  readonly eventType: (typeof EVENTS)[number];
  readonly onlyTable: string;
  readonly onlyKey: string;
  readonly action: (typeof ACTIONS)[number];
  readonly source: string;
  readonly params: string;
  readonly url: string;
  readonly headers: string;
  readonly secret: string;
  readonly data: string;
  readonly saveKey: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Id; empty for a mail that is written here. */
  readonly template: string;
  /** JSON: what the template is given. */
  readonly values: string;
  /** Of libraries, that go with the mail. */
  readonly files: readonly MailFile[];
  readonly from: (typeof ORIGINS)[number];
  /** JSON */
  readonly connection: string;
  readonly table: string;
  readonly filter: string;
  readonly sort: string;
  readonly select: string;
  readonly dataset: string;
  readonly maxAttempts: string;
  readonly backoff: (typeof BACKOFFS)[number];
  readonly initialDelay: string;
  readonly enabled: boolean;
}

export interface MailFile {
  readonly file_id: string;
  /** By which the HTML shows it; empty for one that it does not show. */
  readonly cid: string;
}

/** What the fields of the form are given. */
export interface FieldsProps {
  readonly artifactId: string;
  /** That the page belongs to. */
  readonly workspaceId: string | null;
  readonly draft: JobDraft;
  readonly write: (change: Partial<JobDraft>) => void;
  readonly errorOf: (field: string) => string | undefined;
}

const textIn = (value: unknown) => (typeof value === 'string' ? value : '');
const listIn = (value: unknown) => (Array.isArray(value) ? value.join(', ') : '');
const jsonIn = (value: unknown) => (value === undefined ? '' : JSON.stringify(value, null, 2));
const headersIn = (value: unknown) =>
  typeof value === 'object' && value !== null
    ? Object.entries(value)
        .map(([name, one]) => `${name}: ${one}`)
        .join('\n')
    : '';

/** What is read through a connection, without the dataset, which has a field of its own. */
function connectionIn({ dataset: _, ...config }: Readonly<Record<string, unknown>>): string {
  return config.connection_id === undefined ? '' : JSON.stringify(config, null, 2);
}

function filesIn(attachments: unknown): readonly MailFile[] {
  return Array.isArray(attachments) ? attachments.map(({ file_id, cid }) => ({ file_id: textIn(file_id), cid: textIn(cid) })) : [];
}

export function draftOf(job: Job | undefined): JobDraft {
  const config = job?.config ?? {};
  const { table, key } = job?.event_filter ?? {};
  const { maxAttempts, backoff, initialDelay } = job?.retry_config ?? {};
  return {
    title: job?.title ?? '',
    description: job?.description ?? '',
    trigger: job?.trigger_type ?? 'cron',
    schedule: job?.schedule ?? '0 9 * * 1-5',
    timezone: job?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    eventType: job?.event_type ?? 'data.changed',
    onlyTable: table ?? '',
    onlyKey: key ?? '',
    action: job?.action ?? 'script',
    source: job === undefined ? SCRIPT : textIn(config.source),
    params: jsonIn(config.params),
    url: textIn(config.url),
    headers: headersIn(config.headers),
    secret: textIn(config.secret),
    data: job?.action === 'email' ? '' : jsonIn(config.data),
    saveKey: textIn(config.save_key),
    to: listIn(config.to),
    subject: textIn(config.subject),
    text: textIn(config.text),
    html: textIn(config.html),
    template: textIn(config.template_id),
    values: job?.action === 'email' ? jsonIn(config.data) : '',
    files: filesIn(config.attachments),
    from: config.connection_id === undefined ? 'table' : 'connection',
    connection: connectionIn(config),
    table: textIn(config.table),
    filter: jsonIn(config.filter),
    sort: textIn(config.sort),
    select: listIn(config.select),
    dataset: textIn(config.dataset),
    maxAttempts: String(maxAttempts ?? 3),
    backoff: backoff ?? 'exponential',
    initialDelay: String(initialDelay ?? 30),
    enabled: job?.enabled ?? true,
  };
}

/** The problem of a field that is found before anything is sent. */
function wrong(param: string, message: string): Problem {
  return new Problem({ status: 0, code: 'INVALID_REQUEST', message, param });
}

/** Throws `Problem` where it is not JSON. */
function given(param: string, text: string): { readonly [K in string]?: unknown } {
  if (text.trim() === '') return {};
  try {
    return { [param]: JSON.parse(text) };
  } catch {
    throw wrong(`config.${param}`, words.value.jobs.notJson);
  }
}

/** Throws `Problem` where it is no JSON object. */
function sourceIn(text: string): Record<string, unknown> {
  const { connection_id } = given('connection_id', text);
  if (typeof connection_id === 'object' && connection_id !== null && !Array.isArray(connection_id)) return { ...connection_id };
  throw wrong('config.connection_id', words.value.jobs.notJson);
}

const some = (name: string, text: string) => (text === '' ? {} : { [name]: text });
const namesIn = (text: string) => text.split(/[\s,;]+/).filter((name) => name !== '');

/** Throws `Problem` for a line without a colon. */
function headersOf(text: string) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return {};
  const pairs = lines.map((line) => {
    const at = line.indexOf(':');
    if (at < 1) throw wrong('config.headers', words.value.jobs.notHeader(line.trim()));
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const;
  });
  return { headers: Object.fromEntries(pairs) };
}

function configOf(draft: JobDraft): Record<string, unknown> {
  const { action, url, secret } = draft;
  switch (action) {
    case 'script':
      return { source: draft.source, ...given('params', draft.params) };
    case 'webhook':
      return { url, ...headersOf(draft.headers), ...some('secret', secret), ...given('data', draft.data) };
    case 'http_get':
      return { url, ...headersOf(draft.headers), ...some('save_key', draft.saveKey) };
    case 'email': {
      const attachments = draft.files.map(({ file_id, cid }) => ({ file_id, ...some('cid', cid.trim()) }));
      const files = attachments.length > 0 && { attachments };
      const head = { to: namesIn(draft.to), ...some('subject', draft.subject), ...files };
      if (draft.template !== '') return { ...head, template_id: draft.template, ...given('data', draft.values) };
      return { ...head, ...some('text', draft.text), ...some('html', draft.html) };
    }
    case 'materialize': {
      const select = namesIn(draft.select);
      const { table, dataset } = draft;
      if (draft.from === 'connection') return { ...sourceIn(draft.connection), dataset };
      return { table, dataset, ...given('filter', draft.filter), ...some('sort', draft.sort), ...(select.length > 0 && { select }) };
    }
    default:
      return action satisfies never;
  }
}

function triggerOf({ trigger, schedule, timezone, eventType, onlyTable, onlyKey }: JobDraft) {
  if (trigger === 'cron') return { trigger_type: trigger, schedule, timezone: timezone.trim() === '' ? 'UTC' : timezone.trim() };
  const filter = { ...some('table', onlyTable), ...some('key', onlyKey) };
  const isFiltered = eventType === 'data.changed' && Object.keys(filter).length > 0;
  return { trigger_type: trigger, event_type: eventType, event_filter: isFiltered ? filter : null };
}

/** What it does, as a rehearsal is told. Throws `Problem`. */
export function deedOf(draft: JobDraft) {
  return { action: draft.action, config: configOf(draft) };
}

/** Throws `Problem` that names a field. */
export function bodyOf(artifactId: string, draft: JobDraft) {
  return { artifact_id: artifactId, ...settingsOf(draft), enabled: draft.enabled } satisfies JobBody;
}

function settingsOf(draft: JobDraft) {
  return {
    title: draft.title,
    description: draft.description === '' ? null : draft.description,
    ...deedOf(draft),
    ...triggerOf(draft),
    retry_config: { maxAttempts: Number(draft.maxAttempts), backoff: draft.backoff, initialDelay: Number(draft.initialDelay) },
  };
}

/**
 * Only what differs from what is stored: whoever sends what a job does becomes the one in whose name it runs, and a trigger that is sent begins
 * to listen anew. Throws `Problem` that names a field.
 */
export function changesOf(draft: JobDraft, stored: Job): JobChanges {
  const before: Readonly<Record<string, unknown>> = settingsOf(draftOf(stored));
  const changes = Object.entries(settingsOf(draft)).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]));
  return Object.fromEntries(changes);
}
