/** Branded ids: a prefix and 24 lowercase base-32 characters (120 random bits). */
import { z } from 'zod';
import type { ErrorCode } from './errors.ts';
import { missingAs } from './missing.ts';
import { patterned } from './pattern.ts';

const ID_PREFIXES = {
  artifact: 'art',
  version: 'ver',
  user: 'usr',
  token: 'tok',
  session: 'ses',
  pageSignIn: 'pgs',
  passkey: 'psk',
  upload: 'upl',
  previewLink: 'lnk',
  row: 'row',
  blob: 'blob',
  guest: 'gst',
  comment: 'cmt',
  mail: 'eml',
  mailBatch: 'mlb',
  template: 'tpl',
  person: 'per',
  workspace: 'wsp',
  folder: 'fld',
  invite: 'inv',
  accessRequest: 'req',
  agent: 'agt',
  audit: 'aud',
  connection: 'con',
  catalogEntry: 'cat',
  sharee: 'shr',
  external: 'ext',
  grant: 'grt',
  receipt: 'rct',
  notice: 'ntc',
  alertRule: 'alr',
  alertEvent: 'ale',
  metricWatch: 'mwt',
  webhook: 'whk',
  delivery: 'dlv',
  job: 'job',
  run: 'run',
  // contract.md §0 gives it the letters that the deliveries of webhooks have too; no path takes both.
  deliverable: 'dlv',
  collection: 'col',
  shareLink: 'lnk',
  importSource: 'ims',
  importRun: 'imr',
  skill: 'skl',
  skillChange: 'skc',
  personExport: 'pex',
  personDeletion: 'pdl',
  ticket: 'tkt',
  ticketMessage: 'tkm',
  ticketAttachment: 'tka',
  subscription: 'sub',
  paymentMethod: 'pmt',
  checkout: 'cko',
  invoice: 'ivc',
} as const;

/** The error code where the resource with an id is missing. */
const MISSING: Readonly<Partial<Record<keyof typeof ID_PREFIXES, ErrorCode>>> = {
  artifact: 'ARTIFACT_NOT_FOUND',
  version: 'VERSION_NOT_FOUND',
  user: 'USER_NOT_FOUND',
  token: 'TOKEN_NOT_FOUND',
  session: 'SESSION_NOT_FOUND',
  passkey: 'PASSKEY_NOT_FOUND',
  upload: 'UPLOAD_NOT_FOUND',
  previewLink: 'PREVIEW_LINK_NOT_FOUND',
  row: 'ROW_NOT_FOUND',
  blob: 'BLOB_NOT_FOUND',
  comment: 'COMMENT_NOT_FOUND',
  workspace: 'WORKSPACE_NOT_FOUND',
  folder: 'FOLDER_NOT_FOUND',
  invite: 'INVITE_NOT_FOUND',
  accessRequest: 'ACCESS_REQUEST_NOT_FOUND',
  connection: 'CONNECTION_NOT_FOUND',
  catalogEntry: 'CATALOG_ENTRY_NOT_FOUND',
  sharee: 'SHAREE_NOT_FOUND',
  external: 'EXTERNAL_NOT_FOUND',
  grant: 'GRANT_NOT_FOUND',
  alertRule: 'ALERT_NOT_FOUND',
  metricWatch: 'WATCH_NOT_FOUND',
  webhook: 'WEBHOOK_NOT_FOUND',
  delivery: 'DELIVERY_NOT_FOUND',
  mailBatch: 'MAIL_NOT_FOUND',
  template: 'TEMPLATE_NOT_FOUND',
  job: 'JOB_NOT_FOUND',
  run: 'RUN_NOT_FOUND',
  deliverable: 'FILE_NOT_FOUND',
  collection: 'COLLECTION_NOT_FOUND',
  shareLink: 'SHARE_LINK_NOT_FOUND',
  importSource: 'IMPORT_SOURCE_NOT_FOUND',
  importRun: 'IMPORT_RUN_NOT_FOUND',
  skill: 'SKILL_NOT_FOUND',
  skillChange: 'SKILL_CHANGE_NOT_FOUND',
  mail: 'MAIL_NOT_FOUND',
  personExport: 'EXPORT_NOT_FOUND',
  personDeletion: 'DELETION_NOT_FOUND',
  ticket: 'TICKET_NOT_FOUND',
  ticketMessage: 'TICKET_MESSAGE_NOT_FOUND',
  ticketAttachment: 'TICKET_ATTACHMENT_NOT_FOUND',
  subscription: 'SUBSCRIPTION_NOT_FOUND',
  paymentMethod: 'PAYMENT_METHOD_NOT_FOUND',
  checkout: 'CHECKOUT_NOT_FOUND',
};

