/**
 * What an artifact holds at one moment, copied to a file. One transaction reads everything. Keys, rows and documents can be too large for
 * memory: the transaction only declares cursors for them that outlive it, so that it stays short and neither writers nor other users of the
 * embedded database wait while the file is written.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { ReservedSql } from 'postgres';
import type { CommentSettings } from '../../../../actors/comments/comment-rules.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Spool, SpooledFile, SpoolWriter } from '../../../storage/spool.ts';
import { rowJson } from '../../data/tables/row-json.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { type ArtifactRow, requireArtifact } from '../artifacts/rows.ts';
import { ALL_VERSIONS, type FileRow, listFiles, newestVersionNo, requireVersion, type VersionRow } from '../versions/rows.ts';
import { commentLine, type ExportedComments } from './export-comments.ts';
import { type SnapshotDocument, writeDocuments } from './export-documents.ts';
import type { Manifest } from './manifest.ts';
import {
  DOCUMENT_PARTS,
  type DocumentPartRow,
  type ExportedDocument,
  KEYS,
  type KeyRow,
  ROWS,
  readBlobs,
  readCommentSettings,
  readComments,
  readDatasets,
  readDocuments,
  readTables,
  type TableRow,
} from './rows.ts';

type Connection = ReservedSql<{ bigint: number }>;

/** Bytes of the snapshot's file from `start` to before `end`. */
export interface Section {
  readonly start: number;
  readonly end: number;
}

export type SnapshotKey = Manifest['json_keys'][number] & { readonly section: Section };

export type SnapshotTable = Manifest['tables'][number] & {
  /** Lines of JSON, in the order of insertion. */
  readonly section: Section;
  /** The names of all fields; undefined when there are more than a CSV may have columns. */
  readonly fields: readonly string[] | undefined;
};

interface Facts {
  readonly row: ArtifactRow;
  readonly version: VersionRow;
  readonly files: readonly FileRow[];
  readonly blobs: readonly Manifest['blobs'][number][];
  readonly datasets: readonly Manifest['datasets'][number][];
  readonly tables: readonly Manifest['tables'][number][];
  readonly comments: ExportedComments;
  readonly documents: readonly ExportedDocument[];
}

/** Whoever takes it calls `dispose`. */
export interface Snapshot extends Omit<Facts, 'tables' | 'comments' | 'documents'> {
  readonly keys: readonly SnapshotKey[];
  readonly tables: readonly SnapshotTable[];
  readonly documents: readonly SnapshotDocument[];
  /** Undefined without comments and settings. */
  readonly comments: { readonly settings: CommentSettings | null; readonly section: Section } | undefined;
  read(section: Section): AsyncIterable<Uint8Array>;
  dispose(): Promise<void>;
}

/** Throws ARTIFACT_NOT_FOUND. Includes every acknowledged write, because a write is answered after its commit. */
export async function takeSnapshot(
  { sql, spool }: Pick<ServiceDeps, 'sql'> & { readonly spool: Spool },
  id: ArtifactId,
  nowMs: number,
): Promise<Snapshot> {
  const connection: Connection = await sql.reserve();
  try {
    const cursors = { keys: cursorName(), rows: cursorName(), documents: cursorName() };
    const facts = await inOneMoment(connection, async () => {
      await openCursor(connection, cursors.keys, KEYS, [id, nowMs]);
      await openCursor(connection, cursors.rows, ROWS, [id]);
      await openCursor(connection, cursors.documents, DOCUMENT_PARTS, [id]);
      return readFacts(connection, id);
    });
    const writer = await spool.create();
    try {
      const keys = await writeKeys(writer, fetched<KeyRow>(connection, cursors.keys));
      const tables = await writeRows(writer, facts.tables, fetched<TableRow>(connection, cursors.rows));
      const comments = await writeComments(writer, facts.comments);
      const documents = await writeDocuments(writer, facts.documents, fetched<DocumentPartRow>(connection, cursors.documents));
      return snapshotOf({ ...facts, keys, tables, comments, documents }, await writer.finish());
    } catch (error) {
      await writer.abandon();
      throw error;
    } finally {
      for (const name of Object.values(cursors)) await connection.unsafe(`close ${name}`);
    }
  } finally {
    connection.release();
  }
}

/** The live version, or the newest draft where nothing is live yet. Throws ARTIFACT_NOT_FOUND. */
export async function exportedVersion(sql: Queries, id: ArtifactId): Promise<{ readonly row: ArtifactRow; readonly version: VersionRow }> {
  const row = await requireArtifact(sql, id, []);
  return { row, version: await requireVersion(sql, id, row.live_version_id ?? (await newestVersionNo(sql, id)), ALL_VERSIONS) };
}

