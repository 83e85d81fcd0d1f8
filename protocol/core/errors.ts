/** The error catalogue: every code that Easel can answer with, its status, default message and default hint. Source: spec.md, contract.md §0. */

import { BILLING_ERRORS } from '../business/billing-errors.ts';
import { INSTANCE_ERRORS } from './instance-errors.ts';

import { SUPPORT_ERRORS } from './support-errors.ts';

interface CatalogueEntry {
  readonly status: number;
  /**
   * The code in the answer, where it is not the entry's own name. Two failures that clients know by one code can then have a status each,
   * while an entry still has exactly one.
   */
  readonly code?: string;
  readonly message: string;
  /** What to do next. A failure may carry a more exact one. */
  readonly hint: string;
}

export const ERRORS = {
  ...INSTANCE_ERRORS,
  ...BILLING_ERRORS,
  INVALID_REQUEST: { status: 400, message: 'The request is not valid.', hint: 'Correct the named field and send the request again.' },
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
  INVALID_SCHEDULE: {
    status: 400,
    message: 'The schedule is not valid.',
    hint: 'Use five fields: minute, hour, day, month, weekday; POST /v1/jobs/preview tells what they mean.',
  },
  KEY_INVALID: { status: 400, message: 'The key is not valid.', hint: 'Use 1 to 256 letters, digits, dots, underscores and hyphens.' },
  INVALID_TABLE_NAME: {
    status: 400,
    message: 'The table name is not valid.',
    hint: 'Use a letter, then at most 63 letters, digits and underscores.',
  },
  INVALID_DOCUMENT_NAME: {
    status: 400,
    message: 'The document name is not valid.',
    hint: 'Use a letter, then at most 63 letters, digits, underscores and hyphens.',
  },
  INVALID_DATASET_NAME: {
    status: 400,
    message: 'The dataset name is not valid.',
    hint: 'Use a letter, then at most 63 letters, digits, underscores and hyphens.',
  },
  INVALID_UPDATE: {
    status: 400,
    message: 'This is not a Yjs update, or it builds on updates that the server does not have.',
    hint: 'Reconnect, so that the client syncs again.',
  },
  INVALID_FILTER: { status: 400, message: 'The filter is not valid.', hint: 'Correct the named part; the reference lists the operators.' },
  INVALID_MIME_TYPE: {
    status: 400,
    message: 'This file type cannot be uploaded.',
    hint: 'Upload an image, video, audio, PDF, plain text, CSV or Markdown file, with the Content-Type that matches its bytes.',
  },
  UPLOAD_TOKEN_INVALID: {
    status: 400,
    message: 'The upload token is unknown or already used.',
    hint: 'Get a new one with POST …/upload; each works once.',
  },
  UPLOAD_TOKEN_EXPIRED: {
    status: 400,
    message: 'The upload token has expired.',
    hint: 'Get a new one with POST …/upload; it is valid for 15 minutes.',
  },
  TOO_MANY_ROWS: {
    status: 400,
    message: 'The filter matches too many rows.',
    hint: 'Narrow the filter, and repeat the call for the other rows.',
  },
  QUERY_TOO_EXPENSIVE: {
    status: 400,
    message: 'The query takes too long.',
    hint: 'Declare the columns that it filters and sorts by as indexed with PUT …/_schema, or narrow the filter.',
  },
  TOO_MANY_PEOPLE: {
    status: 400,
    message: 'The change concerns more people than a simulation looks at.',
    hint: 'Ask with GET …/access/explain?email= for the people who matter to you.',
  },
  REQUEST_TOO_EXPENSIVE: {
    status: 400,
    message: 'The request needs too much work in one step.',
    hint: 'Split it into several requests, or store large values in smaller parts.',
  },
  NAME_REQUIRED: {
    status: 400,
    message: 'A comment without an account needs a name.',
    hint: 'Send authorName, or use an account or a guest token.',
  },
  // RFC 8628: programs tell these four apart by the text of `error`.
  SLOW_DOWN: { status: 400, message: 'slow_down', hint: 'Wait 5 seconds longer between two polls from now on.' },
  DEVICE_CODE_EXPIRED: {
    status: 400,
    message: 'expired_token',
    hint: 'The code was valid for 10 minutes. Begin again with POST …/device/start.',
  },
  DEVICE_LOGIN_DENIED: { status: 400, message: 'access_denied', hint: 'The person did not approve the login, or has revoked it.' },
  DEVICE_CODE_UNKNOWN: {
    status: 400,
    message: 'invalid_grant',
    hint: 'The device code is wrong, or its token was delivered already. Begin again with POST …/device/start.',
  },
  PROOF_INVALID: {
    status: 400,
    message: 'The proof of work is missing, wrong, expired or used already.',
    hint: 'Get a challenge with POST …/email/challenge and solve it; easel.notifyOwner does both.',
  },
  CODE_INVALID: {
    status: 400,
    message: 'The code is wrong or has expired.',
    hint: 'Check the mail, or request a new code; a code is valid for 10 minutes and 5 attempts.',
  },
  SIGN_IN_FAILED: { status: 400, message: 'The identity provider did not sign you in.', hint: 'Sign in again.' },
  LAST_SIGN_IN: {
    status: 400,
    message: 'This is the only way to sign in that is left.',
    hint: 'Link another sign-in first.',
  },
  MAX_DEPTH: { status: 400, message: 'Replies cannot be nested any deeper.', hint: 'Reply to a comment further up.' },
  LAST_OWNER: {
    status: 400,
    message: 'A workspace must have an owner.',
    hint: 'Make another member an owner first, or delete the workspace.',
  },
  CANNOT_REMOVE_OWNER: {
    status: 400,
    message: 'The owner of an artifact cannot be removed.',
    hint: 'Give it to somebody else first: POST …/transfer-ownership.',
  },
  INVITE_CLOSED: {
    status: 400,
    message: 'The invitation is not open any more: it was accepted or revoked, or it has expired.',
    hint: 'Ask for a new invitation.',
  },
  NOT_DELETED: {
    status: 400,
    message: 'The artifact is not in the trash.',
    hint: 'GET /v1/artifacts/deleted lists the artifacts in the trash.',
  },
  NO_VERSION: { status: 400, message: 'The artifact has no version yet.', hint: 'Publish a version first.' },
  UNAUTHORIZED: {
    status: 401,
    message: 'Valid credentials are needed.',
    hint: 'Send "Authorization: Bearer <token>"; POST /v1/auth/create-account gives you a token.',
  },
  INVALID_CREDENTIALS: {
    status: 401,
    message: 'The e-mail address or the password is wrong.',
    hint: 'Check both, or sign in with a code by mail and set a new password.',
  },
  AUTH_REQUIRED: {
    status: 401,
    message: 'Comments here need an identity.',
    hint: 'Send the token of an account, or a guest token where guests may comment.',
  },
  PLAN_REQUIRED: { status: 402, message: 'This needs a paid plan.', hint: 'Upgrade the plan of the account.' },
  FORBIDDEN: { status: 403, message: 'You may not do this.', hint: 'Ask the owner for access.' },
  HOST_NOT_ALLOWED: {
    status: 403,
    message: 'The page may not read this host.',
    hint: 'An editor adds the host with PUT /v1/data/{artifactId}/proxy/config.',
  },
  BLOCKED_DESTINATION: {
    status: 403,
    message: 'The service does not connect to this address.',
    hint: 'Use a host on the public internet, on port 80 or 443.',
  },
  INSUFFICIENT_SCOPE: { status: 403, message: 'The token lacks the required scope.', hint: 'Create an agent token with this scope.' },
  ORIGIN_REFUSED: {
    status: 403,
    message: 'A call with a cookie is accepted only from a page of this host.',
    hint: 'Send the Origin of this host, or a token in the Authorization header.',
  },
  COMMENTS_DISABLED: { status: 403, message: 'Comments are turned off here.', hint: 'The owner can turn them on in the comment settings.' },
  REPLIES_DISABLED: { status: 403, message: 'Replies are turned off here.', hint: 'Write a new comment instead.' },
  STAFF_REQUIRED: {
    status: 403,
    message: 'Only the staff of the installation may do this.',
    hint: 'Use the token of an administrator, or of somebody whom an administrator has made staff.',
  },
  ADMIN_REQUIRED: {
    status: 403,
    message: 'Only an administrator of the installation may do this.',
    hint: 'Use the token of an administrator.',
  },
  EMAIL_NOT_PROVED: {
    status: 403,
    message: 'Only somebody who has proved an e-mail address may send mail.',
    hint: 'Add your address with POST /v1/auth/link-email/start, and confirm it with the code that it gets.',
  },
  ADDRESS_NOT_ALLOWED: {
    status: 403,
    message: 'The access policy of the workspace does not admit this address.',
    hint: 'Add the address or its domain to the access policy first.',
  },
  INVITE_FOR_ANOTHER: {
    status: 403,
    message: 'The invitation is for another e-mail address.',
    hint: 'Sign in with the address that was invited, or link it to your account.',
  },
  EXTERNAL_SHARING_NOT_ENTITLED: {
    status: 403,
    message: 'This workspace may not share with people outside.',
    hint: 'External sharing comes with the plan "team"; an administrator can also turn on the feature collab.external_sharing.',
  },
  NOT_FOUND: { status: 404, message: 'There is nothing at this path.', hint: 'GET /v1/openapi.json lists every path.' },
  ARTIFACT_NOT_FOUND: {
    status: 404,
    message: 'There is no such artifact, or you have no access to it.',
    hint: 'Check the id, or use a token with access.',
  },
  WORKSPACE_NOT_FOUND: {
    status: 404,
    message: 'There is no such workspace, or you have no access to it.',
    hint: 'Check the id, or use a token with access.',
  },
  FOLDER_NOT_FOUND: {
    status: 404,
    message: 'There is no such folder, or you have no access to it.',
    hint: 'Check the id, or use a token with access.',
  },
  VERSION_NOT_FOUND: {
    status: 404,
    message: 'The artifact has no such version.',
    hint: 'GET /v1/artifacts/{id}/versions lists its versions.',
  },
  THUMBNAIL_NOT_FOUND: {
    status: 404,
    message: 'There is no picture of the live version.',
    hint: 'Try again in a minute. Not every page gets one: the service may have no browser, or the page cannot be drawn.',
  },
  KEY_NOT_FOUND: { status: 404, message: 'There is no such key.', hint: 'PUT creates it.' },
  TABLE_NOT_FOUND: { status: 404, message: 'There is no such table.', hint: 'The first insert creates it.' },
  ROW_NOT_FOUND: { status: 404, message: 'There is no such row.', hint: 'Query the table for the ids of its rows.' },
  BLOB_NOT_FOUND: { status: 404, message: 'There is no such blob.', hint: 'GET …/blobs lists the blobs.' },
  COMMENT_NOT_FOUND: { status: 404, message: 'There is no such comment.', hint: 'GET …/comments lists the comments.' },
  ASSIGNEE_NOT_FOUND: {
    status: 404,
    message: 'No person with access has this id.',
    hint: 'GET …/comments/_people lists the people with access.',
  },
  DATASET_NOT_FOUND: {
    status: 404,
    message: 'There is no such dataset.',
    hint: 'List the datasets with GET …/datasets, or make one with PUT …/datasets/{dataset}.',
  },
  DOCUMENT_NOT_FOUND: { status: 404, message: 'There is no such document.', hint: 'The first update creates it.' },
  TOKEN_NOT_FOUND: { status: 404, message: 'You have no such token.', hint: 'GET /v1/me/tokens lists your tokens.' },
  SESSION_NOT_FOUND: { status: 404, message: 'You have no such session.', hint: 'GET /v1/auth/sessions lists your sessions.' },
  PASSKEY_NOT_FOUND: { status: 404, message: 'You have no such passkey.', hint: 'GET /v1/auth/passkeys lists your passkeys.' },
  PROVIDER_NOT_FOUND: {
    status: 404,
    message: 'There is no such identity provider.',
    hint: 'GET /v1/auth/providers lists those of this installation.',
  },
  IMPORT_PROVIDER_NOT_FOUND: {
    status: 404,
    message: 'This installation does not connect to this drive.',
    hint: 'GET …/file-imports lists the providers that it has.',
  },
  IMPORT_SOURCE_NOT_FOUND: { status: 404, message: 'There is no such source of files.', hint: 'GET …/file-imports lists the sources.' },
  IMPORT_RUN_NOT_FOUND: { status: 404, message: 'There is no such import run.', hint: 'GET …/file-imports/runs?sourceId= lists the runs.' },
  IMPORT_REF_NOT_FOUND: {
    status: 404,
    message: 'The drive has no such entry, or you do not see it there.',
    hint: 'Browse again from the root; a ref counts for who browsed.',
  },
  USER_NOT_FOUND: {
    status: 404,
    message: 'There is no such person here.',
    hint: 'Check the id or the address; an address without an account can be invited.',
  },
  UPLOAD_NOT_FOUND: {
    status: 404,
    message: 'There is no such upload.',
    hint: 'Begin a new one: publish again with files_digest, or POST …/assets/uploads.',
  },
  PREVIEW_LINK_NOT_FOUND: { status: 404, message: 'There is no such preview link.', hint: 'Create a new one.' },
  JOB_NOT_FOUND: { status: 404, message: 'There is no such job.', hint: 'GET /v1/jobs?artifact_id= lists the jobs of an artifact.' },
  RUN_NOT_FOUND: { status: 404, message: 'The job has no such run.', hint: 'GET /v1/jobs/{jobId}/logs lists its runs.' },
  SHAREE_NOT_FOUND: {
    status: 404,
    message: 'The workspace has no such client organisation.',
    hint: 'GET /v1/workspaces/{workspaceId}/sharees lists them.',
  },
  EXTERNAL_NOT_FOUND: {
    status: 404,
    message: 'There is no such person outside.',
    hint: 'GET /v1/workspaces/{workspaceId}/sharees/{shareeId}/members lists the members of a client organisation.',
  },
  GRANT_NOT_FOUND: {
    status: 404,
    message: 'The workspace has no such grant.',
    hint: 'GET /v1/workspaces/{workspaceId}/grants lists its grants.',
  },
  MAIL_NOT_FOUND: { status: 404, message: 'There is no such mail.', hint: 'GET /v1/email?artifact_id= lists the mails of an artifact.' },
  TEMPLATE_NOT_FOUND: { status: 404, message: 'There is no such template.', hint: 'GET /v1/templates lists your templates.' },
  SKILL_NOT_FOUND: {
    status: 404,
    message: 'There is no such skill, or you do not see it.',
    hint: 'GET /v1/workspaces/{id}/skills lists those of a workspace.',
  },
  SKILL_CHANGE_NOT_FOUND: {
    status: 404,
    message: 'There is no such proposed change.',
    hint: 'GET /v1/skills/{id}/changes lists them.',
  },
  FILE_NOT_FOUND: {
    status: 404,
    message: 'There is no such file, or you have no access to it.',
    hint: 'GET /v1/assets lists your files, GET /v1/workspaces/{workspaceId}/assets those of a workspace.',
  },
  COLLECTION_NOT_FOUND: { status: 404, message: 'There is no such collection.', hint: 'GET …/assets/collections lists them.' },
  SHARE_LINK_NOT_FOUND: { status: 404, message: 'The file has no such share link.', hint: 'GET …/assets/{fileId}/links lists its links.' },
  NOTE_NOT_FOUND: {
    status: 404,
    message: 'The client organisation has no such note.',
    hint: 'PUT …/context/{name}.md makes it.',
  },
  CONNECTION_NOT_FOUND: {
    status: 404,
    message: 'The workspace has no such connection.',
    hint: 'GET /v1/workspaces/{workspaceId}/connections lists its connections.',
  },
  CATALOG_ENTRY_NOT_FOUND: {
    status: 404,
    message: 'The catalog has no such entry.',
    hint: 'GET /v1/workspaces/{workspaceId}/catalog lists its entries.',
  },
  WEBHOOK_NOT_FOUND: {
    status: 404,
    message: 'There is no such webhook, or it is not for you to manage.',
    hint: 'GET /v1/webhooks lists those of an artifact or a workspace.',
  },
  DELIVERY_NOT_FOUND: {
    status: 404,
    message: 'The webhook has no such delivery, or it is older than 30 days.',
    hint: 'GET /v1/webhooks/{webhookId}/deliveries lists those that are kept.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: 'This path does not support this method.',
    hint: 'Use a method that the Allow header lists.',
  },
  INVITE_NOT_FOUND: { status: 404, message: 'There is no such invitation.', hint: 'Check the code, or ask for a new invitation.' },
  ACCESS_REQUEST_NOT_FOUND: {
    status: 404,
    message: 'There is no such request, or it is not for you to decide.',
    hint: 'GET /v1/access-requests/incoming lists what waits for you.',
  },
  SLUG_TAKEN: { status: 409, message: 'This slug belongs to another artifact.', hint: 'Choose another slug.' },
  CONNECTION_NAME_TAKEN: {
    status: 409,
    message: 'The workspace has a connection with this name; capital letters make no difference.',
    hint: 'Choose another name, or change that connection.',
  },
  ALERT_NOT_FOUND: {
    status: 404,
    message: 'There is no such alert rule.',
    hint: 'Check the id; GET /v1/metric-alerts lists the rules of an artifact.',
  },
  WATCH_NOT_FOUND: {
    status: 404,
    message: 'There is no such watch.',
    hint: 'Check the id; GET /v1/metric-watch lists your watches of an artifact.',
  },
  METRIC_NOT_FOUND: {
    status: 404,
    message: 'The artifact has no such metric.',
    hint: 'Define it with PUT /v1/metric-alerts/definitions.',
  },
  METRIC_IN_USE: {
    status: 409,
    message: 'Alert rules use this metric.',
    hint: 'Delete these rules first.',
  },
  ALERT_LIMIT_EXCEEDED: {
    status: 409,
    message: 'There are already as many as there may be.',
    hint: 'Delete some that are not needed any more.',
  },
  JOB_LIMIT_EXCEEDED: {
    status: 409,
    message: 'There are as many jobs as there may be.',
    hint: 'Delete jobs; an artifact may have 50 and a person 500.',
  },
  RUN_IN_PROGRESS: { status: 409, message: 'A run is waiting or under way.', hint: 'Wait until it has ended, or cancel it.' },
  RUN_FINISHED: { status: 409, message: 'The run has ended already.', hint: 'Start another one with POST /v1/jobs/{jobId}/run.' },
  IMPORT_NOT_CONNECTED: {
    status: 409,
    message: 'The drive is not connected, or its owner has withdrawn the access.',
    hint: 'Connect it with POST …/file-imports/connect/{provider}.',
  },
  IMPORT_SOURCE_LIMIT_EXCEEDED: {
    status: 409,
    message: 'The workspace has as many sources of files as it may have.',
    hint: 'Delete sources; a workspace may have 50.',
  },
  CONNECT_FAILED: {
    status: 400,
    message: 'The drive was not connected.',
    hint: 'Connect it again, in the browser in which you are signed in.',
  },
  CONNECTION_LIMIT_EXCEEDED: {
    status: 409,
    message: 'The workspace already has the maximum number of connections.',
    hint: 'Delete connections; a workspace may have 100.',
  },
  CATALOG_NOT_ENABLED: {
    status: 409,
    message: 'The workspace has no catalog yet.',
    hint: 'An owner or admin makes it with POST /v1/workspaces/{workspaceId}/catalog/enable.',
  },
  CATALOG_LIMIT_EXCEEDED: {
    status: 409,
    message: 'The catalog already has the maximum number of written entries.',
    hint: 'Delete entries; a workspace may have 5000.',
  },
  WEBHOOK_LIMIT_EXCEEDED: {
    status: 409,
    message: 'The artifact or the workspace already has the maximum number of webhooks.',
    hint: 'Delete some; an artifact may have 10 and a workspace 20.',
  },
  ASSET_LIMIT_EXCEEDED: {
    status: 409,
    message: 'There are already as many as there may be.',
    hint: 'Delete some that are not needed any more; a library may have 10 000 files and 500 collections, a file 50 open links.',
  },
  WEBHOOK_DISABLED: {
    status: 409,
    message: 'The webhook is turned off.',
    hint: 'Turn it on with PATCH /v1/webhooks/{webhookId} and {"enabled": true}.',
  },
  // contract.md §0 has one code for every slug that is taken.
  WORKSPACE_SLUG_TAKEN: {
    status: 409,
    code: 'SLUG_TAKEN',
    message: 'This slug belongs to another workspace.',
    hint: 'Choose another slug.',
  },
  ALREADY_HAS_ACCESS: {
    status: 409,
    message: 'You have access to this artifact already.',
    hint: 'Open it; there is nothing to ask for.',
  },
  ALREADY_DECIDED: {
    status: 409,
    message: 'This request was decided already, or access was given in another way.',
    hint: 'GET /v1/access-requests/incoming lists what waits.',
  },
  COLLABORATOR_LIMIT_EXCEEDED: {
    status: 409,
    message: 'The artifact has as many collaborators as it may have.',
    hint: 'Remove collaborators first, or put it into a workspace.',
  },
  TEMPLATE_LIMIT_EXCEEDED: {
    status: 409,
    message: 'There are as many templates as there may be.',
    hint: 'Delete templates; an account and an artifact may have 200 each.',
  },
  OWNER_UNREACHABLE: {
    status: 409,
    message: 'The owner of this page cannot be reached by e-mail.',
    hint: 'The owner needs a proved e-mail address, and must not have unsubscribed from the mails of this page.',
  },
  ALREADY_MEMBER: { status: 409, message: 'They are a member of this workspace already.', hint: 'PATCH the member to change the role.' },
  WORKSPACE_LIMIT_EXCEEDED: {
    status: 409,
    message: 'The limit of workspaces, members or invitations is reached.',
    hint: 'Leave or delete a workspace, remove members, or revoke invitations first.',
  },
  // contract.md §0 has one code for every slug that is taken.
  FOLDER_SLUG_TAKEN: {
    status: 409,
    code: 'SLUG_TAKEN',
    message: 'A folder beside it has this slug.',
    hint: 'Choose another slug, or leave it out to have one made from the name.',
  },
  FOLDER_CYCLE: {
    status: 409,
    message: 'A folder cannot be moved into itself or below itself.',
    hint: 'Move the folder that is below it out first.',
  },
  FOLDER_LIMIT_EXCEEDED: {
    status: 409,
    message: 'There are as many folders as there may be.',
    hint: 'Delete folders; a workspace or an account may have 1000.',
  },
  FOLDER_TOO_DEEP: {
    status: 409,
    message: 'Folders cannot be nested any deeper.',
    hint: 'Choose a folder further up; there may be 10 levels.',
  },
  USERNAME_TAKEN: { status: 409, message: 'This username belongs to another account.', hint: 'Choose another username.' },
  REVIEW_REQUIRED: {
    status: 409,
    message: 'This version waits for approval.',
    hint: 'Owners and admins of the workspace approve it with POST /v1/artifacts/{id}/versions/{version}/approve.',
  },
  ALREADY_PUBLISHED: {
    status: 409,
    message: 'The approvals of this version have published it already.',
    hint: 'Make another version live with rollback.',
  },
  AGENT_TOKEN_LIMIT_EXCEEDED: {
    status: 409,
    message: 'The agents of this workspace have as many tokens as they may.',
    hint: 'Revoke a token that is not used any more; a workspace may have 200.',
  },
  VERSION_IN_USE: {
    status: 409,
    message: 'This version cannot be deleted: it is live, pinned, or the only one.',
    hint: 'Make another version live with rollback, or delete the artifact.',
  },
  SKILL_REQUIRES_APPROVAL: {
    status: 409,
    message: 'The source of a skill is changed by its approvers only.',
    hint: 'Propose the change with POST /v1/skills/{id}/changes.',
  },
  SKILL_CHANGE_CLOSED: {
    status: 409,
    message: 'This change was merged, rejected or withdrawn already.',
    hint: 'Propose it again where it is still wanted.',
  },
  SKILL_LIMIT_EXCEEDED: {
    status: 409,
    message: 'There are as many as there may be.',
    hint: 'A skill may have 100 open changes, 20 of one person; an artifact or a workspace may have 50 skills attached.',
  },
  VERSION_CONFLICT: {
    status: 409,
    message: 'The resource has changed since you read it.',
    hint: 'Read it again and repeat your change on its current state.',
  },
  UPLOAD_OFFSET_CONFLICT: {
    status: 409,
    message: 'The piece does not begin where the upload ends.',
    hint: 'GET the upload and send the piece at its offset.',
  },
  DUPLICATE_VALUE: {
    status: 409,
    message: 'Another row has this unique value.',
    hint: 'Choose another value, change the other row, or send ?onConflict= to update it.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 409,
    message: 'This Idempotency-Key was used with another body.',
    hint: 'Use a new key for each new request.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    message: 'A request with this Idempotency-Key is still in progress.',
    hint: 'Send it again after Retry-After.',
  },
  IDEMPOTENCY_ANSWER_NOT_KEPT: {
    status: 409,
    message: 'The request with this Idempotency-Key was done, but its answer was too large to keep.',
    hint: 'Read what it made instead; sent with another key it would be done twice.',
  },
  LENGTH_REQUIRED: { status: 411, message: 'The body needs a Content-Length.', hint: 'Send Content-Length instead of Transfer-Encoding.' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The body is too large.', hint: 'Send less in one request.' },
  FILE_TOO_LARGE: {
    status: 413,
    message: 'The file is too large.',
    hint: 'A file of a page may have 25 MB, a version 100 MB and 1000 files, a blob 50 MB.',
  },
  ATTACHMENTS_TOO_LARGE: {
    status: 413,
    message: 'The files of the mail are too large together.',
    hint: 'The files of a mail may have 10 MB; send a share link instead: POST …/assets/{fileId}/links.',
  },
  VALUE_TOO_LARGE: { status: 413, message: 'The value is too large.', hint: 'A JSON value may have 1 MB.' },
  KEY_LIMIT_EXCEEDED: {
    status: 413,
    message: 'The artifact already has the maximum number of keys.',
    hint: 'Delete keys; an artifact may have 1000.',
  },
  TABLE_LIMIT_EXCEEDED: {
    status: 413,
    message: 'The artifact already has the maximum number of tables.',
    hint: 'Drop a table; an artifact may have 50.',
  },
  ROW_LIMIT_EXCEEDED: {
    status: 413,
    message: 'The table already has the maximum number of rows.',
    hint: 'Delete rows; a table may have 100 000.',
  },
  ROW_TOO_LARGE: { status: 413, message: 'The row is too large.', hint: 'A row may have 100 KB; store files as blobs.' },
  CONTENT_TOO_LONG: { status: 413, message: 'The comment is too long.', hint: 'A comment may have 10 000 characters.' },
  COMMENT_LIMIT_EXCEEDED: {
    status: 413,
    message: 'The artifact has no room for more comments.',
    hint: 'Delete comments; an artifact may have 5000, with 16 MB in all.',
  },
  BLOB_LIMIT_EXCEEDED: {
    status: 413,
    message: 'The artifact already has the maximum number of blobs.',
    hint: 'Delete blobs; an artifact may have 1000.',
  },
  DATASET_LIMIT_EXCEEDED: {
    status: 413,
    message: 'The artifact already has the maximum number of datasets.',
    hint: 'Delete datasets; an artifact may have 100.',
  },
  DOCUMENT_LIMIT_EXCEEDED: {
    status: 413,
    message: 'The artifact already has the maximum number of documents.',
    hint: 'Delete documents; an artifact may have 200.',
  },
  DOCUMENT_TOO_LARGE: {
    status: 413,
    message: 'The document or the update is too large.',
    hint: 'A document may have 50 MB and one update 8 MB; store files as blobs.',
  },
  DOCUMENT_VERSIONS_FULL: {
    status: 413,
    message: 'The document already has the maximum number of versions.',
    hint: 'Delete versions; a document may have 100 requested ones, with 200 MB in all.',
  },
  STORAGE_LIMIT_EXCEEDED: { status: 413, message: 'The storage limit is reached.', hint: 'Delete data first.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'This media type is not supported here.',
    hint: 'Send a type that the Accept header lists.',
  },
  PATCH_FAILED: {
    status: 400,
    message: 'The patch does not apply to the current value.',
    hint: 'Read the value again, and correct the path or the test.',
  },
  UPGRADE_REQUIRED: {
    status: 426,
    message: 'This path only accepts WebSockets.',
    hint: 'Open a WebSocket; browsers send the token as ?token=.',
  },
  RATE_LIMITED: { status: 429, message: 'Too many calls.', hint: 'Wait for the seconds in Retry-After.' },
  TOO_MANY_ATTEMPTS: {
    status: 429,
    message: 'Too many attempts to sign in.',
    hint: 'Wait for the seconds in Retry-After, or sign in with a code by mail.',
  },
  INTERNAL_ERROR: {
    status: 500,
    message: 'Something failed on our side.',
    hint: 'Try again; if it keeps failing, open a support ticket with the request id.',
  },
  PROXY_ERROR: { status: 502, message: 'The host gave no usable answer.', hint: 'Try again later, or ask who runs the host.' },
  DRIVE_UNAVAILABLE: { status: 502, message: 'The drive does not answer as it should.', hint: 'Try again later.' },
  PROVIDER_UNAVAILABLE: { status: 502, message: 'The identity provider does not answer.', hint: 'Try again, or sign in another way.' },
  SECRETS_NOT_CONFIGURED: {
    status: 501,
    message: 'This installation cannot store credentials, because its setting SECRET_KEY is missing.',
    hint: 'The administrator sets SECRET_KEY to 32 random bytes in base64 or hex and starts the service again.',
  },
  ...SUPPORT_ERRORS,
  // contract.md §1: the account's own maximum. A full artifact is 413 under the same code, as spec.md has it for blobs.
  ACCOUNT_STORAGE_FULL: {
    status: 507,
    code: 'STORAGE_LIMIT_EXCEEDED',
    message: 'The storage of the account is full.',
    hint: 'Delete drafts, old versions, files or blobs; GET /v1/account shows what is used.',
  },
  OWNER_MOVED: { status: 503, message: 'The artifact is moving to another node.', hint: 'Try again after the seconds in Retry-After.' },
  UNAVAILABLE: { status: 503, message: 'The service cannot answer this request now.', hint: 'Try again after the seconds in Retry-After.' },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** The code in the answer. */
export function wireCodeOf(code: ErrorCode): string {
  const entry: CatalogueEntry = ERRORS[code];
  return entry.code ?? code;
}
export type UnauthorizedReason = 'missing' | 'invalid' | 'revoked' | 'expired' | 'suspended';

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
  /** State of the limit that refused, for the RateLimit headers; windows and resets in seconds. */
  readonly rate?: {
    readonly name: string;
    readonly limit: number;
    readonly windowS: number;
    readonly remaining: number;
    readonly resetS: number;
  };
  /** The path of a page of ours where a person can do something about it; becomes `redirect_url`. */
  readonly redirectPath?: string;
  /** The current ETag, on VERSION_CONFLICT. */
  readonly etag?: string;
  /** A text with both sides marked, where a merge found lines that both changed. */
  readonly conflict?: string;
}

/** An expected failure: a value from the catalogue. A bug is any other error. */
export class Failure extends Error {
  readonly code: ErrorCode;
  readonly details: FailureDetails;

  constructor(code: ErrorCode, details: FailureDetails = {}) {
    // An expected failure needs no stack, and collecting it costs more than the rest of a refusal.
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
