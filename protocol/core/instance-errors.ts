/** Errors of the installation's administration: the part of the catalogue that only it answers with. */
export const INSTANCE_ERRORS = {
  ACCOUNT_SUSPENDED: {
    status: 403,
    message: 'This account has been suspended by an administrator of the installation.',
    hint: 'Write to whoever runs the installation.',
  },
  WORKSPACE_SUSPENDED: {
    status: 403,
    message: 'This workspace has been suspended by an administrator of the installation.',
    hint: 'Write to whoever runs the installation. Nothing has been removed.',
  },
  ARTIFACT_SUSPENDED: {
    status: 403,
    message: 'This artifact has been suspended by an administrator of the installation.',
    hint: 'Write to whoever runs the installation. Nothing has been removed.',
  },
  SWITCHED_OFF: {
    status: 403,
    message: 'This is switched off in this installation.',
    hint: 'Ask an administrator of the installation, who switches it on with PATCH /v1/admin/flags.',
  },
  EXPORT_NOT_FOUND: { status: 404, message: 'There is no such export.', hint: 'An export is kept for seven days. Ask for a new one.' },
  DELETION_NOT_FOUND: { status: 404, message: 'There is no such deletion.', hint: 'GET /v1/admin/deletions lists them.' },
  LAST_ADMIN: {
    status: 409,
    message: 'This is the last administrator of the installation.',
    hint: 'Make somebody else an administrator first.',
  },
  SELF_SUSPENSION: {
    status: 409,
    message: 'You cannot suspend yourself.',
    hint: 'Ask another administrator.',
  },
  MAIL_ENDED: {
    status: 409,
    message: 'This mail is sent, suppressed or dropped, so nothing more becomes of it.',
    hint: 'GET /v1/admin/mails shows what became of it.',
  },
  EXPORT_UNDER_WAY: {
    status: 409,
    message: 'An export of this person is under way.',
    hint: 'Wait for it; the list of exports shows when it is done.',
  },
  EXPORT_NOT_READY: {
    status: 409,
    message: 'The export has no file: it is not done, or it has failed.',
    hint: 'The list of exports shows its status. Ask for a new one where it has failed.',
  },
  CONFIRMATION_WRONG: {
    status: 409,
    message: 'confirm: is not the address of this account.',
    hint: 'Send the address that GET /v1/admin/people/{userId} shows, or the id where the account has no address.',
  },
  DELETION_UNDER_WAY: {
    status: 409,
    message: 'The deletion of this person is already wanted.',
    hint: 'GET /v1/admin/deletions shows it; cancel it with DELETE to ask anew.',
  },
  DELETION_BEGUN: {
    status: 409,
    message: 'The deletion has begun, is done or was canceled, so it cannot be canceled.',
    hint: 'GET /v1/admin/deletions/{deletionId} shows how far it is.',
  },
} as const;
