import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { nameSchema, sha256Schema, slugSchema, storedText } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull } from '../core/round-trip.ts';
import { workspaceRef } from '../workspaces/access.ts';
import { anyPublisher } from './access.ts';
import { held, password, visibility } from './artifacts.ts';

/** Relative, with forward slashes. The service normalises to NFC and refuses empty segments, `.`, `..`, control characters and backslashes, whether written plainly or percent-encoded. */
export const filePath = z.string().min(1).max(LIMITS.filePathCharsMax);
export const mime = z
  .string()
  .regex(/^[\w.+-]+\/[\w.+-]+(?:\s*;\s*[\w-]+=[\w-]+)*$/, 'must be a media type such as text/html')
  .max(128);

const publishTarget = {
  name: nameSchema.optional(),
  slug: slugSchema.optional(),
  entrypoint: filePath.default('index.html'),
  visibility: visibility.optional(),
  password: password.optional(),
  artifact_id: idSchema('artifact').optional(),
  workspace_id: absentOrNull(workspaceRef).meta({ description: 'of a new artifact: id or slug; an agent publishes into its own' }),
  folder_id: absentOrNull(idSchema('folder')).meta({ description: 'files the artifact; its visibility is the default of a new one' }),
  draft: z.boolean().default(false),
  base_version_no: z.number().int().min(0).optional(),
  label: absentOrNull(storedText(100)),
  note: absentOrNull(storedText(2000)),
};

export const publishRequest = z
  .strictObject({
    ...publishTarget,
    files: z
      .array(
        z.strictObject({
          path: filePath,
          content: z.string(),
          mime: mime.optional(),
          encoding: z.enum(['utf8', 'base64']).default('utf8'),
        }),
      )
      .min(1)
      .max(LIMITS.versionFilesMax)
      .optional(),
    files_digest: z
      .array(z.strictObject({ path: filePath, sha256: sha256Schema, mime: mime.optional() }))
      .min(1)
      .max(LIMITS.versionFilesMax)
      .optional(),
    upload_id: idSchema('upload').optional(),
  })
  .refine((body) => (body.files === undefined) !== (body.files_digest === undefined), {
    path: ['files'],
    message: 'send either files or files_digest',
  });
export type PublishRequest = z.output<typeof publishRequest>;

export const publishResponse = z.object({
  artifact: z.object({ id: idSchema('artifact') }),
  version: z.object({ id: idSchema('version'), version_no: z.number().int() }),
  deployment: z.object({ slug: z.string(), url: z.string() }),
  held: z.literal('REVIEW_REQUIRED').optional().meta({ description: 'the version goes live when it has been approved' }),
  ...held,
});

/** First phase of a publish by digest: which contents the service does not hold yet. */
export const publishMissing = z.object({ missing: z.array(sha256Schema), upload_id: idSchema('upload') });

export const publishing = {
  'publish.publish': endpoint({
    method: 'POST',
    path: '/v1/publish',
    group: 'publish',
    summary: 'Creates an artifact or pushes a new version of one.',
    access: anyPublisher,
    limit: 'publish',
    body: { kind: 'json', schema: publishRequest, bytesMax: LIMITS.publishBodyBytesMax },
    replies: {
      ok: { status: 200, body: publishResponse, description: 'Published.' },
      missing: {
        status: 200,
        body: publishMissing,
        description: 'First phase by digest: send these contents, then repeat with upload_id.',
      },
      held: { status: 202, body: publishResponse, description: 'Published, with the visibility held.' },
    },
    errors: [
      ...[
        'ARTIFACT_NOT_FOUND',
        'ARTIFACT_SUSPENDED',
        'FORBIDDEN',
        'SLUG_TAKEN',
        'INVALID_SLUG',
        'VERSION_CONFLICT',
        'FILE_TOO_LARGE',
        'FOLDER_NOT_FOUND',
      ],
      ...['SKILL_REQUIRES_APPROVAL'],
      ...['UPLOAD_NOT_FOUND', 'ACCOUNT_STORAGE_FULL', 'WORKSPACE_LIMIT_EXCEEDED'],
    ] as const,
  }),
  'publish.upload': endpoint({
    method: 'PUT',
    path: '/v1/publish/uploads/{upload_id}/{sha256}',
    group: 'publish',
    summary: 'Sends one missing content of a publish by digest.',
    access: anyPublisher,
    limit: 'none',
    params: z.object({ upload_id: idSchema('upload'), sha256: sha256Schema }),
    body: { kind: 'bytes', bytesMax: LIMITS.versionFileBytesMax, tooLarge: 'FILE_TOO_LARGE' },
    replies: { created: { status: 201, body: z.object({ sha256: sha256Schema, size_bytes: z.number().int() }) } },
    errors: ['UPLOAD_NOT_FOUND', 'ACCOUNT_STORAGE_FULL'],
  }),
} as const;
