/** The endpoints that read and change an artifact's own fields. Its versions, its trash and its data have their own files. */
import type { z } from 'zod';
import type { ArtifactHead } from '../../actors/access.ts';
import { Failure } from '../../protocol/errors.ts';
import type { ArtifactId, UserId } from '../../protocol/ids.ts';
import type { artifactUpdate } from '../../protocol/schemas/artifact.ts';
import type { Handlers } from '../edge/call.ts';
import { tierOf } from './accounts.ts';
import { type ArtifactRow, artifactColumns, changeTimeMs, lockArtifact, presentArtifact, requireArtifact } from './artifact-rows.ts';
import { artifactEtag, requireMatch, viewEtag } from './conditions.ts';
import type { Queries, ServiceDeps } from './deps.ts';
import { cutPage, decodeCursor, type PageKey } from './paging.ts';
import { violates } from './pg-errors.ts';
import { requireUser, userOrNull } from './principals.ts';
import { requireSlug } from './slugs.ts';
import { decideVisibility, hashPassword, heldNotice, type VisibilityChange } from './visibility.ts';

type ArtifactIds = 'artifacts.list' | 'artifacts.get' | 'artifacts.update' | 'artifacts.favorite' | 'artifacts.unfavorite';
type ArtifactUpdate = z.output<typeof artifactUpdate>;
type Deps = Pick<ServiceDeps, 'sql' | 'clock' | 'notices' | 'config'>;

export function artifactHandlers(deps: Deps): Handlers<ArtifactIds> {
  const { sql, clock, config } = deps;
  return {
    'artifacts.list': async ({ principal, query }) => {
      const userId = requireUser(principal);
      refuseWorkspace(query.workspace_id);
      const rows = await listArtifacts(sql, userId, query.favorites, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.updated_at_ms, id: row.id }));
      const total = query.count ? { total: await countArtifacts(sql, userId, query.favorites) } : {};
      return { reply: 'ok', body: { artifacts: items.map((row) => presentArtifact(row, config)), ...page, ...total } };
    },
    'artifacts.get': async ({ principal, params }) => {
      const row = await requireArtifact(sql, params.id, userOrNull(principal));
      return { reply: 'ok', body: presentArtifact(row, config), etag: viewEtag(row) };
    },
    'artifacts.update': async ({ principal, params, body, ifMatch }) => {
      const { row, held } = await updateArtifact(deps, requireUser(principal), params.id, body, ifMatch);
      const shown = presentArtifact(row, config);
      if (held) return { reply: 'held', body: { ...shown, ...heldNotice(row.visibility) }, etag: artifactEtag(row) };
      return { reply: 'ok', body: shown, etag: viewEtag(row) };
    },
    'artifacts.favorite': async ({ principal, head }) => {
      const artifactId = requireHead(head).id;
      await insertFavorite(sql, requireUser(principal), artifactId, clock.nowMs());
      return { reply: 'ok', body: { success: true, artifact_id: artifactId, favorited: true } };
    },
    'artifacts.unfavorite': async ({ principal, head }) => {
      const artifactId = requireHead(head).id;
      await deleteFavorite(sql, requireUser(principal), artifactId);
      return { reply: 'ok', body: { success: true, artifact_id: artifactId, favorited: false } };
    },
  };
}

/** The artifact that the access rule has let the caller at. */
export function requireHead(head: ArtifactHead | undefined): ArtifactHead {
  if (head === undefined) throw new Error('this endpoint is not declared with access by artifact');
  return head;
}

/** Throws FORBIDDEN for any workspace: there are none yet, so nobody is a member of one. */
export function refuseWorkspace(workspaceId: string | undefined): void {
  if (workspaceId === undefined) return;
  throw new Failure('FORBIDDEN', { param: 'workspace_id', message: 'You are not a member of this workspace.' });
}

