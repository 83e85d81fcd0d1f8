/** The rate limits, by name. An endpoint names the one that its calls spend; handlers may spend others. */
import { BILLING_RATE_LIMITS } from '../business/billing-rate-limits.ts';
import { LIMITS } from './limits.ts';
import { SUPPORT_RATE_LIMITS } from './support-rate-limits.ts';

interface Window {
  /** The name in the RateLimit headers. */
  readonly name: string;
  /** The most calls in any window. */
  readonly quota: number;
  readonly windowS: number;
  /**
   * Where calls are counted. `actor`: the process that owns the artifact. `memory`: each process by itself, for limits that only slow abuse
   * down: of N nodes a caller gets at most N times as much. `shared`: Postgres, exact across all processes.
   */
  readonly kept: 'actor' | 'memory' | 'shared';
}

/** Spent before the handler runs. `by`: the subject whose calls are counted together; an address is one host or one IPv6 network. */
export type EdgeLimit = Window & { readonly spentBy: 'edge'; readonly by: 'artifact' | 'user' | 'address' };
/** Spent by the handler: in the transaction of the counted change, so that a failure costs nothing, or by a subject that only it knows. */
export type HandlerLimit = Window & { readonly spentBy: 'handler'; readonly by: string };
export type RateLimit = EdgeLimit | HandlerLimit;

const HOUR_S = 3600;
const QUARTER_S = 900;

