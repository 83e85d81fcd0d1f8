/** The passages that answer a question best, of what the reader may open. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { type Config, pageUrl } from '../../../platform/config.ts';
import { isAround } from '../../artifacts/artifacts/lists.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { candidates } from './candidates.ts';
import { Matcher, ranked } from './matching.ts';
import { unpackedWhere } from './packing.ts';
import type { Piece } from './passages-of.ts';
import { mayOpen, type Reader, type Within } from './reader.ts';
import { nameQuery, nearQuery, type Term, termsOf, withNear } from './terms.ts';

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

/** Documents that match beyond these are not ranked: those with more of the words come first, then the reader's own, then the newest. */
const RANKED_MAX = 200;
const DOCUMENTS_MAX = 16;
/** Of one document, and of the one that alone is asked. */
const PIECES_MAX = 40;
const PIECES_OF_ONE_MAX = 400;

interface FoundPiece extends Piece {
  readonly artifactId: ArtifactId;
  readonly title: string;
  readonly slug: string;
  readonly entrypoint: string | null;
}

export async function findPassages(
  { sql, config }: Pick<ServiceDeps, 'sql' | 'config'>,
  reader: Reader,
  { question, limit, ...within }: Question,
): Promise<Passage[]> {
  const terms = await termsOf(sql, question, false);
  if (terms.length === 0) return [];
  const exact = await find(sql, reader, within, terms);
  // Only what the reader may open decides whether the question is taken to be misspelt.
  const misspelt = terms.length > 0 && exact.length < limit ? await withNear(sql, terms) : terms;
  const found = misspelt.some(({ near }) => near.length > 0) ? await find(sql, reader, within, misspelt) : exact;
  return ranked(found, new Matcher(misspelt))
    .filter(({ piece }) => piece.text !== '')
    .slice(0, limit)
    .map(({ piece, score }) => presentPassage(config, piece, score));
}

interface FoundDocument {
  readonly id: ArtifactId;
  readonly name: string;
  readonly slug: string;
  readonly entrypoint: string | null;
  readonly passages: Buffer;
}

async function find(sql: Queries, reader: Reader, within: Within, terms: readonly Term[]): Promise<FoundPiece[]> {
  const matcher = new Matcher(terms);
  const piecesMax = within.artifactId === undefined ? PIECES_MAX : PIECES_OF_ONE_MAX;
  const found: FoundPiece[] = [];
  for (const { id, name, slug, entrypoint, passages } of await findDocuments(sql, reader, within, terms)) {
    const pieces = await unpackedWhere(
      passages,
      ({ text, heading }) => matcher.mayBeIn(text) || (heading !== null && matcher.mayBeIn(heading)),
      piecesMax,
    );
    for (const piece of pieces) found.push({ ...piece, artifactId: id, title: name, slug, entrypoint });
  }
  return found;
}

function findDocuments(sql: Queries, reader: Reader, within: Within, terms: readonly Term[]): Promise<FoundDocument[]> {
  const whole = terms.map((term) => (term.near.length === 0 ? nameQuery(term) : `${nameQuery(term)} | ${nearQuery(term)}`)).join(' | ');
  return sql<FoundDocument[]>`
    with matching as materialized (
      select a.id, a.name, a.slug, d.version_id, d.telling, c.places
      from (${candidates(sql, reader, within, terms, 'some')}) c
        -- One by one, by their keys: the planner cannot tell how many there are.
        cross join lateral (select * from artifact a where a.id = c.id and ${mayOpen(sql, reader, within)} offset 0) a
        cross join lateral (select * from search_document d where d.artifact_id = c.id and d.version_id = a.live_version_id offset 0) d
      order by cardinality(c.places) desc, ${isAround(sql, reader.viewer)} desc, a.updated_at_ms desc, a.id
      limit ${RANKED_MAX}
    ), best as materialized (
      select m.id, m.name, m.slug, m.version_id, row_number() over (
        order by cardinality(m.places) desc, ts_rank(m.telling, ${whole}::tsquery) desc, m.id) as place
      from matching m order by place limit ${DOCUMENTS_MAX}
    )
    select b.id, b.name, b.slug, v.entrypoint, d.passages
    from best b join search_document d on d.artifact_id = b.id left join artifact_version v on v.id = b.version_id
    where d.version_id = b.version_id order by b.place`;
}

function presentPassage(config: Pick<Config, 'baseUrl' | 'contentHost'>, piece: FoundPiece, score: number): Passage {
  const { artifactId, title, slug, entrypoint, path, heading, text } = piece;
  return { artifactId, title, url: urlOf(config, slug, path === entrypoint ? null : path), path, heading, text, score };
}

/** `path`: null for the page that an artifact opens with. */
export function urlOf(config: Pick<Config, 'baseUrl' | 'contentHost'>, slug: string, path: string | null): string {
  const page = pageUrl(config, slug);
  return path === null ? page : `${page}/${path.split('/').map(encodeURIComponent).join('/')}`;
}
