/** The artifacts that have the words, as far as the index can tell whom they are open to. */
import type { Statement } from '../../../storage/sql.ts';
import { aroundIds, sharedIds } from '../../artifacts/artifacts/lists.ts';
import type { Queries } from '../../deps.ts';
import { boundsOf, type Reader, type Within } from './reader.ts';
import { anyQuery, exactQuery, isShortBeginning, nameQuery, nearestQuery, nearQuery, type Term, wholeQuery } from './terms.ts';

/** Of what more of the reader's own pages say, and of more that are called so, some are looked at. */
const OWN_MAX = 3000;
/** Of pages of strangers that say it. */
const PUBLIC_MAX = 200;
/** Artifacts that are shared by name are looked through so many at a time. */
const IDS_AT_ONCE = 200;
/** Where the reader has no more artifacts, each term is looked for by itself at once, because that also tells which have all of them. */
const FEW_OWN = 2000;

/** `own`: what the reader owns, works with or was given. `others`: what is public, of whomever. */
export type Side = 'own' | 'others';

export interface Sought {
  readonly side: Side;
  /** Artifacts that have all of the terms, or also those that have at least one. */
  readonly which: 'all' | 'some';
}

/** One look into the index, for what artifacts are called, for what they say, or both: texts of tsqueries. */
interface Look {
  readonly named: string | null;
  readonly said: string | null;
  /**
   * The term that is looked for, from 1 on; below 0 where it is looked for as what it may have been meant to be. `ALL`: all terms. `ALL_EXACTLY`: all
   * as they are written.
   */
  readonly place: number;
}

const ALL = 0;
const ALL_EXACTLY = 1000;

/**
 * With columns `id`, `places` (the terms that the artifact has, from 1 on) and `exactly` (those of them that it has as they are written, as far as
 * they may also be misspelt).
 */
export function candidates(sql: Queries, reader: Reader, within: Within, terms: readonly Term[], { side, which }: Sought): Statement {
  const looks = which === 'all' ? looksForAll(terms, side) : looksForSome(terms, side);
  // What strangers call their pages is not cut off by what other strangers say on theirs.
  const cut = side === 'own' ? sql`` : sql`where is_named or place <= ${PUBLIC_MAX}`;
  const places = terms.map((_, at) => at + 1);
  return sql`
    with reach as materialized (${side === 'own' ? ownReaches(sql, reader, within) : sql`select array['public'] as reach`}),
    look as materialized (
      select * from unnest(
        ${looks.map(({ named }) => named)}::text[], ${looks.map(({ said }) => said)}::text[], ${looks.map(({ place }) => place)}::int[]
      ) as t (named, said, place)
    ), exact as materialized (
      ${saying(sql, side)} where l.named is null and l.place <> ${ALL}
    ), found as (
      select id, place, false as is_named from exact
      union all
      -- Where very many have all of the words, none is looked for by what they may have been meant to be.
      select * from (${saying(sql, side)} where l.named is null and l.place = ${ALL}
        and (select count(*) from exact where place = ${ALL_EXACTLY}) < ${side === 'own' ? OWN_MAX : PUBLIC_MAX}) s (id, place), (values (false)) n (is_named)
      union all
      ${named(sql)}
    )
    select id, places, exactly from (
      select id, places, exactly, is_named,
        row_number() over (partition by is_named order by cardinality(places) desc, cardinality(exactly) desc) as place
      from (
        select f.id, bool_or(f.is_named) as is_named,
          case when bool_or(f.place in (${ALL}, ${ALL_EXACTLY})) then ${places}::int[] else array_agg(distinct abs(f.place)) end as places,
          case when bool_or(f.place = ${ALL_EXACTLY}) then ${places}::int[]
            else coalesce(array_agg(distinct f.place) filter (where f.place > ${ALL}), '{}') end as exactly
        from found f group by f.id
      ) g
    ) c ${cut}`;
}

