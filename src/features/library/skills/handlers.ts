/** The endpoints of skills. */
import type { z } from 'zod';
import type { listedSkillChange, skill, skillUse } from '../../../../protocol/library/skills.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { textOfBody } from '../../../edge/utf8.ts';
import { pageUrl } from '../../../platform/config.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { viewerOf } from '../../artifacts/artifacts/lists.ts';
import type { PublishDeps } from '../../artifacts/publish/publish.ts';
import { publishHeaders } from '../../artifacts/publish/publish-limit.ts';
import { unifiedTexts } from '../../artifacts/versions/version-diff.ts';
import { attachSkill, detachSkill } from './attaching.ts';
import { type ChangeRow, countChanges, type ListedChangeRow, listChanges } from './change-rows.ts';
import { mergeChange, propose, rejectChange, requireChange, withdrawChange } from './changes.ts';
import { mayApprove, requireApprover, requireMember, requireSkill } from './finding.ts';
import { etagOf, makeSkill, readMarkdown, renewSkill } from './publishing.ts';
import {
  countAttached,
  countSkills,
  countUses,
  isAttachedToAll,
  listAttached,
  listSkills,
  listUses,
  type SkillRow,
  type UseRow,
} from './rows.ts';
import { readSource } from './source.ts';

type SkillIds = 'list' | 'create' | 'get' | 'markdown' | 'putMarkdown';
type AttachIds = 'attachToWorkspace' | 'detachFromWorkspace' | 'uses' | 'listOfArtifact' | 'attach' | 'detach';
type ChangeIds = `skillChanges.${'list' | 'propose' | 'get' | 'decide'}`;

export function skillHandlers(deps: PublishDeps): Handlers<`skills.${SkillIds}`> {
  const { sql } = deps;
  return {
    'skills.list': async ({ workspace, principal, query }) => {
      const viewer = viewerOf(principal);
      const wanted = { workspaceId: workspace.id, attached: query.attached };
      const rows = await listSkills(sql, viewer, wanted, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, ({ updated_at_ms, id }) => ({ number: updated_at_ms, id }));
      const total = query.count ? { total: await countSkills(sql, viewer, wanted) } : {};
      return { reply: 'ok', body: { skills: items.map((row) => ({ ...present(row), attached: row.attached })), ...page, ...total } };
    },
    'skills.create': async (call) => {
      const source = readSource(call.body.markdown);
      const { id, published } = await makeSkill(deps, call, call.workspace.id, source);
      const body = {
        id,
        artifact_id: published.artifactId,
        name: source.name,
        description: source.description,
        version_no: published.versionNo,
        updated_at: dateTime(call.nowMs),
        ...(published.waits && { held: 'REVIEW_REQUIRED' as const }),
      };
      return { reply: 'created', body, headers: publishHeaders(published.allowance) };
    },
    'skills.get': async ({ principal, params }) => {
      const row = await requireSkill(sql, principal, params.skillId);
      const may_approve = await mayApprove(sql, principal, row);
      const body = { ...present(row), workspace_id: row.workspace_id, url: pageUrl(deps.config, row.slug), may_approve };
      return { reply: 'ok', body, etag: bodyEtag(body) };
    },
    'skills.markdown': async ({ principal, params }) => {
      const row = await requireSkill(sql, principal, params.skillId);
      return { reply: 'ok', body: await readMarkdown(deps, row), type: 'text/markdown; charset=utf-8', etag: etagOf(row) };
    },
    'skills.putMarkdown': async (call) => {
      const before = await requireSkill(sql, call.principal, call.params.skillId);
      await requireApprover(sql, call.principal, before);
      const { ifMatch, ifNoneMatch } = call;
      const renewal = { row: before, source: readSource(textOfBody(call.body)), conditions: { ifMatch, ifNoneMatch } };
      const { allowance } = await renewSkill(deps, call, renewal);
      const row = await requireSkill(sql, call.principal, before.id);
      return { reply: 'ok', body: present(row), etag: etagOf(row), headers: publishHeaders(allowance) };
    },
  };
}

