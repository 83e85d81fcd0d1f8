/** The endpoints that read an artifact's versions and choose which one is live. */
import { type Conditions, checkConditions } from '../../../../actors/json/json-conditions.ts';
import type { ArtifactId, VersionId } from '../../../../protocol/core/ids.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { addRelease, uncountVersion } from '../../people/usage/rows.ts';
import type { AuditedCall } from '../../workspaces/audit/audit.ts';
import { type PublishRule, publishRuleFor, requireMayGoLive, requireNotProhibited } from '../../workspaces/publish-policy/rules.ts';
import { auditArtifact } from '../artifacts/audit.ts';
import { artifactEtag } from '../artifacts/conditions.ts';
import { presentArtifact } from '../artifacts/present.ts';
import { type ArtifactRow, holderOfRow, lockArtifact, type Pointers, requireArtifact, writePointers } from '../artifacts/rows.ts';
import { changeTimeMs } from '../artifacts/rules.ts';
import { requireSkillApprover } from '../artifacts/skill-approvers.ts';
import { presentFile, presentVersion } from './present.ts';
import {
  ALL_VERSIONS,
  countVersions,
  deleteVersion,
  listFiles,
  listVersions,
  lockVersion,
  newestPublished,
  publishDraft,
  requireVersion,
  type Sight,
  updateNotes,
  type VersionRef,
  type VersionRow,
} from './rows.ts';
import { liveVersion, requireDeletable, sightOf } from './rules.ts';
import { diffFiles } from './version-diff.ts';

type VersionIds =
  | 'versions.list'
  | 'versions.get'
  | 'versions.update'
  | 'versions.delete'
  | 'versions.diff'
  | 'versions.files'
  | 'versions.rollback'
  | 'versions.pin';
type Deps = Pick<ServiceDeps, 'sql' | 'clock' | 'bus' | 'config' | 'objects'>;

export function versionHandlers(deps: Deps): Handlers<VersionIds> {
  const { sql, config } = deps;
  return {
    'versions.list': async (call) => {
      const { params, query } = call;
      const sight = sightOf(call);
      const after = decodeCursor(query.cursor);
      const rows = await listVersions(sql, params.id, sight, after, query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.version_no, id: '' }));
      const total = query.count ? { total: await countVersions(sql, params.id, sight) } : {};
      return { reply: 'ok', body: { versions: items.map(presentVersion), ...page, ...total } };
    },
    'versions.get': async (call) => {
      const row = await requireVersion(sql, call.params.id, call.params.version, sightOf(call));
      return { reply: 'ok', body: await detail(sql, row), etag: versionEtag(row) };
    },
    'versions.update': async (call) => {
      const { params, body } = call;
      const row = await sql.begin(async (tx): Promise<VersionRow> => {
        const before = await lockVersion(tx, params.id, params.version, sightOf(call));
        checkConditions({ etag: versionEtag(before) }, call);
        const label = body.label === undefined ? before.label : body.label;
        const note = body.note === undefined ? before.note : body.note;
        await updateNotes(tx, before.id, body);
        return { ...before, label, note };
      });
      return { reply: 'ok', body: await detail(sql, row), etag: versionEtag(row) };
    },
    'versions.delete': async (call) => {
      const { id, version_no } = await deleteOne(deps, call.params.id, call.params.version, sightOf(call), call);
      return { reply: 'ok', body: { success: true, deleted: id, version_no } };
    },
    'versions.diff': async (call) => {
      const { params } = call;
      const sight = sightOf(call);
      const a = await requireVersion(sql, params.id, params.a, sight);
      const b = await requireVersion(sql, params.id, params.b, sight);
      return { reply: 'ok', body: await diffFiles(deps, await listFiles(sql, a.id), await listFiles(sql, b.id)) };
    },
    'versions.files': async (call) => {
      const { params, query, head } = call;
      const row = await requireVersion(sql, params.id, query.version ?? liveVersion(head), sightOf(call));
      const files = await listFiles(sql, row.id);
      return { reply: 'ok', body: { version_id: row.id, version_no: row.version_no, files: files.map(presentFile) } };
    },
    'versions.rollback': async (call) => {
      const { body } = call;
      const row = await rollBack(deps, call, body.version_id ?? body.version_no ?? 0);
      return { reply: 'ok', body: presentArtifact(row, config, call.principal), etag: artifactEtag(row) };
    },
    'versions.pin': async (call) => {
      const row = await pin(deps, call, call.body.version_id);
      return { reply: 'ok', body: presentArtifact(row, config, call.principal), etag: artifactEtag(row) };
    },
  };
}

