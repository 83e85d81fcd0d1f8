/** Cursors of table rows: the sort values of the last row of a page and a mark of its query. Opaque to callers. */
import { createHash } from 'node:crypto';
import { Failure } from '../../../../../protocol/core/errors.ts';

const MARK_CHARS = 12;

/** A digest that differs between queries: a cursor is valid only for the query that made it. */
export function queryMark(query: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(query)).digest('base64url').slice(0, MARK_CHARS);
}

export function encodeCursor(mark: string, values: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([mark, ...values])).toString('base64url');
}

/** The sort values. Throws INVALID_REQUEST if the cursor was not made by this query. */
export function decodeCursor(cursor: string, mark: string): readonly unknown[] {
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(cursor, 'base64url').toString(), (_name, value: unknown) => {
      // Postgres neither stores strings with NUL nor accepts them as parameters.
      if (typeof value === 'string' && value.includes('\0')) throw foreignCursor();
      return value;
    });
  } catch {
    throw foreignCursor();
  }
  if (!Array.isArray(content) || content[0] !== mark) throw foreignCursor();
  return content.slice(1);
}

export function foreignCursor(): Failure {
  return new Failure('INVALID_REQUEST', {
    param: 'cursor',
    message: 'cursor: was not made by this query.',
    hint: 'Send nextCursor of the previous page with the same filter and sort, or leave it out for the first page.',
  });
}
