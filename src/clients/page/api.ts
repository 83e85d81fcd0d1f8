/** The SDK's public types. The build serves this file, with the generated `wire.ts`, as /sdk.d.ts: its comments are the documentation. */
import type { Dataset } from './api-datasets.ts';
import type { CallOptions, Filter, Outside, Stop } from './api-outside.ts';
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

/** The only error that the SDK throws. Tell cases apart by `code`. */
export interface EaselError extends Error {
  /**
   * A code of the service, or one of the SDK's own. NETWORK_ERROR: no answer arrived. UNREADABLE_REPLY: the answer is not from Easel.
   * NO_ARTIFACT: the page does not say which artifact it uses. UPDATE_REFUSED: the server rejected a change to a document. CLOSED: the page
   * has closed the document.
   */
  readonly code: ErrorCode | 'NETWORK_ERROR' | 'UNREADABLE_REPLY' | 'NO_ARTIFACT' | 'UPDATE_REFUSED' | 'CLOSED';
  /** HTTP status; 0 if no answer arrived. */
  readonly status: number;
  /** What to do about it. */
  readonly hint?: string | undefined;
  /** The field that is wrong. */
  readonly param?: string | undefined;
  /** Seconds to wait before trying again. */
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

export interface WriteOptions extends CallOptions {
  /** The `updatedAt` that you read. If the value has changed since, the write fails with VERSION_CONFLICT. */
  readonly ifMatch?: string | undefined;
}

export interface JsonWriteOptions extends WriteOptions {
  /** Write only if the key does not exist yet. */
  readonly ifAbsent?: boolean | undefined;
  /** Seconds after which the key is deleted. */
  readonly ttlS?: number | undefined;
}

export interface JsonChange {
  readonly key: string;
  readonly deleted: boolean;
  readonly updatedAt?: string | undefined;
}

/** Values by key: at most 1000 keys of 1 MB. A key is 1 to 256 letters, digits, dots, underscores and hyphens. */
export interface JsonKeys {
  /** The value, or the part of it at a path such as `$.a.b`; undefined if it does not exist. */
  get<T = unknown>(key: string, options?: CallOptions & { readonly path?: string | undefined }): Promise<T | undefined>;
  /** The value with its `updatedAt`, for `ifMatch`. */
  entry<T = unknown>(key: string, options?: CallOptions): Promise<(JsonEntry & { value: T }) | undefined>;
  set(key: string, value: unknown, options?: JsonWriteOptions): Promise<JsonWritten>;
  /** Merges `changes` into the value (RFC 7396: null removes a member) atomically. Resolves with the new value. */
  update<T = unknown>(key: string, changes: unknown, options?: JsonWriteOptions): Promise<T>;
  /** Adds to a number atomically: concurrent calls all count. Resolves with the new value of the key. */
  increment<T = number>(key: string, by?: number, options?: JsonWriteOptions & { readonly path?: string | undefined }): Promise<T>;
  /** Appends to an array atomically. Resolves with the new value of the key. */
  append<T = unknown[]>(key: string, item: unknown, options?: JsonWriteOptions & { readonly path?: string | undefined }): Promise<T>;
  /** Resolves with false if the key did not exist. */
  delete(key: string, options?: WriteOptions): Promise<boolean>;
  list(options?: CallOptions & JsonListOptions): Promise<JsonList>;
  /** Calls the listener with the current value (undefined if there is none) and after every change. `scores.*` watches all keys with that prefix. */
  watch<T = unknown>(key: string, listener: (value: T | undefined, change: JsonChange) => void): Stop;
}

export interface JsonListOptions {
  readonly prefix?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly values?: boolean | undefined;
}

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

export type Row<T> = TableRow & T;
export type Page<T> = Omit<TablePage, 'rows'> & { rows: Row<T>[] };

/** `rows`: the current rows, at the start and again after a gap. `put`, `delete`: one change of one row. */
export type TableChange<T> =
  | { readonly type: 'rows'; readonly rows: readonly Row<T>[] }
  | { readonly type: 'put'; readonly id: string; readonly row: Row<T> }
  | { readonly type: 'delete'; readonly id: string };

export interface InsertOptions extends CallOptions {
  /** The name of a field. An existing row with the same value in this field is replaced. */
  readonly onConflict?: string | undefined;
  /** With `onConflict`: merge into the existing row instead of replacing it. */
  readonly merge?: boolean | undefined;
}

/** Tables need no setup: a table without rows reads as empty, and the first insert creates it. */
export interface Table<T> {
  insert(row: T, options?: InsertOptions): Promise<Row<T>>;
  insert(rows: readonly T[], options?: InsertOptions): Promise<Row<T>[]>;
  query(query?: TableQuery, options?: CallOptions): Promise<Page<T>>;
  get(id: string, options?: CallOptions): Promise<Row<T> | undefined>;
  count(filter?: Filter, options?: CallOptions): Promise<number>;
  /** Merges the changes into one row. Resolves with the new row. */
  update(id: string, changes: Partial<T>, options?: WriteOptions): Promise<Row<T>>;
  /** Resolves with false if the row did not exist. */
  delete(id: string, options?: WriteOptions): Promise<boolean>;
  /** `query` selects the rows of the first `rows` change only. `put` and `delete` arrive for every row of the table. */
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
  /** Accepts images, video, audio, PDF, plain text, CSV and Markdown, up to 50 MB. */
  upload(file: Blob, options?: UploadOptions): Promise<BlobRecord>;
  list(options?: CallOptions & { readonly limit?: number | undefined; readonly cursor?: string | undefined }): Promise<BlobList>;
  /** The address of the content, for `src` and `href`. */
  url(blob: string | BlobRecord): string;
  delete(id: string, options?: CallOptions): Promise<boolean>;
}

/**
 * State of one connection. `idle`: not in use. `connecting`: being opened, for the first time or after a loss. `live`: open. `offline`: the last
 * attempt failed, and another one follows. `refused`: the server denies access, and no further attempt is made.
 */
export type ConnectionState = 'idle' | 'connecting' | 'live' | 'offline' | 'refused';

/** The part of Yjs that the SDK uses; `typeof import('yjs')` satisfies it. */
export interface YjsModule {
  readonly Doc: new () => YjsDoc;
  readonly Map: new () => object;
  readonly Array: new () => object;
  readonly Text: new () => object;
}

/** The part of a `Y.Doc` that can be described without the types of Yjs. */
export interface YjsDoc {
  readonly clientID: number;
  getMap(name?: string): object;
  getArray(name?: string): object;
  getText(name?: string): object;
  transact(run: () => void): unknown;
  on(event: 'update', listener: (update: Uint8Array, origin: unknown) => void): unknown;
  destroy(): void;
}

/** Awareness of y-protocols: the state of everybody who has the document open. The server sets `user` in the states of others, so it can be trusted. */
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
  /** `hasUnsaved` has changed. */
  unsaved: boolean;
  readOnly: boolean;
  /** The document was refused; no further attempt is made. */
  error: EaselError;
}

