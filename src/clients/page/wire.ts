// Generated from the schemas of the endpoint table by `npx vitest run test/clients/page-types.test.ts -u`.

export type ErrorCode =
  | 'ACCOUNT_SUSPENDED'
  | 'WORKSPACE_SUSPENDED'
  | 'ARTIFACT_SUSPENDED'
  | 'SWITCHED_OFF'
  | 'EXPORT_NOT_FOUND'
  | 'DELETION_NOT_FOUND'
  | 'LAST_ADMIN'
  | 'SELF_SUSPENSION'
  | 'MAIL_ENDED'
  | 'EXPORT_UNDER_WAY'
  | 'EXPORT_NOT_READY'
  | 'CONFIRMATION_WRONG'
  | 'DELETION_UNDER_WAY'
  | 'DELETION_BEGUN'
  | 'WEBHOOK_SIGNATURE_INVALID'
  | 'SEATS_TOO_FEW'
  | 'LAST_PAYMENT_METHOD'
  | 'CARD_DECLINED'
  | 'SELF_UPGRADE_OFF'
  | 'BILLING_ROLE_REQUIRED'
  | 'BILLING_PROVIDER_NOT_FOUND'
  | 'SUBSCRIPTION_NOT_FOUND'
  | 'PAYMENT_METHOD_NOT_FOUND'
  | 'CHECKOUT_NOT_FOUND'
  | 'BILLING_PAGE_NOT_FOUND'
  | 'SUBSCRIPTION_EXISTS'
  | 'SUBSCRIPTION_ENDED'
  | 'CHECKOUT_INCOMPLETE'
  | 'PAYMENT_METHOD_LIMIT_EXCEEDED'
  | 'BILLING_IN_PROGRESS'
  | 'BILLING_UNAVAILABLE'
  | 'INVALID_REQUEST'
  | 'INVALID_JSON'
  | 'INVALID_SLUG'
  | 'INVALID_SCHEDULE'
  | 'KEY_INVALID'
  | 'INVALID_TABLE_NAME'
  | 'INVALID_DOCUMENT_NAME'
  | 'INVALID_DATASET_NAME'
  | 'INVALID_UPDATE'
  | 'INVALID_FILTER'
  | 'INVALID_MIME_TYPE'
  | 'UPLOAD_TOKEN_INVALID'
  | 'UPLOAD_TOKEN_EXPIRED'
  | 'TOO_MANY_ROWS'
  | 'QUERY_TOO_EXPENSIVE'
  | 'TOO_MANY_PEOPLE'
  | 'REQUEST_TOO_EXPENSIVE'
  | 'NAME_REQUIRED'
  | 'SLOW_DOWN'
  | 'DEVICE_CODE_EXPIRED'
  | 'DEVICE_LOGIN_DENIED'
  | 'DEVICE_CODE_UNKNOWN'
  | 'PROOF_INVALID'
  | 'CODE_INVALID'
  | 'SIGN_IN_FAILED'
  | 'LAST_SIGN_IN'
  | 'MAX_DEPTH'
  | 'LAST_OWNER'
  | 'CANNOT_REMOVE_OWNER'
  | 'INVITE_CLOSED'
  | 'NOT_DELETED'
  | 'NO_VERSION'
  | 'UNAUTHORIZED'
  | 'INVALID_CREDENTIALS'
  | 'AUTH_REQUIRED'
  | 'PLAN_REQUIRED'
  | 'FORBIDDEN'
  | 'HOST_NOT_ALLOWED'
  | 'BLOCKED_DESTINATION'
  | 'INSUFFICIENT_SCOPE'
  | 'ORIGIN_REFUSED'
  | 'COMMENTS_DISABLED'
  | 'REPLIES_DISABLED'
  | 'STAFF_REQUIRED'
  | 'ADMIN_REQUIRED'
  | 'EMAIL_NOT_PROVED'
  | 'ADDRESS_NOT_ALLOWED'
  | 'INVITE_FOR_ANOTHER'
  | 'EXTERNAL_SHARING_NOT_ENTITLED'
  | 'NOT_FOUND'
  | 'ARTIFACT_NOT_FOUND'
  | 'WORKSPACE_NOT_FOUND'
  | 'FOLDER_NOT_FOUND'
  | 'VERSION_NOT_FOUND'
  | 'THUMBNAIL_NOT_FOUND'
  | 'KEY_NOT_FOUND'
  | 'TABLE_NOT_FOUND'
  | 'ROW_NOT_FOUND'
  | 'BLOB_NOT_FOUND'
  | 'COMMENT_NOT_FOUND'
  | 'ASSIGNEE_NOT_FOUND'
  | 'DATASET_NOT_FOUND'
  | 'DOCUMENT_NOT_FOUND'
  | 'TOKEN_NOT_FOUND'
  | 'SESSION_NOT_FOUND'
  | 'PASSKEY_NOT_FOUND'
  | 'PROVIDER_NOT_FOUND'
  | 'IMPORT_PROVIDER_NOT_FOUND'
  | 'IMPORT_SOURCE_NOT_FOUND'
  | 'IMPORT_RUN_NOT_FOUND'
  | 'IMPORT_REF_NOT_FOUND'
  | 'USER_NOT_FOUND'
  | 'UPLOAD_NOT_FOUND'
  | 'PREVIEW_LINK_NOT_FOUND'
  | 'JOB_NOT_FOUND'
  | 'RUN_NOT_FOUND'
  | 'SHAREE_NOT_FOUND'
  | 'EXTERNAL_NOT_FOUND'
  | 'GRANT_NOT_FOUND'
  | 'MAIL_NOT_FOUND'
  | 'TEMPLATE_NOT_FOUND'
  | 'SKILL_NOT_FOUND'
  | 'SKILL_CHANGE_NOT_FOUND'
  | 'FILE_NOT_FOUND'
  | 'COLLECTION_NOT_FOUND'
  | 'SHARE_LINK_NOT_FOUND'
  | 'NOTE_NOT_FOUND'
  | 'CONNECTION_NOT_FOUND'
  | 'CATALOG_ENTRY_NOT_FOUND'
  | 'WEBHOOK_NOT_FOUND'
  | 'DELIVERY_NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'INVITE_NOT_FOUND'
  | 'ACCESS_REQUEST_NOT_FOUND'
  | 'SLUG_TAKEN'
  | 'CONNECTION_NAME_TAKEN'
  | 'ALERT_NOT_FOUND'
  | 'WATCH_NOT_FOUND'
  | 'METRIC_NOT_FOUND'
  | 'METRIC_IN_USE'
  | 'ALERT_LIMIT_EXCEEDED'
  | 'JOB_LIMIT_EXCEEDED'
  | 'RUN_IN_PROGRESS'
  | 'RUN_FINISHED'
  | 'IMPORT_NOT_CONNECTED'
  | 'IMPORT_SOURCE_LIMIT_EXCEEDED'
  | 'CONNECT_FAILED'
  | 'CONNECTION_LIMIT_EXCEEDED'
  | 'CATALOG_NOT_ENABLED'
  | 'CATALOG_LIMIT_EXCEEDED'
  | 'WEBHOOK_LIMIT_EXCEEDED'
  | 'ASSET_LIMIT_EXCEEDED'
  | 'WEBHOOK_DISABLED'
  | 'ALREADY_HAS_ACCESS'
  | 'ALREADY_DECIDED'
  | 'COLLABORATOR_LIMIT_EXCEEDED'
  | 'TEMPLATE_LIMIT_EXCEEDED'
  | 'OWNER_UNREACHABLE'
  | 'ALREADY_MEMBER'
  | 'WORKSPACE_LIMIT_EXCEEDED'
  | 'FOLDER_CYCLE'
  | 'FOLDER_LIMIT_EXCEEDED'
  | 'FOLDER_TOO_DEEP'
  | 'USERNAME_TAKEN'
  | 'REVIEW_REQUIRED'
  | 'ALREADY_PUBLISHED'
  | 'AGENT_TOKEN_LIMIT_EXCEEDED'
  | 'VERSION_IN_USE'
  | 'SKILL_REQUIRES_APPROVAL'
  | 'SKILL_CHANGE_CLOSED'
  | 'SKILL_LIMIT_EXCEEDED'
  | 'VERSION_CONFLICT'
  | 'UPLOAD_OFFSET_CONFLICT'
  | 'DUPLICATE_VALUE'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'IDEMPOTENCY_ANSWER_NOT_KEPT'
  | 'LENGTH_REQUIRED'
  | 'PAYLOAD_TOO_LARGE'
  | 'FILE_TOO_LARGE'
  | 'ATTACHMENTS_TOO_LARGE'
  | 'VALUE_TOO_LARGE'
  | 'KEY_LIMIT_EXCEEDED'
  | 'TABLE_LIMIT_EXCEEDED'
  | 'ROW_LIMIT_EXCEEDED'
  | 'ROW_TOO_LARGE'
  | 'CONTENT_TOO_LONG'
  | 'COMMENT_LIMIT_EXCEEDED'
  | 'BLOB_LIMIT_EXCEEDED'
  | 'DATASET_LIMIT_EXCEEDED'
  | 'DOCUMENT_LIMIT_EXCEEDED'
  | 'DOCUMENT_TOO_LARGE'
  | 'DOCUMENT_VERSIONS_FULL'
  | 'STORAGE_LIMIT_EXCEEDED'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'PATCH_FAILED'
  | 'UPGRADE_REQUIRED'
  | 'RATE_LIMITED'
  | 'TOO_MANY_ATTEMPTS'
  | 'INTERNAL_ERROR'
  | 'PROXY_ERROR'
  | 'DRIVE_UNAVAILABLE'
  | 'PROVIDER_UNAVAILABLE'
  | 'SECRETS_NOT_CONFIGURED'
  | 'TICKET_NOT_FOUND'
  | 'TICKET_MESSAGE_NOT_FOUND'
  | 'TICKET_ATTACHMENT_NOT_FOUND'
  | 'TICKET_STATUS_REFUSED'
  | 'TICKET_LIMIT_EXCEEDED'
  | 'SUPPORT_CHAT_OFF'
  | 'SIGNATURE_INVALID'
  | 'INBOUND_NOT_CONFIGURED'
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
  /** keys with this prefix on all pages together */
  count: number;
  hasMore: boolean;
  nextCursor: string | null;
  /** items on all pages, where count=true asks for it */
  total?: number;
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
  /** items on all pages, where count=true asks for it */
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
  /** items on all pages, where count=true asks for it */
  total?: number;
}

