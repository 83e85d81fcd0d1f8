/** What an artifact does by itself, by the clock or after an event. Source: contract.md §8, §15. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, nameSchema, pageQuery, pageReply, storedText, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull, changesTo } from '../core/round-trip.ts';
import { datasetName } from '../data/datasets.ts';
import { emailConfig, httpGetConfig, materializeConfig, scriptConfig, webhookConfig } from './job-configs.ts';

export const jobAction = z.enum(['email', 'webhook', 'http_get', 'script', 'materialize']);
export type JobAction = z.infer<typeof jobAction>;
export const triggerType = z.enum(['cron', 'event']);
export const jobEventType = z.enum(['artifact.updated', 'artifact.viewed', 'data.changed', 'comment.added']);
export type JobEventType = z.infer<typeof jobEventType>;

export const eventFilter = z
  .strictObject({
    table: absentOrNull(storedText(64).min(1)).meta({ description: 'only changes of this table' }),
    key: absentOrNull(storedText(257).min(1)).meta({
      description: 'only changes of this JSON key; orders.* means all that begin with orders.',
    }),
    dataset: absentOrNull(datasetName).meta({ description: 'only new versions of this dataset, and its deletion' }),
  })
  .meta({
    description: 'of data.changed; with several, any is enough; without it every change of keys, tables, files and datasets counts',
  });
export type EventFilter = z.output<typeof eventFilter>;

export const retryConfig = z.strictObject({
  maxAttempts: z.number().int().min(1).max(LIMITS.jobAttemptsMax).default(3).meta({ description: 'the first try included' }),
  backoff: z.enum(['fixed', 'exponential']).default('exponential'),
  initialDelay: z
    .number()
    .int()
    .min(1)
    .max(LIMITS.jobRetryDelaySMax)
    .default(30)
    .meta({ description: 'seconds before the second try, a quarter more or less' }),
});

export const jobConfig = z.union([emailConfig, webhookConfig, httpGetConfig, scriptConfig, materializeConfig]);
const config = z.record(z.string(), z.unknown()).meta({
  description: 'EmailConfig, WebhookConfig, HttpGetConfig, ScriptConfig or MaterializeConfig, by the action; secrets are shown as ********',
});

export const runTrigger = z.enum(['schedule', 'event', 'manual', 'rehearsal']);
export const runStatus = z
  .enum(['queued', 'running', 'succeeded', 'failed', 'canceled', 'merged', 'skipped', 'missed'])
  .meta({ description: 'merged, skipped and missed are due times at which nothing ran; `reason` says why' });
export type RunStatus = z.infer<typeof runStatus>;

export const runChange = z.object({
  channel: z.string().meta({ description: 'json, tables or datasets' }),
  name: z.string().meta({ description: 'of the key, the table or the dataset' }),
  op: z.string().meta({ description: 'put, patch, insert, delete …' }),
  count: z.number().int(),
});

export const run = z.object({
  id: idSchema('run'),
  job_id: idSchema('job'),
  trigger: runTrigger,
  status: runStatus,
  reason: z.string().nullable().meta({ description: 'why it did not run, or stopped' }),
  attempt: z.number().int(),
  scheduled_for: dateTime,
  scheduled_until: dateTime
    .nullable()
    .meta({ description: 'the last of the due times that this entry stands for, where it is more than one' }),
  due_times: z.number().int(),
  started_at: dateTime.nullable(),
  finished_at: dateTime.nullable(),
  next_attempt_at: dateTime.nullable(),
  events: z.unknown().nullable().meta({ description: 'what set it off: {types, count, things: [{kind, name, id?}]}' }),
  error: z.string().nullable(),
  output: z.string().nullable().meta({ description: 'what it printed and answered, cut at 64 KB' }),
  changes: z.array(runChange).nullable(),
});
export type Run = z.input<typeof run>;

export const job = z.object({
  id: idSchema('job'),
  artifact_id: idSchema('artifact'),
  creator_id: idSchema('user').meta({ description: 'in whose name it runs' }),
  title: z.string(),
  description: z.string().nullable(),
  action: jobAction,
  trigger_type: triggerType,
  schedule: z.string().nullable(),
  timezone: z.string().nullable(),
  event_type: jobEventType.nullable(),
  event_filter: z.object({ table: z.string().optional(), key: z.string().optional(), dataset: z.string().optional() }).nullable(),
  config,
  retry_config: retryConfig,
  enabled: z.boolean(),
  paused_reason: z.string().nullable().meta({ description: 'why the service has paused it; null where a person has, or nobody' }),
  failures: z
    .number()
    .int()
    .meta({ description: `failed runs in a row; at ${LIMITS.jobFailuresMax} it is paused` }),
  next_run_at: dateTime.nullable(),
  last_run_at: dateTime.nullable(),
  last_status: runStatus.nullable(),
  created_at: dateTime,
  updated_at: dateTime,
});
export type Job = z.input<typeof job>;

const schedule = z.string().max(LIMITS.scheduleCharsMax);
const timezone = z.string().max(100);
const description = storedText(LIMITS.jobDescriptionCharsMax);

export const newJob = z.strictObject({
  artifact_id: idSchema('artifact'),
  title: nameSchema,
  description: absentOrNull(description),
  action: jobAction,
  trigger_type: triggerType,
  schedule: absentOrNull(schedule).meta({ description: 'of a cron job: five fields' }),
  timezone: absentOrNull(timezone).meta({ description: 'default UTC' }),
  event_type: absentOrNull(jobEventType).meta({ description: 'of an event job' }),
  event_filter: absentOrNull(eventFilter),
  config,
  retry_config: absentOrNull(retryConfig),
  enabled: z.boolean().default(true),
});
export type NewJob = z.output<typeof newJob>;

export const jobUpdate = changesTo(job, {
  title: nameSchema.optional(),
  description: description.nullable().optional(),
  action: jobAction.optional(),
  trigger_type: triggerType.optional(),
  schedule: schedule.nullable().optional(),
  timezone: timezone.nullable().optional(),
  event_type: jobEventType.nullable().optional(),
  event_filter: eventFilter.nullable().optional(),
  config: z.record(z.string(), z.unknown()).optional(),
  retry_config: retryConfig.optional(),
  enabled: z.boolean().optional(),
}).refine((body) => Object.keys(body).length > 0, 'must change at least one field');
export type JobUpdate = z.output<typeof jobUpdate>;

export const rehearsalRequest = z.strictObject({
  action: jobAction.optional(),
  config: z.record(z.string(), z.unknown()).optional(),
});

export const rehearsal = z.object({
  would: z.object({
    write: z.array(z.object({ channel: z.string(), name: z.string(), before: z.unknown(), after: z.unknown() })),
    send: z.array(
      z.object({
        to: z.array(z.string()),
        subject: z.string(),
        attachments: z.array(z.string()).meta({ description: 'names of the files that go along' }),
      }),
    ),
    call: z.array(z.object({ method: z.string(), url: z.string() })),
  }),
  output: z.string().nullable(),
  error: z.string().nullable(),
});

/** Jobs are the work of people: an agent reads and starts them, but nothing runs in an agent's name. */
const person = { who: 'account', person: true } as const;
const reads = { who: 'account', scope: 'artifacts:read' } as const;
const starts = { who: 'account', scope: 'data:write' } as const;
const one = z.object({ jobId: idSchema('job') });
const oneRun = one.extend({ runId: idSchema('run') });

