import { z } from 'zod';
import { idSchema } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import { dateTime, nameSchema, pageReply, sha256Schema, slugSchema, storedText } from './common.ts';

export const visibility = z.enum(['private', 'workspace', 'public', 'password']);
export type Visibility = z.infer<typeof visibility>;

export const anonymousRights = {
  allow_anon_write: z.boolean(),
  allow_anon_email: z.boolean(),
  allow_anon_agent: z.boolean(),
  allow_anon_collab: z.boolean(),
};

export const social = {
  social_title: storedText(300).nullable(),
  social_description: storedText(1000).nullable(),
  social_image_url: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .refine((text) => !text.includes('\u0000'), 'must not contain NUL characters')
    .nullable(),
};

export const artifact = z.object({
  id: idSchema('artifact'),
  name: z.string(),
  slug: z.string(),
  owner_id: idSchema('user').nullable(),
  workspace_id: z.string().nullable(),
  visibility,
  ...anonymousRights,
  social_title: z.string().nullable(),
  social_description: z.string().nullable(),
  social_image_url: z.string().nullable(),
  url: z.string(),
  live_version_id: idSchema('version').nullable(),
  live_version_no: z.number().int().nullable(),
  pinned_version_id: idSchema('version').nullable(),
  is_favorite: z.boolean(),
  created_at: dateTime,
  updated_at: dateTime,
  deleted_at: dateTime.optional(),
  recoverable_until: dateTime.optional(),
});

/** Why a requested visibility was not applied, beside everything that was. */
export const held = {
  code: z.literal('VISIBILITY_HELD').optional(),
  notice: z.string().optional(),
  visibility: visibility.optional(),
  requested_visibility: visibility.optional(),
};

const password = z.string().min(8).max(200).meta({ description: 'what visitors must enter; write only; with visibility "password"' });

export const artifactUpdate = z
  .strictObject({
    name: nameSchema,
    slug: slugSchema,
    visibility,
    password,
    ...anonymousRights,
    ...social,
  })
  .partial()
  .refine((body) => Object.keys(body).length > 0, 'must change at least one field');

export const artifactPage = z.object({ artifacts: z.array(artifact), ...pageReply });

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
  workspace_id: z.string().optional(),
  draft: z.boolean().default(false),
  base_version_no: z.number().int().min(0).optional(),
  label: storedText(100).optional(),
  note: storedText(2000).optional(),
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
  ...held,
});

/** First phase of a publish by digest: which contents the service does not hold yet. */
export const publishMissing = z.object({ missing: z.array(sha256Schema), upload_id: idSchema('upload') });

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
  size_bytes: z.number().int(),
});

export const versionFile = z.object({ path: z.string(), mime: z.string(), size_bytes: z.number().int(), sha256: sha256Schema });

export const versionDetail = version.extend({ files: z.array(versionFile) });

export const versionDiff = z.object({
  added: z.array(z.string()),
  removed: z.array(z.string()),
  modified: z.array(
    z.object({ path: z.string(), unified: z.string().optional().meta({ description: 'unified diff, for text files up to 256 KB' }) }),
  ),
});

export const deletedArtifact = z.object({
  success: z.literal(true),
  deleted: idSchema('artifact'),
  deleted_at: dateTime,
  recoverable_until: dateTime,
  retention_days: z.literal(LIMITS.trashRetentionDays),
  restore_url: z.string(),
  message: z.string(),
});
