/** Artifacts by what they are called and what their pages say. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { aroundIds, isAround } from '../../artifacts/artifacts/lists.ts';
import type { Queries } from '../../deps.ts';
import { candidates, hasAll, hasSome } from './candidates.ts';
import { nameScore } from './names.ts';
import { mayOpen, type Reader, type Within } from './reader.ts';
import { anyQuery, exactQuery, nameQuery, nearQuery, type Term, withNear } from './terms.ts';

export interface ArtifactRow {
  readonly id: ArtifactId;
  readonly name: string;
  readonly slug: string;
  readonly updated_at_ms: number;
}

export interface FoundArtifact extends ArtifactRow {
  readonly score: number;
  /** What has been looked for in the end. */
  readonly terms: readonly Term[];
}

interface RankedRow extends ArtifactRow {
  readonly is_around: boolean;
  /** Of each term: as it was written, and as it may have been meant. */
  readonly exact: readonly number[];
  readonly near: readonly number[];
}

/** More that match are not ranked: the caller's own come before those of strangers, then those that are called so, then the newest. */
const RANKED_MAX = 300;
/** Pages that have some of the words differ more in how well they fit. */
const RANKED_OF_SOME_MAX = 1000;
/** Of them the best are picked by all that is known. */
const PICKED_MAX = 120;
/** Where fewer have all of the words, those with some of them are found too. */
const FEW = 5;
/** What a misspelt word is worth, and a page that has some of the words. */
const NEAR = 0.4;
const SOME = 0.5;
/** Pages of strangers come behind those that the caller works with, where both fit alike. */
const STRANGE = 0.7;
/** What `ts_rank` gives to a word that a page says often. */
const USUAL_RANK = 0.12;

export function recentArtifacts(sql: Queries, reader: Reader, within: Within, rowsMax: number): Promise<ArtifactRow[]> {
  return sql<ArtifactRow[]>`
    select a.id, a.name, a.slug, a.updated_at_ms from artifact a
    where a.id in (${aroundIds(sql, reader.viewer)}) and ${mayOpen(sql, reader, within)} order by a.updated_at_ms desc, a.id limit ${rowsMax}`;
}

/** What is decided here, such as whether a word is taken for a misspelt one, depends on what the reader may open and on nothing else. */
export async function findArtifacts(sql: Queries, reader: Reader, within: Within, terms: readonly Term[], rowsMax: number) {
  const found = scored(await pick(sql, reader, within, terms, 'all'), terms, 1);
  if (found.length >= rowsMax) return best(found, rowsMax);
  const wider = await withNear(sql, terms);
  found.push(...scored(await pick(sql, reader, within, wider, 'all'), wider, 1));
  if (terms.length > 1 && new Set(found.map(({ id }) => id)).size < FEW)
    found.push(...scored(await pick(sql, reader, within, wider, 'some'), wider, SOME));
  return best(found, rowsMax);
}

function best(found: readonly FoundArtifact[], rowsMax: number): FoundArtifact[] {
  const byId = new Map<ArtifactId, FoundArtifact>();
  for (const each of [...found].sort((one, other) => other.score - one.score || other.updated_at_ms - one.updated_at_ms))
    if (!byId.has(each.id)) byId.set(each.id, each);
  return [...byId.values()].slice(0, rowsMax);
}

/** Of a document that is not yet, or cannot be, of the published version only what it is called counts. */
function pick(sql: Queries, reader: Reader, within: Within, terms: readonly Term[], which: 'all' | 'some'): Promise<RankedRow[]> {
  const any = terms.map(anyQuery);
  const names = terms.map(nameQuery);
  const exact = terms.map((term) => `${exactQuery(term)} | ${nameQuery(term)}`);
  const near = terms.map(nearQuery);
  const match = which === 'all' ? hasAll(terms) : hasSome(terms);
  const isCurrent = sql`d.version_id is not distinct from a.live_version_id`;
  const namedMin = which === 'all' ? terms.length : 1;
  return sql<RankedRow[]>`
    with query as materialized (
      select place, any_of::tsquery as any_of, name::tsquery as name, exact::tsquery as exact, near::tsquery as near
      from unnest(${any}::text[], ${names}::text[], ${exact}::text[], ${near}::text[]) with ordinality as t (any_of, name, exact, near, place)
    ), matching as materialized (
      select a.id, a.name, a.slug, a.updated_at_ms, ${isAround(sql, reader.viewer)} as is_around, d.names, ${isCurrent} as is_current,
        case when ${isCurrent} then d.words else d.names end as words
      from (${candidates(sql, reader, within, match)}) c (id) join artifact a on a.id = c.id join search_document d on d.artifact_id = a.id
      where ${mayOpen(sql, reader, within)}
      order by is_around desc, (select count(*) from query q where d.names @@ q.name) desc, a.updated_at_ms desc, a.id
      limit ${which === 'all' ? RANKED_MAX : RANKED_OF_SOME_MAX}
    )
    select r.id, r.name, r.slug, r.updated_at_ms, r.is_around, r.exact, r.near from (
      select m.id, m.name, m.slug, m.updated_at_ms, m.is_around,
        (select count(*) from query q where w.words @@ q.any_of or m.names @@ q.name) as fitting,
        array(select coalesce(ts_rank(w.words, q.exact), 0) from query q order by q.place) as exact,
        array(select coalesce(ts_rank(w.words, q.near), 0) from query q order by q.place) as near
      -- Joined to nothing, so that it is read from its place of long values once and not for each term.
      from matching m cross join lateral (select m.words || ''::tsvector as words offset 0) w
      where m.is_current or (select count(*) from query q where m.names @@ q.any_of or (${which === 'all'}::boolean and m.names @@ q.name)) >= ${namedMin}
    ) r
    order by r.fitting desc, (select sum(x) from unnest(r.exact) x) + ${NEAR} * (select sum(x) from unnest(r.near) x) desc, r.updated_at_ms desc
    limit ${PICKED_MAX}`;
}

function scored(rows: readonly RankedRow[], terms: readonly Term[], worth: number): FoundArtifact[] {
  // `ts_rank` divides by how many words were asked for, of which a page has few.
  const ranksOf = (row: RankedRow) =>
    terms.map(({ stems, near }, at) =>
      Math.max((row.exact[at] ?? 0) * (1 + stems.length), NEAR * Math.min(1, (row.near[at] ?? 0) * near.length)),
    );
  // Words that are rare among what was found tell more. Which pages there are besides is not known here.
  const rarity = terms.map((_, at) => {
    const having = rows.filter((row) => (ranksOf(row)[at] ?? 0) > 0).length;
    return Math.log(1 + (rows.length + 1) / (having + 0.5));
  });
  const most = rarity.reduce((sum, each) => sum + each, 0) || 1;
  return rows.map((row) => {
    const byText = ranksOf(row).reduce((sum, rank, at) => sum + ((rarity[at] ?? 0) * rank) / (rank + USUAL_RANK), 0) / most;
    const byName = Math.max(nameScore(row.name, row.slug, terms) ?? 0, nameScore(row.slug, row.name, terms) ?? 0);
    const score = (byName + (1 - byName) * byText * 0.8) * (row.is_around ? 1 : STRANGE) * worth;
    const { id, name, slug, updated_at_ms } = row;
    return { id, name, slug, updated_at_ms, score: Math.min(1, score), terms };
  });
}