/** Whether there is anything to look for on this side. */
export function isSought(reader: Reader, within: Within, side: Side): boolean {
  const { workspaces, artifacts } = boundsOf(reader, within);
  return side === 'own' || (workspaces === null && artifacts === null);
}

/** Whether the reader's own artifacts are few enough to look for each term by itself. */
export async function hasFew(sql: Queries, { viewer }: Reader): Promise<boolean> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (${aroundIds(sql, viewer)} limit ${FEW_OWN + 1}::int) around`;
  return (row?.count ?? 0) <= FEW_OWN;
}

function looksForAll(terms: readonly Term[], side: Side): Look[] {
  const said = allOf(terms, side === 'own' ? anyQuery : wholeQuery);
  const byNames = begunNames(terms);
  // Only what artifacts are called is looked through for the first letters of a word.
  if (terms.some(isShortBeginning)) return byNames;
  const exact: Look = { named: null, said: allOf(terms, (term) => exactOf(term, side)), place: ALL_EXACTLY };
  return [exact, ...(exact.said === said ? [] : [{ named: null, said, place: ALL }]), ...byNames];
}

function looksForSome(terms: readonly Term[], side: Side): Look[] {
  const looks = terms.flatMap((term, at): Look[] => {
    const near = side === 'own' ? nearQuery(term) : nearestQuery(term);
    const exact = { named: null, said: exactOf(term, side), place: at + 1 };
    return near === null ? [exact] : [exact, { named: null, said: near, place: -at - 1 }];
  });
  return side === 'own' ? [...looks, ...begunNames(terms)] : looks;
}

/** Of strangers' pages beginnings are looked for in what they are called alone. */
function exactOf(term: Term, side: Side): string {
  return side === 'own' ? exactQuery(term) : wholeQuery({ ...term, nearest: [] });
}

/** Of a word that is begun: the first letters of few words in names. */
function begunNames(terms: readonly Term[]): Look[] {
  const begun = terms.find(({ isBeginning }) => isBeginning);
  if (begun === undefined) return [];
  const others = terms.filter((term) => term !== begun);
  return [{ named: nameQuery(begun), said: others.length === 0 ? null : allOf(others, wholeQuery), place: ALL }];
}

function allOf(terms: readonly Term[], query: (term: Term) => string): string {
  return terms.map((term) => `(${query(term)})`).join(' & ');
}

/** With columns id and place: what each look `l` finds. */
function saying(sql: Queries, side: Side): Statement {
  return side === 'own'
    ? sql`
      select s.id, l.place from look l cross join reach r
        cross join lateral (select search_reached(l.said::tsquery, r.reach) as id limit ${OWN_MAX}::int) s`
    : sql`
      select s.id, l.place from look l cross join lateral (select search_public(l.said::tsquery) as id limit ${PUBLIC_MAX}::int) s`;
}

/** With columns id, place and is_named. */
function named(sql: Queries): Statement {
  return sql`
    select s.id, l.place, true from look l cross join reach r cross join lateral (
      select search_named(l.named::tsquery, r.reach) as id where l.said is null
      union all select search_named_with(l.named::tsquery, l.said::tsquery, r.reach) where l.said is not null limit ${OWN_MAX}::int
    ) s where l.named is not null`;
}

/** What the index has of those to whom the reader's artifacts are open. */
function ownReaches(sql: Queries, reader: Reader, within: Within): Statement {
  const { workspaces, artifacts } = boundsOf(reader, within);
  if (artifacts !== null) return sql`select ${artifacts}::text[] as reach`;
  const { accounts, runs, belongsTo, actsFor } = reader.viewer;
  const own = workspaces ?? [...accounts, ...runs, ...belongsTo, ...(actsFor === null ? [] : [actsFor])];
  return sql`
    select ${own}::text[] as reach
    union all (select array_agg(s.id) from (
      select id, row_number() over () / ${IDS_AT_ONCE}::int as part
      from (${sharedIds(sql, reader.viewer)} union all select ${reader.letInto}::text) as i (id) where id is not null
    ) s group by s.part)`;
}
