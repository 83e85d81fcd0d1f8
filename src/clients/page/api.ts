/** What a page sees of the SDK. Types only: the build serves this text, with the generated `wire.ts`, as /sdk.d.ts. */
import type { BlobList, BlobRecord, ErrorCode, JsonEntry, JsonList, JsonWritten, TablePage, TableRow } from './wire.ts';

/** Everything that a call can throw. `code` is what to tell cases apart by. */
export interface EaselError extends Error {
  /** Of the service's catalogue. NETWORK_ERROR: no answer came. UNREADABLE_REPLY: the answer is not Easel's. NO_ARTIFACT: nobody said whose data is meant. */
  readonly code: ErrorCode | 'NETWORK_ERROR' | 'UNREADABLE_REPLY' | 'NO_ARTIFACT';
  /** HTTP status; 0 where no answer came. */
  readonly status: number;
  /** What to do about it. */
  readonly hint?: string | undefined;
  /** The field at fault. */
  readonly param?: string | undefined;
  /** Seconds until a repetition can succeed. */
  readonly retryAfterS?: number | undefined;
  readonly requestId?: string | undefined;
}

export interface Problem {
  readonly code: EaselError['code'];
  readonly status: number;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly param?: string | undefined;
  readonly retryAfterS?: number | undefined;
  readonly requestId?: string | undefined;
}

