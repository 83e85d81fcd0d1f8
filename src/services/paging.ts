/** Keyset paging: a cursor is the sort key of the last item, opaque to callers. */
import { Failure } from '../../protocol/errors.ts';

/** Where a page begins: after the item whose number (a time in ms, a version number) and id these are. */
export interface PageKey {
  readonly number: number;
  readonly id: string;
}

/** Before the first item of a list that runs from the highest number to the lowest. */
const FIRST_PAGE: PageKey = { number: Number.MAX_SAFE_INTEGER, id: '' };

/** Throws INVALID_REQUEST when the cursor was not made by a page of such a list. */
export function decodeCursor(cursor: string | undefined): PageKey {
  if (cursor === undefined) return FIRST_PAGE;
  const parts = /^([0-9]{1,16})\.([a-z0-9_]{0,40})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
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

function encodeCursor(key: PageKey): string {
  return Buffer.from(`${key.number}.${key.id}`, 'latin1').toString('base64url');
}

/** Cuts a page of `limit` from `limit + 1` rows and says whether and where it goes on. */
export function cutPage<R>(rows: readonly R[], limit: number, keyOf: (row: R) => PageKey) {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return { items, page: { has_more: hasMore, next_cursor: hasMore ? encodeCursor(keyOf(last)) : null } };
}
