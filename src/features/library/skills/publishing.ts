/** Publishes the source of a skill as a version: the Markdown beside the page that shows it. */

import type { ArtifactHead } from '../../../../actors/access/access.ts';
import { type Conditions, checkConditions } from '../../../../actors/json/json-conditions.ts';
import type { Asker } from '../../../../actors/runtime/runtime.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { type ArtifactId, newId, type SkillId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import { auditArtifact } from '../../artifacts/artifacts/audit.ts';
import { isApprover } from '../../artifacts/artifacts/skill-approvers.ts';
import { readInlineFiles } from '../../artifacts/publish/contents.ts';
import { type PublishDeps, type Published, publish, type WriteBeside, type Written } from '../../artifacts/publish/publish.ts';
import { publisherOf } from '../../artifacts/publish/target.ts';
import type { Queries } from '../../deps.ts';
import type { AuditedCall } from '../../workspaces/audit/audit.ts';
import { mayApprove } from './finding.ts';
import { skillPage } from './page.ts';
import { insertSkill, insertSkillVersion, readFileDigest, type SkillRow } from './rows.ts';
import type { SkillSource } from './source.ts';

const SOURCE_FILE = 'SKILL.md';
const PAGE_FILE = 'index.html';

export type PublishingCall = AuditedCall & Asker;

export function etagOf({ version_no }: Pick<SkillRow, 'version_no'>): string {
  return `"${version_no}"`;
}

export async function readMarkdown({ sql, objects }: Pick<PublishDeps, 'sql' | 'objects'>, { version_id }: SkillRow): Promise<string> {
  const digest = await readFileDigest(sql, version_id, SOURCE_FILE);
  if (digest === null) throw new Error(`the version ${version_id} of a skill has no ${SOURCE_FILE}`);
  return (await objects.read(digest)).toString('utf8');
}

export interface Made {
  readonly id: SkillId;
  readonly published: Published;
}

/** Of the person who calls, open to the members of the workspace. */
export async function makeSkill(deps: PublishDeps, call: PublishingCall, workspaceId: WorkspaceId, source: SkillSource): Promise<Made> {
  const id = newId('skill');
  const published = await publishSource(deps, call, source, { workspace_id: workspaceId, visibility: 'workspace' }, async (tx, written) => {
    await insertSkill(tx, id, written.row.id, written.nowMs);
    await insertSkillVersion(tx, written.versionId, source);
    await auditArtifact(tx, call, { ...written.row, name: source.name }, 'skill.create', { skill: id });
  });
  return { id, published };
}

export interface Renewal {
  readonly row: SkillRow;
  readonly source: SkillSource;
  readonly label?: string;
  readonly note?: string;
  /** About the live source. */
  readonly conditions?: Conditions;
  readonly beside?: (tx: Queries, written: Written) => Promise<void>;
}

/**
 * Publishes another source, unless another version is live by now. Throws VERSION_CONFLICT, SKILL_REQUIRES_APPROVAL, and what a publish throws.
 */
export function renewSkill(deps: PublishDeps, call: PublishingCall, renewal: Renewal): Promise<Published> {
  const { row, source, label, note, conditions = {}, beside } = renewal;
  const target = { artifact_id: row.artifact_id, label, note };
  return publishSource(deps, call, source, target, async (tx, written) => {
    const live = written.row.live_version_no;
    checkConditions(live === null ? undefined : { etag: etagOf({ version_no: live }) }, conditions);
    if (written.row.live_version_id !== row.version_id) throw new Failure('VERSION_CONFLICT');
    if (written.row.pinned_version_id !== null) {
      throw new Failure('VERSION_CONFLICT', {
        message: `Version ${live} of this skill is pinned, so that no other can go live.`,
        hint: 'Unpin it with POST /v1/artifacts/{id}/pin and "version_id": null.',
      });
    }
    // With the role and the policy of now: a version of a skill goes live when it is published, or is not published.
    if (written.waits || !(await mayApprove(tx, call.principal, row))) throw new Failure('SKILL_REQUIRES_APPROVAL');
    await insertSkillVersion(tx, written.versionId, source);
    await beside?.(tx, written);
  });
}

interface Aim {
  readonly artifact_id?: ArtifactId;
  readonly workspace_id?: WorkspaceId;
  readonly visibility?: 'workspace';
  readonly label?: string | undefined;
  readonly note?: string | undefined;
}

async function publishSource(
  deps: PublishDeps,
  call: PublishingCall,
  source: SkillSource,
  aim: Aim,
  beside: WriteBeside,
): Promise<Published> {
  const publisher = {
    ...publisherOf(call.principal, call),
    skill: { mayPublish: (head: ArtifactHead) => isApprover(call.principal, head) },
  };
  const inline = await readInlineFiles(publisher.id, [
    { path: SOURCE_FILE, content: source.markdown, encoding: 'utf8' },
    { path: PAGE_FILE, content: skillPage(source), encoding: 'utf8' },
  ]);
  const { label, note, workspace_id, ...target } = aim;
  const body = { ...target, workspace_id, label, note, folder_id: undefined, name: source.name, entrypoint: PAGE_FILE, draft: false };
  return publish(deps, publisher, body, { ...inline, uploadId: null }, beside);
}