export const RATE_LIMITS = {
  ...BILLING_RATE_LIMITS,
  data: { name: 'data', quota: LIMITS.dataPerMinute, windowS: 60, by: 'artifact', kept: 'actor', spentBy: 'edge' },
  proxy: { name: 'proxy', quota: LIMITS.proxyPerMinute, windowS: 60, by: 'artifact', kept: 'actor', spentBy: 'edge' },
  publish: { name: 'publish', quota: LIMITS.publishPerHour, windowS: HOUR_S, by: 'user', kept: 'shared', spentBy: 'handler' },
  agentTokens: { name: 'agentTokens', quota: LIMITS.agentTokensPerHour, windowS: HOUR_S, by: 'user', kept: 'shared', spentBy: 'edge' },
  signup: { name: 'signup', quota: LIMITS.accountsPerHourPerAddress, windowS: HOUR_S, by: 'address', kept: 'shared', spentBy: 'edge' },
  workspaces: { name: 'workspaces', quota: LIMITS.workspacesPerHour, windowS: HOUR_S, by: 'user', kept: 'shared', spentBy: 'edge' },
  invites: { name: 'invites', quota: LIMITS.invitesPerHour, windowS: HOUR_S, by: 'user', kept: 'shared', spentBy: 'edge' },
  shares: { name: 'shares', quota: LIMITS.sharesPerHour, windowS: HOUR_S, by: 'user', kept: 'shared', spentBy: 'edge' },
  explains: { name: 'explains', quota: LIMITS.explainsPerHour, windowS: HOUR_S, by: 'user', kept: 'memory', spentBy: 'edge' },
  inbox: { name: 'inbox', quota: LIMITS.inboxPerMinute, windowS: 60, by: 'user', kept: 'memory', spentBy: 'edge' },
  search: { name: 'search', quota: LIMITS.searchesPerMinute, windowS: 60, by: 'user', kept: 'memory', spentBy: 'edge' },
  notifications: { name: 'notifications', quota: LIMITS.noticesPerMinute, windowS: 60, by: 'user', kept: 'memory', spentBy: 'edge' },
  connectionTests: {
    name: 'connectionTests',
    quota: LIMITS.connectionTestsPerMinute,
    windowS: 60,
    by: 'user',
    kept: 'memory',
    spentBy: 'edge',
  },
  catalogReads: { name: 'catalogReads', quota: LIMITS.catalogReadsPerMinute, windowS: 60, by: 'user', kept: 'memory', spentBy: 'edge' },
  webhooks: { name: 'webhooks', quota: LIMITS.webhookCallsPerMinute, windowS: 60, by: 'user', kept: 'memory', spentBy: 'edge' },
  alerts: { name: 'alerts', quota: LIMITS.alertsPerMinute, windowS: 60, by: 'user', kept: 'memory', spentBy: 'edge' },
  alertRuns: { name: 'alertRuns', quota: LIMITS.alertRunsPerHour, windowS: HOUR_S, by: 'user', kept: 'shared', spentBy: 'edge' },
  inviteClaims: { name: 'inviteClaims', quota: LIMITS.inviteClaimsPerHour, windowS: HOUR_S, by: 'user', kept: 'shared', spentBy: 'edge' },
  ask: userLimit('ask', LIMITS.asksPerHour, HOUR_S),
  skillChanges: userLimit('skillChanges', LIMITS.skillChangesPerHour, HOUR_S),
  assets: { name: 'assets', quota: LIMITS.assetsPerMinute, windowS: 60, by: 'user', kept: 'memory', spentBy: 'edge' },
  fileReads: addressLimit('fileReads', LIMITS.fileReadsPerMinute, 60, 'memory'),
  shareLinks: addressLimit('shareLinks', LIMITS.shareLinksPerMinute, 60, 'memory'),
  collaborators: userLimit('collaborators', LIMITS.collaboratorsPerHour, HOUR_S),
  // Spent by the handler in the transaction that queues the mails; each recipient is one. Source: spec.md, "Limits".
  email: { name: 'email', quota: LIMITS.mailsPerDay, windowS: 24 * HOUR_S, by: 'user', kept: 'shared', spentBy: 'handler' },
  shareMails: userLimit('shareMails', LIMITS.shareMailsPerDay, 24 * HOUR_S),
  jobWrites: userLimit('jobWrites', LIMITS.jobWritesPerHour, HOUR_S),
  jobStarts: userLimit('jobStarts', LIMITS.jobStartsPerHour, HOUR_S),
  importConnects: userLimit('importConnects', LIMITS.importConnectsPerHour, HOUR_S),
  importBrowses: userLimit('importBrowses', LIMITS.importBrowsesPerHour, HOUR_S),
  importSyncs: userLimit('importSyncs', LIMITS.importSyncsPerHour, HOUR_S),
  transfers: userLimit('transfers', LIMITS.transfersPerHour, HOUR_S),
  adminCalls: { name: 'adminCalls', quota: LIMITS.adminCallsPerMinute, windowS: 60, by: 'user', kept: 'memory', spentBy: 'edge' },
  personExports: userLimit('personExports', LIMITS.personExportsPerDay, 24 * HOUR_S),
  accessRequests: userLimit('accessRequests', LIMITS.accessRequestsPerHour, HOUR_S),
  // Its endpoint spends `data` at the edge, and the handler spends this one.
  guestCode: {
    name: 'guestCode',
    quota: LIMITS.guestCodesPerHourPerAddress,
    windowS: HOUR_S,
    by: 'address',
    kept: 'shared',
    spentBy: 'handler',
  },
  deviceStarts: addressLimit('deviceStarts', LIMITS.deviceStartsPerHourPerAddress, HOUR_S, 'shared'),
  devicePolls: addressLimit('devicePolls', LIMITS.devicePollsPerMinutePerAddress, 60, 'memory'),
  deviceCodes: addressLimit('deviceCodes', LIMITS.deviceCodesPerTenMinutes, 600, 'shared'),
  pageTickets: { name: 'pageTickets', quota: LIMITS.pageTicketsPerMinute, windowS: 60, by: 'user', kept: 'memory', spentBy: 'edge' },
  // Spent by the content server, where a ticket is brought.
  pageEntries: {
    name: 'pageEntries',
    quota: LIMITS.pageEntriesPerMinutePerNetwork,
    windowS: 60,
    by: 'address',
    kept: 'memory',
    spentBy: 'handler',
  },
  signInStarts: {
    name: 'signInStarts',
    quota: LIMITS.signInAttemptsPerNetworkPerHour,
    windowS: HOUR_S,
    by: 'address',
    kept: 'shared',
    spentBy: 'edge',
  },
  ...SUPPORT_RATE_LIMITS,
} as const satisfies Readonly<Record<string, RateLimit>>;

function addressLimit<const Name extends string, const Kept extends 'memory' | 'shared'>(
  name: Name,
  quota: number,
  windowS: number,
  kept: Kept,
) {
  return { name, quota, windowS, by: 'address', kept, spentBy: 'edge' } as const;
}

/** By person, counted by all processes together. */
function userLimit<const Name extends string>(name: Name, quota: number, windowS: number) {
  return { name, quota, windowS, by: 'user', kept: 'shared', spentBy: 'edge' } as const;
}

/** Spent with a request for access that is stored, beside the one of its endpoint. */
export const ACCESS_REQUEST_LIMITS = {
  again: handlerLimit('accessRequestsAgain', LIMITS.accessRequestsAgainPerDay, 24 * HOUR_S, 'person and artifact'),
  ofArtifact: handlerLimit('accessRequestsOfArtifact', LIMITS.accessRequestsOfArtifactPerHour, HOUR_S, 'artifact'),
} as const satisfies Readonly<Record<string, HandlerLimit>>;

