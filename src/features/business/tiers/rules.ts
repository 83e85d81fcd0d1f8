/** What a plan allows, decided without I/O. The only place that decides by a tier; the numbers are in `protocol/business/tiers.ts`. */
import {
  ALLOWANCE_NUMBERS,
  type AllowanceName,
  smallestWith,
  TIER_ORDER,
  TIERS,
  type TierAllowance,
} from '../../../../protocol/business/tiers.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { RateLimit } from '../../../../protocol/core/rate-limits.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import { FEATURES, type Feature } from '../../../../protocol/workspaces/features.ts';
import type { WorkspaceRow } from '../../workspaces/workspaces/rows.ts';

/** What decides about a workspace: its plan, and flags that speak for or against features. */
export type Planned = Pick<WorkspaceRow, 'plan_tier' | 'plan_status' | 'flags'>;

/** What may need a plan. */
export type Gated = Feature | 'public_artifacts';

/** Plans that are paid for, or about to be. `workspace_tier` in the database says the same. */
const RUNNING: ReadonlySet<WorkspaceRow['plan_status']> = new Set(['trialing', 'active', 'past_due']);

/** The tier in force: a plan that does not run any more is the free one. */
export function tierInForce({ plan_tier, plan_status }: Pick<Planned, 'plan_tier' | 'plan_status'>): Tier {
  return RUNNING.has(plan_status) ? plan_tier : 'free';
}

export function allowanceOf(tier: Tier): TierAllowance {
  return TIERS[tier];
}

/** Whether a tier may show artifacts to everybody. */
export function mayPublishPublicly(tier: Tier): boolean {
  return TIERS[tier].publicArtifacts;
}

/** The tiers that may. */
export const PUBLIC_TIERS = TIER_ORDER.filter(mayPublishPublicly);

export function isEnabled(workspace: Planned, feature: Feature): boolean {
  return featureOf(workspace, feature).enabled;
}

export function featuresOf(workspace: Planned) {
  return Object.fromEntries(FEATURES.map((feature) => [feature, featureOf(workspace, feature)])) as Record<
    Feature,
    ReturnType<typeof featureOf>
  >;
}

function featureOf(workspace: Planned, feature: Feature) {
  const flag = workspace.flags[feature];
  if (flag !== undefined) return { enabled: flag.enabled, source: flag.source };
  return { enabled: TIERS[tierInForce(workspace)].features.includes(feature), source: 'plan' as const };
}

/** What each thing that needs a plan is called in a refusal. */
const WORDS: Readonly<Record<Gated, string>> = {
  public_artifacts: 'Public artifacts need a paid plan.',
  'collab.external_sharing': 'Sharing with people outside needs a plan that has it.',
  'collab.guest_comments': 'Comments of guests need a plan that has them.',
  knowledge: 'Answers from the workspace need a plan that has them.',
  catalog: 'A catalog needs a plan that has it.',
  file_imports: 'Files are imported in workspaces whose plan has file imports.',
  agents: 'Agents need a plan that has them.',
  custom_branding: 'A logo and pages without our footer need a plan with custom branding.',
};

interface Refusal {
  /** The field of the request that asks for it. */
  readonly param?: string;
  readonly message?: string;
}

/** Throws PLAN_REQUIRED, or EXTERNAL_SHARING_NOT_ENTITLED for external sharing: what is needed, which plan has it and where to change it. */
export function requireAllowed(workspace: Planned & Pick<WorkspaceRow, 'slug'>, feature: Feature, refusal: Refusal = {}): void {
  if (!isEnabled(workspace, feature)) throw planRequired(feature, refusal, workspace);
}

/** Throws PLAN_REQUIRED where a tier may not show artifacts to everybody. `hint`: what to do without a plan. */
export function requirePublicAllowed(tier: Tier, refusal: Refusal & { readonly hint: string }): void {
  if (mayPublishPublicly(tier)) return;
  throw new Failure('PLAN_REQUIRED', {
    ...refusal,
    hint: `${refusal.hint} ${planHint('public_artifacts')}`,
    redirectPath: billingPath(null),
  });
}

