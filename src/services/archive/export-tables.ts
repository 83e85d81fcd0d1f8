/** The tables of an artifact in its zip: as lines of JSON, which an import reads, and as CSV. */

import { Failure } from '../../../protocol/errors.ts';
import type { ArtifactId } from '../../../protocol/ids.ts';
import type { Sql } from '../../storage/sql.ts';
import type { Queries } from '../deps.ts';
import { csvExport, exportColumns, ndjsonExport, type RunRead } from '../tables/export.ts';
import { csvEntry, type Manifest, rowsEntry } from './manifest.ts';
import type { ZipEntry } from './zip-writer.ts';

export type ExportedTable = Manifest['tables'][number];

export function readTables(sql: Queries, id: ArtifactId): Promise<ExportedTable[]> {
  return sql<ExportedTable[]>`
    select name, schema, created_at_ms, updated_at_ms from data_table where artifact_id = ${id} order by name`;
}

/** Rows that are inserted meanwhile may or may not be among them; none is there twice. */
export async function* tableEntries(sql: Sql, artifactId: ArtifactId, { name, schema }: ExportedTable): AsyncGenerator<ZipEntry> {
  const scope = { artifactId, table: name, schema };
  // Past the bounds of queries of a page: the owner wants all of it, however long it takes.
  const run: RunRead = (read) => read(sql);
  yield { name: rowsEntry(name), chunks: encoded(ndjsonExport(run, scope)) };
  const columns = await exportColumns(run, scope).catch((error) => {
    // More different fields than a CSV can have.
    if (error instanceof Failure) return undefined;
    throw error;
  });
  if (columns !== undefined) yield { name: csvEntry(name), chunks: encoded(csvExport(run, scope, columns)) };
}

async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const text of texts) yield Buffer.from(text);
}
