/** The endpoints of jobs. Jobs are seen by who may edit their artifact; for everybody else there are none. */
import type { z } from 'zod';
import { type ArtifactHead, decide, type Principal } from '../../../../actors/access/access.ts';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import type { JobUpdate } from '../../../../protocol/automation/jobs.ts';
import type { schedulePreview } from '../../../../protocol/automation/schedules.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { type ArtifactId, type JobId, newId, type UserId } from '../../../../protocol/core/ids.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { refusalOf } from '../../../edge/refusals.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { Queries } from '../../deps.ts';
import type { ConnectionUse } from '../../library/connections/use.ts';
import type { ModuleDeps } from '../../module.ts';
import { tierIn } from '../../people/accounts/rows.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { type AuditedCall, audit } from '../../workspaces/audit/audit.ts';
import { requireMailConfig } from './actions/email.ts';
import { isOfConnection } from './actions/materialize-connection.ts';
import { inWords } from './in-words.ts';
import {
  countForNewJob,
  countJobs,
  deleteJob,
  insertJob,
  type JobRow,
  type JobSpec,
  type Listed,
  listJobs,
  lockJob,
  readJob,
  updateJob,
} from './rows.ts';
import { nextRunOf, presentJob, readConfig, requireRoomForJob, sealedConfig, specOfNew, triggerOf } from './rules.ts';
import { dropQueued } from './runs.ts';
import { nextDue, parseSchedule, type Schedule, ScheduleInvalid } from './schedule.ts';
import { forgetTableUses } from './table-use-rows.ts';

type Ids = 'jobs.preview' | 'jobs.list' | 'jobs.create' | 'jobs.get' | 'jobs.update' | 'jobs.delete';

export interface JobHandlerDeps extends Pick<ModuleDeps, 'sql' | 'sealer' | 'bus'> {
  readonly heads: { get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null> };
  readonly connections: ConnectionUse;
  /** A job has come, changed or gone. */
  readonly onChanged: (artifactId: ArtifactId) => void;
}

const TIMES_SHOWN = 5;
/** What a job does: who changes it answers for it from then on. */
const DEEDS: readonly (keyof JobUpdate)[] = ['action', 'config', 'trigger_type', 'schedule', 'timezone', 'event_type', 'event_filter'];
/** After such a change events that came before do not count. */
const LISTENING: readonly (keyof JobUpdate)[] = ['trigger_type', 'event_type', 'event_filter', 'enabled'];

