/** Cursors of table rows: the values of the last row of a page in the order of its query, and a mark of that query. Opaque to callers. */
import { createHash } from 'node:crypto';
import { Failure } from '../../../protocol/errors.ts';

const MARK_CHARS = 12;

/** Tells one query from another: a cursor is good for the one that made it. */
export function queryMark(query: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(query)).digest('base64url').slice(0, MARK_CHARS);
}

export function encodeCursor(mark: string, values: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([mark, ...values])).toString('base64url');
}

/** The values. Throws INVALID_REQUEST where the cursor was not made by this query. */
export function decodeCursor(cursor: string, mark: string): readonly unknown[] {
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    throw foreignCursor();
  }
  if (!Array.isArray(content) || content[0] !== mark) throw foreignCursor();
  return content.slice(1);
}

export function foreignCursor(): Failure {
  return new Failure('INVALID_REQUEST', {
    param: 'cursor',
    message: 'cursor: is not one of this query.',
    hint: 'Send nextCursor of the previous page with the same filter and sort, or leave it out for the first page.',
  });
}
