/** The passages that answer a question best, of what the reader may open. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { type Config, pageUrl } from '../../../platform/config.ts';
import { isAround } from '../../artifacts/artifacts/lists.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { candidates, isSought, type Side } from './candidates.ts';
import { Matcher, ranked } from './matching.ts';
import { unpackedWhere } from './packing.ts';
import type { Piece } from './passages-of.ts';
import { mayOpen, type Reader, type Within } from './reader.ts';
import { type Searched, together } from './searching.ts';
import { nameQuery, nearestQuery, type Term, termsOf, withNear } from './terms.ts';

export interface Passage {
  readonly artifactId: ArtifactId;
  /** Of the artifact. */
  readonly title: string;
  /** Of the page that it is on. */
  readonly url: string;
  /** Of the page, in the published version. */
  readonly path: string;
  /** The nearest heading above. */
  readonly heading: string | null;
  readonly text: string;
  /** Greater fits better; only to be compared within one answer. */
  readonly score: number;
}

export interface Question extends Within {
  readonly question: string;
  readonly limit: number;
}

/** Of each side; documents that match beyond these are not ranked: those with more of the words come first, then the reader's own, then the newest. */
const RANKED_MAX = 200;
const DOCUMENTS_MAX = 16;
/** Of one document, and of the one that alone is asked. */
const PIECES_MAX = 40;
const PIECES_OF_ONE_MAX = 400;

export async function findPassages(
  deps: Searched & Pick<ServiceDeps, 'config'>,
  reader: Reader,
  { question, limit, ...within }: Question,
): Promise<Passage[]> {
  const terms = await termsOf(deps.sql, question, false);
  if (terms.length === 0) return [];
  const exact = await find(deps, reader, within, terms);
  // Only what the reader may open decides whether the question is taken to be misspelt.
  const misspelt = terms.length > 0 && exact.size < limit ? await withNear(deps.sql, terms) : terms;
  const found = misspelt.some(({ near }) => near.length > 0) ? await find(deps, reader, within, misspelt) : exact;
  return ranked([...found.keys()], new Matcher(misspelt, { byHeadings: true }))
    .filter(({ piece }) => piece.text !== '')
    .slice(0, limit)
    .map(({ piece, score }) => presentPassage(deps.config, found.get(piece) as FoundDocument, piece, score));
}

interface FoundDocument {
  readonly id: ArtifactId;
  readonly name: string;
  readonly slug: string;
  readonly entrypoint: string | null;
  readonly passages: Buffer;
}

/** Hundreds of pieces, each with its document. What is made of them is made of the few that are answered. */
async function find(deps: Searched, reader: Reader, within: Within, terms: readonly Term[]): Promise<ReadonlyMap<Piece, FoundDocument>> {
  const matcher = new Matcher(terms, { byHeadings: true });
  const piecesMax = within.artifactId === undefined ? PIECES_MAX : PIECES_OF_ONE_MAX;
  const found = new Map<Piece, FoundDocument>();
  const on = (side: Side) => () =>
    isSought(reader, within, side) ? rankDocuments(deps.sql, reader, within, terms, side) : Promise.resolve([]);
  const best = bestOf((await together(deps, [on('own'), on('others')])).flat());
  for (const document of await readDocuments(deps.sql, reader, within, best)) {
    for (const piece of await unpackedWhere(document.passages, matcher, piecesMax)) found.set(piece, document);
  }
  return found;
}

interface RankedDocument {
  readonly id: ArtifactId;
  /** How many of the terms it has. */
  readonly has: number;
  readonly rank: number;
}

/** The ids of the best, each once. */
function bestOf(ranked: readonly RankedDocument[]): ArtifactId[] {
  const sorted = [...ranked].sort((one, other) => other.has - one.has || other.rank - one.rank);
  return [...new Set(sorted.map(({ id }) => id))].slice(0, DOCUMENTS_MAX);
}

function rankDocuments(sql: Queries, reader: Reader, within: Within, terms: readonly Term[], side: Side): Promise<RankedDocument[]> {
  const whole = terms
    .map((term) => (term.nearest.length === 0 ? nameQuery(term) : `${nameQuery(term)} | ${nearestQuery(term)}`))
    .join(' | ');
  return sql<RankedDocument[]>`
    with matching as materialized (
      select a.id, d.telling, cardinality(c.places) as has
      from (${candidates(sql, reader, within, terms, { side, which: 'some' })}) c
        -- One by one, by their keys: the planner cannot tell how many there are.
        cross join lateral (select * from artifact a where a.id = c.id and ${mayOpen(sql, reader, within)} offset 0) a
        cross join lateral (select * from search_document d where d.artifact_id = c.id and d.version_id = a.live_version_id offset 0) d
      order by has desc, ${isAround(sql, reader.viewer)} desc, a.updated_at_ms desc, a.id
      limit ${RANKED_MAX}
    )
    select m.id, m.has, ts_rank(m.telling, ${whole}::tsquery) as rank from matching m order by m.has desc, rank desc, m.id limit ${DOCUMENTS_MAX}`;
}

/** In the order of the ids. Access is decided again: it may have changed since they were found. */
function readDocuments(sql: Queries, reader: Reader, within: Within, ids: readonly ArtifactId[]): Promise<FoundDocument[]> {
  return sql<FoundDocument[]>`
    select a.id, a.name, a.slug, v.entrypoint, d.passages
    from unnest(${ids as ArtifactId[]}::text[]) with ordinality as i (id, place) join artifact a on a.id = i.id
      join search_document d on d.artifact_id = a.id and d.version_id = a.live_version_id left join artifact_version v on v.id = d.version_id
    where ${mayOpen(sql, reader, within)} order by i.place`;
}

function presentPassage(
  config: Pick<Config, 'baseUrl' | 'contentHost'>,
  { id, name, slug, entrypoint }: FoundDocument,
  { path, heading, text }: Piece,
  score: number,
): Passage {
  return { artifactId: id, title: name, url: urlOf(config, slug, path === entrypoint ? null : path), path, heading, text, score };
}

/** `path`: null for the page that an artifact opens with. */
export function urlOf(config: Pick<Config, 'baseUrl' | 'contentHost'>, slug: string, path: string | null): string {
  const page = pageUrl(config, slug);
  return path === null ? page : `${page}/${path.split('/').map(encodeURIComponent).join('/')}`;
}
