/** What may become of a workspace, decided without I/O. */
import { ERRORS, Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import { allowanceOf, hasRoom, requireAllowed, roomierHint } from '../../business/tiers/rules.ts';
import type { WorkspaceFields, WorkspaceRow } from './rows.ts';

/** Throws WORKSPACE_LIMIT_EXCEEDED where a person of this tier would belong to too many workspaces, or own too many. */
export function requireRoomForWorkspace(has: { readonly all: number; readonly owned: number }, willOwn: boolean, tier: Tier): void {
  if (has.all >= LIMITS.workspacesPerPersonMax) {
    throw new Failure('WORKSPACE_LIMIT_EXCEEDED', { message: `A person may belong to ${LIMITS.workspacesPerPersonMax} workspaces.` });
  }
  if (!willOwn || hasRoom(tier, 'workspaces_owned', has.owned)) return;
  const { workspacesOwnedMax } = allowanceOf(tier);
  throw new Failure('WORKSPACE_LIMIT_EXCEEDED', {
    message: `A person may own ${workspacesOwnedMax} workspaces.`,
    hint: `${ERRORS.WORKSPACE_LIMIT_EXCEEDED.hint}${roomierHint(tier, 'workspaces_owned', has.owned + 1)}`,
  });
}

/** Throws INVALID_REQUEST: whoever deletes a workspace says which, in words that are not in the path. */
export function requireConfirmed({ slug }: Pick<WorkspaceRow, 'slug'>, confirm: string | undefined): void {
  if (confirm === slug) return;
  throw new Failure('INVALID_REQUEST', {
    param: 'confirm',
    message: 'confirm: must be the slug of the workspace, because all that is in it goes to the trash.',
    hint: `Add ?confirm=${slug}.`,
  });
}

interface BrandingChange {
  readonly accent_color?: string | null | undefined;
  readonly hide_footer?: boolean | undefined;
  readonly logo?: string | null | undefined;
}

interface WorkspaceChange extends Partial<Omit<WorkspaceFields, 'accent_color' | 'hide_footer' | 'logo'>> {
  readonly branding?: BrandingChange | undefined;
}

/** The fields after a change. Throws PLAN_REQUIRED for branding that the plan does not have. */
export function changedFields(row: WorkspaceRow, change: WorkspaceChange): WorkspaceFields {
  const { branding = {}, ...rest } = change;
  const wantsBranding = branding.hide_footer === true || typeof branding.logo === 'string';
  if (wantsBranding) requireAllowed(row, 'custom_branding', { param: 'branding' });
  const given = Object.fromEntries(Object.entries({ ...rest, ...branding }).filter(([, value]) => value !== undefined));
  const { name, slug, description, locale, accent_color, hide_footer, logo } = row;
  return { name, slug, description, locale, accent_color, hide_footer, logo, ...given };
}

/** What an audit entry says about a change: each field that differs, before and after. */
export function differences(before: WorkspaceFields, after: WorkspaceFields): Record<string, unknown> {
  const changed = (Object.keys(after) as (keyof WorkspaceFields)[]).filter((name) => before[name] !== after[name]);
  return Object.fromEntries(changed.map((name) => [name, { from: before[name], to: after[name] }]));
}
