/** One publish: contents first, then one transaction that numbers the version, names its files and moves the live pointer. */
import type { Visibility } from '../../../../protocol/artifacts/artifacts.ts';
import type { PublishRequest } from '../../../../protocol/artifacts/publish.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId, UploadId, VersionId } from '../../../../protocol/core/ids.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import type { Spent } from '../../../edge/limits.ts';
import { violates } from '../../../storage/pg-errors.ts';
import { pipelined } from '../../../storage/sql.ts';
import { settleWish } from '../../business/tiers/wishes.ts';
import type { LimiterDeps, Queries, ServiceDeps } from '../../deps.ts';
import { tierIn, tierOf } from '../../people/accounts/rows.ts';
import { addRelease, countVersion, countVersions, type Holder, newContentBytes } from '../../people/usage/rows.ts';
import { requireVersionRoom } from '../../people/usage/rules.ts';
import { checkRoom, type Held, settle, whileReserved } from '../../people/usage/storage.ts';
import { shareNew } from '../../sharing/grants/granting.ts';
import { holdFolder } from '../../workspaces/folders/filing.ts';
import { type PublishRule, publishRuleFor, requireNotProhibited } from '../../workspaces/publish-policy/rules.ts';
import type { WorkspaceDirectory } from '../../workspaces/workspaces/directory.ts';
import { auditArtifact } from '../artifacts/audit.ts';
import { hashPassword } from '../artifacts/password.ts';
import { type ArtifactRow, holderOfRow, writePublished } from '../artifacts/rows.ts';
import { changeTimeMs, decideVisibility } from '../artifacts/rules.ts';
import { requireSlug } from '../artifacts/slugs.ts';
import { insertVersion } from '../versions/rows.ts';
import { type Contents, storeContents } from './contents.ts';
import { pageTitle } from './page-title.ts';
import { requireAllowance, spendPublish } from './publish-limit.ts';
import { deleteUpload, holdObjects, lockPublishing } from './rows.ts';
import { type Place, requireEntrypoint, type SizedFile, visibilityIn } from './rules.ts';
import { findTarget, holderOfNew, type Publisher, placeIn, placeOf, type Target, takeTarget } from './target.ts';

export type PublishDeps = Pick<ServiceDeps, 'sql' | 'clock' | 'objects' | 'bus' | 'config'> &
  LimiterDeps & { readonly workspaces: WorkspaceDirectory };

export interface Published {
  readonly artifactId: ArtifactId;
  readonly versionId: VersionId;
  readonly versionNo: number;
  readonly slug: string;
  readonly visibility: Visibility;
  readonly held: boolean;
  /** For approval, before it goes live. */
  readonly waits: boolean;
  /** Null where none are spent. */
  readonly allowance: Spent | null;
}

export interface Written {
  /** The artifact as it was before, locked. */
  readonly row: ArtifactRow;
  readonly versionId: VersionId;
  readonly versionNo: number;
  readonly waits: boolean;
  readonly nowMs: number;
}

/** What else belongs to a publish, written in its transaction. What it throws undoes the publish. */
export type WriteBeside = (tx: Queries, written: Written) => Promise<void>;

/** The files of a publish with their sizes, and the contents that are not stored yet. */
export interface Cargo {
  readonly files: readonly SizedFile[];
  readonly contents: Contents;
  readonly uploadId: UploadId | null;
}

interface Checked {
  /** What is left of the hour's publishes; null where none are spent. */
  readonly allowance: Spent | null;
  /** Null for a new artifact. */
  readonly target: ArtifactRow | null;
  readonly place: Place;
}

/** Refuses whatever can be refused before contents are sent or stored. */
export async function checkPublish(deps: PublishDeps, publisher: Publisher, body: PublishRequest): Promise<Checked> {
  if (body.slug !== undefined) requireSlug(body.slug);
  const allowance = publisher.isUnmetered ? null : await requireAllowance(deps, publisher.principal);
  const place = await placeOf(deps, publisher, body);
  if (place.grant !== undefined) requireDefaults(body);
  const target = await findTarget(deps.sql, publisher, body, place);
  const workspaceId = target === null ? place.workspaceId : target.workspace_id;
  requireNotProhibited(await publishRuleFor(deps.sql, workspaceId, publisher.principal), body.draft);
  decideVisibility({
    requested: body.visibility ?? (target === null ? visibilityIn(place.folder) : undefined),
    newPasswordHash: body.password,
    current: target?.visibility ?? 'private',
    hasPassword: target?.has_password ?? false,
    tier: await tierIn(deps.sql, publisher.userId, workspaceId),
    inWorkspace: workspaceId !== null,
  });
  if (target === null) await checkRoom(deps.sql, holderOfNew(publisher, place), { bytes: 0, artifacts: 1 }, deps.clock.nowMs());
  else await checkVersionRoom(deps.sql, target, body.draft);
  return { allowance, target, place };
}

