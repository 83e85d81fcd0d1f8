/** Decisions about reading and writing the content of documents. */
import { type RootKinds, textRoot } from '../../../../../actors/documents/document-view.ts';
import { Failure } from '../../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';

const READ_AS_UPDATE = 'Read it as a Yjs update with GET …/update.';

// Operations take more bytes as a Yjs update than as JSON: for client ids and clocks, and for numbers, where "0.1," becomes nine bytes.
const OP_BYTES = 1000;
const JSON_FACTOR = 3;

/** An upper bound for the Yjs update that operations produce. */
export function updateBytesMax(ops: number, jsonBytes: number): number {
  return ops * OP_BYTES + jsonBytes * JSON_FACTOR;
}

/** Throws INVALID_REQUEST that names the existing texts. */
export function requireText(types: RootKinds, wanted: string | undefined): void {
  if (textRoot(types, wanted) !== undefined) return;
  const names = Object.keys(types);
  const texts = names.filter((name) => types[name] === 'text');
  const kinds = names.map((name) => `${name} (${types[name]})`).join(', ') || 'none';
  throw new Failure('INVALID_REQUEST', {
    message:
      wanted === undefined ? 'type: is required unless the document has exactly one text.' : 'type: the document has no text of that name.',
    hint: texts.length > 0 ? `Its texts: ${texts.join(', ')}.` : `Its shared types: ${kinds}.`,
    param: 'type',
  });
}

/** Throws DOCUMENT_TOO_LARGE. */
export function requireJsonSize(length: number): void {
  if (length <= LIMITS.documentJsonBytesMax) return;
  const message = `The document has more than ${LIMITS.documentJsonBytesMax} bytes as JSON.`;
  throw new Failure('DOCUMENT_TOO_LARGE', { message, hint: READ_AS_UPDATE });
}

/** Reading recurses into nested types, so a document with extreme nesting overflows the stack: a RangeError. */
export function refuseTooDeep(error: unknown): never {
  throw error instanceof RangeError
    ? new Failure('DOCUMENT_TOO_LARGE', { message: 'The document is nested too deeply to be converted to JSON.', hint: READ_AS_UPDATE })
    : error;
}
