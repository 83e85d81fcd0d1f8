/** Keyset paging: a cursor is the sort key of the last item, opaque to callers. */
import { Failure } from '../../protocol/core/errors.ts';

/** A page begins after the item with this number (a time in ms, a version number) and id. */
export interface PageKey {
  readonly number: number;
  readonly id: string;
}

/** The position before the first item of a list in descending order. */
const FIRST_PAGE: PageKey = { number: Number.MAX_SAFE_INTEGER, id: '' };

/** Throws INVALID_REQUEST where the cursor does not come from a page of such a list. */
export function decodeCursor(cursor: string | undefined): PageKey {
  if (cursor === undefined) return FIRST_PAGE;
  // Some lists name an item by two ids.
  const parts = /^([0-9]{1,16})\.([a-z0-9_]{0,64})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  const number = Number(parts?.[1]);
  if (parts?.[2] === undefined || !Number.isSafeInteger(number)) {
    throw new Failure('INVALID_REQUEST', {
      param: 'cursor',
      message: 'cursor: is not one of this list.',
      hint: 'Send next_cursor of the previous page, or leave it out for the first page.',
    });
  }
  return { number, id: parts[2] };
}

export function encodeCursor(key: PageKey): string {
  return Buffer.from(`${key.number}.${key.id}`, 'latin1').toString('base64url');
}

/** Cuts a page of `limit` from `limit + 1` rows, with the cursor of the next page if there is one. */
export function cutPage<R>(rows: readonly R[], limit: number, keyOf: (row: R) => PageKey) {
  return cutPageAt(rows, limit, (row) => encodeCursor(keyOf(row)));
}

/** The same for lists with cursors of their own. */
export function cutPageAt<R>(rows: readonly R[], limit: number, cursorOf: (row: R) => string) {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return { items, page: { has_more: hasMore, next_cursor: hasMore ? cursorOf(last) : null } };
}