/** Throws FORBIDDEN: who sees what is published from outside is for the workspace to say. */
function requireDefaults({ visibility, password }: PublishRequest): void {
  if (visibility === undefined && password === undefined) return;
  const message = 'visibility: in a folder that is shared with you it follows the folder.';
  throw new Failure('FORBIDDEN', { param: 'visibility', message, hint: 'Leave it out.' });
}

/** Throws ACCOUNT_STORAGE_FULL. */
async function checkVersionRoom(sql: Queries, row: ArtifactRow, draft: boolean): Promise<void> {
  const { owner_id, workspace_id } = row;
  const tier = await (owner_id === null ? tierIn(sql, null, workspace_id) : tierOf(sql, owner_id));
  requireVersionRoom(tier, await countVersions(sql, row.id), draft);
}

/** Publishes, and returns after the commit. */
export async function publish(
  deps: PublishDeps,
  publisher: Publisher,
  body: PublishRequest,
  cargo: Cargo,
  beside?: WriteBeside,
): Promise<Published> {
  const { target: expected, place } = await checkPublish(deps, publisher, body);
  const entrypoint = requireEntrypoint(body.entrypoint, cargo.files);
  const newPasswordHash = await hashPassword(body.password);
  const name = body.name ?? (await proposeName(deps, body, cargo, entrypoint));
  const holder = expected === null ? holderOfNew(publisher, place) : holderOfRow(expected);
  const wish = { body, place, entrypoint, name, newPasswordHash, beside };
  const { target, published, sharedWith } = await whileReserved(deps, holder, await bytesToStore(deps.sql, expected, cargo), (held) =>
    storeAndWrite(deps, publisher, cargo, held, wish),
  );
  deps.bus.tell({ artifactId: published.artifactId, slugs: [...new Set([target.row.slug, published.slug])], kind: 'artifact.changed' });
  if (sharedWith.length > 0) deps.bus.tell({ kind: 'person.changed', userIds: sharedWith });
  return published;
}

interface Wish {
  readonly body: PublishRequest;
  readonly place: Place;
  readonly entrypoint: string;
  /** Of a new artifact. */
  readonly name: string;
  readonly newPasswordHash: string | undefined;
  readonly beside: WriteBeside | undefined;
}

interface Plan extends Wish {
  readonly files: readonly SizedFile[];
  readonly tier: Tier;
  readonly rule: PublishRule;
  readonly nowMs: number;
}

/** What storing the contents that came with the request can add. Contents of an upload have been counted when they came. */
async function bytesToStore(sql: Queries, target: ArtifactRow | null, { files, contents }: Cargo): Promise<number> {
  if (contents.size === 0) return 0;
  if (target !== null) return newContentBytes(sql, target.id, files);
  let bytes = 0;
  for (const content of contents.values()) bytes += content.length;
  return bytes;
}

/** Stores the contents, then writes the version in one transaction. `held`: what is reserved for them. */
async function storeAndWrite(deps: PublishDeps, publisher: Publisher, cargo: Cargo, held: Held, wish: Wish) {
  const { body, name } = wish;
  await storeContents(deps, cargo.contents);
  if (publisher.asker?.refusal !== undefined) throw publisher.asker.refusal;
  return deps.sql
    .begin(async (tx) => {
      const locked = lockPublishing(tx, publisher.id);
      const [, , place] = await pipelined([locked, requireObjects(tx, cargo.files), holdPlace(tx, publisher, wish.place)]);
      // The clock is read under the lock, so that the publishes of an account are dated in their order.
      const nowMs = deps.clock.nowMs();
      const allowance = publisher.isUnmetered ? null : await spendPublish(tx, deps, publisher.principal);
      const target = await takeTarget(tx, publisher, body, place, { name, nowMs });
      if (!target.isNew) await checkVersionRoom(tx, target.row, body.draft);
      const [tier, rule] = await pipelined([
        tierIn(tx, publisher.userId, target.row.workspace_id),
        publishRuleFor(tx, target.row.workspace_id, publisher.principal),
        Promise.resolve(publisher.record?.(tx, target.row.id)),
      ]);
      const written = await writeVersion(tx, publisher, target, { ...wish, place, files: cargo.files, tier, rule, nowMs });
      await wish.beside?.(tx, { row: target.row, ...written, nowMs });
      const uploadBytes = cargo.uploadId === null ? 0 : await deleteUpload(tx, cargo.uploadId);
      await countStored(tx, { target, publisher: publisher.holder, held, files: cargo.files, uploadBytes, nowMs });
      const sharedWith = place.grant !== undefined && target.isNew ? await shareNew(tx, place.grant, target.row, publisher, nowMs) : [];
      return { target, published: { ...written, allowance }, sharedWith };
    })
    .catch((error) => {
      if (violates(error, 'artifact_slug')) throw new Failure('SLUG_TAKEN', { param: 'slug' });
      throw error;
    });
}

