/** What the answer about one page is made from. */
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Holders } from '../../../platform/shares.ts';
import type { ReadHolders } from '../../data/tables/reads.ts';
import type { Passage, Question } from '../search/module.ts';
import type { Reader } from '../search/reader.ts';
import { together } from './earlier.ts';
import type { Fitting } from './fitting.ts';
import type { FittingSource, PageName, PageSources } from './page-sources.ts';
import { type Source, sourceOf } from './sources.ts';

export interface RetrievalDeps {
  readonly passages: (reader: Reader, question: Question, holders: Holders, ended: AbortSignal) => Promise<Passage[]>;
  readonly pages: Pick<PageSources, 'find'>;
  readonly fittingOf: (question: string) => Promise<Fitting>;
}

export interface Sought {
  readonly page: PageName;
  readonly reader: Reader;
  readonly question: string;
  /** What was asked before. */
  readonly earlier: string | undefined;
  readonly withDocuments: boolean;
  readonly holders: ReadHolders;
  readonly ended: AbortSignal;
}

export interface SourcesFound {
  /** Best first. */
  readonly sources: readonly Source[];
  /** They have no words of the questions, but tell a model what there is. */
  readonly others: readonly Source[];
}

/** What the question itself finds comes first, because an answer without a model shows the first ones alone. */
export async function sourcesOfPage({ passages, pages, fittingOf }: RetrievalDeps, sought: Sought): Promise<SourcesFound> {
  const { page, question, earlier, withDocuments, holders, ended } = sought;
  const { artifactId } = page;
  const find = (text: string) => passages(sought.reader, { question: text, artifactId, limit: LIMITS.askPassagesMax }, holders, ended);
  // One after the other: a follow-up takes no more searches at once than another question, and the second one is not begun for a caller who has left.
  const ofQuestion = await find(question);
  const ofEarlier = earlier === undefined ? [] : await find(earlier);
  const found = together(ofQuestion, ofEarlier, LIMITS.askPassagesMax, keyOf);
  const questions = { own: await fittingOf(question), earlier: earlier === undefined ? undefined : await fittingOf(earlier) };
  const data = await pages.find({ page, questions, withDocuments, holders, ended });
  const own = merged(questions.own, found.own, data.own);
  const before = merged(questions.earlier, found.earlier, data.earlier);
  return { sources: [...own, ...before].map(sourceOf), others: data.others };
}

/** By how well they fit the question, each list in its order; a passage goes before data that fit alike. */
function merged(question: Fitting | undefined, passages: readonly Passage[], data: readonly FittingSource[]): Source[] {
  const left = [...data];
  const merging = passages.flatMap((passage): Source[] => {
    const fit = question?.fit(passage.heading, passage.text) ?? 0;
    const worse = left.findIndex((source) => source.fit <= fit);
    return [...left.splice(0, worse < 0 ? left.length : worse), passage];
  });
  return [...merging, ...left];
}

function keyOf({ artifactId, path, heading, text }: Passage): string {
  return JSON.stringify([artifactId, path, heading, text]);
}
