/** The tables of an artifact in its zip: as lines of JSON for an import, and as CSV. */
import { csvColumns, csvLine } from '../../data/tables/csv.ts';
import { csvEntry, rowsEntry } from './manifest.ts';
import type { Snapshot, SnapshotTable } from './snapshot.ts';
import type { ZipEntry } from './zip-writer.ts';

const CSV_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

export function* tableEntries(snapshot: Snapshot, table: SnapshotTable): Generator<ZipEntry> {
  yield { name: rowsEntry(table.name), chunks: snapshot.read(table.section) };
  if (table.fields !== undefined) yield { name: csvEntry(table.name), chunks: csvOf(snapshot, table, table.fields) };
}

async function* csvOf(snapshot: Snapshot, { schema, section }: SnapshotTable, fields: readonly string[]): AsyncGenerator<Uint8Array> {
  const columns = csvColumns(schema, fields);
  let text = csvLine(columns);
  for await (const line of linesOf(snapshot.read(section))) {
    const row = JSON.parse(line);
    text += csvLine(columns.map((name) => (Object.hasOwn(row, name) ? row[name] : undefined)));
    if (text.length < CSV_BYTES) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}

/** `readline` would also break lines at characters that JSON does not escape. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      yield bytes.toString('utf8', start, end);
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
}
