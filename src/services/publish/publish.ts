/** One publish: contents first, then one transaction that numbers the version, names its files and moves the live pointer. */
import { Failure } from '../../../protocol/errors.ts';
import type { ArtifactId, UploadId, VersionId } from '../../../protocol/ids.ts';
import type { Tier } from '../../../protocol/schemas/account.ts';
import type { PublishRequest, Visibility } from '../../../protocol/schemas/artifact.ts';
import { tierOf } from '../accounts.ts';
import { changeTimeMs } from '../artifact-rows.ts';
import type { Queries, ServiceDeps } from '../deps.ts';
import { violates } from '../pg-errors.ts';
import { requireSlug } from '../slugs.ts';
import { decideVisibility, hashPassword, type VisibilityChange } from '../visibility.ts';
import { type Contents, holdObjects, type SizedFile, storeContents } from './contents.ts';
import { pageTitle } from './page-title.ts';
import { checkPath } from './paths.ts';
import { lockPublishing, type PublishAllowance, requireAllowance, spendOne } from './publish-limit.ts';
import { findTarget, type Publisher, type Target, takeTarget } from './target.ts';
import { deleteUpload } from './uploads.ts';
import { insertVersion } from './version-writes.ts';

export type PublishDeps = Pick<ServiceDeps, 'sql' | 'clock' | 'objects' | 'notices' | 'config'>;

export interface Published {
  readonly artifactId: ArtifactId;
  readonly versionId: VersionId;
  readonly versionNo: number;
  readonly slug: string;
  readonly visibility: Visibility;
  readonly held: boolean;
  readonly allowance: PublishAllowance;
}

/** What a publish brings: files with their sizes, and the contents that are not stored yet. */
export interface Cargo {
  readonly files: readonly SizedFile[];
  readonly contents: Contents;
  readonly uploadId: UploadId | null;
}

/** Refuses everything that can be refused before any content travels or is stored; answers what is left of the hour. */
export async function checkPublish(deps: PublishDeps, publisher: Publisher, body: PublishRequest): Promise<PublishAllowance> {
  if (body.slug !== undefined) requireSlug(body.slug);
  const tier = await tierOf(deps.sql, publisher.userId);
  const allowance = await requireAllowance(deps.sql, publisher.userId, deps.clock.nowMs());
  const target = await findTarget(deps.sql, publisher, body);
  decideVisibility({
    requested: body.visibility,
    newPasswordHash: body.password,
    current: target?.visibility ?? 'private',
    hasPassword: target?.has_password ?? false,
    tier,
  });
  return allowance;
}

/** The entry file's normalised path. Throws INVALID_REQUEST when it is not among the files. */
export function requireEntrypoint(entrypoint: string, files: readonly { readonly path: string }[]): string {
  const check = checkPath(entrypoint);
  if (check.ok && files.some((file) => file.path === check.path)) return check.path;
  throw new Failure('INVALID_REQUEST', {
    param: 'entrypoint',
    message: `entrypoint: "${entrypoint}" is not among the files.`,
    hint: 'Name the file that opens first, or add index.html.',
  });
}

/** Publishes. The answer is given after the commit. */
export async function publish(deps: PublishDeps, publisher: Publisher, body: PublishRequest, cargo: Cargo): Promise<Published> {
  const entrypoint = requireEntrypoint(body.entrypoint, cargo.files);
  const newPasswordHash = await hashPassword(body.password);
  const name = body.name ?? (await proposeName(deps, body, cargo, entrypoint));
  await storeContents(deps, cargo.contents);
  const { target, published } = await deps.sql
    .begin(async (tx) => {
      await lockPublishing(tx, publisher.userId);
      // The clock is read under the lock, so that the publishes of an account are dated in their order.
      const nowMs = deps.clock.nowMs();
      const allowance = await requireAllowance(tx, publisher.userId, nowMs);
      await requireObjects(tx, cargo.files);
      const tier = await tierOf(tx, publisher.userId);
      const target = await takeTarget(tx, publisher, body, name, nowMs);
      const plan: Plan = { body, entrypoint, files: cargo.files, tier, newPasswordHash, nowMs };
      const written = await writeVersion(tx, publisher, target, plan);
      if (cargo.uploadId !== null) await deleteUpload(tx, cargo.uploadId);
      return { target, published: { ...written, allowance: spendOne(allowance) } };
    })
    .catch((error) => {
      if (violates(error, 'artifact_slug')) throw new Failure('SLUG_TAKEN', { param: 'slug' });
      throw error;
    });
  deps.notices.emit({ artifactId: published.artifactId, slugs: [...new Set([target.row.slug, published.slug])], kind: 'changed' });
  return published;
}

