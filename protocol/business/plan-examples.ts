/** Examples of plans and of the terms of the service. */
import { AT, EXAMPLE_IDS } from '../core/example.ts';

export const freeAllowances = {
  public_artifacts: false,
  bytes: 1_073_741_824,
  artifacts: 100,
  versions_per_artifact: 1000,
  drafts_per_artifact: 100,
  workspaces_owned: 50,
  members: 5000,
  jobs_per_artifact: 50,
  jobs: 500,
  mails_per_day: 50,
  publishes_per_hour: 60,
};

const byPlan = { source: 'plan' } as const;

export const planExamples = {
  'plans.get': {
    params: { workspaceId: EXAMPLE_IDS.workspace },
    reply: {
      tier: 'team',
      status: 'canceled',
      in_force: 'free',
      features: {
        'collab.external_sharing': { enabled: false, ...byPlan },
        'collab.guest_comments': { enabled: true, ...byPlan },
        knowledge: { enabled: true, ...byPlan },
        catalog: { enabled: false, ...byPlan },
        file_imports: { enabled: false, ...byPlan },
        agents: { enabled: true, ...byPlan },
        custom_branding: { enabled: false, ...byPlan },
      },
      allowances: freeAllowances,
      usage: { bytes: 4_718_592, artifacts: 120, members: 8 },
      over: [{ name: 'artifacts', used: 120, max: 100, message: 'All of them stay; no further one is made until there are fewer.' }],
    },
  },
  'terms.limits': {
    reply: {
      plans: [{ tier: 'free', features: ['collab.guest_comments', 'knowledge', 'agents'], allowances: freeAllowances }],
      rates: [{ name: 'publish', quota: 60, window_s: 3600, by: 'user' }],
    },
  },
  'terms.retention': {
    reply: {
      rules: [
        { name: 'artifacts', what: 'Deleted artifacts with their data, in the trash', kept_s: 2_592_000, since: 'since the deletion' },
        { name: 'previewLinks', what: 'Preview links', kept_s: null, since: 'until its own time is over, at most 30 days' },
      ],
      without_end: ['Accounts and workspaces, until they are deleted'],
    },
  },
  'terms.page': {},
  'terms.status': {
    reply: {
      status: 'degraded',
      checked_at: AT,
      parts: [
        { name: 'api', state: 'up' },
        { name: 'database', state: 'up' },
        { name: 'files', state: 'up' },
        { name: 'mail', state: 'down', since: AT },
        { name: 'jobs', state: 'up' },
        { name: 'search', state: 'delayed' },
        { name: 'imports', state: 'up' },
      ],
    },
  },
} as const;
