import type { RestoredKind } from '../runtime/live-kind.ts';
import type { TableChange, TablesImage } from './changes.ts';
import { type TablesDeps, TablesPart } from './tables-part.ts';

export const tablesKind: RestoredKind<TableChange, TablesImage, TablesDeps, TablesPart> = {
  changes: { 'table.put': 'put', 'table.drop': 'deletion', 'row.put': 'put', 'row.delete': 'deletion' },
  valueBytes: (change) => (change.kind === 'row.put' ? change.data.length : 0),
  restore(deps, { tables, hasDroppedTables }) {
    const part = new TablesPart(deps);
    part.restore(tables, hasDroppedTables);
    return part;
  },
};
