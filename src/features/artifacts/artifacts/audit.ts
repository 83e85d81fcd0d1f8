/** The record of what is done with artifacts of a workspace. */
import type { Queries } from '../../deps.ts';
import { type AuditedCall, audit } from '../../workspaces/audit/audit.ts';
import type { ArtifactRow } from './rows.ts';

/** Writes nothing for an artifact without a workspace: it is nobody's business but its owner's. */
export async function auditArtifact(
  tx: Queries,
  by: AuditedCall,
  row: Pick<ArtifactRow, 'id' | 'name' | 'workspace_id'>,
  action: string,
  detail: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  if (row.workspace_id === null) return;
  await audit(tx, by, { workspaceId: row.workspace_id, action, target: { type: 'artifact', id: row.id, name: row.name }, detail });
}

const RECORDED = [
  ...(['name', 'slug', 'visibility', 'allow_anon_write', 'allow_anon_email', 'allow_anon_agent', 'allow_anon_collab'] as const),
  ...(['social_title', 'social_description', 'social_image_url'] as const),
];

/** The fields that differ, each with what it was and what it is. */
export function changesOf(before: ArtifactRow, after: ArtifactRow): Record<string, unknown> {
  const changed = RECORDED.filter((field) => before[field] !== after[field]);
  return Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]));
}
