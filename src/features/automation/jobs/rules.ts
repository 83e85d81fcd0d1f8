/** What a job is told and shows, decided without I/O: its trigger, its config, and which of it is secret. */
import { JOB_CONFIGS, MASK } from '../../../../protocol/automation/job-configs.ts';
import type { Job, JobAction, NewJob, Run } from '../../../../protocol/automation/jobs.ts';
import { ERRORS, Failure } from '../../../../protocol/core/errors.ts';
import type { JobId } from '../../../../protocol/core/ids.ts';
import { readInput } from '../../../../protocol/core/issues.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { Sealer, SecretPlace } from '../../../storage/sealing/sealer.ts';
import { allowanceOf, hasRoom, roomierHint } from '../../business/tiers/rules.ts';
import type { JobRow, JobSpec, RetryConfig } from './rows.ts';
import type { RunRow } from './runs.ts';
import { nextDue, parseSchedule, ScheduleInvalid } from './schedule.ts';

type Values = Readonly<Record<string, unknown>>;

/** Values by the path of what they stand for: `secret`, or `headers.x-api-key`. */
type Secrets = Readonly<Record<string, string>>;

const USUAL_RETRIES: RetryConfig = { maxAttempts: 3, backoff: 'exponential', initialDelay: 30 };

type Trigger = Pick<JobSpec, 'trigger_type' | 'schedule' | 'timezone' | 'event_type' | 'event_filter'>;
type Given = { readonly [K in keyof Trigger]: Trigger[K] | undefined };

/** Throws INVALID_REQUEST for fields that do not go together, and INVALID_SCHEDULE. */
export function triggerOf(given: Given): Trigger {
  const { trigger_type = 'cron', schedule = null, timezone = null, event_type = null, event_filter = null } = given;
  if (trigger_type === 'cron') {
    if (schedule === null) throw invalid('schedule', 'is required for a job by the clock');
    if (event_type !== null) throw invalid('event_type', 'does not go with trigger_type cron');
    if (event_filter !== null) throw invalid('event_filter', 'does not go with trigger_type cron');
    const zone = timezone ?? 'UTC';
    return { trigger_type, schedule: readSchedule(schedule, zone).expression, timezone: zone, event_type, event_filter };
  }
  if (event_type === null) throw invalid('event_type', 'is required for a job after an event');
  if (schedule !== null) throw invalid('schedule', 'does not go with trigger_type event');
  if (event_filter !== null && event_type !== 'data.changed') throw invalid('event_filter', 'goes with data.changed only');
  return { trigger_type, schedule, timezone: null, event_type, event_filter };
}

function readSchedule(schedule: string, timezone: string) {
  try {
    return parseSchedule(schedule, timezone);
  } catch (error) {
    if (!(error instanceof ScheduleInvalid)) throw error;
    throw new Failure('INVALID_SCHEDULE', { param: error.param, message: error.message });
  }
}

/** Unix ms; null for a job that does not run by the clock, or is paused. */
export function nextRunOf({ trigger_type, schedule, timezone, enabled }: JobSpec, nowMs: number): number | null {
  if (trigger_type !== 'cron' || !enabled) return null;
  return nextDue(readSchedule(schedule ?? '', timezone ?? 'UTC'), nowMs);
}

/** Throws INVALID_REQUEST that names the field. */
export function readConfig(action: JobAction, given: Values): Values {
  const { value, issues } = readInput(JOB_CONFIGS[action], given);
  if (issues === undefined) return Object.fromEntries(Object.entries(value as Values).filter(([, each]) => each !== undefined));
  const [first] = issues;
  const said = issues.map(({ path, message }) => ({ path: path === '' ? 'config' : `config.${path}`, message }));
  throw new Failure('INVALID_REQUEST', {
    message: `${said[0]?.path ?? 'config'}: ${first?.message ?? 'is not valid'}.`,
    param: said[0]?.path ?? 'config',
    issues: said,
  });
}

/** `config` with its secrets masked, and what is behind the masks: new ones, or those of before where the mask came back. */
function splitSecrets(config: Values, before: Secrets): { readonly masked: Values; readonly secrets: Secrets } {
  const secrets: Record<string, string> = {};
  const keep = (path: string, value: unknown): string => {
    const kept = value === MASK ? before[path] : (value as string);
    if (kept === undefined) throw invalid(`config.${path}`, 'is masked, and no such secret is stored: send it in full');
    secrets[path] = kept;
    return MASK;
  };
  const masked: Record<string, unknown> = { ...config };
  if (config.secret !== undefined) masked.secret = keep('secret', config.secret);
  if (config.headers !== undefined) {
    masked.headers = Object.fromEntries(
      Object.entries(config.headers as Secrets).map(([name, value]) => [name, keep(`headers.${name}`, value)]),
    );
  }
  return { masked, secrets };
}

function placeOf(id: JobId): SecretPlace {
  return { table: 'job', row: id, field: 'sealed_secrets' };
}