export type IdKind = keyof typeof ID_PREFIXES;
export type Id<K extends IdKind> = string & { readonly __id: K };
export type ArtifactId = Id<'artifact'>;
export type VersionId = Id<'version'>;
export type UserId = Id<'user'>;
export type SessionId = Id<'session'>;
/** What a session becomes on the origin of one page. */
export type PageSignInId = Id<'pageSignIn'>;
/** What names a credential: a token, the session of a browser, what that has become on a page's origin, or the run of a job. */
export type TokenId = Id<'token'> | SessionId | PageSignInId | RunId;
export type PasskeyId = Id<'passkey'>;
export type UploadId = Id<'upload'>;
export type GuestId = Id<'guest'>;
export type PreviewLinkId = Id<'previewLink'>;
/** Joins the linked accounts of one person; never shown. */
export type PersonId = Id<'person'>;
export type WorkspaceId = Id<'workspace'>;
export type FolderId = Id<'folder'>;
export type InviteId = Id<'invite'>;
export type AccessRequestId = Id<'accessRequest'>;
/** A service principal, which the tokens of a workspace's agent act as. */
export type AgentId = Id<'agent'>;
export type JobId = Id<'job'>;
/** One run of a job. It keeps its id however often it is tried. */
export type RunId = Id<'run'>;
/** A folder of a cloud drive whose files come here. */
export type ImportSourceId = Id<'importSource'>;
export type ImportRunId = Id<'importRun'>;
export type ConnectionId = Id<'connection'>;
export type CatalogEntryId = Id<'catalogEntry'>;
/** An organisation outside that a workspace shares with. */
export type ShareeId = Id<'sharee'>;
/** Somebody outside, as one workspace knows them. */
export type ExternalId = Id<'external'>;
export type GrantId = Id<'grant'>;
export type NoticeId = Id<'notice'>;
export type AlertRuleId = Id<'alertRule'>;
export type AlertEventId = Id<'alertEvent'>;
export type MetricWatchId = Id<'metricWatch'>;
export type WebhookId = Id<'webhook'>;
/** One message to a webhook, the same on every try. */
export type DeliveryId = Id<'delivery'>;
/** One message to some recipients, each of whom gets a mail of their own. */
export type MailBatchId = Id<'mailBatch'>;
export type TemplateId = Id<'template'>;
export type SkillId = Id<'skill'>;
export type SkillChangeId = Id<'skillChange'>;
export type BlobId = Id<'blob'>;
/** A file of an asset library, with its versions. */
export type DeliverableId = Id<'deliverable'>;
export type CollectionId = Id<'collection'>;
/** A zip of what the installation holds of a person. */
export type PersonExportId = Id<'personExport'>;
export type PersonDeletionId = Id<'personDeletion'>;
export type ShareLinkId = Id<'shareLink'>;
export type TicketId = Id<'ticket'>;
export type TicketMessageId = Id<'ticketMessage'>;
export type TicketAttachmentId = Id<'ticketAttachment'>;
export type SubscriptionId = Id<'subscription'>;
export type PaymentMethodId = Id<'paymentMethod'>;
export type CheckoutId = Id<'checkout'>;
export type InvoiceId = Id<'invoice'>;

// RFC 4648 base 32 in lowercase: every character is safe in a host name, a path and a file name.
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const RANDOM_CHARS = 24;
/** Random bytes are fetched for this many ids at once, because one fetch costs as much as everything else in storing a row. */
const IDS_AHEAD = 128;

const random = { bytes: new Uint8Array(0), used: 0 };

/** A fresh random id of one kind, for example `art_k3v…` (4 + 24 characters). */
export function newId<K extends IdKind>(kind: K): Id<K> {
  if (random.used === random.bytes.length) {
    random.bytes = crypto.getRandomValues(new Uint8Array(RANDOM_CHARS * IDS_AHEAD));
    random.used = 0;
  }
  let text = `${ID_PREFIXES[kind]}_`;
  for (let char = 0; char < RANDOM_CHARS; char += 1) text += ALPHABET[(random.bytes[random.used + char] ?? 0) & 31];
  random.used += RANDOM_CHARS;
  return text as Id<K>;
}

export const ID_KINDS = Object.keys(ID_PREFIXES) as readonly IdKind[];

function makeIdSchema<K extends IdKind>(kind: K) {
  const pattern = new RegExp(`^${ID_PREFIXES[kind]}_[a-z0-9]{24}$`);
  const schema = z
    .string()
    .regex(pattern, `must look like ${ID_PREFIXES[kind]}_ and 24 characters`)
    .transform((text) => text as Id<K>);
  return missingAs(patterned(schema, pattern), MISSING[kind] ?? 'NOT_FOUND');
}

const idSchemas = new Map<IdKind, unknown>();

/** The one schema of a kind of id. Parsing brands the string, and inner code never checks it again. */
export function idSchema<K extends IdKind>(kind: K) {
  const known = (idSchemas.get(kind) as ReturnType<typeof makeIdSchema<K>> | undefined) ?? makeIdSchema(kind);
  idSchemas.set(kind, known);
  return known;
}