export function jobHandlers(deps: JobHandlerDeps): Handlers<Ids> {
  const { sql, sealer, onChanged } = deps;
  return {
    'jobs.preview': ({ body: { schedule, timezone = 'UTC' }, nowMs }) => ({ reply: 'ok', body: previewOf(schedule, timezone, nowMs) }),
    'jobs.list': async ({ principal, query }) => {
      const { artifact_id: artifactId, limit, cursor, count } = query;
      if (artifactId !== undefined) await requireEditor(deps, artifactId, principal);
      const listed: Listed = artifactId === undefined ? { creators: accountsOf(principal) } : { artifactId };
      const rows = await listJobs(sql, listed, decodeCursor(cursor), limit + 1);
      const { items, page } = cutPage(rows, limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = count ? { total: await countJobs(sql, listed) } : {};
      return { reply: 'ok', body: { jobs: items.map(presentJob), ...page, ...total } };
    },
    'jobs.create': async (call) => {
      const { body, principal, user: creatorId, nowMs } = call;
      const artifactId = body.artifact_id;
      const head = await requireEditor(deps, artifactId, principal);
      const id = newId('job');
      const spec = specOfNew(sealer, id, body);
      const row = await sql.begin(async (tx) => {
        await requireUsableConfig(deps, tx, spec, artifactId, call);
        requireRoomForJob(await countForNewJob(tx, artifactId, accountsOf(principal)), await tierIn(tx, creatorId, head.workspaceId));
        await insertJob(tx, spec, { id, artifactId, creatorId, nextRunAtMs: nextRunOf(spec, nowMs), nowMs });
        await recorded(tx, call, head, 'job.create', { id, title: spec.title }, { action: spec.action, trigger_type: spec.trigger_type });
        return lockJob(tx, id);
      });
      // The artifact was purged meanwhile.
      if (row === null) throw new Failure('ARTIFACT_NOT_FOUND');
      onChanged(artifactId);
      return { reply: 'created', body: presentJob(row) };
    },
    'jobs.get': async ({ params, principal }) => shown((await findJob(deps, params.jobId, principal)).row),
    'jobs.update': async (call) => {
      const { params, body, principal, user, nowMs } = call;
      const { head } = await findJob(deps, params.jobId, principal);
      const row = await sql.begin(async (tx) => {
        const before = requireFound(await lockJob(tx, params.jobId));
        checkConditions({ etag: etagOf(before), updatedAtMs: before.updated_at_ms }, call);
        const spec = changedJob(deps, before, body);
        const touches = (fields: readonly (keyof JobUpdate)[]) => fields.some((field) => body[field] !== undefined);
        if (touches(['action', 'config'])) await requireUsableConfig(deps, tx, spec, before.artifact_id, call);
        const creatorId = touches(DEEDS) ? user : before.creator_id;
        // What was due before the change stays due.
        const isSameTime = before.next_run_at_ms !== null && spec.schedule === before.schedule && spec.timezone === before.timezone;
        const nextRunAtMs = isSameTime && spec.enabled ? before.next_run_at_ms : nextRunOf(spec, nowMs);
        await updateJob(tx, before.id, spec, { creatorId, nextRunAtMs, fromNow: touches(LISTENING), nowMs });
        if (touches(['action', 'config'])) await forgetTableUses(tx, before.id);
        if (before.enabled && !spec.enabled) await dropQueued(tx, before.id, 'The job was paused by a person.', nowMs);
        await recorded(tx, call, head, 'job.update', { id: before.id, title: spec.title }, { changed: Object.keys(body) });
        return requireFound(await lockJob(tx, before.id));
      });
      onChanged(row.artifact_id);
      return shown(row);
    },
    'jobs.delete': async (call) => {
      const { params, principal } = call;
      const { head } = await findJob(deps, params.jobId, principal);
      await sql.begin(async (tx) => {
        const row = requireFound(await lockJob(tx, params.jobId));
        checkConditions({ etag: etagOf(row), updatedAtMs: row.updated_at_ms }, call);
        await deleteJob(tx, row.id);
        await recorded(tx, call, head, 'job.delete', row, { action: row.action });
      });
      onChanged(head.id);
      return { reply: 'ok', body: { success: true } };
    },
  };
}

/** Throws ARTIFACT_NOT_FOUND or FORBIDDEN. */
async function requireEditor({ heads }: Pick<JobHandlerDeps, 'heads'>, id: ArtifactId, principal: Principal): Promise<ArtifactHead> {
  const head = await heads.get(id);
  const decision = decide(head, principal, 'edit', null);
  if (decision !== 'allowed' || head === null) throw refusalOf(decision === 'allowed' ? 'hidden' : decision, null);
  return head;
}

/** What a config names must be there. Throws TEMPLATE_NOT_FOUND, FILE_NOT_FOUND, ATTACHMENTS_TOO_LARGE, CONNECTION_NOT_FOUND, INVALID_REQUEST. */
export async function requireUsableConfig(
  { connections }: Pick<JobHandlerDeps, 'connections'>,
  tx: Queries,
  { action, config, title }: JobSpec,
  artifactId: ArtifactId,
  { principal, user: userId, nowMs }: { readonly principal: Principal; readonly user: UserId; readonly nowMs: number },
): Promise<void> {
  const accounts = accountsOf(principal);
  if (action === 'email') await requireMailConfig(tx, { config, job: { artifact_id: artifactId, title }, accounts, userId }, nowMs);
  if (isOfConnection(config)) await connections.requireUsable(tx, config, accounts);
}

/** The job, for who may edit its artifact. Throws JOB_NOT_FOUND. */
export async function findJob(
  { sql, heads }: Pick<JobHandlerDeps, 'sql' | 'heads'>,
  id: JobId,
  principal: Principal,
): Promise<{ readonly row: JobRow; readonly head: ArtifactHead }> {
  const row = requireFound(await readJob(sql, id));
  const head = await heads.get(row.artifact_id);
  if (head === null || decide(head, principal, 'edit', null) !== 'allowed') throw new Failure('JOB_NOT_FOUND');
  return { row, head };
}

function requireFound(row: JobRow | null): JobRow {
  if (row === null) throw new Failure('JOB_NOT_FOUND');
  return row;
}

/** The job as the change would make it. Throws as `specOfNew` does. */
export function changedJob({ sealer }: Pick<JobHandlerDeps, 'sealer'>, before: JobRow, body: JobUpdate): JobSpec {
  const action = body.action ?? before.action;
  if (action !== before.action && body.config === undefined)
    throw new Failure('INVALID_REQUEST', { param: 'config', message: 'config: is required where the action changes.' });
  const config = readConfig(action, body.config ?? before.config);
  const type = body.trigger_type ?? before.trigger_type;
  // What belongs to the other kind of trigger goes with it.
  const kept = type === before.trigger_type ? before : { schedule: null, timezone: null, event_type: null, event_filter: null };
  const pick = <K extends 'schedule' | 'timezone' | 'event_type' | 'event_filter'>(field: K) =>
    (body[field] === undefined ? kept[field] : body[field]) as JobRow[K];
  return {
    title: body.title ?? before.title,
    description: body.description === undefined ? before.description : body.description,
    action,
    ...triggerOf({
      trigger_type: type,
      schedule: pick('schedule'),
      timezone: pick('timezone'),
      event_type: pick('event_type'),
      event_filter: pick('event_filter'),
    }),
    ...sealedConfig(sealer, before.id, config, before),
    retry_config: body.retry_config ?? before.retry_config,
    enabled: body.enabled ?? before.enabled,
  };
}

/** Runs of the job change how it looks, and not what is compared. */
function etagOf(row: JobRow): string {
  return `"${row.updated_at_ms.toString(36)}.${(row.last_run_at_ms ?? 0).toString(36)}-${(row.next_run_at_ms ?? 0).toString(36)}-${row.failures}"`;
}

function shown(row: JobRow) {
  return { reply: 'ok', body: presentJob(row), etag: etagOf(row) } as const;
}

/** In the record of the artifact's workspace, where it has one. */
async function recorded(
  tx: Queries,
  call: AuditedCall,
  { workspaceId }: ArtifactHead,
  action: string,
  { id, title }: { readonly id: JobId; readonly title: string },
  detail: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (workspaceId !== null) await audit(tx, call, { workspaceId, action, target: { type: 'job', id, name: title }, detail });
}

function previewOf(expression: string, timezone: string, nowMs: number): z.input<typeof schedulePreview> {
  try {
    const schedule = parseSchedule(expression, timezone);
    return { valid: true, error: null, param: null, human: inWords(schedule), next: nextTimes(schedule, nowMs) };
  } catch (error) {
    if (!(error instanceof ScheduleInvalid)) throw error;
    return { valid: false, error: error.message, param: error.param, human: null, next: [] };
  }
}

function nextTimes(schedule: Schedule, nowMs: number): string[] {
  const times: string[] = [];
  for (let at = nextDue(schedule, nowMs); at !== null && times.length < TIMES_SHOWN; at = nextDue(schedule, at)) times.push(dateTime(at));
  return times;
}
