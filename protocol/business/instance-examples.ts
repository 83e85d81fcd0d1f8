/** Examples of the installation's administration. */
import { AT, EXAMPLE_IDS, inWorkspace, ofArtifact } from '../core/example.ts';

const ofUser = { params: { userId: EXAMPLE_IDS.user } };
const ofMail = { params: { mailId: EXAMPLE_IDS.mail } };
const ofDelivery = { params: { deliveryId: EXAMPLE_IDS.delivery } };
const ofExport = { params: { exportId: EXAMPLE_IDS.personExport } };
const ofDeletion = { params: { deletionId: EXAMPLE_IDS.personDeletion } };

const shownBanner = { text: 'We are away on Sunday from 6 to 7.', level: 'warning', from: null, to: '2030-01-06T07:00:00.000Z' } as const;

export const instanceExamples = {
  'instancePeople.list': {
    query: { q: 'grace', limit: '5' },
    reply: {
      people: [
        {
          id: EXAMPLE_IDS.user,
          username: 'grace',
          name: 'Grace',
          email: 'grace@example.com',
          linked: [],
          tier: 'pro',
          is_admin: false,
          is_staff: true,
          suspended: null,
          created_at: AT,
          last_seen_at: AT,
          workspaces: 2,
          artifacts: 14,
          public_pages: 3,
          bytes: 52_428_800,
          bytes_max: 21_474_836_480,
        },
      ],
      has_more: false,
      next_cursor: null,
    },
  },
  'instancePeople.get': ofUser,
  'instancePeople.update': { ...ofUser, body: { is_staff: true, tier: 'pro' } },
  'instancePeople.signOut': { ...ofUser, reply: { ended: 2 } },
  'instanceWorkspaces.list': { query: { q: 'acme', limit: '5' } },
  'instanceWorkspaces.get': inWorkspace,
  'instanceWorkspaces.update': { ...inWorkspace, body: { plan_tier: 'team', plan_status: 'active' } },
  'instanceArtifacts.list': { query: { q: 'plan', limit: '5' } },
  'instanceArtifacts.get': ofArtifact,
  'instanceArtifacts.update': { ...ofArtifact, body: { suspended: { reason: 'It asks visitors for passwords.' } } },
  'instanceMails.list': { query: { state: 'failed', limit: '5' } },
  'instanceMails.retry': ofMail,
  'instanceMails.drop': ofMail,
  'instanceDeliveries.list': { query: { status: 'failed', limit: '5' } },
  'instanceDeliveries.redeliver': ofDelivery,
  'instancePayments.list': { query: { state: 'unknown', limit: '5' } },
  'instanceRuns.list': { query: { state: 'failed', limit: '5' } },
  'instanceQuotas.list': { query: { kind: 'account', limit: '5' } },
  'instanceHealth.slowTurns': { reply: { turns: [{ at: AT, ms: 61.4, operation: 'search.find' }] } },
  'instanceHealth.get': {
    reply: { state: 'up', parts: [{ name: 'database', state: 'up', detail: null, since: null }] },
  },
  'instanceFlags.get': {
    reply: {
      flags: {
        sign_up: { enabled: true, changed_at: null, changed_by: null },
        anonymous_accounts: { enabled: false, changed_at: AT, changed_by: EXAMPLE_IDS.user },
        file_imports: { enabled: true, changed_at: null, changed_by: null },
        ask: { enabled: true, changed_at: null, changed_by: null },
      },
    },
  },
  'instanceFlags.update': { body: { flags: { ask: true } } },
  'instanceAudit.list': { query: { action: 'person.', limit: '5' } },
  'banner.current': { reply: { banner: shownBanner } },
  'banner.set': { body: shownBanner },
  'banner.stored': { reply: { banner: shownBanner } },
  'banner.clear': { reply: { success: true } },
  'personData.exportMine': {
    reply: {
      id: EXAMPLE_IDS.personExport,
      user_id: EXAMPLE_IDS.user,
      asked_by: EXAMPLE_IDS.user,
      status: 'queued',
      error: null,
      created_at: AT,
      finished_at: null,
      expires_at: null,
      bytes: null,
      sha256: null,
      receipt: null,
    },
  },
  'personData.listMine': { query: { limit: '5' } },
  'personData.fileOfMine': ofExport,
  'personData.export': ofUser,
  'personData.exports': { query: { limit: '5' } },
  'personData.file': ofExport,
  'personData.delete': { ...ofUser, body: { confirm: 'grace@example.com', grace_days: 7 } },
  'personData.deletions': { query: { limit: '5' } },
  'personData.deletion': ofDeletion,
  'personData.cancel': ofDeletion,
} as const;
