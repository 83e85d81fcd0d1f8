/** The passages that answer a question best, of what the reader may open. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { type Config, pageUrl } from '../../../platform/config.ts';
import { isAround } from '../../artifacts/artifacts/lists.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { candidates, hasAll, hasSome } from './candidates.ts';
import { ranked } from './matching.ts';
import type { Piece } from './passages-of.ts';
import { patternOf } from './pattern.ts';
import { mayOpen, type Reader, type Within } from './reader.ts';
import { anyQuery, type Term, termsOf, withNear } from './terms.ts';

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

/** Documents that match beyond these are not ranked: those with all of the words come first, then the reader's own, then the newest. */
const RANKED_MAX = 1000;
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
  return ranked(found, misspelt)
    .filter(({ piece }) => piece.text !== '')
    .slice(0, limit)
    .map(({ piece, score }) => presentPassage(config, piece, score));
}

async function find(sql: Queries, reader: Reader, within: Within, terms: readonly Term[]): Promise<FoundPiece[]> {
  const queries = terms.map(anyQuery);
  const whole = queries.join(' | ');
  const isOne = within.artifactId !== undefined;
  return sql<FoundPiece[]>`
    with query as materialized (
      select q::tsquery as query from unnest(${queries}::text[]) q
    ), matching as materialized (
      select a.id, a.name, a.slug, d.version_id, d.words, d.passages
      from (${candidates(sql, reader, within, hasSome(terms))}) c (id) join artifact a on a.id = c.id join search_document d on d.artifact_id = a.id
      where d.version_id = a.live_version_id and ${mayOpen(sql, reader, within)}
      order by (a.id in (${candidates(sql, reader, within, hasAll(terms))})) desc, ${isAround(sql, reader.viewer)} desc, a.updated_at_ms desc, a.id
      limit ${RANKED_MAX}
    ), best as materialized (
      select m.id, m.name, m.slug, m.version_id, m.passages
      -- Joined to nothing, so that it is read from its place of long values once and not for each term.
      from matching m cross join lateral (select m.words || ''::tsvector as words offset 0) w
      order by (select count(*) from query q where w.words @@ q.query) desc, ts_rank(w.words, ${whole}::tsquery) desc, m.id
      limit ${DOCUMENTS_MAX}
    )
    select b.id as "artifactId", b.name as title, b.slug, v.entrypoint, p.path, p.heading, p.text
    from best b left join artifact_version v on v.id = b.version_id cross join lateral (
      select p.value ->> 'path' as path, p.value ->> 'heading' as heading, p.value ->> 'text' as text
      from jsonb_array_elements(b.passages) with ordinality as p (value, place)
      where (p.value ->> 'text') || ' ' || coalesce(p.value ->> 'heading', '') ~* ${patternOf(terms)}
      order by place limit ${isOne ? PIECES_OF_ONE_MAX : PIECES_MAX}) p`;
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
