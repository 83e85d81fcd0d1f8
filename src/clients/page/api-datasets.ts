/** The SDK's public types of datasets. */
import type { CallOptions, Filter, Stop } from './api-outside.ts';
import type { DatasetInfo, DatasetRows } from './wire.ts';

export interface DatasetQuery {
  readonly filter?: Filter | undefined;
  /** Fields to return. Default: all. */
  readonly fields?: readonly string[] | undefined;
  /** Default 100, at most 1000. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the previous page. Further pages stay with the version of the first. */
  readonly cursor?: string | undefined;
  /** One of the versions that are kept. Default: the newest. */
  readonly version?: number | undefined;
  /** Adds `total`, the number of matching rows on all pages. */
  readonly count?: boolean | undefined;
}

export type DatasetPage<T> = Omit<DatasetRows, 'rows'> & { rows: T[] };

/** A file of rows in versions: at most 100 MB, of which the newest ten versions are kept. */
export interface Dataset<T> {
  /** The newest version with its columns; undefined if there is no such dataset. */
  info(options?: CallOptions): Promise<DatasetInfo | undefined>;
  /** One page of matching rows, in their order. A page may have fewer rows than `limit` and still have more after it. */
  rows(query?: DatasetQuery, options?: CallOptions): Promise<DatasetPage<T>>;
  /** All rows of a version at once. */
  all(options?: CallOptions & { readonly version?: number | undefined }): Promise<T[]>;
  /** Stores the rows as the newest version; the same rows again make none. */
  put(rows: readonly T[], options?: CallOptions): Promise<DatasetInfo>;
  /** The address of all rows, for a download or an image of them. */
  url(format?: 'csv' | 'ndjson' | 'json', version?: number): string;
  /** Calls the listener after every change with the newest version; undefined if the dataset was deleted. */
  onChange(listener: (info: DatasetInfo | undefined) => void): Stop;
}
