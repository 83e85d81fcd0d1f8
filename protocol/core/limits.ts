/** Every limit with its source and the error code beyond it. Sizes are in bytes, times in ms or s. */

import { BILLING_LIMITS } from '../business/billing-limits.ts';
import { INSTANCE_LIMITS } from './instance-limits.ts';

import { SUPPORT_LIMITS } from './support-limits.ts';

const KB = 1024;
const MB = 1024 * KB;

export const LIMITS = {
  ...INSTANCE_LIMITS,
  ...BILLING_LIMITS,
  // spec.md, "Limits": RATE_LIMITED
  publishPerHour: 60,
  dataPerMinute: 1000,
  // Answers of 304 of one artifact that do not count against dataPerMinute; further ones count
  freeRevalidationsPerMinute: 10_000,
  // contract.md §1: headless accounts an hour and address; RATE_LIMITED
  accountsPerHourPerAddress: 30,
  // contract.md §2: FILE_TOO_LARGE
  versionFilesMax: 1000,
  versionFileBytesMax: 25 * MB,
  versionBytesMax: 100 * MB,
  filePathCharsMax: 512,
  // An inline publish of a full version in base 64 with its JSON around it: PAYLOAD_TOO_LARGE
  publishBodyBytesMax: 140 * MB,
  // An imported zip, with files, blobs, keys and tables
  importBytesMax: 800 * MB,
  // Inflated data of an imported zip without its files: INVALID_REQUEST that names the entry
  importDataBytesMax: 256 * MB,
  // Rows are written while they are read, so this need not fit into memory
  importTablesBytesMax: 2048 * MB,
  importEntriesMax: 4000,
  // Compression ratio over many megabytes; real pages stay below it
  importRatioMax: 400,
  // What a file of a version counts against the account's storage beside its content: its path and digest are stored for every version
  versionFileRecordBytes: 512,
  // Storage that is reserved for contents which are being stored, should their writer never finish
  storageReservationTtlMs: 6 * 60 * 60 * 1000,
  uploadTtlMs: 60 * 60 * 1000,
  // Unfinished publishes by digest of one account, as many as it may finish in an hour: RATE_LIMITED
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
  // A change by filter is planned as a whole; beyond this TOO_MANY_ROWS, and nothing is changed
  rowsByFilterMax: 10_000,
  rowsByFilterBytesMax: 16 * MB,
  // A schema: INVALID_REQUEST
  tableColumnsMax: 100,
  tableIndexesMax: 10,
  // A page of the index must hold an indexed text three times: INVALID_REQUEST that names the field
  indexedTextBytesMax: 1024,
  // contract.md §5: INVALID_REQUEST over the number of requests, PAYLOAD_TOO_LARGE over the bytes
  batchRequestsMax: 100,
  batchBodyBytesMax: 4 * MB,
  // The whole answer of a batch; reads beyond it get PAYLOAD_TOO_LARGE
  batchReplyBytesMax: 16 * MB,
  // Changes on one page; a larger value is left out of its change
  changesPageDefault: 100,
  changesPageMax: 1000,
  changeValueBytesMax: 16 * KB,
  // A follower of changes that was away for longer must read everything again
  tombstoneRetentionDays: 7,
  tombstonesPerArtifactMax: 10_000,
  // Size of a filter, which bounds the SQL statement: INVALID_FILTER
  filterDepthMax: 10,
  filterTermsMax: 100,
  filterValuesMax: 500,
  // Characters of all texts of $contains in a filter, each of which may be compared with each of a row's: INVALID_FILTER
  filterSearchedCharsMax: 512,
  // Steps of a dotted path: INVALID_FILTER in a filter, else INVALID_REQUEST
  fieldStepsMax: 16,
  // contract.md §0: rows of a table
  rowsPageDefault: 100,
  rowsPageMax: 1000,
  // A page ends early when its rows reach this size
  rowsPageBytesMax: 4 * MB,
  // A cursor has the values of this many fields: INVALID_REQUEST. A text with more bytes as JSON is cut and has a digest added; four of
  // either kind fit into rowCursorCharsMax
  sortFieldsMax: 4,
  cursorTextBytesMax: 1280,
  cursorTextCharsMax: 128,
  rowCursorCharsMax: 8192,
  // A filter in a GET: INVALID_REQUEST; POST …/query accepts longer ones
  filterQueryCharsMax: 4096,
  fieldsMax: 100,
  // Results of distinct and aggregate: TOO_MANY_ROWS
  distinctValuesMax: 1000,
  aggregateGroupsMax: 1000,
  groupFieldsMax: 5,
  metricsMax: 20,
  // POST …/import: the size of its body, and the failed lines after which it stops
  tableImportBytesMax: 50 * MB,
  importFailuresMax: 100,
  // Distinct columns of a CSV: INVALID_REQUEST
  csvColumnsMax: 500,
  // One read of a table in the database: QUERY_TOO_EXPENSIVE
  tableReadMsMax: 2000,
  // Concurrent reads of tables on one node, of one artifact and of one caller or network; further ones wait
  tableReadsMax: 8,
  artifactReadsMax: 3,
  callerReadsMax: 4,
  // Reads in the queue of one node, of one artifact and of one caller or network: UNAVAILABLE
  tableReadsWaitingMax: 512,
  artifactReadsWaitingMax: 64,
  callerReadsWaitingMax: 64,
  // spec.md, "Limits": FILE_TOO_LARGE, STORAGE_LIMIT_EXCEEDED, BLOB_LIMIT_EXCEEDED
  blobBytesMax: 50 * MB,
  blobsBytesMax: 500 * MB,
  blobsMax: 1000,
  // spec.md, "Data blobs": UPLOAD_TOKEN_EXPIRED
  blobUploadTtlMs: 15 * 60 * 1000,
  // Unused upload tokens of one artifact, as many as it may have blobs: RATE_LIMITED
  blobUploadsOpenMax: 1000,
  blobFilenameCharsMax: 255,
  // contract.md §15: DATASET_LIMIT_EXCEEDED; the bytes of a version as they are sent and as they are stored, FILE_TOO_LARGE
  datasetsMax: 100,
  datasetBytesMax: 100 * MB,
  datasetVersionsKept: 10,
  datasetColumnsMax: 500,
  datasetColumnCharsMax: 200,
  // Uploads that one node parses at once, of one artifact and of one caller or network; further ones wait, and beyond that UNAVAILABLE
  datasetWritesMax: 4,
  artifactDatasetWritesMax: 1,
  callerDatasetWritesMax: 2,
  datasetWritesWaitingMax: 64,
  artifactDatasetWritesWaitingMax: 8,
  callerDatasetWritesWaitingMax: 16,
  // Bytes that one page of rows looks through: a page whose filter finds little ends there, with a cursor
  datasetScanBytesMax: 16 * MB,
  // A multipart body without its one file: PAYLOAD_TOO_LARGE
  multipartOverheadBytesMax: 64 * KB,
  // contract.md §7: CONTENT_TOO_LONG; spec.md: reply depth from 1 to 10, MAX_DEPTH beyond the artifact's own setting
  commentCharsMax: 10_000,
  commentDepthMax: 10,
  // Calls to the outside of one node at once, of one artifact or workspace; further ones wait, and beyond that UNAVAILABLE
  egressUrlCharsMax: 8192,
  egressCallsMax: 64,
  egressCallsPerShareMax: 6,
  egressWaitingMax: 512,
  egressWaitingPerShareMax: 64,
  // What answers from the outside hold in memory while they are read: UNAVAILABLE
  egressBytesMax: 128 * MB,
  egressBytesPerShareMax: 32 * MB,
  scheduleCharsMax: 200,
  // contract.md §15: the bell. Longer texts are cut, and of one account the oldest notices give way
  noticesKeptDays: 90,
  noticesPerAccountMax: 1000,
  noticeTitleCharsMax: 200,
  noticeBodyCharsMax: 2000,
  noticeKindCharsMax: 60,
  noticesReadAtOnceMax: 100,
  noticesPerMinute: 240,
  // Streams of the bell that one node holds open, and of one person: UNAVAILABLE
  bellStreamsMax: 5000,
  bellStreamsPerPersonMax: 20,
  // spec.md, "Limits": mails sent on behalf of pages, in any 24 hours, of a person and of an artifact: RATE_LIMITED
  mailsPerDay: 50,
  mailsOfArtifactPerDay: 10,
  // Messages to owners that visitors without an account send from one network in any 24 hours: RATE_LIMITED
  notifyOwnerPerNetworkPerDay: 10,
  // contract.md §6: INVALID_REQUEST
  mailRecipientsMax: 10,
  mailSubjectCharsMax: 500,
  mailTextCharsMax: 100_000,
  mailHtmlCharsMax: 200_000,
  mailBodyBytesMax: MB,
  // Files that go with a mail: INVALID_REQUEST. Their bytes together, before the third that base 64 adds: ATTACHMENTS_TOO_LARGE
  mailAttachmentsMax: 10,
  mailAttachmentsBytesMax: 10 * MB,
  // A form with a rendered mail, in which a character may take nine bytes
  mailPreviewBytesMax: 5 * MB,
  // A message of a visitor to the owner of a page
  notifyOwnerCharsMax: 10_000,
  // A mail server said that there is no such address: nothing is sent to it on behalf of pages for so long
  mailBounceDays: 90,
  // The work that a visitor without an account does for a message: leading zero bits of a SHA-256, and how long a challenge is valid
  mailProofBits: 17,
  mailProofTtlMs: 10 * 60 * 1000,
  // Templates of one account, of one artifact: TEMPLATE_LIMIT_EXCEEDED. What they may hold: INVALID_REQUEST
  templatesMax: 200,
  templateVariablesMax: 50,
  templateTagCharsMax: 200,
  templateSectionDepthMax: 8,
  templateDataBytesMax: 256 * KB,
  // Steps and characters of one rendering, so that lists in lists cannot multiply without end: INVALID_REQUEST
  templateStepsMax: 50_000,
  templateOutputCharsMax: 500_000,
  templateWarningsMax: 50,
  // How many jobs there may be depends on the plan: business/tiers.ts
  jobBodyBytesMax: 512 * KB,
  jobDescriptionCharsMax: 2000,
  jobAttemptsMax: 10,
  jobRetryDelaySMax: 3600,
  // Failed runs in a row after which a job is paused, and jobs that set each other off
  jobFailuresMax: 10,
  jobChainMax: 5,
  jobWritesPerHour: 300,
  jobStartsPerHour: 300,
  jobMailSubjectCharsMax: 500,
  jobMailTextCharsMax: 100_000,
  // Runs that one node works on at once, those in one person's name, and those of one artifact on all nodes
  runsMax: 32,
  runsPerPersonMax: 8,
  runsPerArtifactMax: 2,
  // How often a run is taken by processes that die with it
  runClaimsMax: 5,
  // Rehearsals of one node at once, each of another person
  rehearsalsMax: 4,
  runOutputBytesMax: 64 * KB,
  runAnswerBytesMax: 1 * MB,
  // Runs are kept for so long, and as many of a job
  runsKeptMs: 90 * 24 * 3600 * 1000,
  runsKeptPerJobMax: 2000,
  // contract.md §8: scripts of jobs
  scriptCharsMax: 256 * 1024,
  materializeRowsMax: 100_000,
  // Metrics, alert rules and watches of one artifact, and rules and watches of one person: ALERT_LIMIT_EXCEEDED
  metricsPerArtifactMax: 50,
  metricIdCharsMax: 64,
  alertRulesPerArtifactMax: 50,
  alertRulesPerPersonMax: 500,
  watchesPerArtifactMax: 200,
  watchesPerPersonMax: 500,
  // Parts of a rule: INVALID_REQUEST
  alertMessageCharsMax: 2000,
  alertCooldownSDefault: 3600,
  alertCooldownSMax: 30 * 24 * 3600,
  alertRecipientsMax: 10,
  alertUrlCharsMax: 2048,
  alertSecretCharsMax: 200,
  watchThresholdPctMax: 100_000,
  // What is kept of a rule and of a metric; the oldest give way
  alertEventsKeptDays: 90,
  alertEventsPerRuleMax: 10_000,
  metricSamplesPerMetricMax: 10_000,
  // Looks at metrics of one node at once, and of one artifact
  metricLooksMax: 8,
  metricLooksPerArtifactMax: 2,
  // Deliveries of alerts of one node at once, and of one artifact; the time of one, and how often one is tried
  alertDeliveriesMax: 16,
  alertDeliveriesPerArtifactMax: 4,
  alertDeliveryMs: 10_000,
  alertDeliveryAttemptsMax: 6,
  // Failures in a row that switch a rule or a watch off
  alertFailuresMax: 10,
  // Calls of one person about alerts and watches in a minute, and evaluations that one person asks for in an hour: RATE_LIMITED
  alertsPerMinute: 240,
  alertRunsPerHour: 120,
  // contract.md §6: the proxy of a page. Beyond the size or the time PROXY_ERROR, beyond the calls RATE_LIMITED (spec.md, "Limits")
  proxyPerMinute: 100,
  proxyBytesMax: 10 * MB,
  proxyMs: 10_000,
  proxyRedirectsMax: 5,
  proxyHostsMax: 50,
  proxyCacheSMax: 24 * 60 * 60,
  // Answers that one node keeps, of one artifact, and of one address; others are asked for again
  proxyKeptBytesMax: 64 * MB,
  proxyKeptBytesPerArtifactMax: 8 * MB,
  proxyKeptAnswerBytesMax: 2 * MB,
  // POST …/connections/test, of one person: RATE_LIMITED
  connectionTestsPerMinute: 30,
  connectionTestMs: 10_000,
  connectionTestBytesMax: 256 * KB,
  // What a run reads through a connection: the run fails. Rows are materializeRowsMax, bytes of a query datasetBytesMax. A batch of rows of a
  // query, and JSON that is parsed as a whole, are bounded by what they hold in memory
  connectionQueryCharsMax: 20_000,
  connectionQueryMs: 30_000,
  connectionReadMs: 50_000,
  // A query that is given up is cancelled at its database; after this the database is left to itself
  connectionCancelMs: 2000,
  connectionBatchRows: 200,
  connectionBatchBytesMax: 16 * MB,
  connectionFetchMs: 30_000,
  connectionFetchBytesMax: 16 * MB,
  connectionJsonBytesMax: 4 * MB,
  // Entries that the members of a workspace write, and those that they add to: CATALOG_LIMIT_EXCEEDED
  catalogEntriesMax: 5000,
  catalogTagsMax: 20,
  catalogTagCharsMax: 40,
  catalogDescriptionCharsMax: 20_000,
  catalogBodyBytesMax: 256 * KB,
  catalogFieldsMax: 500,
  // Values of one facet, the most frequent first
  catalogFacetValuesMax: 50,
  // How long a page counts as a reader of a table or dataset after it has read it last
  pageReadsKeptMs: 90 * 24 * 3600 * 1000,
  // How long the script of a job counts as a user of a table after it has used it last
  jobTableUsesKeptMs: 90 * 24 * 3600 * 1000,
  // Nodes of one lineage, edges that one step of it reads, and steps from its entry: it says `truncated`
  catalogLineageNodesMax: 200,
  catalogLineageEdgesMax: 1000,
  catalogLineageStepsMax: 20,
  // Reads of the catalog, each of which looks through the workspace: RATE_LIMITED
  catalogReadsPerMinute: 120,
  // Webhooks of one artifact and of one workspace: WEBHOOK_LIMIT_EXCEEDED. Changes, tests and redeliveries of one person: RATE_LIMITED
  webhooksPerArtifactMax: 10,
  webhooksPerWorkspaceMax: 20,
  webhookCallsPerMinute: 60,
  webhookDescriptionCharsMax: 200,
  // What is sent: longer data is named only, further changes go into the next delivery
  webhookBodyBytesMax: 64 * KB,
  webhookChangesMax: 100,
  // Further events wait where they are stored until some of these are delivered; beyond this number those of a workspace are dropped, oldest first
  webhookPendingMax: 100,
  webhookEventsWaitingMax: 10_000,
  // Of an answer, kept with its delivery
  webhookAnswerBytesMax: 4 * KB,
  webhookAnswerHeaderBytesMax: 4 * KB,
  webhookMs: 10_000,
  webhookDeliveriesKept: 200,
  webhookRetentionDays: 30,
  // Tries under way on one node, and of webhooks that one account stands for; of one webhook there is one
  webhookSlotsMax: 16,
  webhookSlotsPerUserMax: 4,
  // Comments of an artifact, and their stored bytes together: COMMENT_LIMIT_EXCEEDED
  commentsMax: 5000,
  commentsBytesMax: 16 * MB,
  // Edits of one comment (each keeps the old text), people who react to it, different emoji on it: COMMENT_LIMIT_EXCEEDED
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
  // Mentions beyond this stay plain text
  commentMentionsMax: 20,
  // The inbox: what it shows of a comment, how far it counts, and calls of one person a minute
  inboxExcerptCharsMax: 280,
  inboxCountMax: 1000,
  inboxPerMinute: 240,
  // Larger files of a page are not searched for quotes
  quotedTextCharsMax: 2 * MB,
  // Guest codes an hour, by e-mail address and by network address: RATE_LIMITED. Attempts at one code: CODE_INVALID
  guestCodesPerHourPerEmail: 5,
  guestCodesPerHourPerAddress: 20,
  guestCodeTries: 5,
  guestCodeTtlMs: 10 * 60 * 1000,
  guestTokenTtlMs: 30 * 24 * 60 * 60 * 1000,
  emailCharsMax: 254,
  // Passwords of people: INVALID_REQUEST. NIST SP 800-63B asks for 8 at least where there is a second factor, and for more where not
  passwordCharsMin: 10,
  passwordCharsMax: 200,
  // Checks of passwords at once, those that wait, in all and of one network: UNAVAILABLE. A check takes 19 MB and some 30 ms of a thread
  passwordChecksMax: 2,
  passwordChecksWaitingMax: 32,
  passwordChecksPerNetworkMax: 6,
  // Wrong passwords for one address of one network, for one address in all, and of one network: TOO_MANY_ATTEMPTS
  passwordTriesPerQuarter: 10,
  passwordTriesPerEmailPerHour: 50,
  passwordTriesPerNetworkPerQuarter: 100,
  // Codes by mail in an hour, to one address from one network, to one address in all, and of one network: TOO_MANY_ATTEMPTS
  signInCodesPerHour: 5,
  signInCodesPerEmailPerHour: 10,
  signInCodesPerNetworkPerHour: 30,
  // Attempts at the codes of one address, and how long a code is valid: CODE_INVALID
  signInCodeTries: 5,
  signInCodeTtlMs: 10 * 60 * 1000,
  // Attempts at codes in an hour, for one address: TOO_MANY_ATTEMPTS
  signInCodeTriesPerEmailPerHour: 30,
  pagePasswordTriesPerQuarter: 10,
  // Wrong passwords of one share link from all networks together, which its visitors have to wait for too: TOO_MANY_ATTEMPTS
  sharePasswordTriesPerLinkPerHour: 100,
  // A session ends after this time without a call, and after this time in any case: UNAUTHORIZED
  sessionIdleMs: 14 * 24 * 60 * 60 * 1000,
  sessionTtlMs: 90 * 24 * 60 * 60 * 1000,
  // Sessions of one account; the longest unused one gives way
  sessionsPerAccountMax: 50,
  // How long a ticket to a page's origin is valid, and how long its browser has to come for it with the cookie that it was made for
  pageTicketTtlMs: 30 * 1000,
  pageChallengeTtlMs: 10 * 60 * 1000,
  // How long somebody is signed in on a page's origin; a new ticket follows by itself where the session still counts
  pageSignInTtlMs: 7 * 24 * 60 * 60 * 1000,
  // Sign-ins on pages' origins that one session has; the oldest gives way
  pageSignInsPerSessionMax: 200,
  // Tickets that one person asks for, and that one network brings, in a minute: RATE_LIMITED
  pageTicketsPerMinute: 120,
  pageEntriesPerMinutePerNetwork: 240,
  deviceCharsMax: 100,
  // Sign-ins of one person: INVALID_REQUEST
  linkedAccountsMax: 20,
  // A sign-in at an identity provider, from the start to the answer, and those that one network may begin in an hour: RATE_LIMITED
  signInAttemptTtlMs: 10 * 60 * 1000,
  signInAttemptsPerNetworkPerHour: 120,
  returnToCharsMax: 1024,
  // Passkeys of one account: INVALID_REQUEST. How long a challenge is valid
  passkeysPerAccountMax: 20,
  passkeyChallengeTtlMs: 5 * 60 * 1000,
  passkeyResponseCharsMax: 16 * KB,
  // spec.md, "Device login": DEVICE_CODE_EXPIRED, SLOW_DOWN. Each poll that comes too early makes the interval 5 s longer, up to the maximum
  deviceCodeTtlMs: 10 * 60 * 1000,
  devicePollIntervalS: 5,
  devicePollIntervalMaxS: 60,
  deviceCodeCharsMax: 256,
  deviceNameCharsMax: 80,
  // Logins that wait for approval, in all: UNAVAILABLE; of one network, those begun in an hour, and polls in a minute: RATE_LIMITED
  deviceLoginsMax: 20_000,
  deviceLoginsPerNetworkMax: 50,
  deviceStartsPerHourPerAddress: 120,
  devicePollsPerMinutePerAddress: 600,
  // Short codes that one network may enter in ten minutes, so that they cannot be guessed: RATE_LIMITED
  deviceCodesPerTenMinutes: 120,
  // A form of our own pages: PAYLOAD_TOO_LARGE
  formBytesMax: 16 * KB,
  // Mails about mentions and assignments in 24 hours for one artifact; more are dropped
  commentMailsPerDay: 200,
  // Attempts to send a mail, and how long it is kept after it was sent or given up
  mailAttemptsMax: 8,
  mailRetentionDays: 30,
  // One frame from a client of …/channels; a longer one closes the socket
  channelFrameBytesMax: 64 * KB,
  // Backlog of a client of …/channels beyond which frames are dropped and the client catches up later
  channelBacklogBytesMax: MB,
  // Frames of one client, a second and in a burst; beyond it RATE_LIMITED in an error frame, and the frame is dropped
  channelFramesPerSecond: 100,
  channelFramesBurst: 200,
  channelSubscribesPerSecond: 5,
  channelSubscribesBurst: 30,
  broadcastsPerSecond: 20,
  broadcastsBurst: 40,
  // Broadcasts of all clients of one artifact together
  artifactBroadcastsPerSecond: 500,
  // The `data` of a broadcast as JSON: VALUE_TOO_LARGE
  broadcastBytesMax: 16 * KB,
  broadcastEventCharsMax: 64,
  // The presence state of one client as JSON, and all states of an artifact together: VALUE_TOO_LARGE
  presenceStateBytesMax: 4 * KB,
  presenceStatesCharsMax: MB,
  // Presence changes in one frame; the rest goes into the next
  presenceFrameCharsMax: 64 * KB,
  // People that GET …/presence lists; its count covers all
  presencePeopleMax: 1000,
  // contract.md §0: INVALID_REQUEST beyond the maximum, never cut
  pageDefault: 50,
  pageMax: 100,
  idempotencyKeyCharsMax: 255,
  idempotencyTtlMs: 24 * 60 * 60 * 1000,
  // An answer, and its compressed record: a larger one is not kept, and a repetition gets IDEMPOTENCY_ANSWER_NOT_KEPT
  idempotencyAnswerBytesMax: MB,
  idempotencyRecordBytesMax: 64 * KB,
  // Keyed requests in flight on one node, and of one caller or network: RATE_LIMITED
  idempotencyInFlightMax: 1000,
  idempotencyInFlightPerCallerMax: 32,
  // Records that one caller and one network make in a day: RATE_LIMITED. Bytes of them: further answers are not kept
  idempotencyRecordsPerCallerMax: 50_000,
  idempotencyRecordsPerNetworkMax: 100_000,
  idempotencyBytesPerCallerMax: 64 * MB,
  idempotencyBytesPerNetworkMax: 128 * MB,
  // Any JSON body that has no limit of its own: PAYLOAD_TOO_LARGE
  bodyBytesMax: 256 * KB,
  // Values (texts, numbers, lists, objects) in a JSON body whose schema sets no smaller number: INVALID_REQUEST. 1 MB cannot hold more
  bodyValuesMax: 600_000,
  // Members of one object in a body over 256 KB, because V8 lists that many in 25 ms: INVALID_REQUEST. 1 MB can hold about so many
  bodyMembersMax: 120_000,
  // Characters of one number in a body that is read in slices: INVALID_JSON
  bodyNumberCharsMax: 4096,
  // Problems of a body that an answer lists; further ones are left out
  issuesMax: 100,
  // JSON that one turn may parse and write, or other work that takes as long (up to 50 ms): REQUEST_TOO_EXPENSIVE
  turnWorkBytesMax: 1.5 * MB,
  // spec.md, "States": the recovery window
  trashRetentionDays: 30,
  previewLinkDefaultS: 7 * 24 * 3600,
  previewLinkMaxS: 30 * 24 * 3600,
  // Preview links of one artifact that have not expired: ACCOUNT_STORAGE_FULL
  previewLinksMax: 1000,
  // WebSockets on one node, those whose caller has yet to prove access, streams of changes, and all other connections. Fewer where the
  // process may have fewer descriptors (src/platform/descriptors.ts). UNAVAILABLE; a connection beyond the last is closed
  socketsMax: 50_000,
  unprovenSocketsMax: 5000,
  streamsMax: 20_000,
  connectionsMax: 50_000,
  // WebSockets, or streams, of one artifact on one node: UNAVAILABLE
  socketsPerArtifactMax: 5000,
  // Frames of one WebSocket that wait for their turn, and their bytes beside the longest message; beyond it the socket closes with 1013
  framesWaitingPerSocketMax: 20_000,
  framesWaitingPerSocketBytesMax: MB,
  // Bytes of such frames on one node, and of one network, credential or artifact: the socket closes with 1013
  framesWaitingBytesMax: 256 * MB,
  framesWaitingBytesPerCallerMax: 64 * MB,
  framesWaitingBytesPerArtifactMax: 64 * MB,
  // Bytes of answers on one node that their readers have not taken yet, and of one network, credential or artifact: UNAVAILABLE
  answersBytesMax: 256 * MB,
  answersBytesPerCallerMax: 32 * MB,
  answersBytesPerArtifactMax: 64 * MB,
  // A reader who takes less than this in that time while an answer waits for it is disconnected
  answerBytesPerWindowMin: 64 * KB,
  answerWindowMs: 10_000,
  // Bytes of whole documents and large differences in flight to slow peers on one node, and of one network, credential or artifact; further
  // ones wait, and close with 1013 when they have waited for too long
  outflowBytesMax: 256 * MB,
  outflowBytesPerCallerMax: 64 * MB,
  outflowBytesPerArtifactMax: 128 * MB,
  outflowWaitMs: 30_000,
  // A WebSocket peer that takes nothing of what waits for it for this long is disconnected. The system's buffers take megabytes before any waits
  socketStallMs: 20_000,
  // Bytes that wait for slow WebSocket peers on one node, and for those of one network; beyond it the peers with the most are disconnected
  socketBacklogBytesMax: 512 * MB,
  socketBacklogPerNetworkMax: 128 * MB,
  // Documents of one artifact: DOCUMENT_LIMIT_EXCEEDED
  documentsMax: 200,
  // DOCUMENT_TOO_LARGE
  documentBytesMax: 50 * MB,
  // One update of a document: DOCUMENT_TOO_LARGE; a frame of twice the size closes the connection
  updateBytesMax: 8 * MB,
  // Structure of a document, which decides its memory and the cost of each update: DOCUMENT_TOO_LARGE
  documentStructsMax: 1_000_000,
  documentClientsMax: 50_000,
  subdocumentsMax: 1000,
  // Requested versions of a document: DOCUMENT_VERSIONS_FULL. As many automatic ones are kept, at least this far apart
  documentVersionsMax: 100,
  documentVersionsBytesMax: 200 * MB,
  documentVersionGapMs: 10 * 60 * 1000,
  // Operations of one write over HTTP, their bytes and the names in them: INVALID_REQUEST, PAYLOAD_TOO_LARGE
  documentOpsMax: 100,
  documentOpsBytesMax: MB,
  documentTypeCharsMax: 256,
  documentKeyCharsMax: 256,
  // A document as JSON: DOCUMENT_TOO_LARGE; as an update it may have any size
  documentJsonBytesMax: 16 * MB,
  // Whole documents processed for HTTP callers at once, and callers in the queue, in all and of one artifact: UNAVAILABLE
  documentReadsMax: 2,
  documentReadsWaitingMax: 64,
  artifactDocumentReadsWaitingMax: 16,
  // Clients of whom one answer of a peer lacks earlier updates; what builds on those is left out. Above it: INVALID_UPDATE
  documentGapsMax: 100,
  // New clients in one update, because Yjs takes quadratic time for those that refer to each other in circles: DOCUMENT_TOO_LARGE
  documentUpdateClientsMax: 10_000,
  // Awareness state of one client of a document; larger ones are dropped
  awarenessStateBytesMax: 16 * KB,
  // Backlog of a connection that authorises by frames, and its deadline until it is authorised; then it is closed
  preAuthBytesMax: 256 * KB,
  preAuthMessagesMax: 100,
  preAuthDeadlineMs: 10_000,
  documentsPerSocketMax: 100,
  nameCharsMax: 200,
  /** A cursor that holds a name of that length in base64. */
  nameCursorCharsMax: 1200,
  // Metadata of a profile as JSON: INVALID_REQUEST
  metadataBytesMax: 16 * KB,
  // The body of a version update, which may include the file list: PAYLOAD_TOO_LARGE
  versionUpdateBytesMax: MB,
  tokensPerUserMax: 100,
  // Folders of one workspace, or of one account: FOLDER_LIMIT_EXCEEDED; levels of them: FOLDER_TOO_DEEP
  foldersMax: 1000,
  folderDepthMax: 10,
  folderReadmeCharsMax: 20_000,
  // spec.md, "Provision a customer workspace"; INVALID_REQUEST
  workspaceNameCharsMax: 100,
  descriptionCharsMax: 2000,
  logoUrlCharsMax: 2000,
  // Open invitations of one workspace, workspaces of one person: WORKSPACE_LIMIT_EXCEEDED. Those that one owns, and members: business/tiers.ts
  workspaceInvitesOpenMax: 1000,
  workspacesPerPersonMax: 500,
  // Workspaces that one person makes in an hour, addresses that one person invites or looks up, attempts to claim or join: RATE_LIMITED
  workspacesPerHour: 20,
  invitesPerHour: 300,
  inviteClaimsPerHour: 60,
  // Collaborators of one artifact, those who have not signed in yet included: COLLABORATOR_LIMIT_EXCEEDED. Addresses in one call
  collaboratorsMax: 500,
  collaboratorsAtOnceMax: 50,
  // Addresses that one person adds in an hour, mails that one person sends by sharing in a day, artifacts that one person gives away in an
  // hour: RATE_LIMITED
  collaboratorsPerHour: 300,
  shareMailsPerDay: 50,
  transfersPerHour: 30,
  // contract.md §3
  shareRecipientsMax: 10,
  shareMessageCharsMax: 1000,
  // Requests for access that one person makes in an hour, and makes of one artifact in a day, and those of all people for one artifact in an
  // hour: RATE_LIMITED. People of a workspace who get a mail about one
  accessRequestsPerHour: 20,
  accessRequestsAgainPerDay: 3,
  accessRequestsOfArtifactPerHour: 30,
  accessRequestMessageCharsMax: 1000,
  accessRequestMailsMax: 20,
  // What became of a request is listed for so long, and one that nobody decides waits for so long
  accessRequestsKeptDays: 90,
  // contract.md §11, §14
  invitesAtOnceMax: 50,
  inviteTtlMs: 14 * 24 * 60 * 60 * 1000,
  policyEntriesMax: 200,
  // Tokens of the agents of one workspace that count: AGENT_TOKEN_LIMIT_EXCEEDED. Those that one person makes in an hour: RATE_LIMITED
  agentTokensPerWorkspaceMax: 200,
  agentTokensPerHour: 100,
  // External sharing of one workspace: WORKSPACE_LIMIT_EXCEEDED
  shareesMax: 1000,
  externalsMax: 5000,
  grantsMax: 10_000,
  // Members of one sharee, sharees of one person outside, grants of one of either: WORKSPACE_LIMIT_EXCEEDED
  shareeMembersMax: 1000,
  shareesPerExternalMax: 50,
  grantsPerSubjectMax: 200,
  // Grants that come with a person: those made first
  grantsPerPersonMax: 1000,
  externalTokensMax: 20,
  shareePropertiesBytesMax: 16 * KB,
  shareeNotesMax: 50,
  shareeNoteBytesMax: 64 * KB,
  // Changes of external sharing that one person makes in an hour, and questions who may what: RATE_LIMITED
  sharesPerHour: 1000,
  explainsPerHour: 600,
  // People whom one simulation looks at: TOO_MANY_PEOPLE. Those whom its answer names
  simulatedPeopleMax: 1000,
  simulatedShownMax: 200,
  // Openings of shared pages: one by the same person is recorded at most once in this time, kept for so long, and at most so many of a workspace
  receiptEveryMs: 10 * 60 * 1000,
  receiptsKeptMs: 90 * 24 * 3600 * 1000,
  receiptsPerWorkspaceMax: 100_000,
  // Receipts that wait in memory to be written; further ones are left out
  receiptsWaitingMax: 10_000,
  // Views of pages: kept for as many days as the longest answer covers
  viewsKeptDays: 90,
  // Visitors whose views wait in memory to be written, in all, of one network and of one artifact; views of one visitor in that time.
  // What is beyond is not counted
  viewersWaitingMax: 10_000,
  viewersWaitingPerNetworkMax: 500,
  viewersWaitingPerArtifactMax: 5000,
  viewsWaitingPerViewerMax: 100,
  // Approvals that a publish policy may ask for: INVALID_REQUEST. Those that a review state lists
  approvalsRequiredMax: 10,
  approvalsShownMax: 200,
  // spec.md, "Provision a customer workspace": INVALID_REQUEST
  provisionAdminsMax: 20,
  provisionFoldersMax: 50,
  provisionConnectorsMax: 20,
  provisionBodyBytesMax: 2 * MB,
  // Connections of a workspace: CONNECTION_LIMIT_EXCEEDED. Its settings and credentials: INVALID_REQUEST, PAYLOAD_TOO_LARGE
  workspaceConnectionsMax: 100,
  connectionBodyBytesMax: 64 * KB,
  connectionUrlCharsMax: 2048,
  credentialCharsMax: 16 * KB,
  // An asset library: files with all their versions, collections, deliverables in a collection, links of a file that are open: ASSET_LIMIT_EXCEEDED
  assetFilesMax: 10_000,
  assetCollectionsMax: 500,
  assetCollectionItemsMax: 1000,
  assetLinksMax: 50,
  // with those that have ended and are still listed
  assetLinksListedMax: 1000,
  // A further version removes the oldest one
  assetVersionsKept: 20,
  // Links that have ended or were revoked are listed for so long
  assetLinksKeptMs: 90 * 24 * 3600 * 1000,
  assetLinkPasswordCharsMax: 200,
  // Uploads in pieces: PAYLOAD_TOO_LARGE, and INVALID_REQUEST for one that is too small and not the last; together they bound the pieces of a file
  assetPieceBytesMax: 8 * MB,
  assetPieceBytesMin: 64 * KB,
  assetUploadTtlMs: 24 * 3600 * 1000,
  // Unfinished uploads of one person or agent: ASSET_LIMIT_EXCEEDED
  assetUploadsOpenMax: 50,
  // Files that are put together of their pieces at once, and that wait for it, in all and of one caller or network: UNAVAILABLE
  assetJoinsMax: 2,
  callerAssetJoinsMax: 1,
  assetJoinsWaitingMax: 32,
  callerAssetJoinsWaitingMax: 8,
  // Calls of asset libraries by one person, reads of files and openings of share links by one address: RATE_LIMITED
  assetsPerMinute: 600,
  fileReadsPerMinute: 1000,
  shareLinksPerMinute: 120,
  // Pictures of files: pixels of the image that is read, and what the process that reads it may take
  assetPicturePixelsMax: 64_000_000,
  assetPictureHeapMbMax: 256,
  assetPictureMemoryBytesMax: 768 * MB,
  assetPictureMsMax: 15_000,
  // Sources of files of a workspace: IMPORT_SOURCE_LIMIT_EXCEEDED
  importSourcesPerWorkspaceMax: 50,
  // spec.md, "File import run": what a run tells of files; what a list of runs shows of it
  importErrorsMax: 200,
  importErrorsListedMax: 20,
  // Files, and folders, that a run looks at: it then ends with WALK_LIMIT
  importFilesMax: 10_000,
  importWalkFoldersMax: 10_000,
  // Entries of one answer of browse; further ones are found by their site or folder
  importBrowseEntriesMax: 1000,
  importRefCharsMax: 2048,
  // An unfinished connect: CONNECT_FAILED
  importConnectTtlMs: 15 * 60 * 1000,
  // Runs that a process works on, files of a run that it fetches at once
  importRunsMax: 4,
  importFilesAtOnce: 3,
  // A run that takes longer, or with which so many processes have ended: STALLED
  importRunMs: 6 * 60 * 60 * 1000,
  importRunClaimsMax: 3,
  // What a provider may ask a run to wait for one call, and how often it is asked again: RATE_LIMITED
  importWaitMsMax: 2 * 60 * 1000,
  importCallTries: 5,
  // A conversion: its memory, its time, what a document unpacks to, cells of a workbook
  importConvertMs: 30_000,
  importConvertHeapMb: 256,
  importUnpackedBytesMax: 64 * MB,
  importCellsMax: 500_000,
  importSheetsMax: 10,
  // What is made of a file: HTML that leaves room for the rest of its page, and the rows of all sheets. Beyond that it stays as it is
  importHtmlBytesMax: 25 * MB - 64 * KB,
  importRowsBytesMax: 32 * MB,
  // Runs are kept for so long, and so many of a source
  importRunsKeptMs: 90 * 24 * 3600 * 1000,
  importRunsKeptPerSourceMax: 100,
  // Of one person in an hour: RATE_LIMITED
  importConnectsPerHour: 60,
  importBrowsesPerHour: 1200,
  importSyncsPerHour: 120,
  // Questions: INVALID_REQUEST, PAYLOAD_TOO_LARGE
  askQuestionCharsMax: 1000,
  askHistoryMax: 10,
  askHistoryCharsMax: 4000,
  askBodyBytesMax: 256 * KB,
  // Questions of one person in an hour; to the agent of one page: of one visitor, and of all visitors together: RATE_LIMITED
  asksPerHour: 120,
  pageAsksPerHour: 30,
  pageAsksOfArtifactPerHour: 300,
  // Passages that an answer is made from, and those that stand in an extractive one
  askPassagesMax: 8,
  askShownMax: 3,
  askQuoteCharsMax: 400,
  // The model: how long it may take in all, and between two pieces; characters of its answer and of one line of its stream. Answers under way
  // in one process, of one caller, of one page. What is beyond is answered extractively
  askModelMs: 60_000,
  askModelIdleMs: 15_000,
  askAnswerCharsMax: 6000,
  askModelLineCharsMax: 64 * KB,
  askModelCallsMax: 64,
  askModelCallsPerCallerMax: 4,
  askModelCallsPerArtifactMax: 8,
  // What the agent of a page looks at beside the page: tables and datasets, each with its first rows and with those that have words of the
  // question; characters of a row and of all rows of one; bytes that are looked through for them, in all, where a row counts as so many at least
  agentTablesMax: 20,
  agentFirstRowsMax: 5,
  agentFittingRowsMax: 8,
  agentRowCharsMax: 400,
  agentRowsCharsMax: 3000,
  agentScanBytesMax: 8 * MB,
  agentScanRowBytesMin: 64,
  // And documents
  agentDocumentsMax: 5,
  agentDocumentBytesMax: 256 * KB,
  // The source of a skill: FILE_TOO_LARGE, INVALID_REQUEST
  skillMarkdownBytesMax: 128 * KB,
  skillLinesMax: 2000,
  skillBodyBytesMax: 512 * KB,
  skillChangeTitleCharsMax: 200,
  skillChangeNoteCharsMax: 2000,
  // Open changes of one skill, those of them by one person, skills attached to one artifact or workspace: SKILL_LIMIT_EXCEEDED
  skillChangesOpenMax: 100,
  skillChangesOpenByPersonMax: 20,
  skillsAttachedMax: 50,
  // Changes of one skill that are decided: beyond these the oldest are forgotten
  skillChangesKeptMax: 300,
  // Approvers who are told of a proposed change: others see it in the skill
  skillApproversToldMax: 50,
  // Proposals that one person makes in an hour: RATE_LIMITED
  skillChangesPerHour: 60,
  // What is indexed of an artifact: characters, files, and bytes of each file; the rest is not found. What is looked for, hits of a group, and
  // searches of one person a minute
  searchedCharsMax: 256 * KB,
  searchedFilesMax: 100,
  searchedFileBytesMax: 4 * MB,
  searchCharsMax: 200,
  searchHitsMax: 25,
  searchesPerMinute: 300,
  // Searches at once on one node, of one network and of one caller; further ones wait
  searchesMax: 4,
  networkSearchesMax: 3,
  callerSearchesMax: 2,
  // Searches in the queue of one node, of one network and of one caller: UNAVAILABLE
  searchesWaitingMax: 256,
  networkSearchesWaitingMax: 128,
  callerSearchesWaitingMax: 32,
  ...SUPPORT_LIMITS,
} as const;
