/** An exported zip as a new artifact: its files become version 1, its data is there when it appears. */

import { Failure } from '../../../protocol/errors.ts';
import type { ArtifactId } from '../../../protocol/ids.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Visibility } from '../../../protocol/schemas/artifact.ts';
import { parseJsonDocument } from '../../edge/json-document.ts';
import type { DocumentThread } from '../../storage/document-thread.ts';
import type { Spool } from '../../storage/spool.ts';
import { tierOf } from '../accounts.ts';
import type { Queries } from '../deps.ts';
import { holdObjects, requireSizes, type SizedFile, sha256Of, storeContents } from '../publish/contents.ts';
import { requirePaths } from '../publish/paths.ts';
import { type PublishDeps, type Published, requireEntrypoint } from '../publish/publish.ts';
import { lockPublishing, requireAllowance, spendOne } from '../publish/publish-limit.ts';
import type { Publisher } from '../publish/target.ts';
import { insertArtifact, insertVersion } from '../publish/version-writes.ts';
import { freeSlug, requireSlug, slugify } from '../slugs.ts';
import { decideVisibility, type VisibilityChange } from '../visibility.ts';
import { insertBlobs, storeBlobs } from './import-blobs.ts';
import { insertComments, readComments } from './import-comments.ts';
import { insertDocuments, readDocuments } from './import-documents.ts';
import { insertTables } from './import-tables.ts';
import { fileEntry, jsonEntry, MANIFEST_ENTRY, type Manifest, manifest } from './manifest.ts';
import { archiveFailure, ZipReader } from './zip-reader.ts';

const MANIFEST_BYTES_MAX = 8 * 1024 * 1024;
/** Values are written in statements of about this size. */
const INSERT_BYTES = 4 * 1024 * 1024;

interface ImportedKey {
  readonly key: string;
  readonly value: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly expiresAtMs: number | null;
}

interface Archive {
  readonly manifest: Manifest;
  readonly entrypoint: string;
  readonly files: readonly SizedFile[];
  readonly contents: ReadonlyMap<string, Uint8Array>;
  readonly keys: readonly ImportedKey[];
}

export interface ImportWish {
  readonly slug?: string | undefined;
  readonly name?: string | undefined;
}

export interface ImportDeps extends PublishDeps {
  readonly spool: Spool;
  readonly thread: Pick<DocumentThread, 'merge'>;
}

/** Throws INVALID_REQUEST or the code of a limit, naming the entry; SLUG_TAKEN for a slug asked for. `zip` is read once. */
export async function importArtifact(
  deps: ImportDeps,
  publisher: Publisher,
  zip: AsyncIterable<Uint8Array>,
  wish: ImportWish,
): Promise<Published> {
  if (wish.slug !== undefined) requireSlug(wish.slug);
  await requireAllowance(deps.sql, publisher.userId, deps.clock.nowMs());
  const file = await deps.spool.receive(zip);
  try {
    const reader = await ZipReader.open(file.path, file.sizeBytes);
    try {
      return await importZip(deps, publisher, reader, wish);
    } finally {
      reader.close();
    }
  } finally {
    await file.dispose();
  }
}

