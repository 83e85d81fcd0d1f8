import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { idSchema } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import { artifact, version, versionDetail, versionDiff, versionFile } from '../schemas/artifact.ts';
import { dateTime, pageQuery, pageReply, storedText, success } from '../schemas/common.ts';

const id = idSchema('artifact');
/** A version by its id or by its number. */
const versionRef = z.union([
  z
    .string()
    .regex(/^[1-9][0-9]{0,8}$/)
    .transform(Number),
  idSchema('version'),
]);
const params = z.object({ id });
const read = { who: 'artifact', param: 'id', need: 'view', scope: 'artifacts:read' } as const;
const edit = { who: 'artifact', param: 'id', need: 'edit', scope: 'artifacts:publish' } as const;

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
    body: {
      kind: 'json',
      bytesMax: LIMITS.bodyBytesMax,
      schema: z
        .strictObject({ label: storedText(100).nullable().optional(), note: storedText(2000).nullable().optional() })
        .refine((body) => Object.keys(body).length > 0, 'must change at least one field'),
    },
    replies: { ok: { status: 200, body: versionDetail } },
    errors: ['VERSION_NOT_FOUND'],
  }),
  'versions.diff': endpoint({
    method: 'GET',
    path: '/v1/artifacts/{id}/versions/{a}/diff/{b}',
    group: 'versions',
    summary: 'What changed from a to b.',
    access: read,
    limit: 'none',
    params: z.object({ id, a: versionRef, b: versionRef }),
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
    errors: ['VERSION_NOT_FOUND'],
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
    errors: ['VERSION_NOT_FOUND'],
  }),
  'previewLinks.create': endpoint({
    method: 'POST',
    path: '/v1/artifacts/{id}/preview-links',
    group: 'versions',
    summary: 'A link that shows one version, draft or private, to whoever has it.',
    access: edit,
    limit: 'none',
    params,
    body: {
      kind: 'json',
      bytesMax: LIMITS.bodyBytesMax,
      schema: z.strictObject({
        version_id: idSchema('version'),
        expires_in: z
          .number()
          .int()
          .min(60)
          .max(LIMITS.previewLinkMaxS)
          .default(LIMITS.previewLinkDefaultS)
          .meta({ description: 'seconds' }),
      }),
    },
    replies: { created: { status: 201, body: z.object({ id: idSchema('previewLink'), url: z.string(), expires_at: dateTime }) } },
    errors: ['VERSION_NOT_FOUND'],
  }),
  'previewLinks.delete': endpoint({
    method: 'DELETE',
    path: '/v1/artifacts/{id}/preview-links/{link}',
    group: 'versions',
    summary: 'Ends a preview link at once.',
    access: edit,
    limit: 'none',
    params: z.object({ id, link: idSchema('previewLink') }),
    replies: { ok: { status: 200, body: success } },
    errors: ['PREVIEW_LINK_NOT_FOUND'],
  }),
} as const;
