/** Collaborative documents over HTTP, for callers without a Yjs client. Source: contract.md §6. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dataPageReply, dateTime, nameSchema, pageQuery } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { missingAs } from '../core/missing.ts';
import { patterned } from '../core/pattern.ts';
import { enveloped } from './json-keys.ts';

const DOCUMENT = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;
/** Source: contract.md §6. */
export const documentName = patterned(
  z.string().regex(DOCUMENT, 'must be a letter and then at most 63 letters, digits, underscores and hyphens'),
  DOCUMENT,
);

const seq = z.number().int().meta({ description: 'seq of the last change of the document' });

const documentInfo = z.object({
  name: z.string(),
  seq,
  sizeBytes: z.number().int().meta({ description: 'stored size' }),
  createdAt: dateTime,
  updatedAt: dateTime,
  connected: z.number().int().meta({ description: 'connections that have the document open now' }),
});

export const documentPage = z.object({ documents: z.array(documentInfo), ...dataPageReply });

export const documentPageQuery = z.object(pageQuery);

export const documentSeq = z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER);

/** Yjs does not store the kind of a shared type; the service infers it from the content. */
export const rootKind = z.enum(['text', 'array', 'map', 'xml', 'empty']);
export type RootKind = z.output<typeof rootKind>;

export const documentContent = z.object({
  name: z.string(),
  seq,
  types: z
    .record(z.string(), rootKind)
    .meta({ description: 'every shared type of the document with its kind, which is inferred from its content' }),
  content: z.record(z.string(), z.unknown()).meta({
    description: 'by shared type: text and XML as a string, an array, a map as an object, null when it is empty; bytes as base64',
  }),
});

export const documentVersion = z.object({
  seq: z.number().int().meta({ description: 'the version contains every change up to this seq' }),
  label: z.string().nullable(),
  automatic: z.boolean().meta({ description: 'true when the service made the version; it removes such versions over time' }),
  createdAt: dateTime,
  createdBy: z.string().nullable(),
  sizeBytes: z.number().int(),
});

export const documentVersionPage = z.object({ versions: z.array(documentVersion), ...dataPageReply });

export const newDocumentVersion = z.strictObject({ label: nameSchema.nullable().default(null) });

const HALF_PAIR = /\p{Cs}/u;
const WHOLE = 'must not contain half a surrogate pair';

/** Encoding replaces lone surrogates, so the copies of the peers would differ. */
function isWhole(value: unknown): boolean {
  let whole = true;
  JSON.stringify(value, (key, part: unknown) => {
    whole &&= !HALF_PAIR.test(key) && !(typeof part === 'string' && HALF_PAIR.test(part));
    return part;
  });
  return whole;
}

const wholeText = z.string().min(1).refine(isWhole, WHOLE);
const given = z
  .unknown()
  .refine((value) => value !== undefined, 'is required')
  .refine(isWhole, WHOLE);
const type = wholeText.max(LIMITS.documentTypeCharsMax).meta({ description: 'the name of a shared type of the document' });
const key = wholeText.max(LIMITS.documentKeyCharsMax);
const index = z.number().int().min(0).meta({ description: 'from 0; in a text it counts UTF-16 units, as Yjs does' });
const length = z.number().int().min(1);
/** Checked as a whole, because a list may have a hundred thousand items, each with a problem of its own. */
const values = z.array(z.unknown()).min(1).refine(isWhole, WHOLE);

export const documentOp = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('text.append'), type, text: wholeText }),
  z.strictObject({ op: z.literal('text.insert'), type, index, text: wholeText }),
  z.strictObject({ op: z.literal('text.delete'), type, index, length }),
  z.strictObject({ op: z.literal('map.set'), type, key, value: given }),
  z.strictObject({ op: z.literal('map.delete'), type, key }),
  z.strictObject({ op: z.literal('array.push'), type, values }),
  z.strictObject({ op: z.literal('array.insert'), type, index, values }),
  z.strictObject({ op: z.literal('array.delete'), type, index, length: length.default(1) }),
]);
export type DocumentOp = z.output<typeof documentOp>;

export const documentOps = z.strictObject({ ops: z.array(documentOp).min(1).max(LIMITS.documentOpsMax) });

export const documentWritten = z.object({
  seq: seq.meta({ description: 'seq of the last change of the document; 0 when nothing was ever written' }),
  applied: z
    .number()
    .int()
    .meta({ description: 'number of applied operations; for an update 1, or 0 when the document already contains it' }),
});

