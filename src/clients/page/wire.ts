// Made from the schemas of the endpoint table: `npx vitest run test/clients/page-types.test.ts -u` makes it anew.

export type ErrorCode =
  | 'INVALID_REQUEST'
  | 'INVALID_JSON'
  | 'INVALID_SLUG'
  | 'KEY_INVALID'
  | 'INVALID_TABLE_NAME'
  | 'INVALID_FILTER'
  | 'INVALID_MIME_TYPE'
  | 'UPLOAD_TOKEN_INVALID'
  | 'UPLOAD_TOKEN_EXPIRED'
  | 'TOO_MANY_ROWS'
  | 'QUERY_TOO_EXPENSIVE'
  | 'NOT_DELETED'
  | 'NO_VERSION'
  | 'UNAUTHORIZED'
  | 'PLAN_REQUIRED'
  | 'FORBIDDEN'
  | 'INSUFFICIENT_SCOPE'
  | 'ADMIN_REQUIRED'
  | 'NOT_FOUND'
  | 'ARTIFACT_NOT_FOUND'
  | 'VERSION_NOT_FOUND'
  | 'KEY_NOT_FOUND'
  | 'TABLE_NOT_FOUND'
  | 'ROW_NOT_FOUND'
  | 'BLOB_NOT_FOUND'
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
  | 'BLOB_LIMIT_EXCEEDED'
  | 'STORAGE_LIMIT_EXCEEDED'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'PATCH_FAILED'
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
  kind: 'json.put' | 'json.delete' | 'table.put' | 'table.drop' | 'row.put' | 'row.delete' | 'blob.put' | 'blob.delete';
  key?: string;
  table?: string;
  id?: string;
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
    kind: 'json.put' | 'json.delete' | 'table.put' | 'table.drop' | 'row.put' | 'row.delete' | 'blob.put' | 'blob.delete';
    key?: string;
    table?: string;
    id?: string;
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