export interface UploadTicket {
  /** PUT the bytes here; needs no other credentials */
  uploadUrl: string;
  /** only when direct: POST here after the bytes are stored */
  confirmUrl?: string;
  tokenId: string;
  direct: boolean;
  /** RFC 3339, UTC */
  expiresAt: string;
  maxSize: number;
}

export interface DatasetInfo {
  name: string;
  /** counts up and is never used again, also after the dataset was deleted */
  version: number;
  rows: number;
  /** stored size, which is that of its NDJSON */
  sizeBytes: number;
  /** RFC 3339, UTC */
  createdAt: string;
  columns: {
    name: string;
    /** what all of its values are, null aside; date: strings like 2026-01-31 or 2026-01-31T12:00:00Z; json: objects, lists or several types */
    type: 'string' | 'number' | 'boolean' | 'date' | 'json';
  }[];
  /** the versions that are kept, newest first; at most 10 */
  versions?: {
    /** counts up and is never used again, also after the dataset was deleted */
    version: number;
    rows: number;
    /** stored size, which is that of its NDJSON */
    sizeBytes: number;
    /** RFC 3339, UTC */
    createdAt: string;
  }[];
}

export interface DatasetRows {
  rows: Record<string, unknown>[];
  version: number;
  hasMore: boolean;
  nextCursor: string | null;
  /** items on all pages, where count=true asks for it */
  total?: number;
}