function snapshotOf(contents: Omit<Snapshot, 'read' | 'dispose'>, file: SpooledFile): Snapshot {
  return {
    ...contents,
    read: async function* ({ start, end }) {
      if (end > start) yield* createReadStream(file.path, { start, end: end - 1 });
    },
    dispose: () => file.dispose(),
  };
}

async function inOneMoment<T>(connection: Connection, read: () => Promise<T>): Promise<T> {
  await connection`begin isolation level repeatable read read only`;
  try {
    const value = await read();
    await connection`commit`;
    return value;
  } catch (error) {
    await connection`rollback`;
    throw error;
  }
}

async function readFacts(sql: Queries, id: ArtifactId): Promise<Facts> {
  const { row, version } = await exportedVersion(sql, id);
  const files = await listFiles(sql, version.id);
  const blobs = await readBlobs(sql, id);
  const datasets = await readDatasets(sql, id);
  const tables = await readTables(sql, id);
  const comments = { settings: await readCommentSettings(sql, id), comments: await readComments(sql, id) };
  return { row, version, files, blobs, datasets, tables, comments, documents: await readDocuments(sql, id) };
}

/** The embedded database has one session for everybody, in which cursor names must be unique. */
function cursorName(): string {
  return `export_${randomBytes(12).toString('hex')}`;
}

async function openCursor(connection: Connection, name: string, query: string, values: readonly (string | number)[]): Promise<void> {
  await connection.unsafe(`declare ${name} no scroll cursor with hold for ${query}`, [...values]);
}

/** A fetch asks for as many rows as make about this many bytes, estimated from the rows before. */
const FETCH_BYTES = 1024 * 1024;
const FETCH_ROWS_MAX = 1000;
// One row can be a document of 50 MB.
const FETCH_ROWS_FIRST = 1;

/** All rows of a cursor, fetch by fetch. */
async function* fetched<T extends KeyRow | TableRow | DocumentPartRow>(connection: Connection, name: string): AsyncGenerator<readonly T[]> {
  let count = FETCH_ROWS_FIRST;
  let rowsSeen = 0;
  let bytesSeen = 0;
  for (;;) {
    const rows = await connection.unsafe<T[]>(`fetch ${count} from ${name}`);
    if (rows.length === 0) return;
    rowsSeen += rows.length;
    for (const row of rows) bytesSeen += 'value' in row ? row.value.length : row.data.length;
    yield rows;
    count = Math.max(1, Math.min(FETCH_ROWS_MAX, Math.floor((FETCH_BYTES * rowsSeen) / (bytesSeen + 1))));
  }
}

async function writeKeys(writer: SpoolWriter, pieces: AsyncIterable<readonly KeyRow[]>): Promise<SnapshotKey[]> {
  const keys: SnapshotKey[] = [];
  for await (const piece of pieces) {
    for (const { value, ...row } of piece) {
      const start = writer.sizeBytes;
      await writer.write(Buffer.from(value));
      const sha256 = createHash('sha256').update(value).digest('hex');
      keys.push({ ...row, sha256, section: { start, end: writer.sizeBytes } });
    }
  }
  return keys;
}

async function writeComments(writer: SpoolWriter, { settings, comments }: ExportedComments): Promise<Snapshot['comments']> {
  if (settings === null && comments.length === 0) return undefined;
  const start = writer.sizeBytes;
  await writer.write(Buffer.from(comments.map(commentLine).join('')));
  return { settings, section: { start, end: writer.sizeBytes } };
}

/** `pieces` come table by table, as `ROWS` orders them. */
async function writeRows(
  writer: SpoolWriter,
  tables: Facts['tables'],
  pieces: AsyncIterable<readonly TableRow[]>,
): Promise<SnapshotTable[]> {
  const written = new Map<string, { start: number; end: number; readonly names: Set<string> }>();
  for await (const piece of pieces) {
    for (const [table, rows] of byTable(piece)) {
      const known = written.get(table) ?? { start: writer.sizeBytes, end: 0, names: new Set() };
      await writer.write(Buffer.from(rows.map((row) => `${rowJson(row)}\n`).join('')));
      for (const { data } of rows) {
        if (known.names.size <= LIMITS.csvColumnsMax) for (const name of Object.keys(JSON.parse(data))) known.names.add(name);
      }
      known.end = writer.sizeBytes;
      written.set(table, known);
    }
  }
  return tables.map((table) => {
    const { start, end, names } = written.get(table.name) ?? { start: 0, end: 0, names: new Set<string>() };
    return { ...table, section: { start, end }, fields: names.size > LIMITS.csvColumnsMax ? undefined : [...names] };
  });
}

function byTable(rows: readonly TableRow[]): Map<string, TableRow[]> {
  const tables = new Map<string, TableRow[]>();
  for (const row of rows) {
    const known = tables.get(row.table);
    if (known === undefined) tables.set(row.table, [row]);
    else known.push(row);
  }
  return tables;
}
