/**
 * Where the database names a person: the one list that exports and deletions go by. A test compares it with every column of every table, so
 * that a new table cannot be forgotten.
 */

/** `is`: the id of an account. `is_address`: an address. `contains`: either stands in it. */
export type Match = 'is' | 'is_address' | 'contains';

export interface Holding {
  readonly table: string;
  readonly column: string;
  readonly how: Match;
  /** Whether its rows are in an export. What only names the person as the maker of something of others is not. */
  readonly exported: boolean;
  /** What a deletion does: rows that are the person's go; of others' rows only the name does. */
  readonly end: 'removed' | 'blanked';
  /** Instead of null, where the column takes none. */
  readonly replacement?: string;
  /** A column that says whose the row is: one of another account is left alone, whatever address it has. */
  readonly account?: string;
}

/** Stands where an id stood that may not be missing. It is the id of nobody. */
export const NOBODY_ID = 'usr_deleted';

/** Rows that are the person's own. */
const OWN = [
  ...['access_token.user_id', 'session.account_id', 'sign_in.account_id', 'passkey.account_id', 'access_request.requester_id'],
  ...['favorite.user_id', 'comment_read.user_id', 'collaborator.user_id', 'notice.user_id', 'import_connection.user_id'],
  ...['import_source.user_id', 'import_run.user_id', 'job_run.creator_id', 'job.creator_id', 'alert_rule.created_by'],
  ...['metric_watch.user_id', 'metric_definition.created_by', 'webhook.user_id', 'template.owner_id', 'version_approval.user_id'],
  ...['asset_file.owner_id', 'asset_deliverable.owner_id', 'asset_collection.owner_id', 'folder.owner_id', 'workspace_member.user_id'],
  ...['connection_credential.user_id', 'external_user.account_id', 'person_export.user_id'],
  // With its messages and their files.
  ...['ticket_attachment.uploader_id', 'ticket.requester_id'],
];
/** Of these nothing is worth taking along: they are secrets, or gone within a day. */
const PASSING = [
  ...['passkey_challenge.account_id', 'device_login.user_id', 'email_code.account_id', 'publish_upload.user_id', 'import_attempt.user_id'],
  ...['asset_upload.owner_id', 'storage_reservation.user_id', 'storage_reservation.account_id', 'storage_release.account_id'],
];
/** Rows about an address, which is nobody's yet or is known by nothing else. */
const ADDRESSED = [
  ...['pending_collaborator.email', 'comment_guest.email', 'mail_outbox.recipient', 'mail_bounce.address', 'mail_opt_out.address'],
];
const PASSING_ADDRESSED = ['comment_guest_code.email'];
/** Rows with an address that say whose they are: anybody can type in an address, so another account's are not the person's. */
const ADDRESSED_OF_ACCOUNTS = {
  account_id: ['external_user.email', 'sign_in.email'],
  user_id: ['import_connection.account_email'],
  requester_id: ['ticket.requester_email'],
  accepted_by: ['workspace_invite.email'],
};
const PASSING_ADDRESSED_OF_ACCOUNTS = { account_id: ['email_code.email'], user_id: ['device_login.expected_email'] };
const PASSING_NAMED = ['idempotency_record.principal', 'rate_window.subject'];

/** Things of others that the person has made or decided. */
const MADE = [
  ...['access_grant.created_by', 'access_request.decided_by', 'account.suspended_by', 'agent_token.created_by', 'artifact.suspended_by'],
  ...['artifact_version.author_id', 'blob.created_by', 'blob_upload.created_by', 'catalog.enabled_by', 'catalog_entry.created_by'],
  ...['connection.created_by', 'document_update.by_user', 'document_version.created_by', 'external_token.created_by'],
  ...['external_user.invited_by', 'folder.created_by', 'instance_flag.changed_by', 'mail_batch.sender_id', 'pending_collaborator.added_by'],
  ...['preview_link.created_by', 'sharee.created_by', 'sharee_member.added_by', 'sharee_note.updated_by', 'skill_change.author_id'],
  ...['workspace.created_by', 'workspace.suspended_by', 'workspace_invite.invited_by', 'workspace_invite.accepted_by'],
  ...['workspace_member.added_by', 'person_export.asked_by', 'person_deletion.asked_by', 'person_deletion.heir_id'],
  ...['artifact.requested_by', 'ticket.assignee_id'],
];
/** The same where there must be somebody. */
const MADE_BY_SOMEBODY = [
  'asset_collection.created_by',
  'asset_deliverable.created_by',
  'asset_file.created_by',
  'asset_link.created_by',
  'asset_upload.created_by',
];

export const HOLDINGS: readonly Holding[] = [
  ...holdings(OWN, { how: 'is', exported: true, end: 'removed' }),
  ...holdings(PASSING, { how: 'is', exported: false, end: 'removed' }),
  ...holdings(ADDRESSED, { how: 'is_address', exported: true, end: 'removed' }),
  ...holdings(PASSING_ADDRESSED, { how: 'is_address', exported: false, end: 'removed' }),
  ...Object.entries(ADDRESSED_OF_ACCOUNTS).flatMap(([account, places]) =>
    holdings(places, { how: 'is_address', exported: true, end: 'removed', account }),
  ),
  ...Object.entries(PASSING_ADDRESSED_OF_ACCOUNTS).flatMap(([account, places]) =>
    holdings(places, { how: 'is_address', exported: false, end: 'removed', account }),
  ),
  ...holdings(PASSING_NAMED, { how: 'contains', exported: false, end: 'removed' }),
  ...holdings(['mail_outbox.reply_to'], { how: 'is_address', exported: false, end: 'blanked' }),
  // What a mail server has brought is known by its digest, so that it is not taken again.
  ...holdings(['ticket_inbound.sender'], { how: 'contains', exported: false, end: 'blanked' }),
  ...holdings(MADE, { how: 'is', exported: false, end: 'blanked' }),
  ...holdings(MADE_BY_SOMEBODY, { how: 'is', exported: false, end: 'blanked', replacement: NOBODY_ID }),
];

/** Columns that a step of its own deals with, by the name of that step. */
export const OWN_STEPS: Readonly<
  Record<string, 'account' | 'artifacts' | 'comments' | 'record' | 'signatures' | 'workspaces' | 'receipt'>
> = {
  'account.id': 'account',
  'account.email': 'account',
  'account.username': 'account',
  // Counters are made anew as long as there is the account, so they go with it.
  'account_usage.user_id': 'account',
  'artifact.owner_id': 'artifacts',
  'comment.data': 'comments',
  'audit_entry.actor_id': 'record',
  'audit_entry.actor_name': 'record',
  'audit_entry.target_id': 'record',
  'audit_entry.target_name': 'record',
  'audit_entry.detail': 'record',
  'audit_entry.address': 'record',
  'ticket_message.author_id': 'signatures',
  'ticket_message.author_name': 'signatures',
  'billing_operation.created_by': 'signatures',
  'billing_operation.address': 'signatures',
  'workspace.allowed_emails': 'workspaces',
  'person_deletion.user_id': 'receipt',
  'person_deletion.accounts': 'receipt',
  'person_deletion.addresses': 'receipt',
};

function holdings(places: readonly string[], rest: Omit<Holding, 'table' | 'column'>): Holding[] {
  return places.map((place) => {
    const [table = '', column = ''] = place.split('.');
    return { table, column, ...rest };
  });
}