/** Spent in the transaction that queues a mail on behalf of a page, in this order; each of its recipients is one. */
export const PAGE_MAIL_LIMITS = {
  ofNetwork: handlerLimit('mailsOfNetwork', LIMITS.notifyOwnerPerNetworkPerDay, 24 * HOUR_S, 'network'),
  ofPerson: RATE_LIMITS.email,
  ofArtifact: handlerLimit('mailsOfArtifact', LIMITS.mailsOfArtifactPerDay, 24 * HOUR_S, 'artifact'),
} as const satisfies Readonly<Record<string, HandlerLimit>>;

/** Spent by the agent of a page: of one asker, and of all that are visitors. */
export const PAGE_ASK_LIMITS = {
  ofAsker: handlerLimit('pageAsks', LIMITS.pageAsksPerHour, HOUR_S, 'asker and artifact'),
  ofVisitors: handlerLimit('pageAsksOfVisitors', LIMITS.pageAsksOfArtifactPerHour, HOUR_S, 'artifact'),
} as const satisfies Readonly<Record<string, HandlerLimit>>;

/** Spent by the handlers of sign-in. */
export const SIGN_IN_LIMITS = {
  // Spent before a password is checked, and given back where it is right. The subjects are the address, with the network or without.
  passwordTries: handlerLimit('passwordTries', LIMITS.passwordTriesPerQuarter, QUARTER_S, 'email and network'),
  passwordTriesByEmail: handlerLimit('passwordTriesByEmail', LIMITS.passwordTriesPerEmailPerHour, HOUR_S, 'email'),
  passwordTriesByNetwork: handlerLimit('passwordTriesByNetwork', LIMITS.passwordTriesPerNetworkPerQuarter, QUARTER_S, 'network'),
  signInCodes: handlerLimit('signInCodes', LIMITS.signInCodesPerHour, HOUR_S, 'email and network'),
  signInCodesByEmail: handlerLimit('signInCodesByEmail', LIMITS.signInCodesPerEmailPerHour, HOUR_S, 'email'),
  signInCodesByNetwork: handlerLimit('signInCodesByNetwork', LIMITS.signInCodesPerNetworkPerHour, HOUR_S, 'network'),
  signInCodeTries: handlerLimit('signInCodeTries', LIMITS.signInCodeTriesPerEmailPerHour, HOUR_S, 'email'),
} as const satisfies Readonly<Record<string, HandlerLimit>>;

/** Spent by the content server before the password of a page is checked, and forgotten where it is right. */
export const PAGE_PASSWORD_TRIES = handlerLimit('pagePasswordTries', LIMITS.pagePasswordTriesPerQuarter, QUARTER_S, 'artifact and network');

/** Spent before the password of a share link is checked, and forgotten where it is right; of the link in all, that attempt is given back. */
export const SHARE_PASSWORD_TRIES = handlerLimit('sharePasswordTries', LIMITS.pagePasswordTriesPerQuarter, QUARTER_S, 'link and network');
export const SHARE_PASSWORD_TRIES_OF_LINK = handlerLimit(
  'sharePasswordTriesOfLink',
  LIMITS.sharePasswordTriesPerLinkPerHour,
  HOUR_S,
  'link',
);

function handlerLimit<const By extends string>(name: string, quota: number, windowS: number, by: By) {
  return { name, quota, windowS, by, kept: 'shared', spentBy: 'handler' } as const;
}

/** Answers of 304 that give their call back; beyond these they count like any other answer, because finding that nothing changed is work too. */
export const FREE_REVALIDATIONS: EdgeLimit = {
  name: 'revalidations',
  quota: LIMITS.freeRevalidationsPerMinute,
  windowS: 60,
  by: 'artifact',
  kept: 'actor',
  spentBy: 'edge',
};

export type LimitName = 'none' | keyof typeof RATE_LIMITS;

/** The limit that an endpoint names; undefined for none. */
export function rateLimitOf(name: LimitName): RateLimit | undefined {
  return name === 'none' ? undefined : RATE_LIMITS[name];
}

/** The limits that an artifact's owner counts, and hands over with the artifact. */
export const ACTOR_LIMITS: readonly RateLimit[] = [...Object.values(RATE_LIMITS), FREE_REVALIDATIONS].filter(
  ({ kept }) => kept === 'actor',
);