interface Plan {
  readonly body: PublishRequest;
  readonly entrypoint: string;
  readonly files: readonly SizedFile[];
  readonly tier: Tier;
  readonly newPasswordHash: string | undefined;
  readonly nowMs: number;
}

async function writeVersion(tx: Queries, publisher: Publisher, target: Target, plan: Plan): Promise<Omit<Published, 'allowance'>> {
  const { row, isNew } = target;
  const { body, nowMs } = plan;
  const visibility = decideVisibility({
    requested: body.visibility,
    newPasswordHash: plan.newPasswordHash,
    current: row.visibility,
    hasPassword: row.has_password,
    tier: plan.tier,
  });
  const versionNo = row.last_version_no + 1;
  const versionId = await insertVersion(tx, {
    artifactId: row.id,
    versionNo,
    authorId: publisher.userId,
    entrypoint: plan.entrypoint,
    files: plan.files,
    label: body.label ?? null,
    note: body.note ?? null,
    draft: body.draft,
    nowMs,
  });
  // Whoever names the artifact by id may give it another slug; whoever names it by slug has said which one.
  const slug = body.artifact_id === undefined ? row.slug : (body.slug ?? row.slug);
  const change = {
    name: isNew ? row.name : (body.name ?? row.name),
    slug,
    // A draft does not go live, and a pinned artifact stays on its pin.
    liveVersionId: body.draft || row.pinned_version_id !== null ? row.live_version_id : versionId,
    versionNo,
    visibility,
    atMs: isNew ? nowMs : changeTimeMs(row, nowMs),
  };
  await updateArtifact(tx, row.id, change);
  return { artifactId: row.id, versionId, versionNo, slug, visibility: visibility.visibility, held: visibility.held };
}

interface ArtifactChange {
  readonly name: string;
  readonly slug: string;
  readonly liveVersionId: VersionId | null;
  readonly versionNo: number;
  readonly visibility: VisibilityChange;
  readonly atMs: number;
}

async function updateArtifact(tx: Queries, id: ArtifactId, change: ArtifactChange): Promise<void> {
  const { visibility, passwordHash } = change.visibility;
  await tx`
    update artifact set
      name = ${change.name}, slug = ${change.slug}, visibility = ${visibility},
      password_hash = case when ${passwordHash === undefined} then password_hash else ${passwordHash ?? null} end,
      live_version_id = ${change.liveVersionId}, last_version_no = ${change.versionNo}, updated_at_ms = ${change.atMs}
    where id = ${id}`;
}

/** Throws INVALID_REQUEST when a content that was there a moment ago has been swept with the last artifact that named it. */
async function requireObjects(tx: Queries, files: readonly SizedFile[]): Promise<void> {
  if (await holdObjects(tx, new Set(files.map((file) => file.sha256)))) return;
  throw new Failure('INVALID_REQUEST', {
    param: 'files_digest',
    message: 'files_digest: a content has just been removed with the artifact that held it.',
    hint: 'Publish again from the first phase.',
  });
}

/** For a new artifact without a name: the title of its page, else its slug. */
async function proposeName(deps: PublishDeps, body: PublishRequest, cargo: Cargo, entrypoint: string): Promise<string> {
  const entry = cargo.files.find((file) => file.path === entrypoint);
  const isPage = entry?.mime.startsWith('text/html') ?? false;
  if (entry !== undefined && isPage && body.artifact_id === undefined) {
    const title = pageTitle(cargo.contents.get(entry.sha256) ?? (await deps.objects.read(entry.sha256)));
    if (title !== null) return title;
  }
  return body.slug ?? 'Untitled';
}