async function importZip(deps: ImportDeps, publisher: Publisher, zip: ZipReader, wish: ImportWish): Promise<Published> {
  const archive = await readArchive(zip);
  const comments = await readComments(zip, archive.manifest);
  const documents = await readDocuments(zip, deps.thread, archive.manifest);
  await storeContents(deps, archive.contents);
  await storeBlobs(deps, zip, archive.manifest.blobs);
  const published = await deps.sql.begin(async (tx) => {
    await lockPublishing(tx, publisher.userId);
    const nowMs = deps.clock.nowMs();
    const allowance = await requireAllowance(tx, publisher.userId, nowMs);
    const digests = new Set([...archive.contents.keys(), ...archive.manifest.blobs.map((blob) => blob.sha256)]);
    if (!(await holdObjects(tx, digests))) throw new Error('the sweep took contents stored a moment ago');
    const name = wish.name ?? archive.manifest.name;
    const { id, slug } = await makeArtifact(tx, publisher, wish.slug, archive.manifest.slug, name, nowMs);
    const visibility = decideVisibility({
      requested: importedVisibility(archive.manifest.visibility),
      newPasswordHash: undefined,
      current: 'private',
      hasPassword: false,
      tier: await tierOf(tx, publisher.userId),
    });
    const versionId = await insertVersion(tx, {
      artifactId: id,
      versionNo: 1,
      authorId: publisher.userId,
      entrypoint: archive.entrypoint,
      files: archive.files,
      ...archive.manifest.version,
      draft: false,
      nowMs,
    });
    const keys = archive.keys.filter((key) => key.expiresAtMs === null || key.expiresAtMs > nowMs);
    await insertKeys(tx, id, keys);
    await insertBlobs(tx, { id, createdBy: publisher.userId, seqBefore: keys.length }, archive.manifest.blobs);
    const seqBefore = keys.length + archive.manifest.blobs.length;
    const tablesSeq = await insertTables(tx, zip, { id, seqBefore }, archive.manifest.tables);
    const documentsSeq = await insertDocuments(tx, { id, seqBefore: tablesSeq }, documents);
    const into = { id, importer: publisher.userId, versionId, seqBefore: documentsSeq, nowMs };
    const seq = await insertComments(tx, into, archive.manifest, comments);
    await furnish(tx, id, archive.manifest, visibility, versionId, seq);
    return {
      artifactId: id,
      versionId,
      versionNo: 1,
      slug,
      visibility: visibility.visibility,
      held: visibility.held,
      allowance: spendOne(allowance),
    };
  });
  deps.notices.emit({ artifactId: published.artifactId, slugs: [published.slug], kind: 'replaced' });
  return published;
}

/** A password is not exported and a workspace is another's: both come back private, for the new owner to open. */
function importedVisibility(exported: Visibility): Visibility {
  return exported === 'public' ? 'public' : 'private';
}

async function readArchive(zip: ZipReader): Promise<Archive> {
  const said = await readManifest(zip);
  const paths = requirePaths(
    said.files.map((file) => file.path),
    'files',
  );
  const contents = new Map<string, Uint8Array>();
  const files: SizedFile[] = [];
  for (const [index, file] of said.files.entries()) {
    const name = fileEntry(file.path);
    const content = await zip.read(name, LIMITS.versionFileBytesMax, () => tooLarge(name));
    await requireDigest(name, content, file.sha256);
    contents.set(file.sha256, content);
    files.push({ path: paths[index] ?? file.path, mime: file.mime, sha256: file.sha256, sizeBytes: content.length });
    requireSizes(files, 'files');
  }
  return { manifest: said, entrypoint: requireEntrypoint(said.entrypoint, files), files, contents, keys: await readKeys(zip, said) };
}

function tooLarge(entry: string): Failure {
  return new Failure('FILE_TOO_LARGE', { param: entry, message: `${entry}: has more than ${LIMITS.versionFileBytesMax} bytes.` });
}

async function readManifest(zip: ZipReader): Promise<Manifest> {
  const bytes = await zip.read(MANIFEST_ENTRY, MANIFEST_BYTES_MAX, () => archiveFailure(MANIFEST_ENTRY, 'is too large'));
  const parsed = manifest.safeParse(readJson(MANIFEST_ENTRY, bytes).value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => ({ path: `${MANIFEST_ENTRY}.${issue.path.join('.')}`, message: issue.message }));
  const first = issues[0];
  throw new Failure('INVALID_REQUEST', { param: MANIFEST_ENTRY, message: `${first?.path}: ${first?.message}`, issues });
}

