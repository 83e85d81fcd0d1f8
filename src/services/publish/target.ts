/** Which artifact a publish is for: a new one, or one that the caller may edit. */
import { decide, type Principal } from '../../../actors/access.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { ArtifactId, UserId } from '../../../protocol/ids.ts';
import type { PublishRequest } from '../../../protocol/schemas/artifact.ts';
import { type ArtifactRow, lockArtifact, requireArtifact } from '../artifact-rows.ts';
import { artifactEtag } from '../conditions.ts';
import type { Queries } from '../deps.ts';
import { readHead } from '../heads.ts';
import { freeSlug, slugify } from '../slugs.ts';
import { insertArtifact } from './version-writes.ts';

export interface Publisher {
  readonly principal: Principal;
  readonly userId: UserId;
}

export type TargetWish = Pick<PublishRequest, 'artifact_id' | 'slug' | 'base_version_no'>;

export interface Target {
  readonly row: ArtifactRow;
  readonly isNew: boolean;
}

const INSERT_TRIES_MAX = 5;

/**
 * The artifact to push to, null for a new one. Throws ARTIFACT_NOT_FOUND, FORBIDDEN, SLUG_TAKEN when it is another owner's,
 * VERSION_CONFLICT when `base_version_no` is not its last version.
 */
export async function findTarget(sql: Queries, publisher: Publisher, wish: TargetWish): Promise<ArtifactRow | null> {
  const id = wish.artifact_id ?? (wish.slug === undefined ? null : await ownedBySlug(sql, publisher.userId, wish.slug));
  if (id === null) {
    if (wish.base_version_no)
      throw new Failure('VERSION_CONFLICT', { param: 'base_version_no', message: 'There is no artifact to base this on.' });
    return null;
  }
  const head = await readHead(sql, id);
  const decision = decide(head?.deletedAtMs === null ? head : null, publisher.principal, 'edit', 'artifacts:publish');
  if (decision === 'forbidden') throw new Failure('FORBIDDEN');
  if (decision !== 'allowed') throw new Failure('ARTIFACT_NOT_FOUND');
  const row = await requireArtifact(sql, id, publisher.userId);
  requireBase(row, wish.base_version_no);
  return row;
}

/** The same inside the transaction: the row locked, or newly made. */
export async function takeTarget(tx: Queries, publisher: Publisher, wish: TargetWish, name: string, nowMs: number): Promise<Target> {
  for (let attempt = 0; attempt < INSERT_TRIES_MAX; attempt += 1) {
    const found = await findTarget(tx, publisher, wish);
    if (found !== null) {
      const row = await lockArtifact(tx, found.id, publisher.userId);
      requireBase(row, wish.base_version_no);
      return { row, isNew: false };
    }
    const slug = wish.slug ?? (await freeSlug(tx, slugify(name)));
    const id = await insertArtifact(tx, { ownerId: publisher.userId, name, slug, nowMs });
    if (id !== null) return { row: await requireArtifact(tx, id, publisher.userId), isNew: true };
    // Somebody took the slug between the look and the insert: look again.
  }
  throw new Failure('SLUG_TAKEN', { param: 'slug' });
}

function requireBase(row: ArtifactRow, base: number | undefined): void {
  if (base === undefined || base === row.last_version_no) return;
  throw new Failure('VERSION_CONFLICT', {
    param: 'base_version_no',
    message: `The last version is ${row.last_version_no}, not ${base}.`,
    etag: artifactEtag(row),
  });
}

async function ownedBySlug(sql: Queries, userId: UserId, slug: string): Promise<ArtifactId | null> {
  const [row] = await sql<{ id: ArtifactId; owner_id: UserId | null }[]>`
    select id, owner_id from artifact where slug = ${slug} and deleted_at_ms is null`;
  if (row === undefined) return null;
  if (row.owner_id !== userId) throw new Failure('SLUG_TAKEN', { param: 'slug' });
  return row.id;
}
