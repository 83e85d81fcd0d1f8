/** What a page sees of the SDK. Types only: the build serves this text, with the generated `wire.ts`, as /sdk.d.ts. */
import type {
  BlobList,
  BlobRecord,
  Comment,
  CommentList,
  CommentPeople,
  CommentSettings,
  CommentThread,
  ErrorCode,
  GuestToken,
  JsonEntry,
  JsonList,
  JsonWritten,
  Person,
  PresentPerson,
  TablePage,
  TableRow,
} from './wire.ts';

/** Everything that a call can throw. `code` is what to tell cases apart by. */
export interface EaselError extends Error {
  /**
   * Of the service's catalogue. NETWORK_ERROR: no answer came. UNREADABLE_REPLY: the answer is not Easel's. NO_ARTIFACT: nobody said whose data
   * is meant. UPDATE_REFUSED: a change of a document was not taken. CLOSED: it was closed by the page itself.
   */
  readonly code: ErrorCode | 'NETWORK_ERROR' | 'UNREADABLE_REPLY' | 'NO_ARTIFACT' | 'UPDATE_REFUSED' | 'CLOSED';
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
 * Of one connection. `idle`: nobody uses it. `connecting`: for the first time, or after it was lost. `offline`: it cannot be had now, and is tried
 * again. `refused`: it may not be had (any more).
 */
export type ConnectionState = 'idle' | 'connecting' | 'live' | 'offline' | 'refused';

/** What the SDK takes of Yjs: `typeof import('yjs')` is one. */
export interface YjsModule {
  readonly Doc: new () => YjsDoc;
  readonly Map: new () => object;
  readonly Array: new () => object;
  readonly Text: new () => object;
}

/** The part of a `Y.Doc` that needs no types of Yjs. */
export interface YjsDoc {
  readonly clientID: number;
  getMap(name?: string): object;
  getArray(name?: string): object;
  getText(name?: string): object;
  transact(run: () => void): unknown;
  on(event: 'update', listener: (update: Uint8Array, origin: unknown) => void): unknown;
  destroy(): void;
}

/** Who else has the document open, as y-protocols has it. In a state of another, `user` is what the server says of who that is. */
export interface Awareness {
  readonly clientID: number;
  getLocalState(): { [field: string]: unknown } | null;
  setLocalState(state: { [field: string]: unknown } | null): void;
  setLocalStateField(field: string, value: unknown): void;
  getStates(): Map<number, { [field: string]: unknown }>;
  on(event: string, listener: (...details: never[]) => void): unknown;
  off(event: string, listener: (...details: never[]) => void): unknown;
}

export interface SharedDocEvents {
  state: ConnectionState;
  /** `hasUnsaved` is another. */
  unsaved: boolean;
  readOnly: boolean;
  /** It was refused, and will not be tried again. */
  error: EaselError;
}

/** A Yjs document that all who have it open share. It can be edited at once, and without a connection: what was missed is made up for. */
export interface SharedDoc<M extends YjsModule> {
  readonly name: string;
  readonly doc: InstanceType<M['Doc']>;
  /** For `new Y.Map()` and the like: the module that `doc` is of. */
  readonly Y: M;
  readonly awareness: Awareness;
  readonly state: ConnectionState;
  /** Settles when what is stored was read for the first time; rejects where it is refused. */
  readonly synced: Promise<void>;
  /** Something that was written here is not stored yet. */
  readonly hasUnsaved: boolean;
  /** Settles when everything that was written here is stored; rejects where it is refused. */
  saved(): Promise<void>;
  /** What is written here stays here. */
  readonly readOnly: boolean;
  on<K extends keyof SharedDocEvents>(event: K, listener: (detail: SharedDocEvents[K]) => void): Stop;
  /** Leaves the document. */
  destroy(): void;
}

export interface SharedDocOptions<M extends YjsModule> {
  /** The Yjs of the page, where it has one of its own: there must not be two. Default: what its import map says of `yjs`, else /sdk-yjs.mjs. */
  readonly Y?: M | undefined;
  /** A document that is there already. */
  readonly doc?: InstanceType<M['Doc']> | undefined;
}

export type ChannelName = 'json' | 'tables' | 'blobs' | 'comments' | 'documents' | 'versions' | 'presence' | 'broadcast';

/**
 * `subscribed`: what follows is after `seq`. `event`: `kind` says what happened, the other fields are those of a change, or of a message and who
 * sent it. `reset`: what was missed is not known any more; read everything again. `refused`: nothing will come, `code` says why.
 */
export interface ChannelEvent {
  readonly type: 'subscribed' | 'event' | 'reset' | 'refused';
  readonly channel: ChannelName;
  readonly seq?: number;
  readonly kind?: string;
  readonly key?: string;
  readonly table?: string;
  readonly id?: string;
  readonly name?: string;
  readonly data?: unknown;
  readonly truncated?: true;
  readonly createdAt?: string;
  readonly updatedAt?: string;
  readonly from?: Person & { readonly connectionId: string };
  readonly code?: string;
}

/** Everything that happens to the artifact, over one WebSocket for all. */
export interface Channel {
  readonly state: ConnectionState;
  /** Who the server says that this page is; undefined before it has. */
  readonly me: (Person & { readonly connectionId: string }) | undefined;
  /** May broadcast. */
  readonly canWrite: boolean;
  /** `since`: of the last event that is known; default: from now on. After a lost connection it goes on where it was. */
  subscribe(channel: ChannelName, listener: (event: ChannelEvent) => void, options?: { readonly since?: number | undefined }): Stop;
  /** To all others who have subscribed to `broadcast`, 16 KB at most; not stored. What is refused is told by the `error` event of easel. */
  broadcast(event: string, data?: unknown): void;
  /** To all others who have subscribed to `comments`. */
  typing(typing: { readonly contextId?: string; readonly parentId?: string; readonly isTyping?: boolean }): void;
}

export type Present = PresentPerson & { readonly isMe: boolean };

/** Who is here now. Whoever listens or says something is seen by the others too. */
export interface Presence {
  readonly me: Channel['me'];
  /** One for each window; this one too. */
  readonly people: readonly Present[];
  /** What the others see of this window beside who it is: a cursor, what is selected; 4 KB at most. Null takes it back. */
  set(state: { readonly [field: string]: unknown } | null): void;
  on(event: 'change', listener: (people: readonly Present[]) => void): Stop;
  leave(): void;
}

export interface NewComment {
  readonly content: string;
  /** What is commented on: a path of the page, or any name. */
  readonly contextId?: string | undefined;
  readonly authorName?: string | undefined;
  readonly position?: { readonly [field: string]: unknown } | null | undefined;
  readonly quote?: { readonly exact: string; readonly prefix?: string; readonly suffix?: string } | null | undefined;
  readonly versionId?: string | undefined;
  readonly assigneeUserId?: string | null | undefined;
  readonly dueAt?: string | null | undefined;
}

export interface CommentQuery {
  readonly contextId?: string | undefined;
  /** `root`: the first comments of threads. */
  readonly parentId?: string | undefined;
  readonly resolved?: boolean | undefined;
  readonly assignee?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** `comments`: all that is there, once at the start and again after a gap. Then one call for every change. */
export type CommentChange =
  | { readonly type: 'comments'; readonly comments: readonly Comment[] }
  | { readonly type: 'put'; readonly kind: 'added' | 'updated' | 'resolved' | 'reaction'; readonly comment: Comment }
  | { readonly type: 'delete'; readonly id: string }
  | { readonly type: 'refused'; readonly code: string };

export interface Comments {
  list(query?: CommentQuery, options?: CallOptions): Promise<CommentList>;
  thread(id: string, query?: { readonly limit?: number; readonly cursor?: string }, options?: CallOptions): Promise<CommentThread>;
  create(comment: string | NewComment, options?: CallOptions): Promise<Comment>;
  reply(id: string, comment: string | NewComment, options?: CallOptions): Promise<Comment>;
  edit(
    id: string,
    change: string | Partial<Pick<NewComment, 'content' | 'position' | 'quote' | 'dueAt'>>,
    options?: CallOptions,
  ): Promise<Comment>;
  /** With all replies to it; false where there was none. */
  delete(id: string, options?: CallOptions): Promise<boolean>;
  resolve(id: string, resolved?: boolean, options?: CallOptions): Promise<Comment>;
  /** Adds your reaction, or takes it back. */
  react(id: string, emoji: string, options?: CallOptions): Promise<Comment>;
  watch(listener: (change: CommentChange) => void, query?: Pick<CommentQuery, 'contextId'>): Stop;
  config(options?: CallOptions): Promise<CommentSettings>;
  /** Who can be mentioned, and who you are. */
  people(options?: CallOptions): Promise<CommentPeople>;
  /** For somebody without an account: a code is sent by mail, and what it is changed for is kept by this browser. */
  readonly guest: {
    start(who: { readonly email: string; readonly name: string }, options?: CallOptions): Promise<void>;
    verify(proof: { readonly email: string; readonly code: string }, options?: CallOptions): Promise<GuestToken>;
    /** Forgets who this is. */
    leave(): void;
  };
}

/**
 * Of everything together. `idle`: nothing is watched. `connecting`: changes do not arrive now (the network is away, or nobody has looked at the page for 20 s), they will be made up for. `live`: at once. `polling`: every few seconds,
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
  /** A letter and then at most 63 letters, digits, underscores and hyphens. Asked for again, it is the same one. */
  doc<M extends YjsModule = YjsModule>(name: string, options?: SharedDocOptions<M>): Promise<SharedDoc<M>>;
  channel(): Channel;
  readonly presence: Presence;
  readonly comments: Comments;
  on<K extends keyof EaselEvents>(event: K, listener: (detail: EaselEvents[K]) => void): Stop;
  /** Another artifact's data, or this one's from a page elsewhere. */
  connect(options: EaselOptions): Easel;
  readonly EaselError: EaselErrorClass;
}