async function updateArtifact(
  deps: Deps,
  userId: UserId,
  id: ArtifactId,
  change: ArtifactUpdate,
  ifMatch: string | undefined,
): Promise<{ row: ArtifactRow; held: boolean }> {
  if (change.slug !== undefined) requireSlug(change.slug);
  const newPasswordHash = await hashPassword(change.password);
  const updated = await deps.sql
    .begin(async (tx) => {
      const before = await lockArtifact(tx, id, userId);
      requireMatch(ifMatch, before);
      const visibility = decideVisibility({
        requested: change.visibility,
        newPasswordHash,
        current: before.visibility,
        hasPassword: before.has_password,
        tier: await tierOf(tx, userId),
      });
      await writeArtifact(tx, before, change, visibility, changeTimeMs(before, deps.clock.nowMs()));
      return { before, row: await requireArtifact(tx, id, userId), held: visibility.held };
    })
    .catch((error) => {
      if (violates(error, 'artifact_slug')) throw new Failure('SLUG_TAKEN', { param: 'slug' });
      throw error;
    });
  deps.notices.emit({ artifactId: id, slugs: [...new Set([updated.before.slug, updated.row.slug])], kind: 'changed' });
  return updated;
}

async function writeArtifact(tx: Queries, before: ArtifactRow, change: ArtifactUpdate, visibility: VisibilityChange, atMs: number) {
  const next = { ...before, ...change };
  await tx`
    update artifact set
      name = ${next.name}, slug = ${next.slug}, visibility = ${visibility.visibility},
      password_hash = case when ${visibility.passwordHash === undefined} then password_hash else ${visibility.passwordHash ?? null} end,
      allow_anon_write = ${next.allow_anon_write}, allow_anon_email = ${next.allow_anon_email},
      allow_anon_agent = ${next.allow_anon_agent}, allow_anon_collab = ${next.allow_anon_collab},
      social_title = ${next.social_title}, social_description = ${next.social_description}, social_image_url = ${next.social_image_url},
      updated_at_ms = ${atMs}
    where id = ${before.id}`;
}

/** Own and shared artifacts; among favourites also public ones of others. */
function listedIds(sql: Queries, userId: UserId, favorites: boolean) {
  const near = sql`
    select id from artifact where owner_id = ${userId}
    union all select artifact_id from collaborator where user_id = ${userId}`;
  if (!favorites) return near;
  return sql`
    select f.artifact_id from favorite f join artifact fa on fa.id = f.artifact_id
    where f.user_id = ${userId} and (fa.visibility = 'public' or fa.id in (${near}))`;
}

function listArtifacts(sql: Queries, userId: UserId, favorites: boolean, after: PageKey, rowsMax: number) {
  return sql<ArtifactRow[]>`
    select ${artifactColumns(sql, userId)}
    from artifact a left join artifact_version lv on lv.id = a.live_version_id
    where a.deleted_at_ms is null and a.id in (${listedIds(sql, userId, favorites)})
      and (a.updated_at_ms < ${after.number} or (a.updated_at_ms = ${after.number} and a.id > ${after.id}))
    order by a.updated_at_ms desc, a.id limit ${rowsMax}`;
}

async function countArtifacts(sql: Queries, userId: UserId, favorites: boolean): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from artifact a
    where a.deleted_at_ms is null and a.id in (${listedIds(sql, userId, favorites)})`;
  return row?.total ?? 0;
}

async function insertFavorite(sql: Queries, userId: UserId, artifactId: ArtifactId, nowMs: number): Promise<void> {
  await sql`
    insert into favorite (user_id, artifact_id, created_at_ms) values (${userId}, ${artifactId}, ${nowMs})
    on conflict (user_id, artifact_id) do nothing`;
}

async function deleteFavorite(sql: Queries, userId: UserId, artifactId: ArtifactId): Promise<void> {
  await sql`delete from favorite where user_id = ${userId} and artifact_id = ${artifactId}`;
}
