/** The trash: an artifact stays in it for 30 days, unserved and unlisted, and can be taken out again. */

import { Failure } from '../../protocol/errors.ts';
import type { ArtifactId, UserId } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Handlers } from '../edge/call.ts';
import {
  type ArtifactRow,
  artifactColumns,
  changeTimeMs,
  dateTime,
  lockArtifact,
  presentArtifact,
  RETENTION_MS,
  readArtifact,
  requireArtifact,
} from './artifact-rows.ts';
import { artifactEtag, requireMatch } from './conditions.ts';
import type { Queries, ServiceDeps } from './deps.ts';
import { cutPage, decodeCursor, type PageKey } from './paging.ts';
import { violates } from './pg-errors.ts';
import { requireUser } from './principals.ts';
import { freeSlug } from './slugs.ts';

type Deps = Pick<ServiceDeps, 'sql' | 'clock' | 'notices' | 'config'>;

export function trashHandlers(deps: Deps): Handlers<'artifacts.delete' | 'artifacts.restore' | 'artifacts.listDeleted'> {
  const { sql, clock, config } = deps;
  return {
    'artifacts.delete': async ({ principal, params, ifMatch }) => {
      const { row, deletedAtMs } = await trashArtifact(deps, requireUser(principal), params.id, ifMatch);
      const until = dateTime(deletedAtMs + RETENTION_MS);
      return {
        reply: 'ok',
        body: {
          success: true,
          deleted: row.id,
          deleted_at: dateTime(deletedAtMs),
          recoverable_until: until,
          retention_days: LIMITS.trashRetentionDays,
          restore_url: `${config.baseUrl}/v1/artifacts/${row.id}/restore`,
          message: `"${row.name}" is in the trash. POST to restore_url before ${until} takes it out again.`,
        },
      };
    },
    'artifacts.restore': async ({ principal, params }) => {
      const row = await restoreArtifact(deps, requireUser(principal), params.id);
      return { reply: 'ok', body: presentArtifact(row, config), etag: artifactEtag(row) };
    },
    'artifacts.listDeleted': async ({ principal, query }) => {
      const userId = requireUser(principal);
      const sinceMs = clock.nowMs() - RETENTION_MS;
      const rows = await listTrash(sql, userId, sinceMs, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.deleted_at_ms ?? 0, id: row.id }));
      const total = query.count ? { total: await countTrash(sql, userId, sinceMs) } : {};
      return { reply: 'ok', body: { artifacts: items.map((row) => presentArtifact(row, config)), ...page, ...total } };
    },
  };
}

async function trashArtifact(deps: Deps, userId: UserId, id: ArtifactId, ifMatch: string | undefined) {
  const trashed = await deps.sql.begin(async (tx) => {
    const row = await lockArtifact(tx, id, userId);
    requireMatch(ifMatch, row);
    const deletedAtMs = deps.clock.nowMs();
    await tx`
      update artifact set deleted_at_ms = ${deletedAtMs}, updated_at_ms = ${changeTimeMs(row, deletedAtMs)} where id = ${id}`;
    return { row, deletedAtMs };
  });
  deps.notices.emit({ artifactId: id, slugs: [trashed.row.slug], kind: 'gone' });
  return trashed;
}

const RESTORE_TRIES_MAX = 5;

async function restoreArtifact(deps: Deps, userId: UserId, id: ArtifactId): Promise<ArtifactRow> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const row = await deps.sql.begin((tx) => restoreOnce(tx, userId, id, deps.clock.nowMs()));
      deps.notices.emit({ artifactId: id, slugs: [row.slug], kind: 'changed' });
      return row;
    } catch (error) {
      // Somebody took the slug between the look and the update: look again.
      if (!violates(error, 'artifact_slug') || attempt === RESTORE_TRIES_MAX) throw error;
    }
  }
}

async function restoreOnce(tx: Queries, userId: UserId, id: ArtifactId, nowMs: number): Promise<ArtifactRow> {
  await tx`select 1 from artifact where id = ${id} for update`;
  const row = await readArtifact(tx, id, userId);
  if (row === null || row.owner_id !== userId) throw new Failure('ARTIFACT_NOT_FOUND');
  if (row.deleted_at_ms === null) throw new Failure('NOT_DELETED');
  // Past its time it is gone, whether the sweep has come by or not.
  if (row.deleted_at_ms + RETENTION_MS <= nowMs) throw new Failure('ARTIFACT_NOT_FOUND');
  const slug = await freeSlug(tx, row.slug);
  await tx`
    update artifact set deleted_at_ms = null, slug = ${slug}, updated_at_ms = ${changeTimeMs(row, nowMs)} where id = ${id}`;
  return requireArtifact(tx, id, userId);
}

function listTrash(sql: Queries, userId: UserId, sinceMs: number, after: PageKey, rowsMax: number) {
  return sql<ArtifactRow[]>`
    select ${artifactColumns(sql, userId)}
    from artifact a left join artifact_version lv on lv.id = a.live_version_id
    where a.owner_id = ${userId} and a.deleted_at_ms > ${sinceMs}
      and (a.deleted_at_ms < ${after.number} or (a.deleted_at_ms = ${after.number} and a.id > ${after.id}))
    order by a.deleted_at_ms desc, a.id limit ${rowsMax}`;
}

async function countTrash(sql: Queries, userId: UserId, sinceMs: number): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from artifact where owner_id = ${userId} and deleted_at_ms > ${sinceMs}`;
  return row?.total ?? 0;
}
