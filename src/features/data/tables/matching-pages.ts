/** Reads the committed rows that a change by filter applies to, one page at a time, so that other reads get their turn between two pages. */
import type { ReadMatching } from '../../../../actors/tables/held-table.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Filter } from './queries/filter.ts';
import type { ReadHolders, TableReads } from './reads.ts';

const PAGE_ROWS = 1000;
const PAGE_BYTES = 1024 * 1024;

/** Rejects with TOO_MANY_ROWS if the rows have too many bytes in total. */
export function matchingRowPages(reads: TableReads, holders: ReadHolders, filter: Filter): ReadMatching {
  return async function* ({ artifactId }, { storedAs, schema, rowCount }) {
    const scope = { artifactId, table: storedAs, schema, rowCount };
    let bytes = 0;
    for (let after = 0, isLast = false; !isLast; ) {
      const page = { after, rowsMax: PAGE_ROWS, bytesMax: PAGE_BYTES };
      const rows = await reads.run(holders, (all) => all.matchingRows(scope, filter, page));
      const pageBytes = rows.reduce((sum, { data }) => sum + Buffer.byteLength(data), 0);
      bytes += pageBytes;
      if (bytes > LIMITS.rowsByFilterBytesMax) {
        const message = `The matching rows have more than ${LIMITS.rowsByFilterBytesMax} bytes in total.`;
        throw new Failure('TOO_MANY_ROWS', { message, param: 'filter' });
      }
      yield rows;
      isLast = rows.length < PAGE_ROWS && pageBytes <= PAGE_BYTES;
      after = rows.at(-1)?.createdSeq ?? after;
    }
  };
}

/** Rows without their fields, which a deletion does not need. */
export function matchingIdPages(reads: TableReads, holders: ReadHolders, filter: Filter): ReadMatching {
  return async function* ({ artifactId }, { storedAs, schema, rowCount }) {
    const scope = { artifactId, table: storedAs, schema, rowCount };
    for (let after = 0, isLast = false; !isLast; ) {
      const page = { after, rowsMax: PAGE_ROWS };
      const rows = await reads.run(holders, (all) => all.matchingIds(scope, filter, page));
      yield rows;
      isLast = rows.length < PAGE_ROWS;
      after = rows.at(-1)?.createdSeq ?? after;
    }
  };
}