export interface ChangeEvent {
  seq: number;
  kind: 'json.put' | 'json.delete' | 'table.put' | 'table.drop' | 'row.put' | 'row.delete' | 'blob.put' | 'blob.delete' | 'comment:added' | 'comment:updated' | 'comment:resolved' | 'comment:reaction' | 'comment:deleted' | 'doc.update' | 'doc.drop';
  /** the key of a JSON value */
  key?: string;
  table?: string;
  /** the id of a row, blob or comment */
  id?: string;
  /** the name of a document */
  name?: string;
  data?: unknown;
  truncated?: true;
  /** when the row was inserted */
  createdAt?: string;
  /** RFC 3339, UTC */
  updatedAt: string;
}

export interface ChangesPage {
  events: {
    seq: number;
    kind: 'json.put' | 'json.delete' | 'table.put' | 'table.drop' | 'row.put' | 'row.delete' | 'blob.put' | 'blob.delete' | 'comment:added' | 'comment:updated' | 'comment:resolved' | 'comment:reaction' | 'comment:deleted' | 'doc.update' | 'doc.drop';
    /** the key of a JSON value */
    key?: string;
    table?: string;
    /** the id of a row, blob or comment */
    id?: string;
    /** the name of a document */
    name?: string;
    data?: unknown;
    truncated?: true;
    /** when the row was inserted */
    createdAt?: string;
    /** RFC 3339, UTC */
    updatedAt: string;
  }[];
  /** the value of since for the next page */
  nextSeq: number;
  hasMore: boolean;
  /** since is too old and later deletions are no longer known: read everything again */
  reset?: true;
}

export interface Person {
  /** id of the account, guest or agent; `anonymous:…` identifies one connection */
  id: string;
  name: string;
  kind: 'human' | 'agent' | 'guest' | 'anonymous';
  /** #rrggbb, derived from the id */
  color: string;
}

