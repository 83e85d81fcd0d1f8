/** Artifacts by what they are called and what their pages say. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { aroundIds, isAround } from '../../artifacts/artifacts/lists.ts';
import type { Queries } from '../../deps.ts';
import { candidates, hasFew, isSought, type Side, type Sought } from './candidates.ts';
import { nameScore } from './names.ts';
import { mayOpen, type Reader, type Within } from './reader.ts';
import { type Searched, together } from './searching.ts';
import { anyQuery, nameQuery, nearestQuery, nearQuery, type Term, withFurther, withNearest } from './terms.ts';

export interface ArtifactRow {
  readonly id: ArtifactId;
  readonly name: string;
  readonly slug: string;
  readonly updated_at_ms: number;
}

export interface FoundArtifact extends ArtifactRow {
  /** Whether it is the caller's own, or of those that the caller works with. */
  readonly is_around: boolean;
  readonly score: number;
  /** What has been looked for in the end. */
  readonly terms: readonly Term[];
}

interface RankedRow extends ArtifactRow {
  readonly is_around: boolean;
  /** The terms that it says, from 1 on, and those of them that it says as they are written, as far as they may also be misspelt. */
  readonly places: readonly number[];
  readonly exactly: readonly number[];
  /** How much it says each term beyond that: as it was written, and as it may have been meant. Of any of the words, however many are looked for. */
  readonly exact: readonly number[];
  readonly near: readonly number[];
}

/** More that match are not ranked: those with more of the words come first, then the caller's own, those that are called so, the newest. */
const RANKED_MAX = 200;
/** Of them the best are picked by all that is known. */
const PICKED_MAX = 80;
/** Where fewer have all of the words, those with some of them are found too. */
const FEW = 5;
/** What a misspelt word is worth, and a page that has some of the words. */
const NEAR = 0.4;
const SOME = 0.5;
/** Pages of strangers come behind those that the caller works with, where both fit alike. */
const STRANGE = 0.7;
/** The rank of a word that a page says, and not often. */
const SAID = 0.1;
/** A word of this rank is worth half of one that the page is called. */
const USUAL_RANK = 0.12;

export function recentArtifacts(sql: Queries, reader: Reader, within: Within, rowsMax: number): Promise<ArtifactRow[]> {
  return sql<ArtifactRow[]>`
    select a.id, a.name, a.slug, a.updated_at_ms from artifact a
    where a.id in (${aroundIds(sql, reader.viewer)}) and ${mayOpen(sql, reader, within)} order by a.updated_at_ms desc, a.id limit ${rowsMax}`;
}

/** What is decided here depends on what the reader may open and on nothing else. */
export async function findArtifacts(deps: Searched, reader: Reader, within: Within, terms: readonly Term[], rowsMax: number) {
  const { sql } = deps;
  const [close, isSmall] = await together(deps, [() => withNearest(sql, terms), () => hasFew(sql, reader)]);
  const [{ wider, own }, others] = await together(deps, [
    async () => {
      const wider = await withFurther(sql, close);
      return { wider, own: await pickOwn({ sql, reader, within, terms: wider }, isSmall) };
    },
    () => pickOthers({ sql, reader, within, terms: close }),
  ]);
  const known = new Set(own.map(({ id }) => id));
  const rows = [...own, ...others.filter(({ id }) => !known.has(id))];
  const complete = rows.filter((row) => hasAll(row, wider));
  const isFew = complete.length < FEW;
  // What strangers publish is no reason to leave out what the reader works with.
  const isFewAround = complete.filter(({ is_around }) => is_around).length < FEW;
  const counted = rows.filter((row) => isFew || (isFewAround && row.is_around) || hasAll(row, wider));
  return scored(counted, wider)
    .sort((one, other) => other.score - one.score || other.updated_at_ms - one.updated_at_ms)
    .slice(0, rowsMax);
}

interface Asked {
  readonly sql: Queries;
  readonly reader: Reader;
  readonly within: Within;
  readonly terms: readonly Term[];
}

function hasAll({ places }: RankedRow, terms: readonly Term[]): boolean {
  return places.length === terms.length;
}

function pickOwn(asked: Asked, isSmall: boolean): Promise<RankedRow[]> {
  return isSmall ? pick(asked, { side: 'own', which: 'some' }) : pickByTurns(asked, 'own');
}

async function pickOthers(asked: Asked): Promise<RankedRow[]> {
  return isSought(asked.reader, asked.within, 'others') ? pickByTurns(asked, 'others') : [];
}

/** Those with some of the terms only where few have all of them: there may be very many. */
async function pickByTurns(asked: Asked, side: Side): Promise<RankedRow[]> {
  const found = await pick(asked, { side, which: 'all' });
  if (asked.terms.length === 1 || found.length >= FEW) return found;
  const known = new Set(found.map(({ id }) => id));
  return [...found, ...(await pick(asked, { side, which: 'some' })).filter(({ id }) => !known.has(id))];
}

