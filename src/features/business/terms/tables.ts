/** Plans, limits of calls and retention as tables of words, for the page `/limits` and for the README (`deploy/terms-tables.mjs`). */
import { KEPT_WITHOUT_END, RETENTION, type RetentionRule } from '../../../../protocol/business/retention.ts';
import { TIER_ORDER, TIERS, type TierAllowance } from '../../../../protocol/business/tiers.ts';
import {
  ACCESS_REQUEST_LIMITS,
  PAGE_ASK_LIMITS,
  PAGE_MAIL_LIMITS,
  RATE_LIMITS,
  type RateLimit,
} from '../../../../protocol/core/rate-limits.ts';
import { FEATURES } from '../../../../protocol/workspaces/features.ts';

export interface WordTable {
  readonly title: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const GB = 1024 ** 3;

const number = (value: number): string => String(value).replace(/\B(?=(?:\d{3})+$)/g, ' ');
const yesNo = (value: boolean): string => (value ? 'yes' : 'no');

const PLAN_ROWS: readonly (readonly [string, (allowance: TierAllowance) => string])[] = [
  ['Public artifacts', ({ publicArtifacts }) => yesNo(publicArtifacts)],
  ...FEATURES.map((feature) => [`Feature \`${feature}\``, ({ features }: TierAllowance) => yesNo(features.includes(feature))] as const),
  ['Storage', ({ bytesMax }) => `${number(bytesMax / GB)} GB`],
  ['Artifacts, the trash included', ({ artifactsMax }) => number(artifactsMax)],
  ['Versions of an artifact', ({ versionsMax }) => number(versionsMax)],
  ['Drafts of an artifact', ({ draftsMax }) => number(draftsMax)],
  ['Workspaces that a person owns', ({ workspacesOwnedMax }) => number(workspacesOwnedMax)],
  ['Seats, the members of a workspace', ({ membersMax }) => number(membersMax)],
  ['Jobs of an artifact', ({ jobsPerArtifactMax }) => number(jobsPerArtifactMax)],
  ['Jobs of a person', ({ jobsMax }) => number(jobsMax)],
  ['Recipients of mails of pages, in a day and of a person', ({ mailsPerDay }) => number(mailsPerDay)],
  ['Publishes, in an hour and of a person', ({ publishesPerHour }) => number(publishesPerHour)],
];

export function planTable(): WordTable {
  const rows = PLAN_ROWS.map(([what, show]) => [what, ...TIER_ORDER.map((tier) => show(TIERS[tier]))]);
  return { title: 'What each plan allows', heads: ['What', ...TIER_ORDER], rows };
}

/** The limits of calls, each name once; those of sign-in, which only slow down who guesses, are left out. */
export function ratesInForce(): readonly RateLimit[] {
  const all: readonly RateLimit[] = [RATE_LIMITS, PAGE_MAIL_LIMITS, PAGE_ASK_LIMITS, ACCESS_REQUEST_LIMITS].flatMap((limits) =>
    Object.values(limits),
  );
  return [...new Map(all.map((limit) => [limit.name, limit])).values()];
}

export function rateTable(): WordTable {
  const rows = ratesInForce().map(({ name, quota, windowS, by }) => [`\`${name}\``, number(quota), spanOf(windowS * 1000), by]);
  return { title: 'Limits of calls', heads: ['Name in the RateLimit headers', 'Calls', 'In any', 'Counted by'], rows };
}

export function retentionTable(): WordTable {
  const rules: readonly RetentionRule[] = Object.values(RETENTION);
  const removed = rules.filter(({ since }) => since !== 'upkeep');
  const rows = removed.map(({ what, keptMs, since }) => [what, keptMs === null ? since : `${spanOf(keptMs)} ${since}`]);
  return {
    title: 'What is kept for how long',
    heads: ['What', 'Kept'],
    rows: [...rows, ...KEPT_WITHOUT_END.map((what) => [what, 'without end'])],
  };
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** A time in the largest unit that it is a whole number of. One day is 24 hours, and so is said of limits. */
export function spanOf(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, each]) => ms % each === 0) ?? UNITS[3];
  const amount = ms / unitMs;
  return `${number(amount)} ${unit}${amount === 1 ? '' : 's'}`;
}

/** The tables as the README has them. */
export function termsMarkdown(): string {
  return [planTable(), rateTable(), retentionTable()]
    .map(({ title, heads, rows }) => `### ${title}\n\n${linesOf([heads, heads.map(() => '---'), ...rows])}`)
    .join('\n\n');
}

function linesOf(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
