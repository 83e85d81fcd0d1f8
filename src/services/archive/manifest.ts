/** What an exported zip says of itself. Version 1: files and JSON keys, and where it has them blobs, tables, documents and comments; readers skip what they do not know. */
import { z } from 'zod';
import { idSchema } from '../../../protocol/ids.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { anonymousRights, filePath, mime, social, visibility } from '../../../protocol/schemas/artifact.ts';
import { blobFilename } from '../../../protocol/schemas/blob.ts';
import { commentSettingsUpdate } from '../../../protocol/schemas/comment.ts';
import { nameSchema, sha256Schema, storedText } from '../../../protocol/schemas/common.ts';
import { documentName } from '../../../protocol/schemas/document.ts';
import { jsonKey } from '../../../protocol/schemas/json-key.ts';
import { tableName, tableSchema } from '../../../protocol/schemas/table.ts';

export const MANIFEST_ENTRY = 'manifest.json';
export const FORMAT = 'easel-artifact';

const ms = z.number().int().min(0);
const commentSettings = commentSettingsUpdate.required();

export const manifest = z.object({
  format: z.literal(FORMAT),
  format_version: z.literal(1),
  name: nameSchema,
  slug: z.string().max(63),
  visibility,
  entrypoint: filePath,
  ...anonymousRights,
  ...social,
  version: z.object({ label: storedText(100).nullable(), note: storedText(2000).nullable() }),
  files: z
    .array(z.object({ path: filePath, mime, sha256: sha256Schema }))
    .min(1)
    .max(LIMITS.versionFilesMax),
  /** Times are Unix ms. */
  json_keys: z.array(
    z.object({
      key: jsonKey,
      sha256: sha256Schema,
      created_at_ms: ms,
      updated_at_ms: ms,
      expires_at_ms: ms.nullable(),
    }),
  ),
  blobs: z
    .array(
      z.object({
        id: idSchema('blob'),
        filename: blobFilename,
        mime,
        sha256: sha256Schema,
        size_bytes: z.number().int().min(0),
        created_at_ms: ms,
      }),
    )
    .default([]),
  /** Times and people are in the entry of the comments. `version_id`: what was live, as the comments name it. */
  comments: z.object({ settings: commentSettings.nullable(), version_id: idSchema('version') }).optional(),
  documents: z.array(z.object({ name: documentName, created_at_ms: ms, updated_at_ms: ms })).default([]),
  tables: z.array(z.object({ name: tableName, schema: tableSchema.nullable(), created_at_ms: ms, updated_at_ms: ms })).default([]),
});
export type Manifest = z.output<typeof manifest>;

/** Entry of a file of the page. */
export function fileEntry(path: string): string {
  return `files/${path}`;
}

/** Entry of the bytes of blobs; those with the same bytes share it. */
export function blobEntry(sha256: string): string {
  return `data/blobs/${sha256}`;
}

/** Entry of a table's rows, each a line of JSON with its id and times; this is what an import reads. */
export function rowsEntry(table: string): string {
  return `data/tables/${table}.ndjson`;
}

/** Entry of the same rows for people and spreadsheets. */
export function csvEntry(table: string): string {
  return `data/tables/${table}.csv`;
}

/** Entry of a document: the whole of it as one update of Yjs, format v1. */
export function documentEntry(name: string): string {
  return `data/documents/${name}.yjs`;
}

/** Entry of the comments, each a line of JSON, oldest first. */
export const COMMENTS_ENTRY = 'data/comments.ndjson';

/** Entry of a JSON value: its text as it is stored. */
export function jsonEntry(key: string): string {
  return `data/json/${key}.json`;
}
