/** What a page's agent knows beside the text of the page: its tables, datasets and documents. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { pageUrl } from '../../../platform/config.ts';
import type { WholeDocuments } from '../../data/documents/whole-documents.ts';
import type { ServiceDeps } from '../../deps.ts';
import { type Found, together } from './earlier.ts';
import { type DatasetFacts, listDatasetFacts, listSmallDocuments, listTableFacts, type TableFacts } from './rows.ts';
import type { Source } from './sources.ts';

export interface PageName {
  readonly artifactId: ArtifactId;
  readonly title: string;
  readonly slug: string;
}

export interface PageFound extends Found<Source> {
  /** Tables and datasets that have no words of the questions: they tell what there is. */
  readonly others: readonly Source[];
}

type Deps = Pick<ServiceDeps, 'sql' | 'config'> & { readonly documents: Pick<WholeDocuments, 'view'> };

const PIECE_CHARS = 800;

export class PageSources {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** `earlier`: undefined where nothing was asked before. */
  async find(page: PageName, question: string, earlier: string | undefined, withDocuments: boolean): Promise<PageFound> {
    const { sql, config } = this.#deps;
    const { artifactId, title } = page;
    const url = pageUrl(config, page.slug);
    const tables = (await listTableFacts(sql, artifactId)).map(tableText);
    const datasets = (await listDatasetFacts(sql, artifactId)).map(datasetText);
    const documents = withDocuments ? await this.#documents(artifactId) : [];
    const pieces = [...tables, ...datasets, ...documents];
    const ofEarlier = earlier === undefined ? [] : fittingTo(earlier, pieces);
    const found = together(fittingTo(question, pieces), ofEarlier, LIMITS.askPassagesMax, (piece) => piece);
    const fitting = [...found.own, ...found.earlier];
    const others = pieces.filter((piece) => !piece.isText && !fitting.includes(piece)).slice(0, LIMITS.askPassagesMax - fitting.length);
    const sourceOf = ({ heading, text }: Piece): Source => ({ artifactId, title, url, heading, text });
    return { own: found.own.map(sourceOf), earlier: found.earlier.map(sourceOf), others: others.map(sourceOf) };
  }

  async #documents(artifactId: ArtifactId): Promise<Piece[]> {
    const pieces: Piece[] = [];
    for (const { name } of await listSmallDocuments(this.#deps.sql, artifactId)) {
      const { bytes } = await this.#deps.documents.view({ artifactId, name }, undefined, { what: 'text', type: undefined });
      pieces.push(...cut(new TextDecoder().decode(bytes)).map((text) => ({ heading: `document ${name}`, text, isText: true })));
    }
    return pieces;
  }
}

interface Piece {
  readonly heading: string;
  readonly text: string;
  readonly isText: boolean;
}

function tableText({ name, rows, first }: TableFacts): Piece {
  return { heading: `table ${name}`, text: `Table ${name} with ${rows} rows. First rows: ${first.join(' ')}`, isText: false };
}

function datasetText({ name, rows, columns }: DatasetFacts): Piece {
  return { heading: `dataset ${name}`, text: `Dataset ${name} with ${rows} rows. Columns: ${columns}`, isText: false };
}

function cut(text: string): string[] {
  const plain = text.replace(/\s+/g, ' ').trim();
  const pieces: string[] = [];
  for (let at = 0; at < plain.length; ) {
    const space = plain.lastIndexOf(' ', at + PIECE_CHARS);
    const end = plain.length - at <= PIECE_CHARS ? plain.length : space > at ? space : at + PIECE_CHARS;
    pieces.push(plain.slice(at, end).trim());
    at = end;
  }
  return pieces;
}

function wordsOf(text: string): ReadonlySet<string> {
  const folded = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return new Set((folded.match(/[\p{L}\p{N}]{3,}/gu) ?? []).map((word) => word.slice(0, STEM_CHARS)));
}

/** Words that begin alike are taken for forms of one. */
const STEM_CHARS = 6;

/** Those with words of the question, most words first. */
function fittingTo(question: string, pieces: readonly Piece[]): Piece[] {
  const words = wordsOf(question);
  return pieces
    .map((piece) => ({ piece, fitting: fitting(piece, words) }))
    .filter(({ fitting }) => fitting > 0)
    .sort((a, b) => b.fitting - a.fitting)
    .map(({ piece }) => piece);
}

function fitting({ heading, text }: Piece, words: ReadonlySet<string>): number {
  let count = 0;
  for (const word of wordsOf(`${heading} ${text}`)) if (words.has(word)) count += 1;
  return count;
}
