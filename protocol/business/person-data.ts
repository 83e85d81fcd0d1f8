/** What the installation holds of a person: to take along, and to remove. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, sha256Schema, success } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { instanceAdmin, ofUser } from './access.ts';

const count = z.number().int();

export const personExport = z.object({
  id: idSchema('personExport'),
  user_id: idSchema('user').nullable().meta({ description: 'null once that account is removed' }),
  asked_by: idSchema('user').nullable(),
  status: z.enum(['queued', 'running', 'done', 'failed']),
  error: z.string().nullable(),
  created_at: dateTime,
  finished_at: dateTime.nullable(),
  expires_at: dateTime.nullable().meta({ description: 'until then its file can be fetched' }),
  bytes: count.nullable(),
  sha256: sha256Schema.nullable().meta({ description: 'of the zip' }),
  receipt: z
    .array(z.object({ file: z.string(), rows: count.nullable(), bytes: count, sha256: sha256Schema, is_cut: z.boolean().optional() }))
    .nullable()
    .meta({ description: 'the files of the zip, as its receipt.json lists them' }),
});

export const personDeletion = z.object({
  id: idSchema('personDeletion'),
  user_id: idSchema('user').nullable().meta({ description: 'null once it is done' }),
  asked_by: idSchema('user').nullable(),
  heir_id: idSchema('user').nullable().meta({ description: 'who gets the artifacts; null: they are removed' }),
  status: z.enum(['waiting', 'running', 'done', 'failed', 'canceled']),
  error: z.string().nullable(),
  created_at: dateTime,
  due_at: dateTime.meta({ description: 'it begins then, and can be canceled until then' }),
  finished_at: dateTime.nullable(),
  subject_sha256: sha256Schema.meta({ description: 'SHA-256 of the id and the address in lowercase with a line feed between them' }),
  receipt: z
    .array(z.object({ step: z.string(), removed: count, kept: count.meta({ description: 'left without the person’s name' }) }))
    .meta({ description: 'the steps that are done' }),
});

const ofExport = z.object({ exportId: idSchema('personExport') });
const ofDeletion = z.object({ deletionId: idSchema('personDeletion') });
const anAccount = { who: 'account', person: true } as const;
const exportList = z.object({ exports: z.array(personExport), ...pageReply });
const zip = { status: 200, media: 'application/zip' } as const;

export const newDeletion = z.strictObject({
  confirm: z.string().max(LIMITS.emailCharsMax).meta({ description: 'the address of the account, or its id where it has none' }),
  heir_id: idSchema('user').nullish(),
  grace_days: z.number().int().min(0).max(LIMITS.deletionGraceDaysMax).default(LIMITS.deletionGraceDaysDefault),
});

const ownExports = {
  'personData.exportMine': endpoint({
    method: 'POST',
    path: '/v1/me/export',
    group: 'accounts',
    summary: 'Has everything that the installation holds of the caller written into a zip, in the background.',
    access: anAccount,
    limit: 'personExports',
    replies: { accepted: { status: 202, body: personExport } },
    errors: ['EXPORT_UNDER_WAY'],
  }),
  'personData.listMine': endpoint({
    method: 'GET',
    path: '/v1/me/exports',
    group: 'accounts',
    summary: `Exports of the caller’s data, newest first; each is kept for ${LIMITS.personExportKeptDays} days.`,
    access: anAccount,
    limit: 'none',
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: exportList } },
    errors: [],
  }),
  'personData.fileOfMine': endpoint({
    method: 'GET',
    path: '/v1/me/exports/{exportId}/file',
    group: 'accounts',
    summary: 'The zip of an export that is done.',
    access: anAccount,
    limit: 'none',
    params: ofExport,
    replies: { ok: zip },
    errors: ['EXPORT_NOT_FOUND', 'EXPORT_NOT_READY'],
  }),
} as const;

const exportsOfOthers = {
  'personData.export': endpoint({
    method: 'POST',
    path: '/v1/admin/people/{userId}/export',
    group: 'instance',
    summary: 'Has everything that the installation holds of a person written into a zip, in the background.',
    access: instanceAdmin,
    limit: 'adminCalls',
    params: ofUser,
    replies: { accepted: { status: 202, body: personExport } },
    errors: ['USER_NOT_FOUND', 'EXPORT_UNDER_WAY'],
  }),
  'personData.exports': endpoint({
    method: 'GET',
    path: '/v1/admin/exports',
    group: 'instance',
    summary: 'Exports of people’s data, newest first.',
    access: instanceAdmin,
    limit: 'adminCalls',
    query: z.object({ ...pageQuery, user_id: idSchema('user').optional() }),
    replies: { ok: { status: 200, body: exportList } },
    errors: [],
  }),
  'personData.file': endpoint({
    method: 'GET',
    path: '/v1/admin/exports/{exportId}/file',
    group: 'instance',
    summary: 'The zip of an export that is done. That it was fetched is audited.',
    access: instanceAdmin,
    limit: 'adminCalls',
    params: ofExport,
    replies: { ok: zip },
    errors: ['EXPORT_NOT_FOUND', 'EXPORT_NOT_READY'],
  }),
} as const;

const deletions = {
  'personData.delete': endpoint({
    method: 'POST',
    path: '/v1/admin/people/{userId}/deletion',
    group: 'instance',
    summary:
      'Wants a person removed, with all linked accounts. It begins after the grace and goes on after a crash: artifacts are removed or go to the heir, comments stay without a name, a workspace that nobody else owns gets its oldest member as owner or ends, everything else goes.',
    access: instanceAdmin,
    limit: 'adminCalls',
    params: ofUser,
    body: { kind: 'json', schema: newDeletion, bytesMax: LIMITS.bodyBytesMax },
    replies: { accepted: { status: 202, body: personDeletion } },
    errors: ['USER_NOT_FOUND', 'CONFIRMATION_WRONG', 'LAST_ADMIN', 'DELETION_UNDER_WAY'],
  }),
  'personData.deletions': endpoint({
    method: 'GET',
    path: '/v1/admin/deletions',
    group: 'instance',
    summary: 'Deletions of people, newest first, with the receipts of those that are done.',
    access: instanceAdmin,
    limit: 'adminCalls',
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ deletions: z.array(personDeletion), ...pageReply }) } },
    errors: [],
  }),
  'personData.deletion': endpoint({
    method: 'GET',
    path: '/v1/admin/deletions/{deletionId}',
    group: 'instance',
    summary: 'One deletion, with its receipt.',
    access: instanceAdmin,
    limit: 'adminCalls',
    params: ofDeletion,
    conditional: true,
    replies: { ok: { status: 200, body: personDeletion } },
    errors: ['DELETION_NOT_FOUND'],
  }),
  'personData.cancel': endpoint({
    method: 'DELETE',
    path: '/v1/admin/deletions/{deletionId}',
    group: 'instance',
    summary: 'Cancels a deletion that has not begun.',
    access: instanceAdmin,
    limit: 'adminCalls',
    params: ofDeletion,
    replies: { ok: { status: 200, body: success } },
    errors: ['DELETION_NOT_FOUND', 'DELETION_BEGUN'],
  }),
} as const;

export const personData = { ...ownExports, ...exportsOfOthers, ...deletions } as const;