export interface PresentPerson {
  /** id of the account, guest or agent; `anonymous:…` identifies one connection */
  id: string;
  name: string;
  kind: 'human' | 'agent' | 'guest' | 'anonymous';
  /** #rrggbb, derived from the id */
  color: string;
  connectionId: string;
  state: Record<string, unknown> | null;
}

export interface Comment {
  id: string;
  contextId: string | null;
  parentId: string | null;
  /** the account, guest or agent that wrote it; null for an anonymous author */
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
  /** true when the live version no longer contains the quoted text; absent in live events */
  outdated?: boolean;
  /** ids of the mentioned accounts */
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
  /** seq of its last change */
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
    /** the account, guest or agent that wrote it; null for an anonymous author */
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
    /** true when the live version no longer contains the quoted text; absent in live events */
    outdated?: boolean;
    /** ids of the mentioned accounts */
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
    /** seq of its last change */
    seq: number;
    /** RFC 3339, UTC */
    createdAt: string;
    /** RFC 3339, UTC */
    updatedAt: string;
  }[];
  /** matching comments on all pages */
  count: number;
  hasMore: boolean;
  nextCursor: string | null;
  /** items on all pages, where count=true asks for it */
  total?: number;
}

export interface CommentThread {
  comments: {
    id: string;
    contextId: string | null;
    parentId: string | null;
    /** the account, guest or agent that wrote it; null for an anonymous author */
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
    /** true when the live version no longer contains the quoted text; absent in live events */
    outdated?: boolean;
    /** ids of the mentioned accounts */
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
    /** seq of its last change */
    seq: number;
    /** RFC 3339, UTC */
    createdAt: string;
    /** RFC 3339, UTC */
    updatedAt: string;
  }[];
  /** matching comments on all pages */
  count: number;
  hasMore: boolean;
  nextCursor: string | null;
  /** items on all pages, where count=true asks for it */
  total?: number;
  /** the first comment of the thread */
  rootId: string;
}

export interface CommentPeople {
  /** the people whom you can mention; owner and editors can also assign comments to them */
  people: {
    userId: string;
    name: string | null;
    username: string | null;
    role: 'owner' | 'editor' | 'viewer' | 'none';
  }[];
  you: {
    /** the authorId of what you write; null when you are anonymous */
    id: string | null;
    /** the authorIds of comments that are yours: those of your linked accounts too */
    ids: string[];
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
  /** absent when the setting of the folder applies */
  guestComments?: boolean;
  guestCommentsEffective: boolean;
}

export interface GuestToken {
  guestToken: string;
  /** RFC 3339, UTC */
  expiresAt: string;
}

export interface EmailChallenge {
  /** for this artifact; it counts once */
  challenge: string;
  /** find a solution of 1 to 32 letters and digits so that SHA-256 of challenge, a full stop and solution begins with so many zero bits */
  bits: number;
  /** RFC 3339, UTC */
  expiresAt: string;
}

export interface OwnerNotified {
  sent: true;
  messageId: string;
}

export interface AgentAnswer {
  /** plain text; [1] is the first citation */
  answer: string;
  citations: {
    artifact_id: unknown;
    title: string;
    url: string;
    /** what the passage says, word for word */
    quote: string;
  }[];
  /** extractive: passages as they are; generated: written by a model from the passages */
  mode: 'extractive' | 'generated';
}

export interface PageChatSettings {
  /** whether pages show the chat and visitors may write */
  enabled: boolean;
  /** what the chat says before the first message; empty for the usual words */
  greeting: string;
}

export interface PageChatMessage {
  id: string;
  author: 'visitor' | 'maker' | 'system';
  name: string | null;
  text: string;
  /** RFC 3339, UTC */
  createdAt: string;
}

export interface PageChatPage {
  /** `open`: waits for an answer; `pending`: waits for the customer; `resolved`: done, and closed after 7 days without a message; `closed` */
  status: 'open' | 'pending' | 'resolved' | 'closed';
  messages: {
    id: string;
    author: 'visitor' | 'maker' | 'system';
    name: string | null;
    text: string;
    /** RFC 3339, UTC */
    createdAt: string;
  }[];
  hasMore: boolean;
}

export interface PageChatWritten {
  secret: string;
  /** `open`: waits for an answer; `pending`: waits for the customer; `resolved`: done, and closed after 7 days without a message; `closed` */
  status: 'open' | 'pending' | 'resolved' | 'closed';
  message: {
    id: string;
    author: 'visitor' | 'maker' | 'system';
    name: string | null;
    text: string;
    /** RFC 3339, UTC */
    createdAt: string;
  };
}
