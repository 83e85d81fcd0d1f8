// Made from the schemas of the endpoint table: `npx vitest run test/clients/page-types.test.ts -u` makes it anew.

export type ErrorCode =
  | 'INVALID_REQUEST'
  | 'INVALID_JSON'
  | 'INVALID_SLUG'
  | 'KEY_INVALID'
  | 'INVALID_TABLE_NAME'
  | 'INVALID_DOCUMENT_NAME'
  | 'INVALID_UPDATE'
  | 'INVALID_FILTER'
  | 'INVALID_MIME_TYPE'
  | 'UPLOAD_TOKEN_INVALID'
  | 'UPLOAD_TOKEN_EXPIRED'
  | 'TOO_MANY_ROWS'
  | 'QUERY_TOO_EXPENSIVE'
  | 'NAME_REQUIRED'
  | 'CODE_INVALID'
  | 'MAX_DEPTH'
  | 'NOT_DELETED'
  | 'NO_VERSION'
  | 'UNAUTHORIZED'
  | 'AUTH_REQUIRED'
  | 'PLAN_REQUIRED'
  | 'FORBIDDEN'
  | 'INSUFFICIENT_SCOPE'
  | 'COMMENTS_DISABLED'
  | 'REPLIES_DISABLED'
  | 'ADMIN_REQUIRED'
  | 'NOT_FOUND'
  | 'ARTIFACT_NOT_FOUND'
  | 'VERSION_NOT_FOUND'
  | 'KEY_NOT_FOUND'
  | 'TABLE_NOT_FOUND'
  | 'ROW_NOT_FOUND'
  | 'BLOB_NOT_FOUND'
  | 'COMMENT_NOT_FOUND'
  | 'ASSIGNEE_NOT_FOUND'
  | 'DOCUMENT_NOT_FOUND'
  | 'TOKEN_NOT_FOUND'
  | 'UPLOAD_NOT_FOUND'
  | 'PREVIEW_LINK_NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'SLUG_TAKEN'
  | 'USERNAME_TAKEN'
  | 'VERSION_CONFLICT'
  | 'DUPLICATE_VALUE'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'LENGTH_REQUIRED'
  | 'PAYLOAD_TOO_LARGE'
  | 'FILE_TOO_LARGE'
  | 'VALUE_TOO_LARGE'
  | 'KEY_LIMIT_EXCEEDED'
  | 'TABLE_LIMIT_EXCEEDED'
  | 'ROW_LIMIT_EXCEEDED'
  | 'ROW_TOO_LARGE'
  | 'CONTENT_TOO_LONG'
  | 'COMMENT_LIMIT_EXCEEDED'
  | 'BLOB_LIMIT_EXCEEDED'
  | 'DOCUMENT_LIMIT_EXCEEDED'
  | 'DOCUMENT_TOO_LARGE'
  | 'DOCUMENT_VERSIONS_FULL'
  | 'STORAGE_LIMIT_EXCEEDED'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'PATCH_FAILED'
  | 'UPGRADE_REQUIRED'
  | 'RATE_LIMITED'
  | 'INTERNAL_ERROR'
  | 'OWNER_MOVED'
  | 'UNAVAILABLE';

export interface JsonEntry {
  key: string;
  value: unknown;
  /** RFC 3339, UTC */
  updatedAt: string;
}

export interface JsonList {
  keys: string[];
  /** keys with this prefix, on all pages */
  count: number;
  hasMore: boolean;
  nextCursor: string | null;
  entries?: {
    key: string;
    value: unknown;
    /** RFC 3339, UTC */
    updatedAt: string;
  }[];
}

export interface JsonWritten {
  key: string;
  created: boolean;
  /** RFC 3339, UTC */
  updatedAt: string;
}

export interface TableRow {
  id: string;
  /** RFC 3339, UTC */
  createdAt: string;
  /** RFC 3339, UTC */
  updatedAt: string;
  [field: string]: unknown;
}

export interface TablePage {
  rows: {
    id: string;
    /** RFC 3339, UTC */
    createdAt?: string;
    /** RFC 3339, UTC */
    updatedAt?: string;
    [field: string]: unknown;
  }[];
  hasMore: boolean;
  nextCursor: string | null;
  total?: number;
}

export interface BlobRecord {
  id: string;
  filename: string;
  mimeType: string;
  sizeBytes: number;
  contentUrl: string;
  /** RFC 3339, UTC */
  createdAt: string;
}

export interface BlobList {
  blobs: {
    id: string;
    filename: string;
    mimeType: string;
    sizeBytes: number;
    contentUrl: string;
    /** RFC 3339, UTC */
    createdAt: string;
  }[];
  /** blobs on all pages */
  count: number;
  hasMore: boolean;
  nextCursor: string | null;
}

export interface UploadTicket {
  /** PUT the bytes here; without further credentials */
  uploadUrl: string;
  /** only when direct: POST here when the bytes are stored */
  confirmUrl?: string;
  tokenId: string;
  direct: boolean;
  /** RFC 3339, UTC */
  expiresAt: string;
  maxSize: number;
}

export interface ChangeEvent {
  seq: number;
  kind: 'json.put' | 'json.delete' | 'table.put' | 'table.drop' | 'row.put' | 'row.delete' | 'blob.put' | 'blob.delete' | 'comment:added' | 'comment:updated' | 'comment:resolved' | 'comment:reaction' | 'comment:deleted' | 'doc.update' | 'doc.drop';
  /** of a JSON value */
  key?: string;
  table?: string;
  /** of a row, a blob or a comment */
  id?: string;
  /** of a document */
  name?: string;
  data?: unknown;
  truncated?: true;
  /** of a row */
  createdAt?: string;
  /** RFC 3339, UTC */
  updatedAt: string;
}