/** A Yjs document shared by everybody who has it open. It can be edited immediately and while offline; changes are exchanged once connected. */
export interface SharedDoc<M extends YjsModule> {
  readonly name: string;
  readonly doc: InstanceType<M['Doc']>;
  /** The Yjs module that made `doc`: use it for `new Y.Map()` and the like. */
  readonly Y: M;
  readonly awareness: Awareness;
  readonly state: ConnectionState;
  /** Resolves once the stored document has been received; rejects if access is refused. */
  readonly synced: Promise<void>;
  /** True while a change made here is not stored yet. */
  readonly hasUnsaved: boolean;
  /** Resolves once every change made here is stored; rejects if one is refused. */
  saved(): Promise<void>;
  /** True if this page may not write: changes made here are not sent. */
  readonly readOnly: boolean;
  on<K extends keyof SharedDocEvents>(event: K, listener: (detail: SharedDocEvents[K]) => void): Stop;
  /** Disconnects from the document. */
  destroy(): void;
}

export interface SharedDocOptions<M extends YjsModule> {
  /** The page's own copy of Yjs, if it loads one: two copies do not work together. Default: `yjs` of the page's import map, else /sdk-yjs.mjs. */
  readonly Y?: M | undefined;
  /** An existing `Y.Doc` to use. Default: a new one. */
  readonly doc?: InstanceType<M['Doc']> | undefined;
}

export type ChannelName = 'json' | 'tables' | 'blobs' | 'comments' | 'documents' | 'datasets' | 'versions' | 'presence' | 'broadcast';

/**
 * `subscribed`: events after `seq` follow. `event`: `kind` says what happened; the other fields describe the change, or the message and its
 * sender. `reset`: missed events are no longer available, so read everything again. `refused`: no events will come; `code` says why.
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

/** Everything that happens to the artifact, over one shared WebSocket. */
export interface Channel {
  readonly state: ConnectionState;
  /** The identity that the server has given to this page; undefined until it is connected. */
  readonly me: (Person & { readonly connectionId: string }) | undefined;
  /** True if this page may broadcast. */
  readonly canWrite: boolean;
  /** `since`: the `seq` of the last event you know; default: only new events. After a reconnect, the events since the last one received are sent. */
  subscribe(channel: ChannelName, listener: (event: ChannelEvent) => void, options?: { readonly since?: number | undefined }): Stop;
  /** Sends to all others who have subscribed to `broadcast`; at most 16 KB, not stored. If it is refused, easel emits `error`. */
  broadcast(event: string, data?: unknown): void;
  /** Tells all others who have subscribed to `comments` that somebody is typing. */
  typing(typing: { readonly contextId?: string; readonly parentId?: string; readonly isTyping?: boolean }): void;
}