function secretsOf({ id, sealed_secrets }: Pick<JobRow, 'id' | 'sealed_secrets'>, sealer: Sealer): Secrets {
  return sealed_secrets === null ? {} : (JSON.parse(sealer.open(placeOf(id), sealed_secrets)) as Secrets);
}

/** Throws INVALID_REQUEST, SECRETS_NOT_CONFIGURED. `before`: the stored job whose secrets may be kept; a change of the destination drops them. */
export function sealedConfig(sealer: Sealer, id: JobId, config: Values, before: JobRow | null) {
  const isSameTarget = before !== null && before.config.url === config.url;
  const { masked, secrets } = splitSecrets(config, isSameTarget ? secretsOf(before, sealer) : {});
  const sealed = Object.keys(secrets).length === 0 ? null : sealer.seal(placeOf(id), JSON.stringify(secrets));
  return { config: masked, sealed_secrets: sealed };
}

/** The config as it is used. Throws `Unopenable`. */
export function withSecrets(job: JobRow, sealer: Sealer): Values {
  const secrets = secretsOf(job, sealer);
  const { config } = job;
  return {
    ...config,
    ...(config.secret !== undefined && { secret: secrets.secret }),
    ...(config.headers !== undefined && {
      headers: Object.fromEntries(Object.keys(config.headers as Secrets).map((name) => [name, secrets[`headers.${name}`] ?? ''])),
    }),
  };
}

/** Throws INVALID_REQUEST, INVALID_SCHEDULE, SECRETS_NOT_CONFIGURED. */
export function specOfNew(sealer: Sealer, id: JobId, given: NewJob): JobSpec {
  return {
    title: given.title,
    description: given.description ?? null,
    action: given.action,
    ...triggerOf(given as Given),
    ...sealedConfig(sealer, id, readConfig(given.action, given.config), null),
    retry_config: given.retry_config ?? USUAL_RETRIES,
    enabled: given.enabled,
  };
}

/** Throws JOB_LIMIT_EXCEEDED. `tier`: the best of the maker's and the workspace's. */
export function requireRoomForJob({ ofArtifact, ofPerson }: { readonly ofArtifact: number; readonly ofPerson: number }, tier: Tier): void {
  const { jobsPerArtifactMax, jobsMax } = allowanceOf(tier);
  if (!hasRoom(tier, 'jobs_per_artifact', ofArtifact)) {
    throw new Failure('JOB_LIMIT_EXCEEDED', {
      message: `The artifact has ${ofArtifact} jobs and may have ${jobsPerArtifactMax}.`,
      hint: `${ERRORS.JOB_LIMIT_EXCEEDED.hint}${roomierHint(tier, 'jobs_per_artifact', ofArtifact + 1)}`,
    });
  }
  if (!hasRoom(tier, 'jobs', ofPerson)) {
    throw new Failure('JOB_LIMIT_EXCEEDED', {
      message: `You have ${ofPerson} jobs and may have ${jobsMax}.`,
      hint: `${ERRORS.JOB_LIMIT_EXCEEDED.hint}${roomierHint(tier, 'jobs', ofPerson + 1)}`,
    });
  }
}

function invalid(param: string, message: string): Failure {
  return new Failure('INVALID_REQUEST', { param, message: `${param}: ${message}.` });
}

const time = (ms: number | null): string | null => (ms === null ? null : dateTime(ms));

export function presentJob(row: JobRow): Job {
  return {
    id: row.id,
    artifact_id: row.artifact_id,
    creator_id: row.creator_id,
    title: row.title,
    description: row.description,
    action: row.action,
    trigger_type: row.trigger_type,
    schedule: row.schedule,
    timezone: row.timezone,
    event_type: row.event_type,
    event_filter: row.event_filter as Job['event_filter'],
    config: row.config,
    retry_config: row.retry_config,
    enabled: row.enabled,
    paused_reason: row.paused_reason,
    failures: row.failures,
    next_run_at: time(row.next_run_at_ms),
    last_run_at: time(row.last_run_at_ms),
    last_status: row.last_status,
    created_at: dateTime(row.created_at_ms),
    updated_at: dateTime(row.updated_at_ms),
  };
}

export function presentRun(row: RunRow): Run {
  return {
    id: row.id,
    job_id: row.job_id,
    trigger: row.trigger,
    status: row.status,
    reason: row.reason,
    attempt: row.attempt,
    scheduled_for: dateTime(row.scheduled_for_ms),
    scheduled_until: time(row.scheduled_until_ms),
    due_times: row.due_times,
    started_at: time(row.started_at_ms),
    finished_at: time(row.finished_at_ms),
    next_attempt_at: row.status === 'queued' ? time(row.due_ms) : null,
    events: row.events,
    error: row.error,
    output: row.output,
    changes: row.changes === null ? null : [...row.changes],
  };
}
