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
/** Artifacts that are shared with the reader by name are looked through so many at a time. */
const SHARED_AT_ONCE = 200;

/** Artifacts that have all of the terms, or at least one of them, of everybody's or of the reader's own. */
export type Which = 'all' | 'some' | 'some of the own';

/** One look into the index. */
interface Look {
  /** Texts of tsqueries: for the reader's own artifacts, and for those of strangers. */
  readonly own: string;
  readonly others: string | null;
  /** 0: for all terms. Else the term that is looked for, from 1 on; below 0 where it is looked for as what it may have been meant to be. */
  readonly place: number;
}

/**
 * With columns `id`, `places` (the terms that the artifact has, from 1 on) and `exactly` (those of them that it has as they are written, as far as
 * they may also be misspelt): of artifacts that have all of the terms, or at least one.
 */
export function candidates(sql: Queries, reader: Reader, within: Within, terms: readonly Term[], which: Which): Statement {
  const looks = which === 'all' ? looksForAll(terms) : looksForSome(terms);
  const { names, rest } = which === 'all' ? namedLook(terms) : { names: null, rest: null };
  const all = which === 'all' ? terms.map((_, at) => at + 1) : null;
  return sql`
    with reach as materialized (${reaches(sql, reader, within, which !== 'some of the own')}), look as materialized (
      select * from unnest(
        ${looks.map(({ own }) => own)}::text[], ${looks.map(({ others }) => others)}::text[], ${looks.map(({ place }) => place)}::int[]
      ) as t (own, others, place)
    )
    select f.id, coalesce(${all}::int[], array_agg(distinct abs(f.place))) as places,
      coalesce(array_agg(distinct f.place) filter (where f.place > 0), '{}') as exactly
    from (
      select s.id, l.place from look l cross join reach r
        cross join lateral (select search_reached(l.own::tsquery, r.reach) as id limit ${OWN_MAX}::int) s where not r.is_public
      union all
      select s.id, l.place from look l cross join reach r
        cross join lateral (select search_public(l.others::tsquery) as id limit ${PUBLIC_MAX}::int) s where r.is_public
      union all
      select s.id, 0
      from reach r cross join lateral (
        select search_named(case when ${rest}::tsquery is null then ${names}::tsquery end, r.reach) as id
        union all select search_named_with(${names}::tsquery, ${rest}::tsquery, r.reach) limit ${OWN_MAX}::int
      ) s where ${names}::tsquery is not null
    ) f group by f.id`;
}

function looksForAll(terms: readonly Term[]): Look[] {
  // Only what artifacts are called is looked through for the first letters of a word.
  if (terms.some(isShortBeginning)) return [];
  const look = (place: number): Look => ({
    own: allOf(terms, (term, at) => (at + 1 === place ? exactQuery(term) : anyQuery(term))),
    others: allOf(terms, (term, at) => (at + 1 === place ? wholeQuery({ ...term, nearest: [] }) : wholeQuery(term))),
    place,
  });
  return [look(0), ...terms.flatMap(({ near }, at) => (near.length === 0 ? [] : [look(at + 1)]))];
}

function looksForSome(terms: readonly Term[]): Look[] {
  return terms.flatMap((term, at): Look[] => {
    const exact = { own: exactQuery(term), others: wholeQuery({ ...term, nearest: [] }), place: at + 1 };
    const near = nearQuery(term);
    return near === null ? [exact] : [exact, { own: near, others: nearestQuery(term), place: -at - 1 }];
  });
}

/** Of a word that is begun: the first letters of few words in names, of which strangers' pages are looked through for no others. */
function namedLook(terms: readonly Term[]): { readonly names: string | null; readonly rest: string | null } {
  const begun = terms.find(({ isBeginning }) => isBeginning);
  if (begun === undefined) return { names: null, rest: null };
  const others = terms.filter((term) => term !== begun);
  return { names: nameQuery(begun), rest: others.length === 0 ? null : allOf(others, wholeQuery) };
}

function allOf(terms: readonly Term[], query: (term: Term, at: number) => string): string {
  return terms.map((term, at) => `(${query(term, at)})`).join(' & ');
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
      select id, row_number() over () / ${SHARED_AT_ONCE}::int as part
      from (${sharedIds(sql, reader.viewer)} union all select ${reader.letInto}::text) as i (id) where id is not null
    ) s group by s.part)`;
}
