/** Calls of `/v1` with the session's cookie. The types are those of the endpoint table; the values are method and path alone. */
import type { ClientMethod } from '../../sdk/client.ts';
import { CALLS, type UsedId } from './calls.ts';
import { Problem } from './problem.ts';

type GroupName<Id extends string> = Id extends `${infer Group}.${string}` ? Group : never;
type GroupOf<Group extends string> = {
  readonly [I in UsedId as I extends `${Group}.${infer Name}` ? Name : never]: ClientMethod<I>;
};
export type Api = { readonly [G in GroupName<UsedId>]: GroupOf<G> };

interface Input {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly ifMatch?: string;
  readonly signal?: AbortSignal;
  readonly idempotencyKey?: string;
}

/** How often a call is repeated that was refused for the moment. */
const RETRIES_MAX = 2;
const WAIT_MS_MAX = 4000;

/** Set by the app: what happens when the session has ended. */
let onSignedOut: () => void = () => undefined;

export function whenSignedOut(then: () => void): void {
  onSignedOut = then;
}

function pathOf(template: string, params: Input['params'] = {}): string {
  return template.replace(/\{(\w+)\*?\}/g, (_, name: string) => encodeURIComponent(String(params[name] ?? '')));
}

function queryOf(query: Input['query'] = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.append(name, String(value));
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

export async function answered(send: () => Promise<Response>): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    const reply = await send().catch((error: unknown) => {
      if (error instanceof DOMException && error.name === 'AbortError') throw error;
      throw new Problem({ status: 0, code: 'OFFLINE', message: 'Easel does not answer.' });
    });
    if (reply.ok) return reply;
    const waitMs = Number(reply.headers.get('retry-after') ?? 1) * 1000;
    if (reply.status !== 503 || attempt === RETRIES_MAX || waitMs > WAIT_MS_MAX) throw await problemIn(reply);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

export async function problemIn(reply: Response): Promise<Problem> {
  const body = (await reply.json().catch(() => ({}))) as Record<string, unknown>;
  const text = (name: string) => (typeof body[name] === 'string' ? body[name] : undefined);
  const retryAfter = reply.headers.get('retry-after');
  if (reply.status === 401) onSignedOut();
  return new Problem({
    status: reply.status,
    code: text('code') ?? 'UNREADABLE_REPLY',
    message: text('error') ?? `The server answered with ${reply.status}.`,
    hint: text('hint'),
    param: text('param'),
    conflict: text('conflict'),
    requestId: text('request_id'),
    redirectUrl: text('redirect_url'),
    retryAfterS: retryAfter === null ? undefined : Number(retryAfter),
  });
}

async function call(id: UsedId, input: Input = {}): Promise<unknown> {
  const [method = 'GET', template = ''] = CALLS[id].split(' ');
  const headers = new Headers({ accept: 'application/json' });
  if (input.body !== undefined) headers.set('content-type', 'application/json');
  if (input.ifMatch !== undefined) headers.set('if-match', input.ifMatch);
  if (method === 'POST') headers.set('idempotency-key', input.idempotencyKey ?? freshKey());
  const init: RequestInit = { method, headers, ...(input.signal && { signal: input.signal }) };
  if (input.body !== undefined) init.body = JSON.stringify(input.body);
  const reply = await answered(() => fetch(pathOf(template, input.params) + queryOf(input.query), init));
  return { status: reply.status, headers: reply.headers, body: await reply.json() };
}

/** The reply of a call that answers with server-sent events, in the language of the app. Throws a `Problem` where it is refused. */
export function streamed(id: UsedId, { params, body, signal }: Input): Promise<Response> {
  const [method = 'POST', template = ''] = CALLS[id].split(' ');
  const headers = { accept: 'text/event-stream', 'content-type': 'application/json', 'accept-language': document.documentElement.lang };
  const init: RequestInit = { method, headers, body: JSON.stringify(body), ...(signal && { signal }) };
  return answered(() => fetch(pathOf(template, params), init));
}

export function freshKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function makeApi(): Api {
  const groups: Record<string, Record<string, unknown>> = {};
  for (const id of Object.keys(CALLS) as UsedId[]) {
    const [group = '', name = ''] = id.split('.');
    groups[group] ??= {};
    groups[group][name] = (input?: Input) => call(id, input);
  }
  // The types come from the table; one loose function serves all calls.
  return groups as unknown as Api;
}

export const api = makeApi();

type BodyOf<F> = F extends (...input: never[]) => Promise<infer R> ? (R extends { readonly body: infer B } ? B : never) : never;
type Known<B> = Exclude<B, undefined | Uint8Array>;
/** The body of the usual reply of a call, for example `Answer<'artifacts', 'list'>`. */
export type Answer<G extends keyof Api, N extends keyof Api[G]> = Known<BodyOf<Api[G][N]>>;

export type Artifact = Answer<'artifacts', 'list'>['artifacts'][number];
export type Analytics = Answer<'analytics', 'views'>;
export type Version = Answer<'versions', 'list'>['versions'][number];
export type Diff = Answer<'versions', 'diff'>;
export type Me = Answer<'accounts', 'me'>;
export type Workspace = Answer<'workspaces', 'get'>;
export type Folder = Answer<'folders', 'list'>['folders'][number];
export type PersonalFolder = Answer<'personalFolders', 'list'>['folders'][number];
export type Comment = Answer<'comments', 'list'>['data']['comments'][number];
export type InboxItem = Answer<'inbox', 'list'>['comments'][number];
export type Person = Answer<'comments', 'people'>['data']['people'][number];
export type Notification = Answer<'notifications', 'list'>['notifications'][number];
export type MetricDefinition = Answer<'metrics', 'list'>['definitions'][number];
export type AlertRule = Answer<'alerts', 'get'>;
export type AlertEvent = Answer<'alerts', 'events'>['events'][number];
export type AlertBacktest = Answer<'alerts', 'backtest'>;
export type MetricWatch = Answer<'watches', 'list'>['watches'][number];
export type Job = Answer<'jobs', 'get'>;
export type JobRun = Answer<'jobs', 'logs'>['runs'][number];
export type Rehearsal = Answer<'jobs', 'rehearse'>;
export type SchedulePreview = Answer<'jobs', 'preview'>;
export type Email = Answer<'email', 'list'>['emails'][number];
export type Template = Answer<'templates', 'list'>['data']['templates'][number];
export type TemplatePreview = Answer<'templates', 'previewInline'>['data'];
export type Collaborator = Answer<'collaborators', 'list'>['collaborators'][number];
export type ShareOutcome = Answer<'collaborators', 'share'>['results'][number];
export type AccessRequest = Answer<'accessRequests', 'incoming'>['requests'][number];
export type Explained = Answer<'access', 'explain'>;
export type Others = Answer<'access', 'list'>;
export type ReachingGrant = Others['grants'][number];
export type PreviewLink = Answer<'previewLinks', 'list'>['links'][number];
export type Sharee = Answer<'sharees', 'list'>['sharees'][number];
export type ExternalMember = Answer<'sharees', 'members'>['members'][number];
export type ExternalToken = Answer<'externalTokens', 'list'>['tokens'][number];
export type Grant = Answer<'grants', 'list'>['grants'][number];
export type Receipt = Answer<'receipts', 'list'>['activity'][number];
export type NoteFacts = Answer<'notes', 'list'>['notes'][number];
export type SharedItem = Answer<'shared', 'list'>['shared'][number];
export type Skill = Answer<'skills', 'list'>['skills'][number];
export type Answered = Answer<'ask', 'ask'>;
export type Citation = Answered['citations'][number];
export type AttachedSkill = Answer<'skills', 'listOfArtifact'>['skills'][number];
export type SkillUse = Answer<'skills', 'uses'>['artifacts'][number];
export type SkillDetail = Answer<'skills', 'get'>;
export type SkillChange = Answer<'skillChanges', 'list'>['changes'][number];
export type SkillChangeDetail = Answer<'skillChanges', 'get'>;
export type Member = Answer<'members', 'list'>['members'][number];
export type Invite = Answer<'invites', 'list'>['invites'][number];
export type AgentToken = Answer<'agentTokens', 'list'>['agent_tokens'][number];
export type Connection = Answer<'connections', 'list'>['connections'][number];
export type ImportDrive = Answer<'fileImports', 'list'>['providers'][number];
export type ImportSource = Answer<'fileImports', 'getSource'>;
export type ImportEntry = Answer<'fileImports', 'browse'>['entries'][number];
export type ImportRun = Answer<'fileImports', 'run'>['run'];
export type CatalogEntry = Answer<'catalog', 'get'>;
export type CatalogFacets = Answer<'catalog', 'list'>['facets'];
export type Lineage = Answer<'catalog', 'lineage'>;
export type Webhook = Answer<'webhooks', 'list'>['webhooks'][number];
export type WebhookDelivery = Answer<'webhooks', 'deliveries'>['deliveries'][number];
export type BillingPlan = Answer<'billing', 'plans'>['plans'][number];
export type Subscription = Answer<'billing', 'subscription'>;
export type PaymentMethod = Answer<'billing', 'paymentMethods'>['payment_methods'][number];
export type Invoice = Answer<'billing', 'invoices'>['invoices'][number];
export type WorkspacePlan = Answer<'plans', 'get'>;
export type Account = Answer<'accounts', 'account'>;
export type TierTerms = Answer<'terms', 'limits'>['plans'][number];
export type Waiting = Answer<'publishPolicy', 'waiting'>['waiting'][number];
export type Seen = Answer<'support', 'get'>;
export type Ticket = Seen['ticket'];
export type TicketMessage = Seen['thread'][number];
export type TicketFile = TicketMessage['attachments'][number];
export type PageChat = Answer<'pageChat', 'getConfig'>['data'];
export type AuditEntry = Extract<Answer<'audit', 'list'>, { entries: unknown }>['entries'][number];
export type Banner = NonNullable<Answer<'banner', 'current'>['banner']>;
export type InstancePerson = Answer<'instancePeople', 'get'>;
export type InstanceWorkspace = Answer<'instanceWorkspaces', 'get'>;
export type InstanceArtifact = Answer<'instanceArtifacts', 'get'>;
export type Suspension = NonNullable<InstancePerson['suspended']>;
export type InstanceMail = Answer<'instanceMails', 'list'>['mails'][number];
export type InstanceDelivery = Answer<'instanceDeliveries', 'list'>['deliveries'][number];
export type InstanceRun = Answer<'instanceRuns', 'list'>['jobs'][number];
export type InstanceQuota = Answer<'instanceQuotas', 'list'>['quotas'][number];
export type InstanceHealth = Answer<'instanceHealth', 'get'>;
export type InstanceAuditEntry = Extract<Answer<'instanceAudit', 'list'>, { entries: unknown }>['entries'][number];
export type PersonExport = Answer<'personData', 'exports'>['exports'][number];
export type PersonDeletion = Answer<'personData', 'deletions'>['deletions'][number];
export type ProvisionReport = Answer<'provisioning', 'provision'>;
