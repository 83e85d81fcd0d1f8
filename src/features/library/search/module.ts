import type { Holders } from '../../../platform/shares.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { type SearchDeps, searchHandlers } from './handlers.ts';
import { Indexer } from './indexer.ts';
import { findPassages, type Passage, type Question } from './passages.ts';
import type { Reader } from './reader.ts';
import { searchQueue } from './searching.ts';

export type { Passage, Question } from './passages.ts';

type Ids = keyof ReturnType<typeof searchHandlers>;

interface Offered {
  /** The passages that answer a question best, best first, of what the reader may open: access is decided inside the query. */
  passages(reader: Reader, question: Question, holders: Holders, ended: AbortSignal): Promise<Passage[]>;
}

export function searchModule(deps: ModuleDeps & SearchDeps): Module<Ids> & Offered {
  const indexer = new Indexer(deps);
  const searching = searchQueue();
  const reading = { ...deps, sql: deps.searchSql };
  return {
    handlers: searchHandlers({ ...reading, indexer, searching }),
    passages: (reader, question, holders, ended) => searching.run(holders, () => findPassages(reading, reader, question), ended),
    start: () => indexer.start(),
    close: () => indexer.close(),
  };
}
