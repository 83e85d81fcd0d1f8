/** Decisions about documents that need neither the actor nor the database. */
import type { DocumentInfo } from '../../../../actors/documents/documents-part.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { documentName } from '../../../../protocol/data/documents.ts';
import type { Call } from '../../../edge/call.ts';
import type { DocumentKey } from './whole-documents.ts';

/** Which document a call names. */
export function keyOf({
  params,
}: {
  readonly params: { readonly artifactId: DocumentKey['artifactId']; readonly doc: string };
}): DocumentKey {
  return { artifactId: params.artifactId, name: params.doc };
}

/** The ETag, with its quotes, of every answer that shows a document as it was at this seq. */
export function etagOf(seq: number): string {
  return `"${seq}"`;
}

/** The state that conditional requests are compared with; undefined for a document that does not exist. */
export function conditionState(info: DocumentInfo | undefined) {
  return info && { etag: etagOf(info.seq), updatedAtMs: info.updatedAtMs };
}

/** The account that a change is attributed to. */
export function accountOf({ principal }: Pick<Call, 'principal'>): string | null {
  return principal.kind === 'user' ? principal.userId : null;
}

export function cursorOf(name: string): string {
  return Buffer.from(name).toString('base64url');
}

/** Throws INVALID_REQUEST when the cursor does not come from `cursorOf`. */
export function nameOfCursor(cursor: string): string {
  const name = Buffer.from(cursor, 'base64url').toString();
  if (documentName.safeParse(name).success) return name;
  throw new Failure('INVALID_REQUEST', { message: 'cursor: must be the nextCursor of the previous page.', param: 'cursor' });
}