/** The folder as it is now, kept until the transaction ends. Throws FOLDER_NOT_FOUND. */
export async function holdPlace(tx: Queries, { principal }: Publisher, { workspaceId, folder }: Place): Promise<Place> {
  if (folder === null) return { workspaceId, folder };
  const scope = workspaceId === null ? ('personal' as const) : { workspaceId };
  return placeIn(await holdFolder(tx, principal, scope, folder.id, folder), principal);
}

interface Stored {
  readonly target: Target;
  readonly publisher: Holder;
  readonly held: Held;
  readonly files: readonly SizedFile[];
  /** What the upload that is published counted. */
  readonly uploadBytes: number;
  readonly nowMs: number;
}

/** The version counts for whom the artifact counts, and the upload no longer for who sent it. Last, because others wait for the counters. */
async function countStored(tx: Queries, { target, publisher, held, files, uploadBytes, nowMs }: Stored): Promise<void> {
  const bytes = await countVersion(tx, target.row.id, files);
  const holder = holderOfRow(target.row);
  const isOwn = holder === publisher;
  if (!isOwn) await addRelease(tx, publisher, uploadBytes, nowMs);
  await settle(tx, holder, held, { bytes: isOwn ? bytes - uploadBytes : bytes, artifacts: target.isNew ? 1 : 0 }, nowMs);
}

async function writeVersion(tx: Queries, publisher: Publisher, target: Target, plan: Plan): Promise<Omit<Published, 'allowance'>> {
  const { row, isNew } = target;
  const { body, nowMs, place, rule } = plan;
  requireNotProhibited(rule, body.draft);
  const waits = rule === 'waits' && !body.draft;
  const visibility = decideVisibility({
    requested: body.visibility ?? (isNew ? visibilityIn(place.folder) : undefined),
    newPasswordHash: plan.newPasswordHash,
    current: row.visibility,
    hasPassword: row.has_password,
    tier: plan.tier,
    inWorkspace: row.workspace_id !== null,
  });
  const versionNo = row.last_version_no + 1;
  const versionId = await insertVersion(tx, {
    artifactId: row.id,
    versionNo,
    authorId: publisher.userId,
    agentId: publisher.agentId,
    entrypoint: plan.entrypoint,
    files: plan.files,
    label: body.label ?? null,
    note: body.note ?? null,
    draft: body.draft,
    waits,
    nowMs,
  });
  // `slug` renames an artifact that is named by id; otherwise `slug` is what names it.
  const slug = body.artifact_id === undefined ? row.slug : (body.slug ?? row.slug);
  const change = {
    name: isNew ? row.name : (body.name ?? row.name),
    slug,
    // A draft does not go live, nor does what waits for approval, and a pinned artifact stays on its pin.
    liveVersionId: body.draft || waits || row.pinned_version_id !== null ? row.live_version_id : versionId,
    versionNo,
    visibility,
    folderId: place.folder?.id ?? row.folder_id,
    atMs: isNew ? nowMs : changeTimeMs(row, nowMs),
  };
  const detail = { version_id: versionId, version_no: versionNo, draft: body.draft, waits, visibility: visibility.visibility };
  const { asker } = publisher;
  const named = { ...row, name: change.name };
  await pipelined([
    writePublished(tx, row.id, change),
    // With a new artifact no other choice waits.
    !isNew || visibility.held ? settleWish(tx, row.id, visibility, publisher.principal, nowMs) : Promise.resolve(),
    asker === undefined ? Promise.resolve() : auditArtifact(tx, asker, named, isNew ? 'artifact.create' : 'artifact.publish', detail),
  ]);
  return { artifactId: row.id, versionId, versionNo, slug, visibility: visibility.visibility, held: visibility.held, waits };
}

/** Throws INVALID_REQUEST when the sweep has removed a content since it was found, with the last artifact that named it. */
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
