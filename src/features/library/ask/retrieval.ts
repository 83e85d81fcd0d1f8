/** What the answer about one page is made from. */
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Holders } from '../../../platform/shares.ts';
import type { Passage, Question } from '../search/module.ts';
import type { Reader } from '../search/reader.ts';
import { together } from './earlier.ts';
import type { PageName, PageSources } from './page-sources.ts';
import { type Source, sourceOf } from './sources.ts';

export interface RetrievalDeps {
  readonly passages: (reader: Reader, question: Question, holders: Holders, ended: AbortSignal) => Promise<Passage[]>;
  readonly pages: Pick<PageSources, 'find'>;
}

export interface Sought {
  readonly page: PageName;
  readonly reader: Reader;
  readonly question: string;
  /** What was asked before. */
  readonly earlier: string | undefined;
  readonly withDocuments: boolean;
  readonly holders: Holders;
  readonly ended: AbortSignal;
}

/** What the question itself finds comes first, because an answer without a model shows the first ones alone. */
export async function sourcesOfPage({ passages, pages }: RetrievalDeps, sought: Sought): Promise<Source[]> {
  const { page, question, earlier, withDocuments } = sought;
  const { artifactId } = page;
  const find = (text: string) =>
    passages(sought.reader, { question: text, artifactId, limit: LIMITS.askPassagesMax }, sought.holders, sought.ended);
  // One after the other: a follow-up takes no more searches at once than another question, and the second one is not begun for a caller who has left.
  const ofQuestion = await find(question);
  const ofEarlier = earlier === undefined ? [] : await find(earlier);
  const found = together(ofQuestion, ofEarlier, LIMITS.askPassagesMax, keyOf);
  const data = await pages.find(page, question, earlier, withDocuments);
  return [...found.own.map(sourceOf), ...data.own, ...found.earlier.map(sourceOf), ...data.earlier, ...data.others];
}

function keyOf({ artifactId, path, heading, text }: Passage): string {
  return JSON.stringify([artifactId, path, heading, text]);
}