export const jobs = {
  'jobs.list': endpoint({
    method: 'GET',
    path: '/v1/jobs',
    group: 'jobs',
    summary: 'The jobs of an artifact for its editors, or without artifact_id those that the caller has made. Newest first.',
    access: reads,
    limit: 'none',
    query: z.object({ artifact_id: idSchema('artifact').optional(), ...pageQuery }),
    replies: { ok: { status: 200, body: z.object({ jobs: z.array(job), ...pageReply }) } },
    errors: ['ARTIFACT_NOT_FOUND'],
  }),
  'jobs.create': endpoint({
    method: 'POST',
    path: '/v1/jobs',
    group: 'jobs',
    summary: "Makes a job of an artifact that the caller may edit. It runs in the caller's name, whose access is checked at each run.",
    access: person,
    limit: 'jobWrites',
    body: { kind: 'json', schema: newJob, bytesMax: LIMITS.jobBodyBytesMax },
    replies: { created: { status: 201, body: job } },
    errors: [
      'ARTIFACT_NOT_FOUND',
      'CONNECTION_NOT_FOUND',
      'FORBIDDEN',
      'INVALID_SCHEDULE',
      'JOB_LIMIT_EXCEEDED',
      'SECRETS_NOT_CONFIGURED',
      'TEMPLATE_NOT_FOUND',
      'FILE_NOT_FOUND',
      'ATTACHMENTS_TOO_LARGE',
    ],
  }),
  'jobs.get': endpoint({
    method: 'GET',
    path: '/v1/jobs/{jobId}',
    group: 'jobs',
    summary: 'One job.',
    access: reads,
    limit: 'none',
    params: one,
    conditional: true,
    replies: { ok: { status: 200, body: job } },
    errors: ['JOB_NOT_FOUND'],
  }),
  'jobs.update': endpoint({
    method: 'PATCH',
    path: '/v1/jobs/{jobId}',
    group: 'jobs',
    summary:
      'Changes a job; config is replaced as a whole, except secrets that are sent back as shown. Who changes what it does becomes its creator.',
    access: person,
    limit: 'jobWrites',
    params: one,
    conditional: true,
    resource: 'jobs.get',
    body: { kind: 'json', schema: jobUpdate, bytesMax: LIMITS.jobBodyBytesMax },
    replies: { ok: { status: 200, body: job } },
    errors: [
      'JOB_NOT_FOUND',
      'CONNECTION_NOT_FOUND',
      'INVALID_SCHEDULE',
      'SECRETS_NOT_CONFIGURED',
      'TEMPLATE_NOT_FOUND',
      'FILE_NOT_FOUND',
      'ATTACHMENTS_TOO_LARGE',
      'VERSION_CONFLICT',
    ],
  }),
  'jobs.delete': endpoint({
    method: 'DELETE',
    path: '/v1/jobs/{jobId}',
    group: 'jobs',
    summary: 'Deletes a job with the record of its runs. A run under way is canceled.',
    access: person,
    limit: 'jobWrites',
    params: one,
    conditional: true,
    resource: 'jobs.get',
    replies: { ok: { status: 200, body: success } },
    errors: ['JOB_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
  'jobs.run': endpoint({
    method: 'POST',
    path: '/v1/jobs/{jobId}/run',
    group: 'jobs',
    summary: 'Starts a run now, also of a paused job. Its outcome is in the logs.',
    access: starts,
    limit: 'jobStarts',
    params: one,
    replies: { accepted: { status: 202, body: z.object({ run }) } },
    errors: ['JOB_NOT_FOUND', 'RUN_IN_PROGRESS'],
  }),
  'jobs.rehearse': endpoint({
    method: 'POST',
    path: '/v1/jobs/{jobId}/rehearse',
    group: 'jobs',
    summary: 'Tells what a job would write, send and call, and does nothing of it. The body may name another action or config to try.',
    access: person,
    limit: 'jobStarts',
    reads: true,
    params: one,
    body: { kind: 'json', schema: rehearsalRequest, bytesMax: LIMITS.jobBodyBytesMax, optional: true },
    replies: { ok: { status: 200, body: rehearsal } },
    errors: ['JOB_NOT_FOUND', 'CONNECTION_NOT_FOUND', 'SECRETS_NOT_CONFIGURED', 'UNAVAILABLE'],
  }),
  'jobs.logs': endpoint({
    method: 'GET',
    path: '/v1/jobs/{jobId}/logs',
    group: 'jobs',
    summary: 'The record of a job: its runs, and due times at which it did not run and why. Newest first.',
    access: reads,
    limit: 'none',
    params: one,
    query: z.object({ status: runStatus.optional(), ...pageQuery }),
    replies: { ok: { status: 200, body: z.object({ runs: z.array(run), ...pageReply }) } },
    errors: ['JOB_NOT_FOUND'],
  }),
  'jobs.getRun': endpoint({
    method: 'GET',
    path: '/v1/jobs/{jobId}/runs/{runId}',
    group: 'jobs',
    summary: 'One run, with what it printed and changed.',
    access: reads,
    limit: 'none',
    params: oneRun,
    conditional: true,
    replies: { ok: { status: 200, body: run } },
    errors: ['JOB_NOT_FOUND', 'RUN_NOT_FOUND'],
  }),
  'jobs.cancelRun': endpoint({
    method: 'POST',
    path: '/v1/jobs/{jobId}/runs/{runId}/cancel',
    group: 'jobs',
    summary: 'Stops a run that waits or is under way. What it has written stays.',
    access: starts,
    limit: 'jobStarts',
    params: oneRun,
    replies: { ok: { status: 200, body: z.object({ run }) } },
    errors: ['JOB_NOT_FOUND', 'RUN_NOT_FOUND', 'RUN_FINISHED'],
  }),
} as const;
