/**
 * What is kept for how long, and upkeep: one rule for each daily sweep, by the name of the sweep. The sweeps read their times here, so
 * `/v1/retention`, `/limits` and the README cannot differ from what is done. They run once a day, so something may be there for up to a day longer.
 */
import { LIMITS } from '../core/limits.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface RetentionRule {
  /** What it is about, in words for people. */
  readonly what: string;
  /** How long it is kept; null where no time decides. */
  readonly keptMs: number | null;
  /** From when on, or what decides where there is no time; also what is removed earlier. */
  readonly since: string;
}

const CREATED = 'since it was made';
const ENDED = 'since it ended';
const OWN_TIME = 'until its own time is over';

export const RETENTION = {
  artifacts: {
    what: 'Deleted artifacts with their data, in the trash',
    keptMs: LIMITS.trashRetentionDays * DAY_MS,
    since: 'since the deletion',
  },
  audit: {
    what: 'The record of a workspace',
    keptMs: LIMITS.trashRetentionDays * DAY_MS,
    since: 'since the workspace was deleted; as long as the workspace is there',
  },
  assetsOfDeletedWorkspaces: { what: 'Files of deleted workspaces', keptMs: null, since: 'until the next sweep' },
  tokens: { what: 'Tokens that were revoked or have expired', keptMs: LIMITS.trashRetentionDays * DAY_MS, since: ENDED },
  sessions: { what: 'Sessions that were signed out or have expired', keptMs: LIMITS.trashRetentionDays * DAY_MS, since: ENDED },
  pageSignIns: { what: "Sign-ins on pages' own origins", keptMs: LIMITS.pageSignInTtlMs, since: CREATED },
  signInCodes: { what: 'Codes that were sent by mail', keptMs: LIMITS.signInCodeTtlMs, since: CREATED },
  signInAttempts: { what: 'Sign-ins that were begun at an identity provider', keptMs: LIMITS.signInAttemptTtlMs, since: CREATED },
  passkeyChallenges: { what: 'Challenges of passkeys', keptMs: LIMITS.passkeyChallengeTtlMs, since: CREATED },
  'device logins': { what: 'Device logins', keptMs: DAY_MS, since: 'since the code expired' },
  invites: { what: 'Invitations that were accepted, revoked or have expired', keptMs: LIMITS.trashRetentionDays * DAY_MS, since: ENDED },
  guests: { what: 'Guests who commented', keptMs: LIMITS.trashRetentionDays * DAY_MS, since: 'since their access ended' },
  'people outside': { what: 'People outside without any grant', keptMs: DAY_MS, since: 'since they were added' },
  grants: { what: 'Grants to people outside', keptMs: LIMITS.trashRetentionDays * DAY_MS, since: ENDED },
  receipts: {
    what: 'Who outside has opened a shared page',
    keptMs: LIMITS.receiptsKeptMs,
    since: `${CREATED}; at most ${LIMITS.receiptsPerWorkspaceMax} of a workspace`,
  },
  accessRequests: { what: 'Requests for access', keptMs: LIMITS.accessRequestsKeptDays * DAY_MS, since: 'since they were made or decided' },
  pageViews: {
    what: 'Views of pages, by the day; the salt that tells visitors apart is forgotten after its day',
    keptMs: LIMITS.viewsKeptDays * DAY_MS,
    since: 'since the day',
  },
  notices: {
    what: 'Notices of the bell',
    keptMs: LIMITS.noticesKeptDays * DAY_MS,
    since: `${CREATED}; at most ${LIMITS.noticesPerAccountMax} of an account`,
  },
  mails: { what: 'The outbox of mail, sent and given up', keptMs: LIMITS.mailRetentionDays * DAY_MS, since: ENDED },
  pageMails: { what: 'What pages have sent by mail', keptMs: LIMITS.mailRetentionDays * DAY_MS, since: CREATED },
  bouncedAddresses: { what: 'Addresses that mail servers do not know', keptMs: LIMITS.mailBounceDays * DAY_MS, since: 'since the bounce' },
  jobRuns: { what: 'Runs of jobs', keptMs: LIMITS.runsKeptMs, since: `${ENDED}; at most ${LIMITS.runsKeptPerJobMax} of a job` },
  'person exports': {
    what: 'What was collected of a person at their request',
    keptMs: LIMITS.personExportKeptDays * DAY_MS,
    since: 'since it was finished, or since it was asked for where it failed',
  },
  importRuns: {
    what: 'Runs of file imports',
    keptMs: LIMITS.importRunsKeptMs,
    since: `${ENDED}; at most ${LIMITS.importRunsKeptPerSourceMax} of a source`,
  },
  importAttempts: { what: 'Connections to a drive that were begun', keptMs: LIMITS.importConnectTtlMs, since: CREATED },
  imports: { what: 'Access to drives that no source uses', keptMs: null, since: 'as long as its account and workspace are there' },
  metricSamples: {
    what: 'Samples of metrics',
    keptMs: LIMITS.alertEventsKeptDays * DAY_MS,
    since: `${CREATED}; at most ${LIMITS.metricSamplesPerMetricMax} of a metric`,
  },
  alertEvents: {
    what: 'Events of alerts',
    keptMs: LIMITS.alertEventsKeptDays * DAY_MS,
    since: `${CREATED}; at most ${LIMITS.alertEventsPerRuleMax} of a rule`,
  },
  watchValues: { what: 'Values that watches compare with', keptMs: 14 * DAY_MS, since: CREATED },
  'webhook deliveries': {
    what: 'Deliveries of webhooks',
    keptMs: LIMITS.webhookRetentionDays * DAY_MS,
    since: `${CREATED}; at most ${LIMITS.webhookDeliveriesKept} of a webhook`,
  },
  'webhook secrets': { what: 'The former secret of a webhook', keptMs: DAY_MS, since: 'since it was replaced' },
  uploads: { what: 'Unfinished publishes', keptMs: LIMITS.uploadTtlMs, since: CREATED },
  blobUploads: { what: 'Upload tokens of blobs', keptMs: LIMITS.blobUploadTtlMs, since: CREATED },
  assetUploads: { what: 'Unfinished uploads of files', keptMs: LIMITS.assetUploadTtlMs, since: 'since the last piece' },
  assetLinks: { what: 'Share links of files', keptMs: LIMITS.assetLinksKeptMs, since: ENDED },
  previewLinks: { what: 'Preview links', keptMs: null, since: `${OWN_TIME}, at most ${LIMITS.previewLinkMaxS / 86_400} days` },
  tombstones: {
    what: 'Deletions in data, for followers of changes',
    keptMs: LIMITS.tombstoneRetentionDays * DAY_MS,
    since: 'since the deletion',
  },
  droppedTables: { what: 'Rows of dropped tables', keptMs: null, since: 'until the next sweep' },
  tableReaders: { what: 'Which page reads a table', keptMs: LIMITS.pageReadsKeptMs, since: 'since it was last read' },
  datasetReaders: { what: 'Which page reads a dataset', keptMs: LIMITS.pageReadsKeptMs, since: 'since it was last read' },
  jobTableUses: { what: 'Which tables the script of a job uses', keptMs: LIMITS.jobTableUsesKeptMs, since: 'since it used them last' },
  catalogEntries: { what: 'Words in a catalog about what is gone', keptMs: null, since: 'until the next sweep' },
  connections: { what: 'Connections of deleted workspaces', keptMs: null, since: 'until the next sweep' },
  idempotencyRecords: { what: 'Answers kept for an Idempotency-Key', keptMs: LIMITS.idempotencyTtlMs, since: CREATED },
  storageReservations: { what: 'Room that is reserved for what is being stored', keptMs: LIMITS.storageReservationTtlMs, since: CREATED },
  storageReleases: { what: 'Removed bytes that still count in the object store', keptMs: DAY_MS, since: 'since the removal' },
  objects: { what: 'Contents that nothing names any more', keptMs: DAY_MS, since: 'since they were stored' },
  documentPieces: { what: 'Pieces of documents that nothing names any more', keptMs: null, since: 'until the next sweep' },
  rateWindows: { what: 'Counted calls of rate limits', keptMs: null, since: OWN_TIME },
  heldVisibilities: { what: 'A visibility that waits for a plan', keptMs: null, since: 'until a plan allows it or another one is chosen' },
  'files of no ticket': {
    what: 'Files that were uploaded for support and sent with no message',
    keptMs: LIMITS.ticketUploadTtlMs,
    since: CREATED,
  },
  'taken mails': { what: 'Which mails support has taken', keptMs: LIMITS.inboundMailsKeptDays * DAY_MS, since: 'since they arrived' },
  billingEvents: { what: 'Events of the payment provider', keptMs: LIMITS.billingEventsKeptMs, since: 'since they arrived' },
  billingOperations: { what: 'Orders to the payment provider', keptMs: LIMITS.billingOperationsKeptMs, since: ENDED },
  billingCheckouts: { what: 'Pages to save a card', keptMs: LIMITS.checkoutsKeptMs, since: 'since the page ended' },
  testPayments: { what: 'Answers of the embedded payment provider', keptMs: LIMITS.billingOperationsKeptMs, since: CREATED },
  'quiet tickets': upkeep('Resolved tickets without an answer, which are closed'),
  correctedAccounts: upkeep('Counters of storage, which are compared with what is stored'),
  resealed: upkeep('Credentials of connections, sealed again after the key has changed'),
  importsResealed: upkeep('Access to drives, sealed again after the key has changed'),
  'resealed webhooks': upkeep('Secrets of webhooks, sealed again after the key has changed'),
  'resealed alerts': upkeep('Secrets of alerts, sealed again after the key has changed'),
  vacuumedTables: upkeep('Dead rows of the embedded database'),
} as const satisfies Readonly<Record<string, RetentionRule>>;

/** Work of every day that removes nothing of anybody. */
function upkeep(what: string): RetentionRule {
  return { what, keptMs: null, since: 'upkeep' };
}

/** Kept as long as what they belong to: no sweep removes them. */
export const KEPT_WITHOUT_END = [
  'Versions of an artifact, until they are deleted or the artifact is purged',
  'Keys, tables, blobs, documents and comments of an artifact, until they are deleted or the artifact is purged',
  'Accounts and workspaces, until they are deleted',
  'Tickets of support; those of a page until the artifact is purged',
  'Invoices and subscriptions of workspaces',
] as const;
