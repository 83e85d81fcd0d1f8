/** Examples of jobs. */
import { AT, EXAMPLE_IDS } from '../core/example.ts';

const one = { params: { jobId: EXAMPLE_IDS.job } };
const oneRun = { params: { ...one.params, runId: EXAMPLE_IDS.run } };

const wanted = {
  title: 'Count the orders',
  action: 'script',
  trigger_type: 'cron',
  schedule: '0 9 * * 1-5',
  timezone: 'Europe/Berlin',
  config: { source: "const orders = await easel.table('orders').count();\nawait easel.json.set('orders-today', orders);" },
} as const;

const job = {
  ...wanted,
  id: EXAMPLE_IDS.job,
  artifact_id: EXAMPLE_IDS.artifact,
  creator_id: EXAMPLE_IDS.user,
  description: null,
  event_type: null,
  event_filter: null,
  retry_config: { maxAttempts: 3, backoff: 'exponential', initialDelay: 30 },
  enabled: true,
  paused_reason: null,
  failures: 0,
  next_run_at: '2026-01-06T08:00:00.000Z',
  last_run_at: null,
  last_status: null,
  created_at: AT,
  updated_at: AT,
} as const;

export const jobExamples = {
  'jobs.list': { query: { artifact_id: EXAMPLE_IDS.artifact } },
  'jobs.create': { body: { ...wanted, artifact_id: EXAMPLE_IDS.artifact } },
  'jobs.get': { ...one, reply: job },
  'jobs.update': { ...one, body: { schedule: '30 9 * * 1-5' } },
  'jobs.delete': one,
  'jobs.run': one,
  'jobs.rehearse': {
    ...one,
    body: { config: { source: 'return 1;' } },
    reply: {
      would: { write: [{ channel: 'json', name: 'orders-today', before: 3, after: 4 }], send: [], call: [] },
      output: null,
      error: null,
    },
  },
  'jobs.logs': { ...one, query: { status: 'failed' } },
  'jobs.getRun': oneRun,
  'jobs.cancelRun': oneRun,
} as const;
