/** Tables and rows as the journal takes their changes and as the store gives them back. */
import type { ArtifactId } from '../../protocol/core/ids.ts';

/** A value of an indexed column: numbers and strings are ordered, booleans only compared. */
export type IndexedValue = number | string | boolean;

/** `storedAs`: what the rows of the table have as its name in the store; left out where that is its own. */
export type TableChange =
  /** Made by the first insert or by a schema. `schema` is its JSON text, null for none. */
  | {
      readonly kind: 'table.put';
      readonly table: string;
      readonly storedAs?: string;
      readonly schema: string | null;
      /** Rows of the table after this change. */
      readonly rowCount: number;
      readonly createdAtMs: number;
      readonly updatedAtMs: number;
    }
  /** Drops the table with its rows: they are invisible from then on, even before the store deletes them. */
  | { readonly kind: 'table.drop'; readonly table: string; readonly storedAs?: string; readonly atMs: number }
  | {
      readonly kind: 'row.put';
      readonly table: string;
      readonly storedAs?: string;
      readonly rowId: string;
      /** The row's fields as JSON text, without id and times. */
      readonly data: string;
      /** Seq of the insert of this row; equal to `seq` when this is it. */
      readonly createdSeq: number;
      readonly createdAtMs: number;
      readonly updatedAtMs: number;
      /** Rows of the table after this change. */
      readonly rowCount: number;
      /** Values of all indexed and unique columns, null where the row has none; replaces the row's former index entries. */
      readonly indexed: readonly (readonly [column: string, value: IndexedValue | null])[];
    }
  | {
      readonly kind: 'row.delete';
      readonly table: string;
      readonly storedAs?: string;
      readonly rowId: string;
      /** As its `row.put` had it. */
      readonly createdSeq: number;
      readonly rowCount: number;
      readonly atMs: number;
    };

export interface StoredTable {
  readonly name: string;
  /** Under which the store has its rows. */
  readonly storedAs: string;
  /** JSON text of the schema, or null. */
  readonly schema: string | null;
  readonly rowCount: number;
  /** Seq of its last `table.put`; rows have their own. */
  readonly seq: number;
  readonly createdAtMs: number;
  /** Not before the last change of any of its rows. */
  readonly updatedAtMs: number;
}

export interface StoredRow {
  readonly rowId: string;
  /** The row's fields as JSON text, without id and times. */
  readonly data: string;
  readonly createdSeq: number;
  readonly seq: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface HolderQuery {
  /** As its rows are stored. */
  readonly table: string;
  readonly column: string;
  readonly values: readonly IndexedValue[];
  readonly isIndexed: boolean;
  /** More rows than this are of no use. */
  readonly rowsMax: number;
}

export interface TablesImage {
  readonly tables: readonly StoredTable[];
  /** Whether there are still rows of dropped tables. */
  readonly hasDroppedTables: boolean;
}

export interface TableReads {
  /** Those of the rows that are committed, in no order. `table` as its rows are stored. */
  readRows(artifactId: ArtifactId, table: string, rowIds: readonly string[]): Promise<readonly StoredRow[]>;
  /** The committed rows that hold one of `values` in a column, in no order. `isIndexed`: the schema calls the column indexed or unique. */
  readHolders(artifactId: ArtifactId, wanted: HolderQuery): Promise<readonly StoredRow[]>;
}
