/** Mail on behalf of pages: to whom its makers write, and from visitors to the owner. Source: spec.md "Limits", contract.md §6. */
import { z } from 'zod';
import { type BodySpec, endpoint, type ReplySpec } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, storedText } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { missingAs } from '../core/missing.ts';
import { absentOrNull } from '../core/round-trip.ts';
import { enveloped } from '../data/json-keys.ts';
import { emailAddress } from '../people/sign-in.ts';

export const emailStatus = z.enum(['queued', 'sent', 'failed', 'suppressed', 'partly_sent']);
const recipientStatus = z.enum(['queued', 'sent', 'failed', 'suppressed']);

export const emailRecipient = z.object({
  to: z.string().nullable().meta({ description: 'null where the mail went to the owner of the page, and the caller is not the owner' }),
  status: recipientStatus.meta({
    description: 'suppressed: there is no such address, or its reader has unsubscribed from the mails of this page',
  }),
  attempts: z.number().int(),
  error: z.string().nullable().meta({ description: 'what the mail server said last' }),
  sent_at: dateTime.nullable(),
});

/** No quotes, brackets or spaces: it is part of a header, and of an address in HTML. */
const CID = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/;

export const mailAttachment = z.strictObject({
  file_id: idSchema('deliverable').meta({
    description:
      'of a deliverable that who sends the mail may open: its newest version goes along, or none where they may not open it any more',
  }),
  cid: absentOrNull(z.string().regex(CID, 'must be 1 to 64 letters, digits, full stops, hyphens and underscores')).meta({
    description: 'the HTML shows it: <img src="cid:logo"> for the cid logo; else it is listed',
  }),
});
export type MailAttachment = z.output<typeof mailAttachment>;

export const mailAttachments = z
  .array(mailAttachment)
  .max(LIMITS.mailAttachmentsMax)
  .refine((all) => isUnique(all.map(({ file_id }) => file_id)), 'must name each file once')
  .refine((all) => isUnique(all.flatMap(({ cid }) => (cid === undefined ? [] : [cid]))), 'must use each cid once');

function isUnique(texts: readonly string[]): boolean {
  return new Set(texts).size === texts.length;
}

/** What shows files in its HTML has HTML. */
export function hasPlaceForFiles(mail: {
  readonly html?: string | undefined;
  readonly template_id?: string | undefined;
  readonly attachments?: readonly MailAttachment[] | undefined;
}): boolean {
  const { html, template_id, attachments = [] } = mail;
  return html !== undefined || template_id !== undefined || attachments.every(({ cid }) => cid === undefined);
}

export const email = z.object({
  id: idSchema('mailBatch'),
  artifact_id: idSchema('artifact'),
  sender_id: idSchema('user').nullable().meta({ description: 'null for visitors without an account and for agents' }),
  purpose: z.enum(['page', 'owner']).meta({ description: 'owner: a visitor wrote to the owner of the page' }),
  subject: z.string(),
  status: emailStatus,
  recipients: z.array(emailRecipient),
  attachments: z.array(
    z.object({
      file_id: idSchema('deliverable'),
      filename: z.string(),
      size_bytes: z.number().int(),
      cid: z.string().nullable().meta({ description: 'where the HTML shows it; null: it is listed' }),
    }),
  ),
  created_at: dateTime,
});

const subject = storedText(LIMITS.mailSubjectCharsMax).trim().min(1);
const html = storedText(LIMITS.mailHtmlCharsMax).min(1);
const text = storedText(LIMITS.mailTextCharsMax).min(1);
/** Values for a template: any JSON. */
export const templateData = z
  .record(z.string(), z.unknown())
  .refine(
    (data) => JSON.stringify(data).length <= LIMITS.templateDataBytesMax,
    `must have at most ${LIMITS.templateDataBytesMax} bytes as JSON`,
  );

export const emailSend = z
  .strictObject({
    artifact_id: idSchema('artifact'),
    to: z.array(emailAddress).min(1).max(LIMITS.mailRecipientsMax).meta({ description: 'each gets a mail of their own' }),
    subject: absentOrNull(subject).meta({ description: 'needed without a template; instead of that of a template' }),
    html: absentOrNull(html),
    text: absentOrNull(text),
    template_id: absentOrNull(idSchema('template')).meta({ description: 'instead of html and text' }),
    data: absentOrNull(templateData).meta({ description: 'values for the template' }),
    reply_to: absentOrNull(emailAddress),
    attachments: absentOrNull(mailAttachments).meta({
      description: `files of libraries, at most ${LIMITS.mailAttachmentsBytesMax / (1024 * 1024)} MB together`,
    }),
  })
  .refine((body) => (body.template_id === undefined) !== (body.html === undefined && body.text === undefined), {
    path: ['html'],
    error: 'send either template_id, or html, text or both',
  })
  .refine((body) => body.template_id !== undefined || body.subject !== undefined, {
    path: ['subject'],
    error: 'is needed without template_id',
  })
  .refine((body) => body.template_id !== undefined || body.data === undefined, { path: ['data'], error: 'is for a template_id' })
  .refine(hasPlaceForFiles, { path: ['attachments'], error: 'with a cid need html or a template_id' });

export const emailQueued = z.object({ id: idSchema('mailBatch'), status: z.enum(['queued', 'suppressed']) });

