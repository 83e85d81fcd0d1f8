import { RETENTION } from '../../../../protocol/business/retention.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { datasetHandlers } from './handlers.ts';
import { PageReads } from './page-reads.ts';
import { parsingQueue, readingQueue } from './queues.ts';
import { deleteOldReaders } from './rows.ts';

type Ids = keyof ReturnType<typeof datasetHandlers>;

export function datasetsModule(deps: ModuleDeps): Module<Ids> {
  const { sql, clock } = deps;
  const pageReads = new PageReads(deps);
  return {
    handlers: datasetHandlers({ ...deps, parsing: parsingQueue(), reading: readingQueue(), pageReads }),
    sweeps: [{ name: 'datasetReaders', run: () => deleteOldReaders(sql, clock.nowMs() - RETENTION.datasetReaders.keptMs) }],
    drain: () => pageReads.drain(),
  };
}