export type Present = PresentPerson & { readonly isMe: boolean };

/** Who has the page open now. A page appears in the list once it calls `set` or `on`. */
export interface Presence {
  readonly me: Channel['me'];
  /** One entry per window, this one included. */
  readonly people: readonly Present[];
  /** What the others see of this window besides its identity, for example a cursor or a selection; at most 4 KB. Null removes it. */
  set(state: { readonly [field: string]: unknown } | null): void;
  on(event: 'change', listener: (people: readonly Present[]) => void): Stop;
  leave(): void;
}

export interface NewComment {
  readonly content: string;
  /** What the comment is about: a path of the page, or any name. */
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
  /** `root`: only the first comment of each thread. */
  readonly parentId?: string | undefined;
  readonly resolved?: boolean | undefined;
  readonly assignee?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** `comments`: all current comments, at the start and again after a gap. `put`, `delete`: one change. `refused`: no changes will come. */
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
  /** Deletes the comment with all its replies. Resolves with false if it did not exist. */
  delete(id: string, options?: CallOptions): Promise<boolean>;
  resolve(id: string, resolved?: boolean, options?: CallOptions): Promise<Comment>;
  /** Adds your reaction, or removes it if it is there. */
  react(id: string, emoji: string, options?: CallOptions): Promise<Comment>;
  watch(listener: (change: CommentChange) => void, query?: Pick<CommentQuery, 'contextId'>): Stop;
  config(options?: CallOptions): Promise<CommentSettings>;
  /** Who can be mentioned, and who you are. */
  people(options?: CallOptions): Promise<CommentPeople>;
  /** For visitors without an account. `start` sends a code by e-mail; `verify` exchanges it for a token, which this browser keeps. */
  readonly guest: {
    start(who: { readonly email: string; readonly name: string }, options?: CallOptions): Promise<void>;
    verify(proof: { readonly email: string; readonly code: string }, options?: CallOptions): Promise<GuestToken>;
    /** Removes the token from this browser. */
    leave(): void;
  };
}

/**
 * State of all watches together. `idle`: nothing is watched. `connecting`: changes do not arrive now, because the network is down or the page
 * has been hidden for 20 s; they arrive later. `live`: changes arrive immediately. `polling`: changes arrive every few seconds, because the
 * network does not let events through. `refused`: the page may not read; no more changes will come.
 */
export type State = 'idle' | 'connecting' | 'live' | 'polling' | 'refused';

export interface EaselEvents {
  state: State;
  /** A call failed temporarily (429, 503 or no answer) and is repeated after `waitMs`. */
  retry: { readonly waitMs: number; readonly error: EaselError };
  /** A watch failed to read, or a message on the channel was refused. */
  error: EaselError;
}

export interface EaselOptions {
  readonly artifactId: string;
  /** Address of the API, for a page on another site. Default: the page's own origin. */
  readonly baseUrl?: string | undefined;
  /** For tools only, never in a page: everybody who opens the page can read it. */
  readonly token?: string | undefined;
}

/** Who looks at the page, and what they may change. `person` is null for a visitor who is not signed in. */
export interface Me extends Readonly<Record<'canWrite' | 'canCollaborate' | 'canEdit', boolean>> {
  readonly person: Person | null;
  readonly role: CommentPeople['you']['role'];
}

export interface Easel extends Outside {
  readonly artifactId: string;
  readonly state: State;
  readonly json: JsonKeys;
  table<T extends object = Record<string, unknown>>(name: string): Table<T>;
  readonly blobs: Blobs;
  /** A name is a letter and then at most 63 letters, digits, underscores and hyphens. */
  dataset<T extends object = Record<string, unknown>>(name: string): Dataset<T>;
  /** Opens a shared document; the same name gives the same one. A name is a letter and then at most 63 letters, digits, underscores and hyphens. */
  doc<M extends YjsModule = YjsModule>(name: string, options?: SharedDocOptions<M>): Promise<SharedDoc<M>>;
  channel(): Channel;
  readonly presence: Presence;
  readonly comments: Comments;
  me(options?: CallOptions): Promise<Me>;
  /** Leads the visitor to the sign-in and back to `to`, a path of this page; by default to the current one. On the page's own address only. */
  signIn(to?: string): void;
  on<K extends keyof EaselEvents>(event: K, listener: (detail: EaselEvents[K]) => void): Stop;
  /** Accesses the data of another artifact, or of this one from a page on another site. */
  connect(options: EaselOptions): Easel;
  readonly EaselError: EaselErrorClass;
}
