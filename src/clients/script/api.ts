/** The public types of scripts. The build serves this file, with the generated `wire.ts`, as /easel-jobs.d.ts: its comments are the documentation. */
import type { ErrorCode, JsonEntry, JsonList, JsonWritten, TablePage, TableRow } from '../page/wire.ts';

/** What the methods of `easel` throw. Tell cases apart by `code`. */
export interface EaselError extends Error {
  /**
   * A code of the service, or one of the sandbox. TOO_MANY_CALLS: more than 1000 calls in one run. CALL_TOO_LARGE: of what is sent.
   * ANSWER_TOO_LARGE: of what would have come back. FETCH_FAILED: another host did not answer, or may not be called. UNREADABLE_REPLY: the
   * answer is not what it should be.
   */
  readonly code: ErrorCode | 'TOO_MANY_CALLS' | 'CALL_TOO_LARGE' | 'ANSWER_TOO_LARGE' | 'FETCH_FAILED' | 'UNREADABLE_REPLY';
  /** HTTP status; 0 where the call was not made. */
  readonly status: number;
  /** What to do about it. */
  readonly hint?: string | undefined;
  /** The field that is wrong. */
  readonly param?: string | undefined;
}

export interface WriteOptions {
  /** The `updatedAt` that you read. If the value has changed since, the write fails with VERSION_CONFLICT. */
  readonly ifMatch?: string | undefined;
}

export interface JsonWriteOptions extends WriteOptions {
  /** Write only if the key does not exist yet. */
  readonly ifAbsent?: boolean | undefined;
  /** Seconds after which the key is deleted. */
  readonly ttlS?: number | undefined;
}

/** Values by key: at most 1000 keys of 1 MB. A key is 1 to 256 letters, digits, dots, underscores and hyphens. */
export interface JsonKeys {
  /** The value, or the part of it at a path such as `$.a.b`; undefined if it does not exist. */
  get<T = unknown>(key: string, options?: { readonly path?: string | undefined }): Promise<T | undefined>;
  /** The value with its `updatedAt`, for `ifMatch`. */
  entry<T = unknown>(key: string): Promise<(JsonEntry & { value: T }) | undefined>;
  set(key: string, value: unknown, options?: JsonWriteOptions): Promise<JsonWritten>;
  /** Merges `changes` into the value (RFC 7396: null removes a member) atomically. Resolves with the new value. */
  update<T = unknown>(key: string, changes: unknown, options?: JsonWriteOptions): Promise<T>;
  /** Another name of `update`. */
  patch<T = unknown>(key: string, changes: unknown, options?: JsonWriteOptions): Promise<T>;
  /** Adds to a number atomically: concurrent calls all count. Resolves with the new value of the key. */
  increment<T = number>(key: string, by?: number, at?: string | (JsonWriteOptions & { readonly path?: string | undefined })): Promise<T>;
  /** Appends to an array atomically. Resolves with the new value of the key. */
  append<T = unknown[]>(key: string, item: unknown, options?: JsonWriteOptions & { readonly path?: string | undefined }): Promise<T>;
  /** Resolves with false if the key did not exist. */
  delete(key: string, options?: WriteOptions): Promise<boolean>;
  list(options?: {
    readonly prefix?: string | undefined;
    readonly limit?: number | undefined;
    readonly cursor?: string | undefined;
    readonly values?: boolean | undefined;
  }): Promise<JsonList>;
}

/** `{ field: value }`, or operators: `{ points: { $gte: 10 } }`, `{ $or: [...] }`. */
export type Filter = { readonly [field: string]: unknown };

export interface TableQuery {
  readonly filter?: Filter | undefined;
  /** For example `-createdAt,name`: newest first, then by name. */
  readonly sort?: string | readonly string[] | Readonly<Record<string, 1 | -1>> | undefined;
  /** Default 100, at most 1000. */
  readonly limit?: number | undefined;
  readonly skip?: number | undefined;
  readonly cursor?: string | undefined;
  /** Fields to return. Default: all. */
  readonly select?: readonly string[] | undefined;
  /** Adds `total`, the number of matching rows on all pages. */
  readonly count?: boolean | undefined;
}

export interface TableAggregate {
  readonly groupBy?: readonly string[] | undefined;
  readonly metrics: readonly {
    readonly fn: 'count' | 'sum' | 'avg' | 'min' | 'max';
    /** Only `count` works without one. */
    readonly field?: string | undefined;
    /** The name of the result. Default: `fn`, or `fn_field`. */
    readonly as?: string | undefined;
  }[];
  readonly filter?: Filter | undefined;
}

export type Row<T> = TableRow & T;
export type Page<T> = Omit<TablePage, 'rows'> & { rows: Row<T>[] };

export interface InsertOptions {
  /** The name of a field. An existing row with the same value in this field is replaced. */
  readonly onConflict?: string | undefined;
  /** With `onConflict`: merge into the existing row instead of replacing it. */
  readonly merge?: boolean | undefined;
}

/** Tables need no setup: a table without rows reads as empty, and the first insert creates it. */
export interface Table<T> {
  insert(row: T, options?: InsertOptions): Promise<Row<T>>;
  insert(rows: readonly T[], options?: InsertOptions): Promise<Row<T>[]>;
  query(query?: TableQuery): Promise<Page<T>>;
  get(id: string): Promise<Row<T> | undefined>;
  count(filter?: Filter): Promise<number>;
  /** One object for each group. */
  aggregate(wanted: TableAggregate): Promise<Record<string, unknown>[]>;
  /** Merges the changes into one row. Resolves with the new row. */
  update(id: string, changes: Partial<T>, options?: WriteOptions): Promise<Row<T>>;
  /** Resolves with false if the row did not exist. */
  delete(id: string, options?: WriteOptions): Promise<boolean>;
}

export interface FetchOptions {
  /** GET (default), HEAD, POST, PUT, PATCH or DELETE. */
  readonly method?: string | undefined;
  readonly headers?: { readonly [name: string]: string | number } | undefined;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

export interface FetchReply {
  readonly status: number;
  /** Whether the status is 200 to 299. */
  readonly ok: boolean;
  /** After redirects. */
  readonly url: string;
  /** By their names in lower case. In a rehearsal nothing is sent, and there is only `x-easel-rehearsal`. */
  readonly headers: { readonly [name: string]: string };
  text(): Promise<string>;
  json<T = unknown>(): Promise<T>;
}

/**
 * The data of the artifact, with the rights of the person who made the job, and other hosts. At most 8 calls are under way at once; further
 * ones wait. A call that was refused is not repeated: the retries of the job begin the script anew.
 */
export interface Easel {
  readonly json: JsonKeys;
  table<T extends object = Record<string, unknown>>(name: string): Table<T>;
  /** Calls another host. Resolves whatever the status is. */
  fetch(url: string, options?: FetchOptions): Promise<FetchReply>;
  readonly EaselError: { new (...details: never[]): EaselError; readonly prototype: EaselError };
}
