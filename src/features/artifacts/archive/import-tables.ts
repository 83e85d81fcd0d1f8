/** The tables of an imported zip: every table and row is one change, numbered in order, as the actor writes them. */
import type { Change } from '../../../../actors/kinds.ts';
import { indexedValues, ownFields, type RowFields, rowText, schemaIssues, unstorable } from '../../../../actors/tables/row-fields.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { dateTime } from '../../../../protocol/core/fields.ts';
import { type ArtifactId, idSchema } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { writeBatches } from '../../../storage/journal.ts';
import { ndjsonLines } from '../../data/tables/import-lines.ts';
import type { Queries } from '../../deps.ts';
import { MANIFEST_ENTRY, type Manifest, rowsEntry } from './manifest.ts';
import { findRepeatedUnique, writeTableTime } from './rows.ts';
import { archiveFailure, type ZipReader } from './zip-reader.ts';

type Table = Manifest['tables'][number];

/** Rows are written in statements of about this size. */
const INSERT_BYTES = 4 * 1024 * 1024;
const rowId = idSchema('row');

type RowPut = Extract<Change, { readonly kind: 'row.put' }>;

/** Answers the `seq` of the last change. Throws INVALID_REQUEST or the code of a limit, naming entry and line. No actor can be loaded yet. */
export async function importTables(
  tx: Queries,
  zip: ZipReader,
  { id, seqBefore }: { readonly id: ArtifactId; readonly seqBefore: number },
  tables: readonly Table[],
): Promise<number> {
  if (tables.length > LIMITS.tablesMax) throw new Failure('TABLE_LIMIT_EXCEEDED', { param: MANIFEST_ENTRY });
  if (new Set(tables.map(({ name }) => name)).size < tables.length) throw archiveFailure(MANIFEST_ENTRY, 'names a table twice');
  let seq = seqBefore;
  for (const table of tables) seq = await importTable(tx, zip, id, table, seq + 1);
  return seq;
}

async function importTable(tx: Queries, zip: ZipReader, id: ArtifactId, table: Table, tableSeq: number): Promise<number> {
  const entry = rowsEntry(table.name);
  const ids = new Set<string>();
  let updatedAtMs = table.updated_at_ms;
  let batch: Change[] = [putOf(table, tableSeq)];
  let batchBytes = 0;
  for await (const row of rowsOf(zip, table, tableSeq)) {
    if (ids.has(row.rowId)) throw archiveFailure(entry, `has the row ${row.rowId} twice`);
    if (ids.size >= LIMITS.tableRowsMax) throw new Failure('ROW_LIMIT_EXCEEDED', { param: entry });
    ids.add(row.rowId);
    updatedAtMs = Math.max(updatedAtMs, row.updatedAtMs);
    batch.push(row);
    batchBytes += row.data.length;
    if (batchBytes < INSERT_BYTES) continue;
    await write(tx, id, batch);
    batch = [];
    batchBytes = 0;
  }
  if (batch.length > 0) await write(tx, id, batch);
  await requireUnique(tx, id, table);
  await writeTableTime(tx, id, table.name, updatedAtMs);
  return tableSeq + ids.size;
}

/** A new artifact has no owner yet: its epoch is 0. */
async function write(tx: Queries, artifactId: ArtifactId, changes: readonly Change[]): Promise<void> {
  const owned = await writeBatches(tx, [{ artifactId, epoch: 0, changes }]);
  if (!owned.has(artifactId)) throw new Error(`${artifactId} was loaded during its import`);
}

function putOf({ name, schema, created_at_ms, updated_at_ms }: Table, seq: number): Change {
  return {
    kind: 'table.put',
    seq,
    table: name,
    schema: schema === null ? null : JSON.stringify(schema),
    rowCount: 0,
    createdAtMs: created_at_ms,
    updatedAtMs: updated_at_ms,
  };
}

async function* rowsOf(zip: ZipReader, table: Table, tableSeq: number): AsyncGenerator<RowPut> {
  const entry = rowsEntry(table.name);
  const tooLarge = () => archiveFailure(entry, `has more than ${LIMITS.importTablesBytesMax} bytes`);
  let seq = tableSeq;
  for await (const line of ndjsonLines(zip.stream(entry, LIMITS.importTablesBytesMax, tooLarge))) {
    if ('error' in line) throw archiveFailure(entry, `line ${line.line}: ${line.error}`);
    seq += 1;
    yield rowOf(table, line.fields, line.line, seq, seq - tableSeq);
  }
}

function rowOf({ name, schema }: Table, given: RowFields, line: number, seq: number, rowCount: number): RowPut {
  const entry = rowsEntry(name);
  const id = rowId.safeParse(given.id);
  if (!id.success) throw archiveFailure(entry, `line ${line}: id must be that of a row`);
  const fields = ownFields(given);
  const [issue] = [unstorable(fields, ''), ...(schema === null ? [] : schemaIssues(schema, fields, ''))].filter(
    (found) => found !== undefined,
  );
  if (issue !== undefined) throw archiveFailure(entry, `line ${line}: ${issue.path} ${issue.message}`);
  return {
    kind: 'row.put',
    table: name,
    rowId: id.data,
    data: rowText(fields, entry),
    seq,
    createdSeq: seq,
    rowCount,
    createdAtMs: timeOf(given.createdAt, entry, line),
    updatedAtMs: timeOf(given.updatedAt, entry, line),
    indexed: indexedValues(schema, fields),
  };
}

function timeOf(value: unknown, entry: string, line: number): number {
  const time = dateTime.safeParse(value);
  const ms = time.success ? Date.parse(time.data) : -1;
  if (ms >= 0) return ms;
  throw archiveFailure(entry, `line ${line}: createdAt and updatedAt must be times`);
}

async function requireUnique(tx: Queries, id: ArtifactId, { name, schema }: Table): Promise<void> {
  const columns = (schema?.columns ?? []).filter(({ unique }) => unique).map((column) => column.name);
  if (columns.length === 0) return;
  const twice = await findRepeatedUnique(tx, id, name, columns);
  if (twice !== null) throw archiveFailure(rowsEntry(name), `has a value of ${twice} twice, which is unique`);
}
