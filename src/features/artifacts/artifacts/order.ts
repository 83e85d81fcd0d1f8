/** The orders in which artifacts are listed, and where a page of each begins. */
import type { ArtifactSort } from '../../../../protocol/artifacts/artifacts.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { decodeCursor, encodeCursor, type PageKey } from '../../../edge/paging.ts';
import type { Statement } from '../../../storage/sql.ts';
import type { Queries } from '../../deps.ts';

/** What a row is ordered by, as text where that is its name. */
export interface Ordered {
  readonly id: string;
  readonly updated_at_ms: number;
  readonly created_at_ms: number;
  readonly name_order: string;
}

/** A list in one order, after the item that a cursor names. */
export type Order =
  | { readonly sort: TimeSort; readonly after: PageKey }
  | { readonly sort: 'name' | '-name'; readonly after: { readonly name: string; readonly id: string } };
type TimeSort = Exclude<ArtifactSort, 'name' | '-name'>;

/** Begins with what no cursor of times begins with, so that a cursor of another order is refused. */
const NAME_CURSOR = /^n\.([a-z0-9_]{1,40})\.(.*)$/s;
/** Above every name, as bytes. */
const LAST_NAME = '\u{10ffff}'.repeat(4);

/** Throws INVALID_REQUEST where the cursor does not come from a page of such a list. */
export function orderOf(sort: ArtifactSort, cursor: string | undefined): Order {
  if (sort === 'name' || sort === '-name') {
    if (cursor === undefined) return { sort, after: { name: sort === 'name' ? '' : LAST_NAME, id: '' } };
    return { sort, after: nameKeyIn(cursor) };
  }
  if (cursor === undefined && !sort.startsWith('-')) return { sort, after: { number: -1, id: '' } };
  return { sort, after: decodeCursor(cursor) };
}

function nameKeyIn(cursor: string) {
  const [, id, name] = NAME_CURSOR.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? [];
  if (id === undefined || name === undefined || name.includes('\u0000')) {
    throw new Failure('INVALID_REQUEST', {
      param: 'cursor',
      message: 'cursor: is not one of this list in this order.',
      hint: 'Send next_cursor of the previous page with the same sort, or leave it out for the first page.',
    });
  }
  return { name, id };
}

export function cursorIn(sort: ArtifactSort) {
  return (row: Ordered): string => {
    if (sort === 'name' || sort === '-name') return Buffer.from(`n.${row.id}.${row.name_order}`, 'utf8').toString('base64url');
    return encodeCursor({ number: sort.endsWith('created_at') ? row.created_at_ms : row.updated_at_ms, id: row.id });
  };
}

/** The end of a statement: what is behind the cursor, in this order. The first comparison is what an index is entered with. */
export function pageInOrder(sql: Queries, { sort, after }: Order, rowsMax: number): Statement {
  const at = 'name' in after ? after.name : after.number;
  switch (sort) {
    case 'name':
      return sql`
        and name_order(a.name) collate "C" >= ${at}::text and (name_order(a.name) collate "C" > ${at}::text or a.id > ${after.id})
        order by name_order(a.name) collate "C", a.id limit ${rowsMax}`;
    case '-name':
      return sql`
        and name_order(a.name) collate "C" <= ${at}::text and (name_order(a.name) collate "C" < ${at}::text or a.id > ${after.id})
        order by name_order(a.name) collate "C" desc, a.id limit ${rowsMax}`;
    case 'created_at':
      return sql`
        and a.created_at_ms >= ${at}::bigint and (a.created_at_ms > ${at}::bigint or a.id > ${after.id})
        order by a.created_at_ms, a.id limit ${rowsMax}`;
    case '-created_at':
      return sql`
        and a.created_at_ms <= ${at}::bigint and (a.created_at_ms < ${at}::bigint or a.id > ${after.id})
        order by a.created_at_ms desc, a.id limit ${rowsMax}`;
    case 'updated_at':
      return sql`
        and a.updated_at_ms >= ${at}::bigint and (a.updated_at_ms > ${at}::bigint or a.id > ${after.id})
        order by a.updated_at_ms, a.id limit ${rowsMax}`;
    case '-updated_at':
      return sql`
        and a.updated_at_ms <= ${at}::bigint and (a.updated_at_ms < ${at}::bigint or a.id > ${after.id})
        order by a.updated_at_ms desc, a.id limit ${rowsMax}`;
    default:
      return sort satisfies never;
  }
}