export interface ChangesPage {
  events: {
    seq: number;
    kind: 'json.put' | 'json.delete' | 'table.put' | 'table.drop' | 'row.put' | 'row.delete' | 'blob.put' | 'blob.delete' | 'comment:added' | 'comment:updated' | 'comment:resolved' | 'comment:reaction' | 'comment:deleted' | 'doc.update' | 'doc.drop';
    /** of a JSON value */
    key?: string;
    table?: string;
    /** of a row, a blob or a comment */
    id?: string;
    /** of a document */
    name?: string;
    data?: unknown;
    truncated?: true;
    /** of a row */
    createdAt?: string;
    /** RFC 3339, UTC */
    updatedAt: string;
  }[];
  /** since of the next page */
  nextSeq: number;
  hasMore: boolean;
  /** too old: what was deleted is not known any more; read everything again */
  reset?: true;
}

export interface Person {
  /** of the account, the guest or the agent; `anonymous:…` of one connection */
  id: string;
  name: string;
  kind: 'human' | 'agent' | 'guest' | 'anonymous';
  /** #rrggbb, always the same for an id */
  color: string;
}

export interface PresentPerson {
  /** of the account, the guest or the agent; `anonymous:…` of one connection */
  id: string;
  name: string;
  kind: 'human' | 'agent' | 'guest' | 'anonymous';
  /** #rrggbb, always the same for an id */
  color: string;
  connectionId: string;
  state: Record<string, unknown> | null;
}

export interface Comment {
  id: string;
  contextId: string | null;
  parentId: string | null;
  /** an account, a guest or an agent; null for somebody without either */
  authorId: string | null;
  authorName: string | null;
  authorType: 'human' | 'agent' | 'guest';
  content: string;
  position: Record<string, unknown> | null;
  quote: {
    exact: string;
    prefix: string;
    suffix: string;
  } | null;
  versionId: string | null;
  /** the live version does not have the quoted text any more; absent in live events */
  outdated?: boolean;
  /** accounts */
  mentions: string[];
  reactions: Record<string, {
    count: number;
    mine?: boolean;
  }>;
  resolved: boolean;
  resolvedBy: string | null;
  resolvedAt: string | null;
  assigneeUserId: string | null;
  dueAt: string | null;
  edited: boolean;
  /** direct replies; absent in live events */
  replyCount?: number;
  /** of its last change */
  seq: number;
  /** RFC 3339, UTC */
  createdAt: string;
  /** RFC 3339, UTC */
  updatedAt: string;
}

export interface CommentList {
  comments: {
    id: string;
    contextId: string | null;
    parentId: string | null;
    /** an account, a guest or an agent; null for somebody without either */
    authorId: string | null;
    authorName: string | null;
    authorType: 'human' | 'agent' | 'guest';
    content: string;
    position: Record<string, unknown> | null;
    quote: {
      exact: string;
      prefix: string;
      suffix: string;
    } | null;
    versionId: string | null;
    /** the live version does not have the quoted text any more; absent in live events */
    outdated?: boolean;
    /** accounts */
    mentions: string[];
    reactions: Record<string, {
      count: number;
      mine?: boolean;
    }>;
    resolved: boolean;
    resolvedBy: string | null;
    resolvedAt: string | null;
    assigneeUserId: string | null;
    dueAt: string | null;
    edited: boolean;
    /** direct replies; absent in live events */
    replyCount?: number;
    /** of its last change */
    seq: number;
    /** RFC 3339, UTC */
    createdAt: string;
    /** RFC 3339, UTC */
    updatedAt: string;
  }[];
  /** that match, on all pages */
  count: number;
  hasMore: boolean;
  nextCursor: string | null;
}

export interface CommentThread {
  comments: {
    id: string;
    contextId: string | null;
    parentId: string | null;
    /** an account, a guest or an agent; null for somebody without either */
    authorId: string | null;
    authorName: string | null;
    authorType: 'human' | 'agent' | 'guest';
    content: string;
    position: Record<string, unknown> | null;
    quote: {
      exact: string;
      prefix: string;
      suffix: string;
    } | null;
    versionId: string | null;
    /** the live version does not have the quoted text any more; absent in live events */
    outdated?: boolean;
    /** accounts */
    mentions: string[];
    reactions: Record<string, {
      count: number;
      mine?: boolean;
    }>;
    resolved: boolean;
    resolvedBy: string | null;
    resolvedAt: string | null;
    assigneeUserId: string | null;
    dueAt: string | null;
    edited: boolean;
    /** direct replies; absent in live events */
    replyCount?: number;
    /** of its last change */
    seq: number;
    /** RFC 3339, UTC */
    createdAt: string;
    /** RFC 3339, UTC */
    updatedAt: string;
  }[];
  /** that match, on all pages */
  count: number;
  hasMore: boolean;
  nextCursor: string | null;
  /** the first comment of the thread */
  rootId: string;
}

export interface CommentPeople {
  /** who can be mentioned, and by owner and editors assigned */
  people: {
    userId: string;
    name: string | null;
    username: string | null;
    role: 'owner' | 'editor' | 'viewer' | 'none';
  }[];
  you: {
    /** authorId of your comments; null: they are nobody’s */
    id: string | null;
    name: string | null;
    type: 'human' | 'agent' | 'guest';
    role: 'owner' | 'editor' | 'viewer' | 'none';
  };
}

export interface CommentSettings {
  enabled: boolean;
  identityMode: 'anonymous' | 'named' | 'authenticated';
  allowReplies: boolean;
  maxDepth: number;
  overlayEnabled: boolean;
  /** absent: follows the folder */
  guestComments?: boolean;
  guestCommentsEffective: boolean;
}

export interface GuestToken {
  guestToken: string;
  /** RFC 3339, UTC */
  expiresAt: string;
}