const message = storedText(LIMITS.notifyOwnerCharsMax).trim().min(1);
export const ownerNotice = z
  .strictObject({
    subject: absentOrNull(subject),
    text: absentOrNull(message),
    html: absentOrNull(message).meta({ description: 'of somebody without a proved address, only its text is sent' }),
    replyTo: absentOrNull(emailAddress).meta({ description: 'the address of who writes' }),
    proof: absentOrNull(z.strictObject({ challenge: z.string().max(200), solution: z.string().max(32) })).meta({
      description: 'of visitors without a proved e-mail address: see POST …/email/challenge',
    }),
  })
  .refine((body) => (body.text === undefined) !== (body.html === undefined), { path: ['text'], error: 'send either text or html' });

export const ownerNotified = z.object({ sent: z.literal(true), messageId: z.string() });

export const emailChallenge = z.object({
  challenge: z.string().meta({ description: 'for this artifact; it counts once' }),
  bits: z.number().int().meta({
    description:
      'find a solution of 1 to 32 letters and digits so that SHA-256 of challenge, a full stop and solution begins with so many zero bits',
  }),
  expiresAt: dateTime,
});

const account = { who: 'account', scope: 'artifacts:read' } as const;
const params = z.object({ artifactId: idSchema('artifact') });
const visitors = { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:write' } as const;
const token = z.object({ token: missingAs(z.string().regex(/^[A-Za-z0-9_-]{1,550}\.[A-Za-z0-9_-]{43}$/), 'NOT_FOUND') });
const page = { status: 200, media: 'text/html' } as const satisfies ReplySpec;
const unknown = {
  status: 404,
  media: 'text/html',
  description: 'The link is not complete, or its page is gone.',
} as const satisfies ReplySpec;
/** RFC 8058 lets a mail program send either. Nothing of it is read. */
const form = {
  kind: 'bytes',
  bytesMax: LIMITS.formBytesMax,
  types: ['application/x-www-form-urlencoded', 'multipart/form-data'],
} as const satisfies BodySpec;

export const emails = {
  'email.send': endpoint({
    method: 'POST',
    path: '/v1/email/send',
    group: 'email',
    summary: 'Queues a mail on behalf of an artifact that the caller edits. Every recipient is one mail of the day, all of them or none.',
    access: { who: 'account', person: true },
    limit: 'email',
    body: { kind: 'json', schema: emailSend, bytesMax: LIMITS.mailBodyBytesMax },
    replies: { accepted: { status: 202, body: emailQueued } },
    errors: ['ARTIFACT_NOT_FOUND', 'EMAIL_NOT_PROVED', 'TEMPLATE_NOT_FOUND', 'FILE_NOT_FOUND', 'ATTACHMENTS_TOO_LARGE'],
  }),
  'email.list': endpoint({
    method: 'GET',
    path: '/v1/email',
    group: 'email',
    summary: 'What was sent on behalf of an artifact in the last 30 days, newest first; for its editors.',
    access: account,
    limit: 'none',
    query: z.object({ ...pageQuery, artifact_id: idSchema('artifact') }),
    replies: { ok: { status: 200, body: z.object({ emails: z.array(email), ...pageReply }) } },
    errors: ['ARTIFACT_NOT_FOUND'],
  }),
  'email.get': endpoint({
    method: 'GET',
    path: '/v1/email/{emailId}',
    group: 'email',
    summary: 'What became of a mail; for who sent it and the editors of its artifact.',
    access: account,
    limit: 'none',
    params: z.object({ emailId: idSchema('mailBatch') }),
    conditional: true,
    replies: { ok: { status: 200, body: email } },
    errors: ['MAIL_NOT_FOUND'],
  }),
  'email.challenge': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/email/challenge',
    group: 'email',
    summary: 'The work that a visitor without an account does before a message to the owner; easel.notifyOwner does it by itself.',
    access: visitors,
    limit: 'data',
    actor: 'artifactId',
    params,
    reads: true,
    replies: { ok: { status: 200, body: enveloped(emailChallenge) } },
    errors: [],
  }),
  'email.notifyOwner': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/email/notify-owner',
    group: 'email',
    summary:
      'Sends a message to the owner of the page, from anybody who sees it where allow_anon_email is set, else from people with a proved address.',
    access: visitors,
    limit: 'data',
    actor: 'artifactId',
    params,
    body: { kind: 'json', schema: ownerNotice, bytesMax: LIMITS.bodyBytesMax },
    replies: { accepted: { status: 202, body: enveloped(ownerNotified) } },
    errors: ['OWNER_UNREACHABLE', 'EMAIL_NOT_PROVED', 'PROOF_INVALID', 'RATE_LIMITED'],
  }),
  'pages.unsubscribe': endpoint({
    method: 'GET',
    path: '/unsubscribe/{token}',
    group: 'pages',
    summary: 'Asks whether no more mail of a page shall come. Opening it changes nothing.',
    access: { who: 'anyone' },
    limit: 'none',
    params: token,
    replies: { page, unknown },
    errors: ['NOT_FOUND'],
  }),
  'pages.unsubscribeForm': endpoint({
    method: 'POST',
    path: '/unsubscribe/{token}',
    group: 'pages',
    summary: 'No more mail of a page goes to an address. Mail programs call it by themselves (RFC 8058).',
    access: { who: 'anyone' },
    limit: 'none',
    once: true,
    params: token,
    body: form,
    replies: { page, unknown },
    errors: ['NOT_FOUND'],
  }),
} as const;
