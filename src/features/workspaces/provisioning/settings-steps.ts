/** Branding, policy, features and starter folders. */

import { Failure } from '../../../../protocol/core/errors.ts';
import { newId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Feature } from '../../../../protocol/workspaces/features.ts';
import type { ProvisionRequest } from '../../../../protocol/workspaces/provisioning.ts';
import { changeTimeMs } from '../../artifacts/artifacts/rules.ts';
import type { Queries } from '../../deps.ts';
import { writePolicy } from '../access-policy/rows.ts';
import { putFlag } from '../features/rows.ts';
import { type FolderRow, insertFolder, listFolders, lockFolders } from '../folders/rows.ts';
import { numbered, sharesNames, slugOfName } from '../folders/rules.ts';
import { lockWorkspace, type WorkspaceRow, writeWorkspace } from '../workspaces/rows.ts';
import type { Provisioner, StepResult } from './steps.ts';

type WorkspaceId = WorkspaceRow['id'];

export const SKIPPED: StepResult = { status: 'skipped', detail: {} };

/** The plan is not asked: whoever runs the installation gives what they like. */
export async function applyBranding(tx: Queries, by: Provisioner, id: WorkspaceId, { branding }: ProvisionRequest): Promise<StepResult> {
  if (branding === undefined) return SKIPPED;
  const before = await lockWorkspace(tx, id);
  const given = Object.fromEntries(Object.entries(branding).filter(([, value]) => value !== undefined));
  const after: WorkspaceRow = { ...before, ...given };
  const changed = (['accent_color', 'hide_footer', 'logo'] as const).filter((field) => before[field] !== after[field]);
  if (changed.length === 0) return { status: 'unchanged', detail: {} };
  await writeWorkspace(tx, id, after, changeTimeMs(before, by.nowMs));
  return { status: 'updated', detail: { changed } };
}

export async function applyPolicy(tx: Queries, by: Provisioner, id: WorkspaceId, { policy }: ProvisionRequest): Promise<StepResult> {
  if (policy === undefined) return SKIPPED;
  const before = await lockWorkspace(tx, id);
  const lists = {
    allowed_domains: policy.allowed_domains === undefined ? before.allowed_domains : [...new Set(policy.allowed_domains)],
    allowed_emails: policy.allowed_emails === undefined ? before.allowed_emails : [...new Set(policy.allowed_emails)],
  };
  const changed: string[] = (['allowed_domains', 'allowed_emails'] as const).filter((list) => !isSame(before[list], lists[list]));
  if (changed.length > 0) await writePolicy(tx, id, { ...lists, auto_join: before.auto_join }, changeTimeMs(before, by.nowMs));
  for (const [feature, enabled] of flagsIn(policy)) {
    const flag = before.flags[feature];
    if (flag?.enabled === enabled && flag.source === 'instance') continue;
    await putFlag(tx, id, feature, { enabled, source: 'instance' });
    changed.push(feature);
  }
  return changed.length === 0 ? { status: 'unchanged', detail: {} } : { status: 'updated', detail: { changed } };
}

/** A flag that has a field of its own counts before the same one in `features`. */
function flagsIn({ external_sharing, knowledge, features = {} }: NonNullable<ProvisionRequest['policy']>): [Feature, boolean][] {
  const named = {
    ...features,
    'collab.external_sharing': external_sharing ?? features['collab.external_sharing'],
    knowledge: knowledge ?? features.knowledge,
  };
  return (Object.entries(named) as [Feature, boolean | undefined][]).flatMap(([name, on]) => (on === undefined ? [] : [[name, on]]));
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((each, at) => each === other[at]);
}

/** Those that are not at the top of the workspace yet, whatever their capital letters. */
export async function makeFolders(tx: Queries, by: Provisioner, id: WorkspaceId, body: ProvisionRequest): Promise<StepResult> {
  if (body.folders.length === 0) return SKIPPED;
  await lockFolders(tx, { workspaceId: id, ownerId: null });
  const folders: FolderRow[] = [...(await listFolders(tx, { workspaceId: id }))];
  const made: string[] = [];
  for (const name of body.folders) {
    const isThere = folders.some((each) => each.parent_id === null && each.name.toLowerCase() === name.toLowerCase());
    if (isThere) continue;
    if (folders.length >= LIMITS.foldersMax) throw new Failure('FOLDER_LIMIT_EXCEEDED');
    const row: FolderRow = {
      id: newId('folder'),
      workspace_id: id,
      owner_id: null,
      parent_id: null,
      slug: '',
      name,
      description: null,
      visibility: 'inherit',
      guest_comments: body.policy?.guest_comments ?? null,
      created_by: by.user,
      created_at_ms: by.nowMs,
      updated_at_ms: by.nowMs,
    };
    const slug = numbered(slugOfName(name), (wished) => folders.some((each) => each.slug === wished && sharesNames(each, row)));
    await insertFolder(tx, { ...row, slug }, null);
    folders.push({ ...row, slug });
    made.push(name);
  }
  return { status: made.length > 0 ? 'created' : 'unchanged', detail: { created: made, existing: body.folders.length - made.length } };
}
