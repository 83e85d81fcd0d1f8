/** An artifact as a zip: the files of its live version and its data, so that an import elsewhere restores both byte for byte. */
import { createHash } from 'node:crypto';
import type { ArtifactId } from '../../../protocol/ids.ts';
import type { ObjectStore } from '../../storage/objects.ts';
import type { Sql } from '../../storage/sql.ts';
import { type ArtifactRow, requireArtifact } from '../artifact-rows.ts';
import type { Queries, ServiceDeps } from '../deps.ts';
import { type FileRow, listFiles, requireVersion, type VersionRow } from '../version-rows.ts';
import { type ExportedTable, readTables, tableEntries } from './export-tables.ts';
import { blobEntry, FORMAT, fileEntry, jsonEntry, MANIFEST_ENTRY, type Manifest } from './manifest.ts';
import { writeZip, type ZipEntry } from './zip-writer.ts';

interface KeyRow {
  readonly key: string;
  readonly value: string;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly expires_at_ms: number | null;
}

type BlobRow = Manifest['blobs'][number];

/** The name to save it under, and the zip in pieces. Throws ARTIFACT_NOT_FOUND. */
export async function exportArtifact(
  deps: Pick<ServiceDeps, 'sql' | 'clock' | 'objects'>,
  id: ArtifactId,
): Promise<{ readonly fileName: string; readonly pieces: AsyncGenerator<Uint8Array> }> {
  const { sql, clock, objects } = deps;
  const nowMs = clock.nowMs();
  const row = await requireArtifact(sql, id, null);
  // Nothing may be live yet: then the newest draft is what there is.
  const version = await requireVersion(sql, id, row.live_version_id ?? row.last_version_no, true);
  const files = await listFiles(sql, version.id);
  const [keys, blobs, tables] = await Promise.all([readKeys(sql, id, nowMs), readBlobs(sql, id), readTables(sql, id)]);
  const contents = { row, version, files, keys, blobs, tables };
  return { fileName: `${row.slug}.zip`, pieces: writeZip(entriesOf(sql, objects, contents), nowMs) };
}

interface Contents {
  readonly row: ArtifactRow;
  readonly version: VersionRow;
  readonly files: readonly FileRow[];
  readonly keys: readonly KeyRow[];
  readonly blobs: readonly BlobRow[];
  readonly tables: readonly ExportedTable[];
}

async function* entriesOf(sql: Sql, objects: ObjectStore, contents: Contents): AsyncGenerator<ZipEntry> {
  yield { name: MANIFEST_ENTRY, bytes: Buffer.from(JSON.stringify(manifestOf(contents), null, 2)) };
  for (const file of contents.files) yield { name: fileEntry(file.path), bytes: await objects.read(file.sha256.toString('hex')) };
  for (const key of contents.keys) yield { name: jsonEntry(key.key), bytes: Buffer.from(key.value) };
  for (const table of contents.tables) yield* tableEntries(sql, contents.row.id, table);
  const bytesOf = new Map(contents.blobs.map((blob) => [blob.sha256, blob.size_bytes]));
  for (const [sha256, sizeBytes] of bytesOf) yield { name: blobEntry(sha256), chunks: objects.readRange(sha256, 0, sizeBytes - 1) };
}

function manifestOf({ row, version, files, keys, blobs, tables }: Contents): Manifest {
  return {
    format: FORMAT,
    format_version: 1,
    name: row.name,
    slug: row.slug,
    visibility: row.visibility,
    entrypoint: version.entrypoint,
    allow_anon_write: row.allow_anon_write,
    allow_anon_email: row.allow_anon_email,
    allow_anon_agent: row.allow_anon_agent,
    allow_anon_collab: row.allow_anon_collab,
    social_title: row.social_title,
    social_description: row.social_description,
    social_image_url: row.social_image_url,
    version: { label: version.label, note: version.note },
    files: files.map((file) => ({ path: file.path, mime: file.mime, sha256: file.sha256.toString('hex') })),
    json_keys: keys.map((key) => ({
      key: key.key,
      sha256: createHash('sha256').update(key.value).digest('hex'),
      created_at_ms: key.created_at_ms,
      updated_at_ms: key.updated_at_ms,
      expires_at_ms: key.expires_at_ms,
    })),
    blobs: [...blobs],
    tables: [...tables],
  };
}

/**
 * One statement, so that all keys are of one moment. What has been acknowledged is in it: the output gate answers a write
 * after its commit.
 */
function readKeys(sql: Queries, id: ArtifactId, nowMs: number): Promise<KeyRow[]> {
  return sql<KeyRow[]>`
    select key, value, created_at_ms, updated_at_ms, expires_at_ms from json_key
    where artifact_id = ${id} and (expires_at_ms is null or expires_at_ms > ${nowMs})
    order by key`;
}

function readBlobs(sql: Queries, id: ArtifactId): Promise<BlobRow[]> {
  return sql<BlobRow[]>`
    select id, filename, mime_type as mime, encode(sha256, 'hex') as sha256, size_bytes, created_at_ms from blob
    where artifact_id = ${id} order by created_at_ms, id`;
}
