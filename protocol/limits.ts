/** Every limit with its origin. What happens at it: the error code named beside it. Sizes in bytes, times in ms or s. */

const KB = 1024;
const MB = 1024 * KB;

export const LIMITS = {
  // spec.md, "Limits": RATE_LIMITED
  publishPerHour: 60,
  dataPerMinute: 1000,
  // contract.md §1: headless accounts an hour and address; RATE_LIMITED
  accountsPerHourPerAddress: 30,
  // contract.md §2: FILE_TOO_LARGE
  versionFilesMax: 1000,
  versionFileBytesMax: 25 * MB,
  versionBytesMax: 100 * MB,
  filePathCharsMax: 512,
  // An inline publish of a full version in base 64 with its JSON around it: PAYLOAD_TOO_LARGE
  publishBodyBytesMax: 140 * MB,
  // Files of the page, blobs, keys and tables
  importBytesMax: 800 * MB,
  // What an imported zip may hold once inflated, beside its files: INVALID_REQUEST naming the entry
  importDataBytesMax: 256 * MB,
  // Rows are written while they are read: only time bounds them
  importTablesBytesMax: 2048 * MB,
  importEntriesMax: 4000,
  // No honest page shrinks more over many megabytes
  importRatioMax: 400,
  uploadTtlMs: 60 * 60 * 1000,
  // Publishes by digest that one account may have begun and not finished within their hour, as many as it may finish: RATE_LIMITED
  uploadsOpenMax: 60,
  // contract.md §4: KEY_INVALID, VALUE_TOO_LARGE, KEY_LIMIT_EXCEEDED
  jsonKeyCharsMax: 256,
  jsonValueBytesMax: MB,
  jsonKeysMax: 1000,
  jsonDepthMax: 100,
  // contract.md §5: TABLE_LIMIT_EXCEEDED, ROW_LIMIT_EXCEEDED, ROW_TOO_LARGE; more rows in one insert: INVALID_REQUEST
  tablesMax: 50,
  tableRowsMax: 100_000,
  rowBytesMax: 100 * KB,
  insertRowsMax: 500,
  insertBodyBytesMax: 8 * MB,
  // One change by filter is planned as a whole: TOO_MANY_ROWS, and nothing is changed
  rowsByFilterMax: 10_000,
  rowsByFilterBytesMax: 16 * MB,
  // A schema: INVALID_REQUEST
  tableColumnsMax: 100,
  tableIndexesMax: 10,
  // A text in an indexed column has to fit into a page of the index three times: INVALID_REQUEST naming the field
  indexedTextBytesMax: 1024,
  // contract.md §5: INVALID_REQUEST over the number of requests, PAYLOAD_TOO_LARGE over the bytes
  batchRequestsMax: 100,
  batchBodyBytesMax: 4 * MB,
  // What one batch answers in all: reads beyond it are told to be sent by themselves, PAYLOAD_TOO_LARGE
  batchReplyBytesMax: 16 * MB,
  // Changes in one page of JSON; the value of a change that has more bytes is left out
  changesPageDefault: 100,
  changesPageMax: 1000,
  changeValueBytesMax: 16 * KB,
  // How long a follower of changes may be away; then it is told to read everything again
  tombstoneRetentionDays: 7,
  tombstonesPerArtifactMax: 10_000,
  // A filter, so that one statement stays small: INVALID_FILTER
  filterDepthMax: 10,
  filterTermsMax: 100,
  filterValuesMax: 500,
  // Of a dotted path: INVALID_FILTER in a filter, else INVALID_REQUEST
  fieldStepsMax: 16,
  // contract.md §0: rows of a table
  rowsPageDefault: 100,
  rowsPageMax: 1000,
  // A page ends early where its rows have more bytes than this
  rowsPageBytesMax: 4 * MB,
  // A cursor carries the values of as many fields, and of a text so many characters: INVALID_REQUEST
  sortFieldsMax: 4,
  sortTextCharsMax: 256,
  rowCursorCharsMax: 8192,
  // GET with a filter: INVALID_REQUEST; POST …/query takes longer ones
  filterQueryCharsMax: 4096,
  fieldsMax: 100,
  // What distinct and aggregate answer: TOO_MANY_ROWS
  distinctValuesMax: 1000,
  aggregateGroupsMax: 1000,
  groupFieldsMax: 5,
  metricsMax: 20,
  // POST …/import; and how many lines it names before it gives up
  tableImportBytesMax: 50 * MB,
  importFailuresMax: 100,
  // Fields of all rows of a CSV together: INVALID_REQUEST
  csvColumnsMax: 500,
  // One read of a table in the database: QUERY_TOO_EXPENSIVE
  tableReadMsMax: 2000,
  // Reads of tables at once on one node, and of one artifact; what waits beyond is UNAVAILABLE
  tableReadsMax: 8,
  artifactReadsMax: 3,
  artifactReadsWaitingMax: 64,
  // spec.md, "Limits": FILE_TOO_LARGE, STORAGE_LIMIT_EXCEEDED, BLOB_LIMIT_EXCEEDED
  blobBytesMax: 50 * MB,
  blobsBytesMax: 500 * MB,
  blobsMax: 1000,
  // spec.md, "Data blobs": UPLOAD_TOKEN_EXPIRED
  blobUploadTtlMs: 15 * 60 * 1000,
  blobFilenameCharsMax: 255,
  // A multipart body beside its one file: PAYLOAD_TOO_LARGE
  multipartOverheadBytesMax: 64 * KB,
  // contract.md §7: CONTENT_TOO_LONG; spec.md: depth of replies from 1 to 10, MAX_DEPTH at the artifact's own setting
  commentCharsMax: 10_000,
  commentDepthMax: 10,
  // Comments of an artifact, and what they have together as stored: COMMENT_LIMIT_EXCEEDED
  commentsMax: 5000,
  commentsBytesMax: 16 * MB,
  // Edits of one comment (each keeps what it replaced), people who react to it, different emoji on it: COMMENT_LIMIT_EXCEEDED
  commentEditsMax: 100,
  commentReactorsMax: 500,
  commentEmojiMax: 30,
  // Parts of a comment: INVALID_REQUEST
  commentContextIdCharsMax: 512,
  commentPositionBytesMax: 4 * KB,
  commentQuoteCharsMax: 2000,
  commentContextCharsMax: 200,
  commentNameCharsMax: 80,
  reactionEmojiCharsMax: 32,
  // Names beyond are not resolved: they stay text
  commentMentionsMax: 20,
  // A file of a page that has more text is not searched for quotes
  quotedTextCharsMax: 2 * MB,
  // Codes for guests, an hour: of one address of mail, of one address of the network: RATE_LIMITED. Tries of one code: CODE_INVALID
  guestCodesPerHourPerEmail: 5,
  guestCodesPerHourPerAddress: 20,
  guestCodeTries: 5,
  guestCodeTtlMs: 10 * 60 * 1000,
  guestTokenTtlMs: 30 * 24 * 60 * 60 * 1000,
  emailCharsMax: 254,
  // Notices to people who are mentioned or assigned, in 24 hours and an artifact; more are left out
  commentMailsPerDay: 200,
  // A mail that could not be sent is tried so often, and kept for so long once it was sent or given up
  mailAttemptsMax: 8,
  mailRetentionDays: 30,
  // One frame of a client of …/channels; a longer one closes the socket
  channelFrameBytesMax: 64 * KB,
  // Bytes that may wait for a client of …/channels before it is left out and catches up
  channelBacklogBytesMax: MB,
  // What one client may send in a second, and at once: RATE_LIMITED in an error frame, and the frame is dropped
  channelFramesPerSecond: 100,
  channelFramesBurst: 200,
  channelSubscribesPerSecond: 5,
  channelSubscribesBurst: 30,
  broadcastsPerSecond: 20,
  broadcastsBurst: 40,
  // Of all clients of one artifact together
  artifactBroadcastsPerSecond: 500,
  // A message of one client to the others, its `data` as JSON: VALUE_TOO_LARGE
  broadcastBytesMax: 16 * KB,
  broadcastEventCharsMax: 64,
  // What a client shows of itself as JSON, and all of an artifact together: VALUE_TOO_LARGE
  presenceStateBytesMax: 4 * KB,
  presenceStatesCharsMax: MB,
  // Changes of presence that leave in one frame; the rest goes with the next
  presenceFrameCharsMax: 64 * KB,
  // People named by GET …/presence; the count is of all
  presencePeopleMax: 1000,
  // contract.md §0: INVALID_REQUEST over the maximum, never cut
  pageDefault: 50,
  pageMax: 100,
  idempotencyKeyCharsMax: 255,
  idempotencyTtlMs: 24 * 60 * 60 * 1000,
  // Any JSON body that has no limit of its own: PAYLOAD_TOO_LARGE
  bodyBytesMax: 256 * KB,
  // spec.md, "States": the recovery window
  trashRetentionDays: 30,
  previewLinkDefaultS: 7 * 24 * 3600,
  previewLinkMaxS: 30 * 24 * 3600,
  // WebSockets of one node, and of one artifact on it: UNAVAILABLE
  socketsMax: 50_000,
  socketsPerArtifactMax: 5000,
  // Whole documents and large differences that wait for slow peers, of one node: others get theirs later
  outflowBytesMax: 256 * MB,
  // Of one artifact: DOCUMENT_LIMIT_EXCEEDED
  documentsMax: 200,
  // DOCUMENT_TOO_LARGE
  documentBytesMax: 50 * MB,
  // One update of a document: DOCUMENT_TOO_LARGE; in a larger frame the connection is closed
  updateBytesMax: 8 * MB,
  // What a document weighs in memory beside its bytes, and what each update costs: DOCUMENT_TOO_LARGE
  documentStructsMax: 1_000_000,
  documentClientsMax: 50_000,
  subdocumentsMax: 1000,
  // Versions of a document by request: DOCUMENT_VERSIONS_FULL; as many again are made by itself, not more often than this
  documentVersionsMax: 100,
  documentVersionsBytesMax: 200 * MB,
  documentVersionGapMs: 10 * 60 * 1000,
  // Over HTTP: operations of one write and their bytes, names in them: INVALID_REQUEST, PAYLOAD_TOO_LARGE
  documentOpsMax: 100,
  documentOpsBytesMax: MB,
  documentTypeCharsMax: 256,
  documentKeyCharsMax: 256,
  // A document as JSON: DOCUMENT_TOO_LARGE; as an update it is answered whatever its size
  documentJsonBytesMax: 16 * MB,
  // Whole documents that are worked on for callers of HTTP at once, and callers that wait for that: UNAVAILABLE
  documentReadsMax: 2,
  documentReadsWaitingMax: 64,
  // Updates that wait for others to come first: INVALID_UPDATE
  documentPendingBytesMax: 256 * KB,
  // What one client says of itself beside a document: more is not taken
  awarenessStateBytesMax: 16 * KB,
  // Of one connection whose frames say who is there: what may wait until that is decided, and how long; then it is closed
  preAuthBytesMax: 256 * KB,
  preAuthMessagesMax: 100,
  preAuthDeadlineMs: 10_000,
  documentsPerSocketMax: 100,
  nameCharsMax: 200,
  tokensPerUserMax: 100,
} as const;
