/** What a page's agent knows beside the text of the page: its tables, datasets and documents. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { pageUrl } from '../../../platform/config.ts';
import type { WholeDocuments } from '../../data/documents/whole-documents.ts';
import type { ServiceDeps } from '../../deps.ts';
import { type DatasetFacts, listDatasetFacts, listSmallDocuments, listTableFacts, type TableFacts } from './rows.ts';
import type { Source } from './sources.ts';

export interface PageName {
  readonly artifactId: ArtifactId;
  readonly title: string;
  readonly slug: string;
}

type Deps = Pick<ServiceDeps, 'sql' | 'config'> & { readonly documents: Pick<WholeDocuments, 'view'> };

const PIECE_CHARS = 800;

export class PageSources {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Those that have words of the question first; tables and datasets tell what there is even where they have none. */
  async find(page: PageName, question: string, withDocuments: boolean): Promise<Source[]> {
    const { sql, config } = this.#deps;
    const { artifactId, title } = page;
    const url = pageUrl(config, page.slug);
    const tables = (await listTableFacts(sql, artifactId)).map(tableText);
    const datasets = (await listDatasetFacts(sql, artifactId)).map(datasetText);
    const documents = withDocuments ? await this.#documents(artifactId) : [];
    const words = wordsOf(question);
    return [...tables, ...datasets, ...documents]
      .map((piece) => ({ ...piece, fitting: fitting(piece, words) }))
      .filter(({ fitting, isText }) => fitting > 0 || !isText)
      .sort((a, b) => b.fitting - a.fitting)
      .slice(0, LIMITS.askPassagesMax)
      .map(({ heading, text }) => ({ artifactId, title, url, heading, text }));
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

function fitting({ heading, text }: Piece, words: ReadonlySet<string>): number {
  let count = 0;
  for (const word of wordsOf(`${heading} ${text}`)) if (words.has(word)) count += 1;
  return count;
}
