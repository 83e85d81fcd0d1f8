import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { patterned } from '../pattern.ts';
import { dateTime, nameSchema, pageQuery } from './common.ts';

const DOCUMENT = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;
/** Source: contract.md §6. */
export const documentName = patterned(
  z.string().regex(DOCUMENT, 'must be a letter and then at most 63 letters, digits, underscores and hyphens'),
  DOCUMENT,
);

const seq = z.number().int().meta({ description: 'of the last change of the document' });

const documentInfo = z.object({
  name: z.string(),
  seq,
  sizeBytes: z.number().int().meta({ description: 'as it is stored' }),
  createdAt: dateTime,
  updatedAt: dateTime,
  connected: z.number().int().meta({ description: 'connections that have it open now' }),
});

export const documentPage = z.object({ documents: z.array(documentInfo), hasMore: z.boolean(), nextCursor: z.string().nullable() });

export const documentPageQuery = z.object({ limit: pageQuery.limit, cursor: pageQuery.cursor });

export const documentSeq = z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER);

/** Yjs does not say of which kind a shared type is; it is told from what is in it. */
export const rootKind = z.enum(['text', 'array', 'map', 'xml', 'empty']);
export type RootKind = z.output<typeof rootKind>;

export const documentContent = z.object({
  name: z.string(),
  seq,
  types: z.record(z.string(), rootKind).meta({ description: 'every shared type of the document, and its kind as its content tells' }),
  content: z.record(z.string(), z.unknown()).meta({
    description: 'by shared type: a text or XML as a string, an array, a map as an object, null where it is empty; bytes are base64',
  }),
});

export const documentVersion = z.object({
  seq: z.number().int().meta({ description: 'the document with every change up to this one' }),
  label: z.string().nullable(),
  automatic: z.boolean().meta({ description: 'made by the service, and removed again with time' }),
  createdAt: dateTime,
  createdBy: z.string().nullable(),
  sizeBytes: z.number().int(),
});

export const documentVersionPage = z.object({
  versions: z.array(documentVersion),
  hasMore: z.boolean(),
  nextCursor: z.string().nullable(),
});

export const newDocumentVersion = z.strictObject({ label: nameSchema.nullable().default(null) });

const HALF_PAIR = /\p{Cs}/u;
const WHOLE = 'must not contain half a surrogate pair';

/** Halves of pairs are replaced on their way to others: the copies would differ. */
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
const index = z.number().int().min(0).meta({ description: 'from 0; in a text in UTF-16 units, as in Yjs' });
const length = z.number().int().min(1);
const values = z.array(given).min(1);

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
  seq: seq.meta({ description: 'of the last change of the document now; 0 where nothing was ever written' }),
  applied: z.number().int().meta({ description: 'operations; of an update 1, or 0 where all of it was there' }),
});
