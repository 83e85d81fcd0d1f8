/** What a page's agent knows beside the text of the page: its tables, datasets and documents. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { pageUrl } from '../../../platform/config.ts';
import { loopTurns } from '../../../platform/loop-turns.ts';
import type { WholeDocuments } from '../../data/documents/whole-documents.ts';
import type { ServiceDeps } from '../../deps.ts';
import { type Found, together } from './earlier.ts';
import type { Fitting } from './fitting.ts';
import { type DataSought, PageData, type PageDataDeps, type Piece } from './page-data.ts';
import { listSmallDocuments } from './rows.ts';
import type { Source } from './sources.ts';

export interface PageName {
  readonly artifactId: ArtifactId;
  readonly title: string;
  readonly slug: string;
}

export interface PageSought extends Omit<DataSought, 'artifactId'> {
  readonly page: PageName;
  readonly withDocuments: boolean;
}

export interface FittingSource extends Source {
  /** To be compared with those of the same question. */
  readonly fit: number;
}

export interface PageFound extends Found<FittingSource> {
  /** Tables and datasets that have no words of the questions: they tell what there is. */
  readonly others: readonly Source[];
}

export type PageSourcesDeps = PageDataDeps & Pick<ServiceDeps, 'config'> & { readonly documents: Pick<WholeDocuments, 'view'> };

const PIECE_CHARS = 800;

export class PageSources {
  readonly #deps: PageSourcesDeps;
  readonly #data: PageData;

  constructor(deps: PageSourcesDeps) {
    this.#deps = deps;
    this.#data = new PageData(deps);
  }

  /** Rejects with UNAVAILABLE where too many reads are waiting. */
  async find({ page, withDocuments, ...sought }: PageSought): Promise<PageFound> {
    const { artifactId, title } = page;
    const { questions } = sought;
    const url = pageUrl(this.#deps.config, page.slug);
    const data = await this.#data.find({ artifactId, ...sought });
    const pieces = [...data, ...(withDocuments ? await this.#documents(artifactId, sought) : [])];
    const ofOwn = fittingTo(questions.own, pieces);
    const ofEarlier = questions.earlier === undefined ? [] : fittingTo(questions.earlier, pieces);
    const found = together(ofOwn, ofEarlier, LIMITS.askPassagesMax, ({ piece }) => piece);
    const fitting = new Set([...found.own, ...found.earlier].map(({ piece }) => piece));
    const others = data.filter((piece) => !fitting.has(piece)).slice(0, LIMITS.askPassagesMax - fitting.size);
    const sourceOf = ({ heading, text }: Piece): Source => ({ artifactId, title, url, heading, text });
    const fittingSourceOf = ({ piece, fit }: FittingPiece) => ({ ...sourceOf(piece), fit });
    return { own: found.own.map(fittingSourceOf), earlier: found.earlier.map(fittingSourceOf), others: others.map(sourceOf) };
  }

  async #documents(artifactId: ArtifactId, { holders, ended }: Pick<PageSought, 'holders' | 'ended'>): Promise<Piece[]> {
    const pieces: Piece[] = [];
    for (const { name } of await listSmallDocuments(this.#deps.sql, artifactId)) {
      ended.throwIfAborted();
      const { bytes } = await this.#deps.documents.view({ artifactId, name }, undefined, { what: 'text', type: undefined });
      await loopTurns.next(holders.network ?? '');
      pieces.push(...cut(new TextDecoder().decode(bytes)).map((text) => ({ heading: `document ${name}`, text, words: text })));
    }
    return pieces;
  }
}

interface FittingPiece {
  readonly piece: Piece;
  readonly fit: number;
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

/** Those with words of the question, most words first. */
function fittingTo(question: Fitting, pieces: readonly Piece[]): FittingPiece[] {
  return pieces
    .map((piece) => ({ piece, fit: question.fit(piece.heading, piece.words) }))
    .filter(({ fit }) => fit > 0)
    .sort((one, other) => other.fit - one.fit);
}