const artifactId = idSchema('artifact');
const params = z.object({ artifactId, doc: documentName });
const read = { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' } as const;
const write = { who: 'artifact', param: 'artifactId', need: 'collab:write', scope: 'data:write' } as const;
const edit = { who: 'artifact', param: 'artifactId', need: 'edit', scope: 'data:write' } as const;
const atSeq = z.object({ seq: documentSeq.optional().meta({ description: 'the seq of a version: reads the document as it was then' }) });
const deleted = enveloped(z.object({ deleted: z.literal(true) }));

export const documents = {
  'documents.list': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/documents',
    group: 'documents',
    summary: 'Lists the documents by name, each with the number of its connections.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params: z.object({ artifactId }),
    query: documentPageQuery,
    replies: { ok: { status: 200, body: enveloped(documentPage) } },
    errors: [],
  }),
  'documents.get': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/documents/{doc}',
    group: 'documents',
    summary: `The content of a document, as JSON of at most ${LIMITS.documentJsonBytesMax} bytes.`,
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    query: atSeq,
    replies: { ok: { status: 200, body: enveloped(documentContent) } },
    errors: ['INVALID_DOCUMENT_NAME', 'DOCUMENT_NOT_FOUND', 'VERSION_NOT_FOUND', 'DOCUMENT_TOO_LARGE'],
  }),
  'documents.write': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/documents/{doc}',
    group: 'documents',
    summary:
      'Applies all operations to a document, or none. They merge with concurrent changes and reach connected clients at once. Creates the document when it does not exist.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    resource: 'documents.get',
    body: { kind: 'json', schema: documentOps, bytesMax: LIMITS.documentOpsBytesMax },
    replies: { ok: { status: 200, body: enveloped(documentWritten) } },
    errors: ['INVALID_DOCUMENT_NAME', 'VERSION_CONFLICT', 'DOCUMENT_TOO_LARGE', 'DOCUMENT_LIMIT_EXCEEDED'],
  }),
  'documents.delete': endpoint({
    method: 'DELETE',
    path: '/v1/data/{artifactId}/documents/{doc}',
    group: 'documents',
    summary: 'Deletes a document and its versions. A client that still has it open creates it again when it reconnects.',
    access: edit,
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    resource: 'documents.get',
    replies: { ok: { status: 200, body: deleted } },
    errors: ['INVALID_DOCUMENT_NAME', 'DOCUMENT_NOT_FOUND', 'VERSION_CONFLICT'],
  }),
  'documents.text': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/documents/{doc}/text',
    group: 'documents',
    summary: 'One shared text of a document, without formatting.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    query: atSeq.extend({
      type: z.string().min(1).max(LIMITS.documentTypeCharsMax).optional().meta({
        description: 'the name of the text; optional when the document has exactly one',
      }),
    }),
    replies: { ok: { status: 200, media: 'text/plain' } },
    errors: ['INVALID_DOCUMENT_NAME', 'DOCUMENT_NOT_FOUND', 'VERSION_NOT_FOUND', 'DOCUMENT_TOO_LARGE'],
  }),
  'documents.state': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/documents/{doc}/update',
    group: 'documents',
    summary: 'The whole document as one Yjs update, format v1.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    query: atSeq,
    replies: { ok: { status: 200, media: 'application/octet-stream' } },
    errors: ['INVALID_DOCUMENT_NAME', 'DOCUMENT_NOT_FOUND', 'VERSION_NOT_FOUND'],
  }),
  'documents.apply': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/documents/{doc}/update',
    group: 'documents',
    summary: 'Applies a Yjs update, format v1, as a connected client would. Creates the document when it does not exist.',
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    resource: 'documents.state',
    body: { kind: 'bytes', bytesMax: LIMITS.updateBytesMax, types: ['application/octet-stream'], tooLarge: 'DOCUMENT_TOO_LARGE' },
    replies: { ok: { status: 200, body: enveloped(documentWritten) } },
    errors: ['INVALID_DOCUMENT_NAME', 'INVALID_UPDATE', 'VERSION_CONFLICT', 'DOCUMENT_LIMIT_EXCEEDED'],
  }),
  'documents.versions': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/documents/{doc}/versions',
    group: 'documents',
    summary: 'Lists the versions of a document, newest first.',
    access: read,
    limit: 'data',
    actor: 'artifactId',
    params,
    query: documentPageQuery,
    replies: { ok: { status: 200, body: enveloped(documentVersionPage) } },
    errors: ['INVALID_DOCUMENT_NAME', 'DOCUMENT_NOT_FOUND'],
  }),
  'documents.makeVersion': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/documents/{doc}/versions',
    group: 'documents',
    summary: 'Saves the current state as a version. If that version exists already, only its label is replaced.',
    access: edit,
    limit: 'data',
    actor: 'artifactId',
    params,
    body: { kind: 'json', schema: newDocumentVersion, bytesMax: LIMITS.bodyBytesMax, optional: true },
    replies: { created: { status: 201, body: enveloped(documentVersion) } },
    errors: ['INVALID_DOCUMENT_NAME', 'DOCUMENT_NOT_FOUND', 'DOCUMENT_VERSIONS_FULL'],
  }),
  'documents.deleteVersion': endpoint({
    method: 'DELETE',
    path: '/v1/data/{artifactId}/documents/{doc}/versions/{seq}',
    group: 'documents',
    summary: 'Deletes a version. The document does not change.',
    access: edit,
    limit: 'data',
    actor: 'artifactId',
    params: params.extend({ seq: missingAs(documentSeq.clone(), 'VERSION_NOT_FOUND') }),
    replies: { ok: { status: 200, body: deleted } },
    errors: ['INVALID_DOCUMENT_NAME', 'VERSION_NOT_FOUND'],
  }),
  'documents.restore': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/documents/{doc}/restore',
    group: 'documents',
    summary: `Restores the content of a version by an ordinary change of at most ${LIMITS.updateBytesMax} bytes; concurrent changes of others are kept.`,
    access: write,
    limit: 'data',
    actor: 'artifactId',
    params,
    body: {
      kind: 'json',
      schema: z.strictObject({ seq: z.number().int().min(1).meta({ description: 'seq of the version' }) }),
      bytesMax: LIMITS.bodyBytesMax,
    },
    replies: { ok: { status: 200, body: enveloped(z.object({ seq: z.number().int(), restored: z.boolean() })) } },
    errors: ['INVALID_DOCUMENT_NAME', 'DOCUMENT_NOT_FOUND', 'VERSION_NOT_FOUND', 'DOCUMENT_TOO_LARGE'],
  }),
} as const;