export function changeHandlers(deps: PublishDeps): Handlers<ChangeIds> {
  const { sql } = deps;
  return {
    'skillChanges.list': async ({ principal, params, query }) => {
      const { id } = await memberSkill(principal, params);
      const rows = await listChanges(sql, id, query.status, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = query.count ? { total: await countChanges(sql, id, query.status) } : {};
      return { reply: 'ok', body: { changes: items.map(presentListed), ...page, ...total } };
    },
    'skillChanges.propose': async (call) => {
      return { reply: 'created', body: presentChange(await propose(deps, call, call.params.skillId, call.body)) };
    },
    'skillChanges.get': async ({ principal, params }) => {
      const { id } = await memberSkill(principal, params);
      const change = await requireChange(sql, id, params.changeId);
      const diff = await unifiedTexts('SKILL.md', change.base_markdown, change.markdown);
      // What is compared never changes, so that the ETag does without it.
      const shown = presentChange(change);
      return { reply: 'ok', body: { ...shown, diff: diff ?? null }, etag: bodyEtag(shown) };
    },
    'skillChanges.decide': async (call) => {
      const row = await memberSkill(call.principal, call.params);
      const change = await requireChange(sql, row.id, call.params.changeId);
      const { action } = call.body;
      const merged = action === 'merge' ? await mergeChange(deps, call, row, change) : undefined;
      if (action === 'reject') await rejectChange(deps, call, row, change);
      if (action === 'withdraw') await withdrawChange(deps, call, row, change);
      const body = presentChange(await requireChange(sql, row.id, change.id));
      return { reply: 'ok', body, ...(merged && { headers: publishHeaders(merged.allowance) }) };
    },
  };

  async function memberSkill(principal: Parameters<typeof requireSkill>[1], { skillId }: { readonly skillId: SkillRow['id'] }) {
    const row = await requireSkill(sql, principal, skillId);
    requireMember(principal, row);
    return row;
  }
}

export function attachmentHandlers({ sql }: Pick<PublishDeps, 'sql'>): Handlers<`skills.${AttachIds}`> {
  return {
    'skills.attachToWorkspace': async (call) => {
      const { id } = call.workspace;
      await attachSkill({ sql }, call, { artifactId: null, workspaceId: id }, call.params.skillId, id);
      return { reply: 'ok', body: { success: true } };
    },
    'skills.detachFromWorkspace': async (call) => {
      const { id } = call.workspace;
      await detachSkill({ sql }, call, { artifactId: null, workspaceId: id }, call.params.skillId, id);
      return { reply: 'ok', body: { success: true } };
    },
    'skills.uses': async ({ principal, params, query }) => {
      const row = await requireSkill(sql, principal, params.skillId);
      requireMember(principal, row);
      const viewer = viewerOf(principal);
      const workspace = await isAttachedToAll(sql, row);
      const rows = await listUses(sql, viewer, row, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, ({ attached_at_ms, id }) => ({ number: attached_at_ms, id }));
      const total = query.count ? { total: await countUses(sql, viewer, row) } : {};
      return { reply: 'ok', body: { workspace, artifacts: items.map(presentUse), ...page, ...total } };
    },
    'skills.listOfArtifact': async ({ principal, params, query }) => {
      const viewer = viewerOf(principal);
      const rows = await listAttached(sql, viewer, params.id, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, ({ attached_at_ms, id }) => ({ number: attached_at_ms, id }));
      const total = query.count ? { total: await countAttached(sql, viewer, params.id) } : {};
      return { reply: 'ok', body: { skills: items.map(present), ...page, ...total } };
    },
    'skills.attach': async (call) => {
      const { id, workspaceId } = call.head;
      await attachSkill({ sql }, call, { artifactId: id, workspaceId: null }, call.params.skillId, workspaceId);
      return { reply: 'ok', body: { success: true } };
    },
    'skills.detach': async (call) => {
      const { id, workspaceId } = call.head;
      await detachSkill({ sql }, call, { artifactId: id, workspaceId: null }, call.params.skillId, workspaceId);
      return { reply: 'ok', body: { success: true } };
    },
  };
}

function present(row: SkillRow): z.input<typeof skill> {
  const { id, artifact_id, name, description, version_no, updated_at_ms } = row;
  return { id, artifact_id, name, description, version_no, updated_at: dateTime(updated_at_ms) };
}

function presentUse({ id, name, is_editable, attached_at_ms }: UseRow): z.input<typeof skillUse> {
  return { id, name, may_detach: is_editable, attached_at: dateTime(attached_at_ms) };
}

function presentListed(row: ListedChangeRow): z.input<typeof listedSkillChange> {
  const { author_id, author_name, created_at_ms, decided_at_ms } = row;
  return {
    id: row.id,
    skill_id: row.skill_id,
    title: row.title,
    note: row.note,
    base_version_no: row.base_version_no,
    status: row.status,
    author: author_id === null ? null : { id: author_id, name: author_name ?? '' },
    created_at: dateTime(created_at_ms),
    decided_at: decided_at_ms === null ? null : dateTime(decided_at_ms),
    version_no: row.version_no,
  };
}

function presentChange(row: ChangeRow) {
  return { ...presentListed(row), markdown: row.markdown };
}
