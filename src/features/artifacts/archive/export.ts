/** Exports an artifact as a zip: the files of its live version and its data, which an import restores byte for byte. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { DocumentThread } from '../../../storage/document-thread.ts';
import type { Spool } from '../../../storage/spool.ts';
import type { ServiceDeps } from '../../deps.ts';
import { tableEntries } from './export-tables.ts';
import {
  blobEntry,
  COMMENTS_ENTRY,
  datasetEntry,
  documentEntry,
  FORMAT,
  fileEntry,
  jsonEntry,
  MANIFEST_ENTRY,
  type Manifest,
} from './manifest.ts';
import { exportedVersion, type Snapshot, takeSnapshot } from './snapshot.ts';
import { writeZip, type ZipEntry } from './zip-writer.ts';

type ExportDeps = Pick<ServiceDeps, 'sql' | 'clock' | 'objects'> & {
  readonly spool: Spool;
  readonly thread: Pick<DocumentThread, 'merge'>;
};

/** Exports in progress, each with a snapshot on disk. More are refused with UNAVAILABLE. */
const OPEN_MAX = 16;
/** Snapshots taken at once: each holds a connection of the pool. */
const SNAPSHOTS_AT_ONCE_MAX = 2;

export class Exports {
  readonly #deps: ExportDeps;
  #open = 0;
  #taking = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(deps: ExportDeps) {
    this.#deps = deps;
  }

  /** The file name and the zip in pieces; the snapshot is taken when the first piece is read. Throws ARTIFACT_NOT_FOUND, UNAVAILABLE. */
  async begin(id: ArtifactId): Promise<{ readonly fileName: string; readonly pieces: AsyncGenerator<Uint8Array> }> {
    if (this.#open >= OPEN_MAX) throw new Failure('UNAVAILABLE', { message: 'Too many exports at once.', retryAfterS: 10 });
    const { row } = await exportedVersion(this.#deps.sql, id);
    return { fileName: `${row.slug}.zip`, pieces: this.#pieces(id) };
  }

  async *#pieces(id: ArtifactId): AsyncGenerator<Uint8Array> {
    const { clock } = this.#deps;
    const nowMs = clock.nowMs();
    this.#open += 1;
    try {
      const snapshot = await this.#inTurn(() => takeSnapshot(this.#deps, id, nowMs));
      try {
        yield* writeZip(entriesOf(this.#deps, snapshot), nowMs);
      } finally {
        await snapshot.dispose();
      }
    } finally {
      this.#open -= 1;
    }
  }

  async #inTurn<T>(take: () => Promise<T>): Promise<T> {
    // A finished snapshot passes its slot on to the first waiter, so `#taking` stays the same.
    if (this.#taking >= SNAPSHOTS_AT_ONCE_MAX) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#taking += 1;
    try {
      return await take();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#taking -= 1;
      else next();
    }
  }
}

async function* entriesOf({ objects, thread }: ExportDeps, snapshot: Snapshot): AsyncGenerator<ZipEntry> {
  yield { name: MANIFEST_ENTRY, bytes: Buffer.from(JSON.stringify(manifestOf(snapshot), null, 2)) };
  for (const file of snapshot.files) yield { name: fileEntry(file.path), bytes: await objects.read(file.sha256.toString('hex')) };
  for (const key of snapshot.keys) yield { name: jsonEntry(key.key), bytes: await whole(snapshot.read(key.section)) };
  for (const table of snapshot.tables) yield* tableEntries(snapshot, table);
  for (const { name, section } of snapshot.documents) {
    yield { name: documentEntry(name), bytes: await thread.merge(null, await whole(snapshot.read(section))) };
  }
  for (const { name, sha256, size_bytes: sizeBytes } of snapshot.datasets) {
    yield { name: datasetEntry(name), chunks: objects.readRange(sha256, 0, sizeBytes - 1) };
  }
  if (snapshot.comments !== undefined) yield { name: COMMENTS_ENTRY, bytes: await whole(snapshot.read(snapshot.comments.section)) };
  const bytesOf = new Map(snapshot.blobs.map((blob) => [blob.sha256, blob.size_bytes]));
  for (const [sha256, sizeBytes] of bytesOf) yield { name: blobEntry(sha256), chunks: objects.readRange(sha256, 0, sizeBytes - 1) };
}

async function whole(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

function manifestOf({ row, version, files, keys, blobs, datasets, tables, documents, comments }: Snapshot): Manifest {
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
    json_keys: keys.map(({ section: _, ...key }) => key),
    blobs: [...blobs],
    datasets: [...datasets],
    ...(comments !== undefined && { comments: { settings: comments.settings, version_id: version.id } }),
    documents: documents.map(({ section: _, ...document }) => document),
    tables: tables.map(({ section: _section, fields: _fields, ...table }) => table),
  };
}
