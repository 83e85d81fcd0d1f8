/** The endpoints that read an artifact's versions and choose which one is live. */
import type { ArtifactHead, Role } from '../../actors/access.ts';
import { Failure } from '../../protocol/errors.ts';
import type { ArtifactId, UserId, VersionId } from '../../protocol/ids.ts';
import type { Handlers } from '../edge/call.ts';
import { type ArtifactRow, changeTimeMs, lockArtifact, presentArtifact, requireArtifact } from './artifact-rows.ts';
import { requireHead } from './artifacts.ts';
import { artifactEtag } from './conditions.ts';
import type { Queries, ServiceDeps } from './deps.ts';
import { cutPage, decodeCursor, type PageKey } from './paging.ts';
import { requireUser } from './principals.ts';
import { diffFiles } from './version-diff.ts';
import {
  listFiles,
  presentFile,
  presentVersion,
  requireVersion,
  type VersionRef,
  type VersionRow,
  versionColumns,
} from './version-rows.ts';

type VersionIds =
  | 'versions.list'
  | 'versions.get'
  | 'versions.update'
  | 'versions.diff'
  | 'versions.files'
  | 'versions.rollback'
  | 'versions.pin';
type Deps = Pick<ServiceDeps, 'sql' | 'clock' | 'notices' | 'config' | 'objects'>;

export function versionHandlers(deps: Deps): Handlers<VersionIds> {
  const { sql, config } = deps;
  return {
    'versions.list': async ({ params, query, role }) => {
      const after = decodeCursor(query.cursor);
      const rows = await listVersions(sql, params.id, seesDrafts(role), after, query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.version_no, id: '' }));
      const total = query.count ? { total: await countVersions(sql, params.id, seesDrafts(role)) } : {};
      return { reply: 'ok', body: { versions: items.map(presentVersion), ...page, ...total } };
    },
    'versions.get': async ({ params, role }) => {
      const row = await requireVersion(sql, params.id, params.version, seesDrafts(role));
      return { reply: 'ok', body: await detail(sql, row) };
    },
    'versions.update': async ({ params, body, role }) => {
      const row = await requireVersion(sql, params.id, params.version, seesDrafts(role));
      const label = body.label === undefined ? row.label : body.label;
      const note = body.note === undefined ? row.note : body.note;
      await updateNotes(sql, row.id, label, note);
      return { reply: 'ok', body: await detail(sql, { ...row, label, note }) };
    },
    'versions.diff': async ({ params, role }) => {
      const a = await requireVersion(sql, params.id, params.a, seesDrafts(role));
      const b = await requireVersion(sql, params.id, params.b, seesDrafts(role));
      return { reply: 'ok', body: await diffFiles(deps, await listFiles(sql, a.id), await listFiles(sql, b.id)) };
    },
    'versions.files': async ({ params, query, role, head }) => {
      const row = await requireVersion(sql, params.id, query.version ?? liveVersion(requireHead(head)), seesDrafts(role));
      const files = await listFiles(sql, row.id);
      return { reply: 'ok', body: { version_id: row.id, version_no: row.version_no, files: files.map(presentFile) } };
    },
    'versions.rollback': async ({ principal, params, body }) => {
      const row = await rollBack(deps, requireUser(principal), params.id, body.version_id ?? body.version_no ?? 0);
      return { reply: 'ok', body: presentArtifact(row, config), etag: artifactEtag(row) };
    },
    'versions.pin': async ({ principal, params, body }) => {
      const row = await pin(deps, requireUser(principal), params.id, body.version_id);
      return { reply: 'ok', body: presentArtifact(row, config), etag: artifactEtag(row) };
    },
  };
}

function seesDrafts(role: Role): boolean {
  return role === 'owner' || role === 'editor';
}

function liveVersion(head: ArtifactHead): VersionId {
  if (head.liveVersionId === null) {
    throw new Failure('NO_VERSION', { hint: 'Nothing is live yet: name a version, or make one live with rollback.' });
  }
  return head.liveVersionId;
}

async function detail(sql: Queries, row: VersionRow) {
  return { ...presentVersion(row), files: (await listFiles(sql, row.id)).map(presentFile) };
}

/** Makes a version live. A draft is published by that; a pinned artifact stays pinned, to this version from now on. */
async function rollBack(deps: Deps, userId: UserId, id: ArtifactId, ref: VersionRef): Promise<ArtifactRow> {
  return movePointers(deps, userId, id, async (tx, before) => {
    const version = await requireVersion(tx, id, ref, true);
    return { live: version.id, pinned: before.pinned_version_id === null ? null : version.id };
  });
}

/** Keeps a version live while others are published; null follows the newest published version again. */
async function pin(deps: Deps, userId: UserId, id: ArtifactId, versionId: VersionId | null): Promise<ArtifactRow> {
  return movePointers(deps, userId, id, async (tx) => {
    if (versionId === null) return { live: await newestPublished(tx, id), pinned: null };
    const version = await requireVersion(tx, id, versionId, true);
    return { live: version.id, pinned: version.id };
  });
}

interface Pointers {
  readonly live: VersionId | null;
  readonly pinned: VersionId | null;
}

async function movePointers(
  deps: Deps,
  userId: UserId,
  id: ArtifactId,
  choose: (tx: Queries, before: ArtifactRow) => Promise<Pointers>,
): Promise<ArtifactRow> {
  const row = await deps.sql.begin(async (tx) => {
    const before = await lockArtifact(tx, id, userId);
    const { live, pinned } = await choose(tx, before);
    await tx`
      update artifact set live_version_id = ${live}, pinned_version_id = ${pinned},
        updated_at_ms = ${changeTimeMs(before, deps.clock.nowMs())}
      where id = ${id}`;
    await tx`update artifact_version set is_draft = false where id = ${live} and is_draft`;
    return requireArtifact(tx, id, userId);
  });
  deps.notices.emit({ artifactId: id, slugs: [row.slug], kind: 'changed' });
  return row;
}

async function newestPublished(tx: Queries, id: ArtifactId): Promise<VersionId | null> {
  const [row] = await tx<{ id: VersionId }[]>`
    select id from artifact_version where artifact_id = ${id} and not is_draft order by version_no desc limit 1`;
  return row?.id ?? null;
}

function listVersions(sql: Queries, id: ArtifactId, drafts: boolean, after: PageKey, rowsMax: number) {
  // The first page begins above every number that an integer column can hold.
  return sql<VersionRow[]>`
    select ${versionColumns(sql)}
    from artifact_version v join artifact a on a.id = v.artifact_id
    where v.artifact_id = ${id} and v.version_no < ${after.number}::bigint and (${drafts} or not v.is_draft)
    order by v.version_no desc limit ${rowsMax}`;
}

async function countVersions(sql: Queries, id: ArtifactId, drafts: boolean): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from artifact_version where artifact_id = ${id} and (${drafts} or not is_draft)`;
  return row?.total ?? 0;
}

async function updateNotes(sql: Queries, id: VersionId, label: string | null, note: string | null): Promise<void> {
  await sql`update artifact_version set label = ${label}, note = ${note} where id = ${id}`;
}
