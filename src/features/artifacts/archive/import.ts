/** Imports an exported zip as a new artifact: its files become version 1, and its data appears together with them. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId, UserId } from '../../../../protocol/core/ids.ts';
import { readInput } from '../../../../protocol/core/issues.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { parseJsonDocument } from '../../../edge/json-document.ts';
import type { DocumentThread } from '../../../storage/document-thread.ts';
import type { Spool } from '../../../storage/spool.ts';
import { settleWish } from '../../business/tiers/wishes.ts';
import type { Queries } from '../../deps.ts';
import { tierIn } from '../../people/accounts/rows.ts';
import { countVersion } from '../../people/usage/rows.ts';
import { checkRoom, type Held, settle, whileReserved } from '../../people/usage/storage.ts';
import { insertArtifact, writeImported } from '../artifacts/rows.ts';
import { decideVisibility } from '../artifacts/rules.ts';
import { freeSlug, requireSlug, slugify } from '../artifacts/slugs.ts';
import { sha256Of, storeContents } from '../publish/contents.ts';
import { requirePaths } from '../publish/paths.ts';
import { holdPlace, type PublishDeps, type Published } from '../publish/publish.ts';
import { requireAllowance, spendPublish } from '../publish/publish-limit.ts';
import { holdObjects, lockPublishing } from '../publish/rows.ts';
import { type Place, requireEntrypoint, requireSizes, type SizedFile } from '../publish/rules.ts';
import { newIn, type PlaceWish, type Publisher, placeOf } from '../publish/target.ts';
import { insertVersion } from '../versions/rows.ts';
import { storeBlobs, storedBlobs } from './import-blobs.ts';
import { importComments, readComments } from './import-comments.ts';
import { importDatasets, type StoredDatasets, storeDatasets } from './import-datasets.ts';
import { importDocuments, readDocuments } from './import-documents.ts';
import { importTables } from './import-tables.ts';
import { fileEntry, jsonEntry, MANIFEST_ENTRY, type Manifest, manifest } from './manifest.ts';
import { type ImportedKey, insertBlobs, insertKeys } from './rows.ts';
import { importedVisibility } from './rules.ts';
import { archiveFailure, ZipReader } from './zip-reader.ts';

const MANIFEST_BYTES_MAX = 8 * 1024 * 1024;
/** Values are written in statements of about this size. */
const INSERT_BYTES = 4 * 1024 * 1024;

interface Archive {
  readonly manifest: Manifest;
  readonly entrypoint: string;
  readonly files: readonly SizedFile[];
  readonly contents: ReadonlyMap<string, Uint8Array>;
  readonly keys: readonly ImportedKey[];
}

/** Agents do not import: comments and blobs have people as their makers. */
type Importer = Publisher & { readonly userId: UserId };

export interface ImportWish extends PlaceWish {
  readonly slug?: string | undefined;
  readonly name?: string | undefined;
}

interface PlacedWish extends ImportWish {
  readonly place: Place;
}

export interface ImportDeps extends PublishDeps {
  readonly spool: Spool;
  readonly thread: Pick<DocumentThread, 'merge'>;
}

/** Throws INVALID_REQUEST or the code of a limit, naming the entry; SLUG_TAKEN when the requested slug is taken. Reads `zip` once. */
export async function importArtifact(
  deps: ImportDeps,
  publisher: Importer,
  zip: AsyncIterable<Uint8Array>,
  wish: ImportWish,
): Promise<Published> {
  if (wish.slug !== undefined) requireSlug(wish.slug);
  await requireAllowance(deps, publisher.principal);
  const place = await placeOf(deps, publisher, wish);
  if (place.grant !== undefined) throw new Failure('FOLDER_NOT_FOUND', { param: 'folder_id' });
  await checkRoom(deps.sql, publisher.userId, { bytes: 0, artifacts: 1 }, deps.clock.nowMs());
  const file = await deps.spool.receive(zip);
  try {
    const reader = await ZipReader.open(file.path, file.sizeBytes);
    try {
      return await importZip(deps, publisher, reader, { ...wish, place });
    } finally {
      reader.close();
    }
  } finally {
    await file.dispose();
  }
}

async function importZip(deps: ImportDeps, publisher: Importer, zip: ZipReader, wish: PlacedWish): Promise<Published> {
  const archive = await readArchive(zip);
  const comments = await readComments(zip, archive.manifest);
  const documents = await readDocuments(zip, deps.thread, archive.manifest);
  const blobBytes = archive.manifest.blobs.reduce((sum, blob) => sum + blob.size_bytes, 0);
  let bytes = blobBytes;
  bytes += archive.manifest.datasets.reduce((sum, dataset) => sum + dataset.size_bytes, 0);
  for (const content of archive.contents.values()) bytes += content.length;
  const published = await whileReserved(deps, publisher.userId, bytes, async (held) => {
    await storeContents(deps, archive.contents);
    await storeBlobs(deps, zip, archive.manifest.blobs);
    const datasets = await storeDatasets(deps, zip, archive.manifest.datasets);
    if (publisher.asker?.refusal !== undefined) throw publisher.asker.refusal;
    return writeArchive(deps, publisher, { archive, comments, documents, datasets, zip, wish, held, blobBytes });
  });
  deps.bus.tell({ artifactId: published.artifactId, slugs: [published.slug], kind: 'artifact.replaced' });
  return published;
}