/** A version's files never change, so its fields are all that the ETag covers. */
function versionEtag(row: VersionRow): string {
  return bodyEtag(presentVersion(row));
}

async function detail(sql: Queries, row: VersionRow) {
  return { ...presentVersion(row), files: (await listFiles(sql, row.id)).map(presentFile) };
}

/** Its contents stay in the object store until the sweep, as long as nothing else names them. */
async function deleteOne(deps: Deps, id: ArtifactId, ref: VersionRef, sight: Sight, call: Conditions & AuditedCall): Promise<VersionRow> {
  const { row, version } = await deps.sql.begin(async (tx) => {
    // The artifact's lock keeps the version from becoming live or pinned meanwhile, and counts contents in one order.
    const row = await lockArtifact(tx, id, []);
    requireSkillApprover(call.principal, row);
    const version = await lockVersion(tx, id, ref, sight);
    checkConditions({ etag: versionEtag(version) }, call);
    requireDeletable(row, version, await countVersions(tx, id, ALL_VERSIONS));
    const bytes = await uncountVersion(tx, id, version.id);
    await deleteVersion(tx, version.id);
    await addRelease(tx, holderOfRow(row), bytes, deps.clock.nowMs());
    await auditArtifact(tx, call, row, 'version.delete', { version_id: version.id, version_no: version.version_no });
    return { row, version };
  });
  deps.bus.tell({ artifactId: id, slugs: [row.slug], kind: 'artifact.changed' });
  return version;
}

type MovingCall = AuditedCall & Parameters<typeof sightOf>[0] & { readonly params: { readonly id: ArtifactId } };

/** Makes a version live. This publishes a draft, and moves the pin of a pinned artifact to this version. */
async function rollBack(deps: Deps, call: MovingCall, ref: VersionRef): Promise<ArtifactRow> {
  return movePointers(deps, call, 'version.rollback', async (tx, before, rule) => {
    const version = await requireVersion(tx, before.id, ref, { ...sightOf(call), drafts: true });
    requireMayGoLive(rule, version);
    return { live: version.id, pinned: before.pinned_version_id === null ? null : version.id };
  });
}

/** Keeps a version live while others are published; null goes back to the newest published version. */
async function pin(deps: Deps, call: MovingCall, versionId: VersionId | null): Promise<ArtifactRow> {
  return movePointers(deps, call, versionId === null ? 'version.unpin' : 'version.pin', async (tx, before, rule) => {
    requireNotProhibited(rule, false);
    if (versionId === null) return { live: await newestPublished(tx, before.id), pinned: null };
    const version = await requireVersion(tx, before.id, versionId, { ...sightOf(call), drafts: true });
    requireMayGoLive(rule, version);
    return { live: version.id, pinned: version.id };
  });
}

async function movePointers(
  deps: Deps,
  call: MovingCall,
  action: string,
  choose: (tx: Queries, before: ArtifactRow, rule: PublishRule) => Promise<Pointers>,
): Promise<ArtifactRow> {
  const { id } = call.params;
  const accounts = accountsOf(call.principal);
  const row = await deps.sql.begin(async (tx) => {
    const before = await lockArtifact(tx, id, accounts);
    requireSkillApprover(call.principal, before);
    const pointers = await choose(tx, before, await publishRuleFor(tx, before.workspace_id, call.principal));
    await writePointers(tx, id, pointers, changeTimeMs(before, deps.clock.nowMs()));
    await publishDraft(tx, pointers.live);
    const after = await requireArtifact(tx, id, accounts);
    await auditArtifact(tx, call, after, action, { version_id: after.live_version_id, version_no: after.live_version_no });
    return after;
  });
  deps.bus.tell({ artifactId: id, slugs: [row.slug], kind: 'artifact.changed' });
  return row;
}
