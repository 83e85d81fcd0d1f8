/** The error catalogue: every code Easel can answer with, its status, default message and fix. Source: spec.md, contract.md §0. */

interface CatalogueEntry {
  readonly status: number;
  readonly message: string;
  /** What to do next; a failure may carry a more exact one. */
  readonly hint?: string;
}

export const ERRORS = {
  INVALID_REQUEST: { status: 400, message: 'The request is not valid.', hint: 'Correct the named field and send it again.' },
  INVALID_JSON: {
    status: 400,
    message: 'The body is not valid JSON.',
    hint: 'Send one UTF-8 JSON document without duplicate members, nested at most 100 deep.',
  },
  INVALID_SLUG: {
    status: 400,
    message: 'The slug is not valid.',
    hint: 'Use 2 to 63 lowercase letters, digits and hyphens; start and end with a letter or digit.',
  },
  KEY_INVALID: { status: 400, message: 'The key is not valid.', hint: 'Use 1 to 256 letters, digits, dots, underscores and hyphens.' },
  INVALID_TABLE_NAME: {
    status: 400,
    message: 'The table name is not valid.',
    hint: 'Use a letter and then at most 63 letters, digits and underscores.',
  },
  INVALID_DOCUMENT_NAME: {
    status: 400,
    message: 'The name of the document is not valid.',
    hint: 'Use a letter and then at most 63 letters, digits, underscores and hyphens.',
  },
  INVALID_UPDATE: {
    status: 400,
    message: 'This is no Yjs update, or it builds on others that never came.',
    hint: 'Connect again and let the client sync.',
  },
  INVALID_FILTER: { status: 400, message: 'The filter is not valid.', hint: 'Correct the named part; see the operators in the reference.' },
  INVALID_MIME_TYPE: {
    status: 400,
    message: 'Files of this type are not taken.',
    hint: 'Upload an image, video, audio, PDF, plain text, CSV or Markdown file, and name the type that it is.',
  },
  UPLOAD_TOKEN_INVALID: {
    status: 400,
    message: 'The upload token is unknown or was used already.',
    hint: 'POST …/blobs/upload gives a new one; each works once.',
  },
  UPLOAD_TOKEN_EXPIRED: {
    status: 400,
    message: 'The upload token has expired.',
    hint: 'POST …/blobs/upload gives a new one for 15 minutes.',
  },
  TOO_MANY_ROWS: { status: 400, message: 'The filter matches too many rows.', hint: 'Narrow the filter and repeat the call for the rest.' },
  QUERY_TOO_EXPENSIVE: {
    status: 400,
    message: 'The query takes too long.',
    hint: 'Name the columns that it filters and sorts by as indexed in PUT …/_schema, or narrow the filter.',
  },
  NAME_REQUIRED: {
    status: 400,
    message: 'A comment here needs the name of its author.',
    hint: 'Send authorName, or comment with an account or a guest token.',
  },
  CODE_INVALID: {
    status: 400,
    message: 'The code is wrong or has expired.',
    hint: 'Read it again in the mail, or ask for a new one; a code is good for 10 minutes and 5 tries.',
  },
  MAX_DEPTH: { status: 400, message: 'Replies here do not go deeper.', hint: 'Reply to a comment further up.' },
  NOT_DELETED: { status: 400, message: 'The artifact is not in the trash.' },
  NO_VERSION: { status: 400, message: 'The artifact has no version for this.', hint: 'Publish a version first.' },
  UNAUTHORIZED: {
    status: 401,
    message: 'Valid credentials are needed.',
    hint: 'Send "Authorization: Bearer <token>"; POST /v1/auth/create-account makes one.',
  },
  AUTH_REQUIRED: {
    status: 401,
    message: 'This needs to know who you are.',
    hint: 'Send a token of an account, or a guest token where guests may comment.',
  },
  PLAN_REQUIRED: { status: 402, message: 'This needs a paid plan.' },
  FORBIDDEN: { status: 403, message: 'You may not do this.', hint: 'Ask the owner for access.' },
  INSUFFICIENT_SCOPE: { status: 403, message: 'The token lacks the needed scope.', hint: 'Create an agent token that has the scope.' },
  COMMENTS_DISABLED: { status: 403, message: 'Comments are turned off here.', hint: 'The owner can turn them on in the comment settings.' },
  REPLIES_DISABLED: { status: 403, message: 'Replies are turned off here.', hint: 'Write a comment of its own.' },
  ADMIN_REQUIRED: { status: 403, message: 'Only an administrator may do this.' },
  NOT_FOUND: { status: 404, message: 'There is nothing at this path.', hint: 'GET /v1/openapi.json lists every path.' },
  ARTIFACT_NOT_FOUND: { status: 404, message: 'There is no such artifact, or you may not know of it.' },
  VERSION_NOT_FOUND: { status: 404, message: 'The artifact has no such version.' },
  KEY_NOT_FOUND: { status: 404, message: 'There is no such key.' },
  TABLE_NOT_FOUND: { status: 404, message: 'There is no such table.', hint: 'The first insert makes it.' },
  ROW_NOT_FOUND: { status: 404, message: 'There is no such row.' },
  BLOB_NOT_FOUND: { status: 404, message: 'There is no such blob.' },
  COMMENT_NOT_FOUND: { status: 404, message: 'There is no such comment.' },
  ASSIGNEE_NOT_FOUND: { status: 404, message: 'Nobody with access has this id.', hint: 'GET …/comments/_people lists who has.' },
  DOCUMENT_NOT_FOUND: { status: 404, message: 'There is no such document.', hint: 'The first update makes it.' },
  TOKEN_NOT_FOUND: { status: 404, message: 'You have no such token.' },
  UPLOAD_NOT_FOUND: { status: 404, message: 'There is no such upload.', hint: 'Publish again with files_digest to begin a new one.' },
  PREVIEW_LINK_NOT_FOUND: { status: 404, message: 'There is no such preview link.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This path does not take this method.', hint: 'See the Allow header.' },
  SLUG_TAKEN: { status: 409, message: 'This slug belongs to another artifact.', hint: 'Choose another slug.' },
  USERNAME_TAKEN: { status: 409, message: 'This username belongs to somebody else.', hint: 'Choose another username.' },
  VERSION_CONFLICT: {
    status: 409,
    message: 'It was changed since you read it.',
    hint: 'Read it again and repeat your change on the current state.',
  },
  DUPLICATE_VALUE: {
    status: 409,
    message: 'Another row has this value.',
    hint: 'Choose another value, change that row, or send ?onConflict= to update it.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 409,
    message: 'This Idempotency-Key was used with another body.',
    hint: 'Use a new key for a new request.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    message: 'A request with this Idempotency-Key is still running.',
    hint: 'Wait and send it again.',
  },
  LENGTH_REQUIRED: { status: 411, message: 'The body needs a Content-Length.', hint: 'Send Content-Length instead of Transfer-Encoding.' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The body is too large.' },
  FILE_TOO_LARGE: {
    status: 413,
    message: 'A file is too large.',
    hint: 'A file of a page may have 25 MB, a version 100 MB and 1000 files; a blob may have 50 MB.',
  },
  VALUE_TOO_LARGE: { status: 413, message: 'The value is too large.', hint: 'A JSON value may have 1 MB.' },
  KEY_LIMIT_EXCEEDED: {
    status: 413,
    message: 'The artifact has as many keys as it may have.',
    hint: 'Delete keys; an artifact may have 1000.',
  },
  TABLE_LIMIT_EXCEEDED: {
    status: 413,
    message: 'The artifact has as many tables as it may have.',
    hint: 'Drop a table; an artifact may have 50.',
  },
  ROW_LIMIT_EXCEEDED: {
    status: 413,
    message: 'The table has as many rows as it may have.',
    hint: 'Delete rows; a table may have 100 000.',
  },
  ROW_TOO_LARGE: { status: 413, message: 'The row is too large.', hint: 'A row may have 100 KB; put files into blobs.' },
  CONTENT_TOO_LONG: { status: 413, message: 'The comment is too long.', hint: 'A comment may have 10 000 characters.' },
  COMMENT_LIMIT_EXCEEDED: {
    status: 413,
    message: 'There is no room for more.',
    hint: 'Delete comments; an artifact may have 5000, and 16 MB of them.',
  },
  BLOB_LIMIT_EXCEEDED: {
    status: 413,
    message: 'The artifact has as many blobs as it may have.',
    hint: 'Delete blobs; an artifact may have 1000.',
  },
  DOCUMENT_LIMIT_EXCEEDED: {
    status: 413,
    message: 'The artifact has as many documents as it may have.',
    hint: 'Delete documents; an artifact may have 200.',
  },
  DOCUMENT_TOO_LARGE: {
    status: 413,
    message: 'The document or the update is too large.',
    hint: 'A document may have 50 MB and one update 8 MB; put files into blobs.',
  },
  DOCUMENT_VERSIONS_FULL: {
    status: 413,
    message: 'The document has as many versions as it may have.',
    hint: 'Delete versions; a document may have 100 by request, with 200 MB in all.',
  },
  STORAGE_LIMIT_EXCEEDED: { status: 413, message: 'The artifact has no room left.', hint: 'Delete data first.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'This media type is not taken here.', hint: 'See the Accept header for what is.' },
  PATCH_FAILED: {
    status: 400,
    message: 'The patch does not apply to the current value.',
    hint: 'Read the value and correct the path or the test.',
  },
  UPGRADE_REQUIRED: {
    status: 426,
    message: 'This path speaks a protocol over WebSockets.',
    hint: 'Connect with a WebSocket; browsers send the token as ?token=.',
  },
  RATE_LIMITED: { status: 429, message: 'Too many calls.', hint: 'Wait as long as Retry-After says.' },
  INTERNAL_ERROR: { status: 500, message: 'Something failed on our side.', hint: 'Try again; if it stays, open a support ticket.' },
  OWNER_MOVED: { status: 503, message: 'The artifact is moving to another node.', hint: 'Try again after Retry-After.' },
  UNAVAILABLE: { status: 503, message: 'The service cannot answer this now.', hint: 'Try again after Retry-After.' },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERRORS;
export type UnauthorizedReason = 'missing' | 'invalid' | 'revoked' | 'expired';

/** One thing wrong with the input: `path` names the field (`files.0.path`), `message` says what it must be. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

export interface FailureDetails {
  readonly message?: string;
  readonly hint?: string;
  /** The request field at fault, dotted. */
  readonly param?: string;
  readonly reason?: UnauthorizedReason;
  /** Every issue found, when there is more than one thing to correct. */
  readonly issues?: readonly Issue[];
  /** Seconds after which trying again makes sense; becomes `Retry-After`. */
  readonly retryAfterS?: number;
  /** Of the limit that refused, for the RateLimit headers; windows and resets in seconds. */
  readonly rate?: {
    readonly name: string;
    readonly limit: number;
    readonly windowS: number;
    readonly remaining: number;
    readonly resetS: number;
  };
  /** The current ETag, on VERSION_CONFLICT. */
  readonly etag?: string;
}

/** An expected failure: a value from the catalogue. A bug is any other error. */
export class Failure extends Error {
  readonly code: ErrorCode;
  readonly details: FailureDetails;

  constructor(code: ErrorCode, details: FailureDetails = {}) {
    // An expected failure is a value, not a bug: collecting its stack costs more than the rest of a refusal.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(details.message ?? ERRORS[code].message);
    Error.stackTraceLimit = limit;
    this.name = 'Failure';
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}