interface ReadArchive {
  readonly archive: Archive;
  readonly comments: Awaited<ReturnType<typeof readComments>>;
  readonly documents: Awaited<ReturnType<typeof readDocuments>>;
  readonly datasets: StoredDatasets;
  readonly zip: ZipReader;
  readonly wish: PlacedWish;
  /** What is reserved for its contents. */
  readonly held: Held;
  readonly blobBytes: number;
}

async function writeArchive(deps: ImportDeps, publisher: Importer, read: ReadArchive): Promise<Published> {
  const { archive, comments, documents, datasets, zip, wish } = read;
  return deps.sql.begin(async (tx) => {
    await lockPublishing(tx, publisher.userId);
    const nowMs = deps.clock.nowMs();
    const allowance = await spendPublish(tx, deps, publisher.principal);
    const stored = [...archive.manifest.blobs, ...datasets];
    const digests = new Set([...archive.contents.keys(), ...stored.map(({ sha256 }) => sha256)]);
    if (!(await holdObjects(tx, digests))) throw new Error('the sweep removed contents that were just stored');
    const name = wish.name ?? archive.manifest.name;
    const place = await holdPlace(tx, publisher, wish.place);
    const { id, slug } = await makeArtifact(tx, publisher, place, { wished: wish.slug, exported: archive.manifest.slug, name, nowMs });
    const visibility = decideVisibility({
      requested: importedVisibility(archive.manifest.visibility, place.workspaceId !== null),
      newPasswordHash: undefined,
      current: 'private',
      hasPassword: false,
      tier: await tierIn(tx, publisher.userId, place.workspaceId),
      inWorkspace: place.workspaceId !== null,
    });
    const versionId = await insertVersion(tx, {
      artifactId: id,
      versionNo: 1,
      authorId: publisher.userId,
      agentId: null,
      entrypoint: archive.entrypoint,
      files: archive.files,
      ...archive.manifest.version,
      draft: false,
      waits: false,
      nowMs,
    });
    const keys = archive.keys.filter((key) => key.expiresAtMs === null || key.expiresAtMs > nowMs);
    await importKeys(tx, id, keys);
    await insertBlobs(tx, { id, createdBy: publisher.userId, seqBefore: keys.length }, storedBlobs(archive.manifest));
    const seqBefore = keys.length + archive.manifest.blobs.length;
    const tablesSeq = await importTables(tx, zip, { id, seqBefore }, archive.manifest.tables);
    const documentsSeq = await importDocuments(tx, { id, seqBefore: tablesSeq }, documents);
    const datasetBytes = await importDatasets(tx, id, datasets);
    const into = { id, importer: publisher.userId, versionId, seqBefore: documentsSeq, nowMs };
    const seq = await importComments(tx, into, archive.manifest, comments);
    await writeImported(tx, id, { ...archive.manifest, visibility: visibility.visibility, versionId, seq });
    await settleWish(tx, id, visibility, publisher.principal, nowMs);
    // Last, because others wait for the account's counters.
    const added = { bytes: (await countVersion(tx, id, archive.files)) + read.blobBytes + datasetBytes, artifacts: 1 };
    await settle(tx, publisher.userId, read.held, added, nowMs);
    return {
      artifactId: id,
      versionId,
      versionNo: 1,
      slug,
      visibility: visibility.visibility,
      waits: false,
      held: visibility.held,
      allowance,
    };
  });
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
  const { value, issues: found } = readInput(manifest, readJson(MANIFEST_ENTRY, bytes).value);
  if (found === undefined) return value;
  const issues = found.map(({ path, message }) => ({ path: `${MANIFEST_ENTRY}.${path}`, message }));
  const [first] = issues;
  throw new Failure('INVALID_REQUEST', { param: MANIFEST_ENTRY, message: `${first?.path}: ${first?.message}.`, issues });
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
  publisher: Importer,
  place: Place,
  { wished, exported, name, nowMs }: { wished: string | undefined; exported: string; name: string; nowMs: number },
): Promise<{ id: ArtifactId; slug: string }> {
  // An export is often imported beside its original: without a requested slug any free one like the exported is taken.
  const slug = wished ?? (await freeSlug(tx, slugify(exported)));
  const id = await insertArtifact(tx, newIn(publisher, place, { name, slug, nowMs }));
  if (id === null) throw new Failure('SLUG_TAKEN', { param: 'slug' });
  return { id, slug };
}

/** Each key is one change, numbered in order from 1. */
async function importKeys(tx: Queries, id: ArtifactId, keys: readonly ImportedKey[]): Promise<void> {
  let batch: (ImportedKey & { seq: number })[] = [];
  let batchBytes = 0;
  for (const [index, key] of keys.entries()) {
    batch.push({ ...key, seq: index + 1 });
    batchBytes += key.value.length;
    if (batchBytes < INSERT_BYTES && index < keys.length - 1) continue;
    await insertKeys(tx, id, batch);
    batch = [];
    batchBytes = 0;
  }
}