/** Of a document that is not yet, or cannot be, of the published version only what it is called counts. */
function pick({ sql, reader, within, terms }: Asked, sought: Sought): Promise<RankedRow[]> {
  const isCurrent = sql`d.version_id is not distinct from a.live_version_id`;
  const isAll = sought.which === 'all';
  return sql<RankedRow[]>`
    with query as materialized (
      select place, any_of::tsquery as any_of, name::tsquery as name, name_words, nearest::tsquery as nearest, nearest_words, near::tsquery as near, near_words
      from unnest(
        ${terms.map(anyQuery)}::text[], ${terms.map(nameQuery)}::text[], ${terms.map(namedWords)}::int[], ${terms.map(nearestQuery)}::text[],
        ${terms.map(({ nearest }) => nearest.length)}::int[], ${terms.map(nearQuery)}::text[], ${terms.map((term) => term.near.length)}::int[]
      ) with ordinality as t (any_of, name, name_words, nearest, nearest_words, near, near_words, place)
    ), matching as materialized (
      select a.id, a.name, a.slug, a.updated_at_ms, ${isAround(sql, reader.viewer)} as is_around,
        case when ${isCurrent} then c.places
          else array(select q.place::int from query q where d.names @@ q.any_of or (${isAll}::boolean and d.names @@ q.name)) end as places,
        case when ${isCurrent} then c.exactly else array(select q.place::int from query q where d.names @@ q.name) end as exactly,
        case when ${isCurrent} then d.telling else d.names end as telling
      from (${candidates(sql, reader, within, terms, sought)}) c
        -- One by one, by their keys: the planner cannot tell how many there are.
        cross join lateral (select * from artifact a where a.id = c.id and ${mayOpen(sql, reader, within)} offset 0) a
        cross join lateral (select * from search_document d where d.artifact_id = c.id offset 0) d
      order by cardinality(c.places) desc, is_around desc, cardinality(c.exactly) desc, (select count(*) from query q where d.names @@ q.name) desc, a.updated_at_ms desc, a.id
      limit ${RANKED_MAX}
    )
    -- What a word may have been meant to be can be hundreds of words, of which each has to be looked for: only on what is picked.
    select r.id, r.name, r.slug, r.updated_at_ms, r.is_around, r.places, r.exactly, r.exact,
      array(select coalesce(ts_rank(r.telling, q.near) * q.near_words, 0) from query q order by q.place) as near
    from (
      select m.*, k.exact, k.worth from matching m cross join lateral (
        select array_agg(ts_rank(m.telling, q.name) * q.name_words order by q.place) as exact,
          sum(least(1, ts_rank(m.telling, q.name) * q.name_words) + ${NEAR} * least(1, coalesce(ts_rank(m.telling, q.nearest) * q.nearest_words, 0))) as worth
        from query q offset 0
      ) k
      where cardinality(m.places) >= ${isAll ? terms.length : 1}
      order by cardinality(m.places) desc, k.worth * case when m.is_around then 1 else ${STRANGE}::real end desc, m.updated_at_ms desc
      limit ${PICKED_MAX}
    ) r`;
}

/** How many words are looked for as the term itself: `ts_rank` divides by it, and a page has few of them. */
function namedWords({ word, stems, forms }: Term): number {
  return new Set([word, ...stems, ...forms]).size;
}

/** How much a page says each of the terms. */
function ranksOf({ exact, near, places, exactly }: RankedRow, terms: readonly Term[]): number[] {
  const said = new Set(places);
  const saidSo = new Set(exactly);
  return terms.map((term, at) => {
    const rank = Math.max(exact[at] ?? 0, NEAR * Math.min(1, near[at] ?? 0));
    if (rank > 0 || !said.has(at + 1)) return rank;
    return SAID * (term.near.length === 0 || saidSo.has(at + 1) ? 1 : NEAR);
  });
}

function scored(rows: readonly RankedRow[], terms: readonly Term[]): FoundArtifact[] {
  const ranks = rows.map((row) => ranksOf(row, terms));
  // Words that are rare among what was found tell more. Which pages there are besides is not known here.
  const rarity = terms.map((_, at) => {
    const having = ranks.filter((ranked) => (ranked[at] ?? 0) > 0).length;
    return Math.log(1 + (rows.length + 1) / (having + 0.5));
  });
  const most = rarity.reduce((sum, each) => sum + each, 0) || 1;
  return rows.map((row, number) => {
    const byText = (ranks[number] ?? []).reduce((sum, rank, at) => sum + ((rarity[at] ?? 0) * rank) / (rank + USUAL_RANK), 0) / most;
    // By those of the terms that it has, as far as they tell something.
    const had = terms.map((_, at) => row.places.includes(at + 1));
    const its = terms.filter((_, at) => had[at]);
    const share = rarity.reduce((sum, each, at) => sum + (had[at] ? each : 0), 0) / most;
    const worth = hasAll(row, terms) ? 1 : SOME;
    const byName = share * Math.max(nameScore(row.name, row.slug, its) ?? 0, nameScore(row.slug, row.name, its) ?? 0);
    const score = (byName + (1 - byName) * byText * 0.8) * (row.is_around ? 1 : STRANGE) * (worth + (1 - worth) * byName);
    const { id, name, slug, updated_at_ms, is_around } = row;
    return { id, name, slug, updated_at_ms, is_around, score: Math.min(1, score), terms };
  });
}
