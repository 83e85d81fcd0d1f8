import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, pageQuery, pageReply, sha256Schema, storedText } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { missingAs } from '../core/missing.ts';
import { changesTo } from '../core/round-trip.ts';
import { edit, id, params, read } from './access.ts';
import { artifact } from './artifacts.ts';

export const version = z.object({
  id: idSchema('version'),
  version_no: z.number().int(),
  entrypoint: z.string(),
  created_at: dateTime,
  author_id: idSchema('user').nullable(),
  label: z.string().nullable(),
  note: z.string().nullable(),
  is_live: z.boolean(),
  is_draft: z.boolean(),
  waiting_since: dateTime.nullable().meta({ description: 'of a version that waits for approval' }),
  size_bytes: z.number().int(),
});

export const versionFile = z.object({ path: z.string(), mime: z.string(), size_bytes: z.number().int(), sha256: sha256Schema });

export const versionDetail = version.extend({ files: z.array(versionFile) });

const note = { label: storedText(100).nullable().optional(), note: storedText(2000).nullable().optional() };

export const versionUpdate = changesTo(versionDetail, note).refine(
  (body) => Object.keys(body).length > 0,
  'must change at least one field',
);

export const deletedVersion = z.object({
  success: z.literal(true),
  deleted: idSchema('version'),
  version_no: z.number().int(),
});

export const versionDiff = z.object({
  added: z.array(z.string()),
  removed: z.array(z.string()),
  modified: z.array(
    z.object({ path: z.string(), unified: z.string().optional().meta({ description: 'unified diff, for text files up to 256 KB' }) }),
  ),
});

/** A version by its id or by its number. */
export const versionRef = missingAs(
  z.union([
    z
      .string()
      .regex(/^[1-9][0-9]{0,8}$/, 'must be a number of a version')
      .transform(Number),
    idSchema('version'),
  ]),
  'VERSION_NOT_FOUND',
);

export const versions = {
  'versions.list': endpoint({
    method: 'GET',
    path: '/v1/artifacts/{id}/versions',
    group: 'versions',
    summary: 'The versions, newest first. Drafts only for editors.',
    access: read,
    limit: 'none',
    params,
    query: z.object(pageQuery),
    replies: { ok: { status: 200, body: z.object({ versions: z.array(version), ...pageReply }) } },
    errors: [],
  }),
  'versions.get': endpoint({
    method: 'GET',
    path: '/v1/artifacts/{id}/versions/{version}',
    group: 'versions',
    summary: 'One version with its files.',
    access: read,
    limit: 'none',
    conditional: true,
    params: z.object({ id, version: versionRef }),
    replies: { ok: { status: 200, body: versionDetail } },
    errors: ['VERSION_NOT_FOUND'],
  }),
  'versions.update': endpoint({
    method: 'PATCH',
    path: '/v1/artifacts/{id}/versions/{version}',
    group: 'versions',
    summary: 'Changes label and note.',
    access: edit,
    limit: 'none',
    params: z.object({ id, version: versionRef }),
    conditional: true,
    resource: 'versions.get',
    body: {
      kind: 'json',
      bytesMax: LIMITS.versionUpdateBytesMax,
      schema: versionUpdate,
    },
    replies: { ok: { status: 200, body: versionDetail } },
    errors: ['VERSION_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
  'versions.delete': endpoint({
    method: 'DELETE',
    path: '/v1/artifacts/{id}/versions/{version}',
    group: 'versions',
    summary: 'Deletes a version with its files and preview links for good; not the live one, a pinned one or the only one.',
    access: edit,
    limit: 'none',
    params: z.object({ id, version: versionRef }),
    conditional: true,
    resource: 'versions.get',
    replies: { ok: { status: 200, body: deletedVersion } },
    errors: ['VERSION_NOT_FOUND', 'VERSION_IN_USE', 'VERSION_CONFLICT', 'SKILL_REQUIRES_APPROVAL'],
  }),
  'versions.diff': endpoint({
    method: 'GET',
    path: '/v1/artifacts/{id}/versions/{a}/diff/{b}',
    group: 'versions',
    summary: 'What changed from a to b.',
    access: read,
    limit: 'none',
    params: z.object({ id, a: versionRef, b: versionRef }),
    conditional: true,
    replies: { ok: { status: 200, body: versionDiff } },
    errors: ['VERSION_NOT_FOUND'],
  }),
  'versions.files': endpoint({
    method: 'GET',
    path: '/v1/artifacts/{id}/files',
    group: 'versions',
    summary: 'The files of a version; the live one by default.',
    access: read,
    limit: 'none',
    params,
    conditional: true,
    query: z.object({ version: versionRef.optional() }),
    replies: {
      ok: { status: 200, body: z.object({ version_id: idSchema('version'), version_no: z.number().int(), files: z.array(versionFile) }) },
    },
    errors: ['VERSION_NOT_FOUND', 'NO_VERSION'],
  }),
  'versions.rollback': endpoint({
    method: 'POST',
    path: '/v1/artifacts/{id}/rollback',
    group: 'versions',
    summary: 'Makes an earlier version live again: a pointer moves, nothing is rebuilt.',
    access: edit,
    limit: 'none',
    params,
    body: {
      kind: 'json',
      bytesMax: LIMITS.bodyBytesMax,
      schema: z
        .strictObject({ version_id: idSchema('version').optional(), version_no: z.number().int().positive().optional() })
        .refine((body) => (body.version_id === undefined) !== (body.version_no === undefined), {
          path: ['version_id'],
          message: 'send either version_id or version_no',
        }),
    },
    replies: { ok: { status: 200, body: artifact } },
    errors: ['VERSION_NOT_FOUND', 'REVIEW_REQUIRED', 'SKILL_REQUIRES_APPROVAL'],
  }),
  'versions.pin': endpoint({
    method: 'POST',
    path: '/v1/artifacts/{id}/pin',
    group: 'versions',
    summary: 'Keeps a version live while new ones are published; null follows the newest again.',
    access: edit,
    limit: 'none',
    params,
    body: { kind: 'json', bytesMax: LIMITS.bodyBytesMax, schema: z.strictObject({ version_id: idSchema('version').nullable() }) },
    replies: { ok: { status: 200, body: artifact } },
    errors: ['VERSION_NOT_FOUND', 'REVIEW_REQUIRED', 'SKILL_REQUIRES_APPROVAL'],
  }),
} as const;
