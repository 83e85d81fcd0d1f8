/** The manifest of an exported zip. Version 1: files, JSON keys and, where there are any, blobs, tables, documents and comments; readers ignore unknown members. */
import { z } from 'zod';
import { anonymousRights, social, visibility } from '../../../../protocol/artifacts/artifacts.ts';
import { filePath, mime } from '../../../../protocol/artifacts/publish.ts';
import { nameSchema, sha256Schema, storedText } from '../../../../protocol/core/fields.ts';
import { idSchema } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { blobFilename } from '../../../../protocol/data/blobs.ts';
import { storedCommentSettings } from '../../../../protocol/data/comment-settings.ts';
import { datasetColumn, datasetName } from '../../../../protocol/data/datasets.ts';
import { documentName } from '../../../../protocol/data/documents.ts';
import { jsonKey } from '../../../../protocol/data/json-keys.ts';
import { tableName, tableSchema } from '../../../../protocol/data/tables.ts';

export const MANIFEST_ENTRY = 'manifest.json';
export const FORMAT = 'easel-artifact';

const ms = z.number().int().min(0);

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
  /** The comments themselves are in their entry. `version_id`: the exported version, by the id that the comments name it by. */
  comments: z.object({ settings: storedCommentSettings.nullable(), version_id: idSchema('version') }).optional(),
  /** The newest version of each, whose rows are in its entry. */
  datasets: z
    .array(
      z.object({
        name: datasetName,
        version: z.number().int().min(1).max(1_000_000_000),
        /** Their order, and those in which no row has a value. */
        columns: z.array(datasetColumn).max(LIMITS.datasetColumnsMax),
        sha256: sha256Schema,
        size_bytes: z.number().int().min(0),
        created_at_ms: ms,
      }),
    )
    .default([]),
  documents: z.array(z.object({ name: documentName, created_at_ms: ms, updated_at_ms: ms })).default([]),
  tables: z.array(z.object({ name: tableName, schema: tableSchema.nullable(), created_at_ms: ms, updated_at_ms: ms })).default([]),
});
export type Manifest = z.output<typeof manifest>;

/** Entry of a file of the page. */
export function fileEntry(path: string): string {
  return `files/${path}`;
}

/** Entry of a blob's bytes, shared by blobs with the same bytes. */
export function blobEntry(sha256: string): string {
  return `data/blobs/${sha256}`;
}

/** Entry of the rows of a dataset, as lines of JSON. */
export function datasetEntry(name: string): string {
  return `data/datasets/${name}.ndjson`;
}

/** Entry of a table's rows, each a line of JSON with its id and times; an import reads this one. */
export function rowsEntry(table: string): string {
  return `data/tables/${table}.ndjson`;
}

/** Entry of the same rows as CSV, for people and spreadsheets. */
export function csvEntry(table: string): string {
  return `data/tables/${table}.csv`;
}

/** Entry of a document as one update of Yjs, format v1. */
export function documentEntry(name: string): string {
  return `data/documents/${name}.yjs`;
}

/** Entry of the comments, each a line of JSON, oldest first. */
export const COMMENTS_ENTRY = 'data/comments.ndjson';

/** Entry of a JSON value's stored text. */
export function jsonEntry(key: string): string {
  return `data/json/${key}.json`;
}