function planRequired(feature: Feature, { param, message = WORDS[feature] }: Refusal, workspace: Planned & Pick<WorkspaceRow, 'slug'>) {
  const redirectPath = billingPath(workspace.slug);
  const details = { message, redirectPath, ...(param !== undefined && { param }) };
  // A flag that switches a feature off outweighs every plan, so a larger plan would not help.
  if (workspace.flags[feature] !== undefined) {
    return new Failure(codeOf(feature), {
      ...details,
      hint: 'An administrator of the installation has turned this off for the workspace.',
    });
  }
  return new Failure(codeOf(feature), { ...details, hint: planHint(feature, tierInForce(workspace)) });
}

/** spec.md has a code of its own for external sharing. */
function codeOf(feature: Feature) {
  return feature === 'collab.external_sharing' ? 'EXTERNAL_SHARING_NOT_ENTITLED' : 'PLAN_REQUIRED';
}

/** Which plan has it and who can change to it, also for an agent that has no browser. */
export function planHint(what: Gated, current?: Tier): string {
  const now = current === undefined ? '' : `; this workspace has "${current}"`;
  // The web app shows a link in place of the sentence that names redirect_url.
  return `It comes with the plan "${smallestWith(what)}"${now}. An owner, admin or billing manager changes the plan at redirect_url; an agent passes that address on to a person.`;
}

/** The screen where a plan is changed: that of a workspace, or for a person alone the one that leads to those of their workspaces. */
function billingPath(slug: string | null): string {
  return slug === null ? '/my/billing' : `/w/${slug}/billing`;
}

/** Whether one more, or `added` more, of something still fits. */
export function hasRoom(tier: Tier, name: AllowanceName, has: number, added = 1): boolean {
  return has + added <= TIERS[tier][ALLOWANCE_NUMBERS[name]];
}

/** A limit of calls as it is for a tier; `by` keeps its subject, so that a change of the plan forgets no calls. */
export function rateOf<L extends RateLimit & { readonly name: 'publish' | 'email' }>(limit: L, tier: Tier): L & { readonly quota: number } {
  const { publishesPerHour, mailsPerDay } = TIERS[tier];
  return { ...limit, quota: limit.name === 'publish' ? publishesPerHour : mailsPerDay };
}

/** How a refusal for want of room ends: the smallest plan in which `wanted` of it fit, where there is one. Empty where no plan has more. */
export function roomierHint(tier: Tier, name: AllowanceName, wanted: number): string {
  const larger = TIER_ORDER.slice(TIER_ORDER.indexOf(tier) + 1).find((other) => TIERS[other][ALLOWANCE_NUMBERS[name]] >= wanted);
  return larger === undefined ? '' : ` The plan "${larger}" allows ${TIERS[larger][ALLOWANCE_NUMBERS[name]]}.`;
}

/** The allowance of a tier, by the names that answers use. */
export function presentAllowance(tier: Tier) {
  const numbers = Object.entries(ALLOWANCE_NUMBERS).map(([name, key]) => [name, TIERS[tier][key]]);
  return { public_artifacts: TIERS[tier].publicArtifacts, ...(Object.fromEntries(numbers) as Record<AllowanceName, number>) };
}

type Counted = AllowanceName | 'public_artifacts' | Feature;

/** What is stopped while there is too much of something; what is there stays. */
const STOPPED: Readonly<Partial<Record<Counted, string>>> = {
  bytes: 'What is stored stays; nothing more is stored until there is less.',
  artifacts: 'All of them stay; no further one is made until there are fewer.',
  public_artifacts: 'They stay public; no further artifact becomes public.',
  workspaces_owned: 'All of them stay; no further one is made until there are fewer.',
  members: 'All of them stay; nobody else joins until there are fewer.',
  jobs: 'All of them stay and run; no further one is made until there are fewer.',
  catalog: 'What was written stays stored; the catalog is off.',
  file_imports: 'The sources and what they have imported stay; nothing more is imported.',
  custom_branding: 'The logo and the footer stay as they are; they can only be taken back.',
  'collab.external_sharing': 'The grants stay stored and can be taken back; they open nothing.',
};

/** What of `used` is over `max`, as answers list it. */
export function overOf(uses: readonly { readonly name: Counted; readonly used: number; readonly max: number }[]) {
  return uses
    .filter(({ used, max }) => used > max)
    .map(({ name, used, max }) => ({
      name,
      used,
      max,
      message: STOPPED[name] ?? 'What is there stays; nothing is added until there is less.',
    }));
}