async function readKeys(zip: ZipReader, said: Manifest): Promise<ImportedKey[]> {
  if (said.json_keys.length > LIMITS.jsonKeysMax) throw new Failure('KEY_LIMIT_EXCEEDED', { param: MANIFEST_ENTRY });
  const keys = new Map<string, ImportedKey>();
  let totalBytes = 0;
  for (const key of said.json_keys) {
    const name = jsonEntry(key.key);
    if (keys.has(key.key)) throw archiveFailure(MANIFEST_ENTRY, `names the key ${key.key} twice`);
    const bytes = await zip.read(name, LIMITS.jsonValueBytesMax, () => new Failure('VALUE_TOO_LARGE', { param: name }));
    await requireDigest(name, bytes, key.sha256);
    totalBytes += bytes.length;
    if (totalBytes > LIMITS.importDataBytesMax) throw archiveFailure(name, `is past ${LIMITS.importDataBytesMax} bytes of data`);
    keys.set(key.key, {
      key: key.key,
      value: readJson(name, bytes).text,
      createdAtMs: key.created_at_ms,
      updatedAtMs: key.updated_at_ms,
      expiresAtMs: key.expires_at_ms,
    });
  }
  return [...keys.values()];
}

function readJson(name: string, bytes: Buffer) {
  try {
    return parseJsonDocument(bytes);
  } catch (error) {
    if (error instanceof Failure) throw archiveFailure(name, error.message);
    throw error;
  }
}

async function requireDigest(name: string, bytes: Buffer, sha256: string): Promise<void> {
  if ((await sha256Of(bytes)) !== sha256) throw archiveFailure(name, 'is not what the manifest says; the archive is damaged');
}

async function makeArtifact(
  tx: Queries,
  publisher: Publisher,
  wished: string | undefined,
  exported: string,
  name: string,
  nowMs: number,
): Promise<{ id: ArtifactId; slug: string }> {
  // An export is often imported where the original lives: without a wish any free slug like it will do.
  const slug = wished ?? (await freeSlug(tx, slugify(exported)));
  const id = await insertArtifact(tx, { ownerId: publisher.userId, name, slug, nowMs });
  if (id === null) throw new Failure('SLUG_TAKEN', { param: 'slug' });
  return { id, slug };
}

async function furnish(
  tx: Queries,
  id: ArtifactId,
  said: Manifest,
  visibility: VisibilityChange,
  versionId: string,
  seq: number,
): Promise<void> {
  await tx`
    update artifact set visibility = ${visibility.visibility},
      allow_anon_write = ${said.allow_anon_write}, allow_anon_email = ${said.allow_anon_email},
      allow_anon_agent = ${said.allow_anon_agent}, allow_anon_collab = ${said.allow_anon_collab},
      social_title = ${said.social_title}, social_description = ${said.social_description}, social_image_url = ${said.social_image_url},
      live_version_id = ${versionId}, last_version_no = 1, seq = ${seq}
    where id = ${id}`;
}

/** Written as the actor would have: each key is one change, numbered in order. Nobody can have loaded the actor yet. */
async function insertKeys(tx: Queries, id: ArtifactId, keys: readonly ImportedKey[]): Promise<void> {
  let batch: (ImportedKey & { seq: number })[] = [];
  let batchBytes = 0;
  for (const [index, key] of keys.entries()) {
    batch.push({ ...key, seq: index + 1 });
    batchBytes += key.value.length;
    if (batchBytes < INSERT_BYTES && index < keys.length - 1) continue;
    await insertBatch(tx, id, batch);
    batch = [];
    batchBytes = 0;
  }
}

async function insertBatch(tx: Queries, id: ArtifactId, batch: readonly (ImportedKey & { readonly seq: number })[]): Promise<void> {
  await tx`
    insert into json_key (artifact_id, key, value, seq, created_at_ms, updated_at_ms, expires_at_ms)
    select ${id}, key, value, seq, created_at_ms, updated_at_ms, expires_at_ms
    from unnest(
      ${batch.map((row) => row.key)}::text[], ${batch.map((row) => row.value)}::text[], ${batch.map((row) => row.seq)}::bigint[],
      ${batch.map((row) => row.createdAtMs)}::bigint[], ${batch.map((row) => row.updatedAtMs)}::bigint[],
      ${batch.map((row) => row.expiresAtMs)}::bigint[]
    ) as u (key, value, seq, created_at_ms, updated_at_ms, expires_at_ms)`;
}
