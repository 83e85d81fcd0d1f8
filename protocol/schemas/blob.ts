import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { mime } from './artifact.ts';
import { dateTime } from './common.ts';

/** What may be uploaded. Source: spec.md, "Blob". */
const ALLOWED = /^(?:(?:image|video|audio)\/.+|application\/pdf|text\/(?:plain|csv|markdown))$/;

/** Whether files of this type may be blobs. `type` in lowercase, without parameters. */
export function isAllowedBlobType(type: string): boolean {
  return ALLOWED.test(type);
}

/** A name as a person sees it; it never becomes a path. */
export const blobFilename = z
  .string()
  .min(1)
  .max(LIMITS.blobFilenameCharsMax)
  .regex(/^\P{C}+$/u, 'must not contain control characters');

export const blobUploadRequest = z.strictObject({
  filename: blobFilename,
  mimeType: mime.meta({ description: 'image/*, video/*, audio/*, application/pdf, text/plain, text/csv or text/markdown' }),
  size: z.number().int().min(0).optional().meta({ description: 'bytes; refused at once where they have no room' }),
});

export const blob = z.object({
  id: z.string(),
  filename: z.string(),
  mimeType: z.string(),
  sizeBytes: z.number().int(),
  contentUrl: z.url(),
  createdAt: dateTime,
});

export const blobUpload = z.object({
  uploadUrl: z.url().meta({ description: 'PUT the bytes here; without further credentials' }),
  confirmUrl: z.url().optional().meta({ description: 'only when direct: POST here when the bytes are stored' }),
  tokenId: z.string(),
  direct: z.boolean(),
  expiresAt: dateTime,
  maxSize: z.number().int(),
});

export const blobList = z.object({
  blobs: z.array(blob),
  count: z.number().int().meta({ description: 'blobs on all pages' }),
  hasMore: z.boolean(),
  nextCursor: z.string().nullable(),
});

export const blobListQuery = z.object({
  limit: z.coerce.number().int().min(1).max(LIMITS.pageMax).default(LIMITS.pageDefault),
  cursor: z.string().max(512).optional(),
});

export const blobDownload = z.object({
  url: z.url(),
  direct: z.boolean().meta({ description: 'the object store answers it, without credentials' }),
  expiresIn: z.number().int().nullable().meta({ description: 'seconds; null: it stays, and needs the same rights as this call' }),
});

export const blobStorage = z.object({
  usedBytes: z.number().int(),
  blobCount: z.number().int(),
  maxBytes: z.number().int(),
  maxBlobs: z.number().int(),
  availableBytes: z.number().int(),
});
