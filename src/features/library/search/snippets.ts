/** The part of a page's text that shows best why it was found. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { SearchHit } from '../../../../protocol/library/search.ts';
import type { Queries } from '../../deps.ts';
import { Matcher, ranked } from './matching.ts';
import { unpackedWhere } from './packing.ts';
import { mayOpen, type Reader } from './reader.ts';
import type { Term } from './terms.ts';

type Snippet = NonNullable<SearchHit['snippet']>;

const PIECES_MAX = 12;
const CHARS = 220;
/** What is shown before the first word that was looked for. */
const BEFORE_CHARS = 60;

/** Of the live version only, and access is decided again: it may have changed since the artifact was found. */
export async function snippetsOf(
  sql: Queries,
  reader: Reader,
  ids: readonly ArtifactId[],
  terms: readonly Term[],
): Promise<ReadonlyMap<ArtifactId, Snippet>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<{ readonly id: ArtifactId; readonly passages: Buffer }[]>`
    select a.id, d.passages from search_document d join artifact a on a.id = d.artifact_id
    where a.id = any(${ids as ArtifactId[]}) and d.version_id = a.live_version_id and ${mayOpen(sql, reader)}`;
  const matcher = new Matcher(terms, { byHeadings: false });
  const found = new Map<ArtifactId, Snippet>();
  for (const { id, passages } of rows) {
    const pieces = await unpackedWhere(passages, matcher, PIECES_MAX);
    const first = ranked(pieces, matcher)[0];
    const snippet = first === undefined ? null : snippetIn(first.piece.text, matcher);
    if (snippet !== null) found.set(id, snippet);
  }
  return found;
}

/** The window with the most words that were looked for. Null where the text has none. */
function snippetIn(text: string, matcher: Matcher): Snippet | null {
  const marks = matcher.marksIn(text);
  const begins = marks.map(([start]) => start);
  const most = begins.reduce<{ readonly at: number; readonly count: number } | null>((best, begin) => {
    const count = begins.filter((each) => each >= begin && each < begin + CHARS - BEFORE_CHARS).length;
    return best === null || count > best.count ? { at: begin, count } : best;
  }, null);
  if (most === null) return null;
  const from = wordStart(text, Math.max(0, most.at - BEFORE_CHARS));
  const to = text.length <= from + CHARS ? text.length : wordEnd(text, from + CHARS);
  const before = from > 0 ? '… ' : '';
  const shift = before.length - from;
  return {
    text: `${before}${text.slice(from, to)}${to < text.length ? ' …' : ''}`,
    marks: marks.flatMap(([start, end]): [number, number][] => (start >= from && end <= to ? [[start + shift, end + shift]] : [])),
  };
}

/** The beginning of the first word at or behind this place, near it. */
function wordStart(text: string, at: number): number {
  if (at === 0) return 0;
  const space = text.indexOf(' ', at);
  return space === -1 || space > at + BEFORE_CHARS / 2 ? wholeAt(text, at) : space + 1;
}

function wordEnd(text: string, at: number): number {
  const space = text.lastIndexOf(' ', at);
  return space > at - BEFORE_CHARS / 2 ? space : wholeAt(text, at);
}

/** Not in the middle of a character. */
function wholeAt(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text.charAt(at)) ? at + 1 : at;
}
