/** The artifacts that have the words, as far as the index can tell whom they are open to. */
import type { Statement } from '../../../storage/sql.ts';
import { sharedIds } from '../../artifacts/artifacts/lists.ts';
import type { Queries } from '../../deps.ts';
import { boundsOf, type Reader, type Within } from './reader.ts';
import { anyQuery, exactQuery, isShortBeginning, nameQuery, nearestQuery, nearQuery, type Term, wholeQuery } from './terms.ts';

const PUBLIC = ['public'];
/** Of what more of the reader's own pages say, and of more that are called so, some are looked at. */
const OWN_MAX = 3000;
/** Of pages of strangers. */
const PUBLIC_MAX = 200;
/** Artifacts that are looked through by their ids are taken so many at a time. */
const IDS_AT_ONCE = 200;

/** Artifacts that have all of the terms, or at least one of them, of everybody's or of the reader's own. */
export type Which = 'all' | 'some' | 'some of the own';

/** One look into the index: texts of tsqueries for the reader's own artifacts, and for those of strangers. */
interface Look {
  readonly own: string;
  readonly others: string | null;
  /** The term that is looked for, from 1 on; below 0 where it is looked for as what it may have been meant to be. 0: all terms. */
  readonly place: number;
}

/**
 * With columns `id`, `places` (the terms that the artifact has, from 1 on) and `exactly` (those of them that it has as they are written, as far as
 * they may also be misspelt): of artifacts that have all of the terms, or at least one.
 */
export function candidates(sql: Queries, reader: Reader, within: Within, terms: readonly Term[], which: Which): Statement {
  return which === 'all' ? withAll(sql, reader, within, terms) : withSome(sql, reader, within, terms, which);
}

function withAll(sql: Queries, reader: Reader, within: Within, terms: readonly Term[]): Statement {
  // Only what artifacts are called is looked through for the first letters of a word.
  const looks = terms.some(isShortBeginning) ? [] : [{ own: allOf(terms, anyQuery), others: allOf(terms, wholeQuery), place: 0 }];
  const { names, rest } = namedLook(terms);
  const spelt =
    looks.length === 0 ? [] : terms.flatMap((term, at) => (term.near.length === 0 ? [] : [{ exact: exactQuery(term), place: at + 1 }]));
  return sql`
    with reach as materialized (${reaches(sql, reader, within, true)}), look as materialized (${looksOf(sql, looks)}),
    found as materialized (
      ${lookedUp(sql)}
      union
      select s.id, 0
      from reach r cross join lateral (
        select search_named(case when ${rest}::tsquery is null then ${names}::tsquery end, r.reach) as id
        union all select search_named_with(${names}::tsquery, ${rest}::tsquery, r.reach) limit ${OWN_MAX}::int
      ) s where ${names}::tsquery is not null
    ), part as materialized (
      select array_agg(n.id) as ids from (select id, row_number() over () / ${IDS_AT_ONCE}::int as number from found) n group by n.number
    ), spelt as (
      -- An artifact is in its own reach, so that these few can be looked through by the index as well.
      select s.id, e.place from unnest(${spelt.map(({ exact }) => exact)}::text[], ${spelt.map(({ place }) => place)}::int[]) as e (exact, place)
        cross join part p cross join lateral (select search_reached(e.exact::tsquery, p.ids) as id offset 0) s
    )
    select f.id, ${terms.map((_, at) => at + 1)}::int[] as places, coalesce(array_agg(s.place) filter (where s.place is not null), '{}') as exactly
    from found f left join spelt s on s.id = f.id group by f.id`;
}

function withSome(sql: Queries, reader: Reader, within: Within, terms: readonly Term[], which: Which): Statement {
  const looks = terms.flatMap((term, at): Look[] => {
    const exact = { own: exactQuery(term), others: wholeQuery({ ...term, nearest: [] }), place: at + 1 };
    const near = nearQuery(term);
    return near === null ? [exact] : [exact, { own: near, others: nearestQuery(term), place: -at - 1 }];
  });
  return sql`
    with reach as materialized (${reaches(sql, reader, within, which === 'some')}), look as materialized (${looksOf(sql, looks)})
    select f.id, array_agg(distinct abs(f.place)) as places, coalesce(array_agg(distinct f.place) filter (where f.place > 0), '{}') as exactly
    from (${lookedUp(sql)}) f group by f.id`;
}

function looksOf(sql: Queries, looks: readonly Look[]): Statement {
  return sql`
    select * from unnest(
      ${looks.map(({ own }) => own)}::text[], ${looks.map(({ others }) => others)}::text[], ${looks.map(({ place }) => place)}::int[]
    ) as t (own, others, place)`;
}

/** What each `look` finds in each `reach`. */
function lookedUp(sql: Queries): Statement {
  return sql`
    select s.id, l.place from look l cross join reach r
      cross join lateral (select search_reached(l.own::tsquery, r.reach) as id limit ${OWN_MAX}::int) s where not r.is_public
    union all
    select s.id, l.place from look l cross join reach r
      cross join lateral (select search_public(l.others::tsquery) as id limit ${PUBLIC_MAX}::int) s where r.is_public`;
}

/** Of a word that is begun: the first letters of few words in names, of which strangers' pages are looked through for no others. */
function namedLook(terms: readonly Term[]): { readonly names: string | null; readonly rest: string | null } {
  const begun = terms.find(({ isBeginning }) => isBeginning);
  if (begun === undefined) return { names: null, rest: null };
  const others = terms.filter((term) => term !== begun);
  return { names: nameQuery(begun), rest: others.length === 0 ? null : allOf(others, wholeQuery) };
}

function allOf(terms: readonly Term[], query: (term: Term) => string): string {
  return terms.map((term) => `(${query(term)})`).join(' & ');
}

/** What the index has of those to whom the reader's artifacts are open. */
function reaches(sql: Queries, reader: Reader, within: Within, withPublic: boolean): Statement {
  const { workspaces, artifacts } = boundsOf(reader, within);
  if (artifacts !== null) return sql`select ${artifacts}::text[] as reach, false as is_public`;
  const { accounts, runs, belongsTo, actsFor } = reader.viewer;
  const own = workspaces ?? [...accounts, ...runs, ...belongsTo, ...(actsFor === null ? [] : [actsFor])];
  return sql`
    select ${own}::text[] as reach, false as is_public
    union all select ${PUBLIC}::text[], true where ${withPublic && workspaces === null}::boolean
    union all (select array_agg(s.id), false from (
      select id, row_number() over () / ${IDS_AT_ONCE}::int as part
      from (${sharedIds(sql, reader.viewer)} union all select ${reader.letInto}::text) as i (id) where id is not null
    ) s group by s.part)`;
}