export interface EaselErrorClass {
  new (problem: Problem, cause?: unknown): EaselError;
  readonly prototype: EaselError;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface WriteOptions extends CallOptions {
  /** The `updatedAt` that was read: the write happens only if nothing has changed since, else VERSION_CONFLICT. */
  readonly ifMatch?: string | undefined;
}

export interface JsonWriteOptions extends WriteOptions {
  /** Only where the key does not exist yet. */
  readonly ifAbsent?: boolean | undefined;
  /** Seconds until the key deletes itself. */
  readonly ttlS?: number | undefined;
}

/** Ends a watch. */
export type Stop = () => void;

export interface JsonChange {
  readonly key: string;
  readonly deleted: boolean;
  readonly updatedAt?: string | undefined;
}

/** Values by key: at most 1000 keys of 1 MB. A key is 1 to 256 letters, digits, dots, underscores and hyphens. */
export interface JsonKeys {
  /** The value, or the part of it at a path like `$.a.b`; undefined where there is none. */
  get<T = unknown>(key: string, options?: CallOptions & { readonly path?: string | undefined }): Promise<T | undefined>;
  /** The value with its `updatedAt`, which `ifMatch` takes. */
  entry<T = unknown>(key: string, options?: CallOptions): Promise<(JsonEntry & { value: T }) | undefined>;
  set(key: string, value: unknown, options?: JsonWriteOptions): Promise<JsonWritten>;
  /** Merges objects (RFC 7396: null removes a member) in one step and answers the new value. */
  update<T = unknown>(key: string, changes: unknown, options?: JsonWriteOptions): Promise<T>;
  /** Adds to a number, however many do so at once, and answers the new value of the key. */
  increment<T = number>(key: string, by?: number, options?: JsonWriteOptions & { readonly path?: string | undefined }): Promise<T>;
  /** Adds to an array and answers the new value of the key. */
  append<T = unknown[]>(key: string, item: unknown, options?: JsonWriteOptions & { readonly path?: string | undefined }): Promise<T>;
  /** False where there was none. */
  delete(key: string, options?: WriteOptions): Promise<boolean>;
  list(options?: CallOptions & JsonListOptions): Promise<JsonList>;
  /** Tells the value now (undefined where there is none) and after every change. `scores.*`: every key that begins with `scores.`. */
  watch<T = unknown>(key: string, listener: (value: T | undefined, change: JsonChange) => void): Stop;
}

export interface JsonListOptions {
  readonly prefix?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly values?: boolean | undefined;
}

/** `{ field: value }`, or operators: `{ points: { $gte: 10 } }`, `{ $or: [...] }`. */
export type Filter = { readonly [field: string]: unknown };

export interface TableQuery {
  readonly filter?: Filter | undefined;
  /** `-createdAt,name`: newest first, then by name. */
  readonly sort?: string | undefined;
  /** Default 100, at most 1000. */
  readonly limit?: number | undefined;
  readonly skip?: number | undefined;
  readonly cursor?: string | undefined;
  /** Fields to answer; all without it. */
  readonly select?: readonly string[] | undefined;
  /** Adds `total`. */
  readonly count?: boolean | undefined;
}

export type Row<T> = TableRow & T;
export type Page<T> = Omit<TablePage, 'rows'> & { rows: Row<T>[] };

/** `rows`: what is there now, once at the start and again after a gap. Then one call for every row that was put or deleted. */
export type TableChange<T> =
  | { readonly type: 'rows'; readonly rows: readonly Row<T>[] }
  | { readonly type: 'put'; readonly id: string; readonly row: Row<T> }
  | { readonly type: 'delete'; readonly id: string };

export interface InsertOptions extends CallOptions {
  /** A field: a row with the same value there is replaced instead. */
  readonly onConflict?: string | undefined;
  /** Then the fields are merged into that row. */
  readonly merge?: boolean | undefined;
}

/** A table that nobody has inserted into is empty. */
export interface Table<T> {
  insert(row: T, options?: InsertOptions): Promise<Row<T>>;
  insert(rows: readonly T[], options?: InsertOptions): Promise<Row<T>[]>;
  query(query?: TableQuery, options?: CallOptions): Promise<Page<T>>;
  get(id: string, options?: CallOptions): Promise<Row<T> | undefined>;
  count(filter?: Filter, options?: CallOptions): Promise<number>;
  /** Merges the changes into one row, and answers it. */
  update(id: string, changes: Partial<T>, options?: WriteOptions): Promise<Row<T>>;
  /** False where there was none. */
  delete(id: string, options?: WriteOptions): Promise<boolean>;
  /** `query` says which rows the `rows` at the start are; puts and deletes are those of the whole table. */
  watch(listener: (change: TableChange<T>) => void, query?: TableQuery): Stop;
}

export interface UploadOptions extends CallOptions {
  /** Default: the file's own name. */
  readonly filename?: string | undefined;
  /** Default: the file's own type. */
  readonly mimeType?: string | undefined;
  readonly onProgress?: ((progress: { readonly sentBytes: number; readonly totalBytes: number }) => void) | undefined;
}

export interface Blobs {
  /** At most 50 MB: pictures, video, audio, PDF, plain text, CSV and Markdown. */
  upload(file: Blob, options?: UploadOptions): Promise<BlobRecord>;
  list(options?: CallOptions & { readonly limit?: number | undefined; readonly cursor?: string | undefined }): Promise<BlobList>;
  /** Where its bytes are, for `src` and `href`. */
  url(blob: string | BlobRecord): string;
  delete(id: string, options?: CallOptions): Promise<boolean>;
}

/**
 * `idle`: nothing is watched. `connecting`: changes do not arrive now (the network is away, or nobody has looked at the page for 20 s), they will be made up for. `live`: at once. `polling`: every few seconds,
 * where the way to the server does not let events through. `refused`: the page may not read (any more); nothing more will come.
 */
export type State = 'idle' | 'connecting' | 'live' | 'polling' | 'refused';

export interface EaselEvents {
  state: State;
  /** A call was refused for now (429, 503) or got no answer, and is repeated after `waitMs`. */
  retry: { readonly waitMs: number; readonly error: EaselError };
  /** A watch could not read. */
  error: EaselError;
}

export interface EaselOptions {
  readonly artifactId: string;
  /** Of the API, for a page elsewhere. On the artifact's own page it is its own origin. */
  readonly baseUrl?: string | undefined;
  /** For tools, never in a page: whoever opens the page can read it. */
  readonly token?: string | undefined;
}

export interface Easel {
  readonly artifactId: string;
  readonly state: State;
  readonly json: JsonKeys;
  table<T extends object = Record<string, unknown>>(name: string): Table<T>;
  readonly blobs: Blobs;
  on<K extends keyof EaselEvents>(event: K, listener: (detail: EaselEvents[K]) => void): Stop;
  /** Another artifact's data, or this one's from a page elsewhere. */
  connect(options: EaselOptions): Easel;
  readonly EaselError: EaselErrorClass;
}
