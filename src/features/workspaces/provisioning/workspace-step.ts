/** Makes the workspace, or adopts the one that has the slug. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import type { ProvisionRequest } from '../../../../protocol/workspaces/provisioning.ts';
import { changeTimeMs } from '../../artifacts/artifacts/rules.ts';
import type { Queries } from '../../deps.ts';
import { insertWorkspace, lockWorkspace, readWorkspaceByRef, type WorkspaceRow, writeWorkspace } from '../workspaces/rows.ts';
import type { Provisioner, StepResult } from './steps.ts';

export interface Adopted {
  readonly row: WorkspaceRow;
  readonly created: boolean;
  readonly result: StepResult;
}

/** Throws WORKSPACE_SLUG_TAKEN where `if_exists` does not let it be adopted. */
export async function takeWorkspace(tx: Queries, by: Provisioner, tier: Tier, body: ProvisionRequest): Promise<Adopted> {
  const { name, slug, description = null, locale } = body;
  const id = await insertWorkspace(tx, { slug, name, description, locale, tier, createdBy: by.user, nowMs: by.nowMs });
  if (id !== null) {
    return {
      row: await lockWorkspace(tx, id),
      created: true,
      result: { status: 'created', detail: { id, slug, ...pendingSubdomain(body) } },
    };
  }
  const found = await readWorkspaceByRef(tx, slug);
  // Deleted between the two statements: the slug is free for the next run.
  if (found === null) throw new Failure('WORKSPACE_SLUG_TAKEN', { param: 'slug', hint: 'Run the same request again.' });
  requireAdoptable(found, body);
  const before = await lockWorkspace(tx, found.id);
  const after = {
    ...before,
    name: body.if_exists === 'update' ? name : before.name,
    description: body.if_exists === 'update' ? (body.description ?? before.description) : (before.description ?? description),
  };
  const changed = (['name', 'description'] as const).filter((field) => before[field] !== after[field]);
  if (changed.length > 0) await writeWorkspace(tx, before.id, after, changeTimeMs(before, by.nowMs));
  const status = changed.length > 0 ? 'updated' : 'unchanged';
  return { row: after, created: false, result: { status, detail: { id: before.id, slug, changed, ...pendingSubdomain(body) } } };
}

function requireAdoptable(found: WorkspaceRow, { if_exists, name }: ProvisionRequest): void {
  if (if_exists === 'fail') {
    throw new Failure('WORKSPACE_SLUG_TAKEN', {
      param: 'slug',
      hint: 'Choose another slug, or send if_exists "match" to adopt the workspace.',
    });
  }
  if (if_exists === 'match' && found.name !== name) {
    throw new Failure('WORKSPACE_SLUG_TAKEN', {
      param: 'slug',
      message: 'This slug belongs to a workspace with another name.',
      hint: 'Send the name that it has, choose another slug, or send if_exists "update" to adopt and rename it.',
    });
  }
}

function pendingSubdomain({ subdomain }: ProvisionRequest) {
  return subdomain ? { subdomain: 'pending' } : {};
}
