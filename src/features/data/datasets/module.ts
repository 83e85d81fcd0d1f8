import { RETENTION } from '../../../../protocol/business/retention.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { deleteOldPageReads } from '../page-read-rows.ts';
import { PageReads } from '../page-reads.ts';
import { datasetHandlers } from './handlers.ts';
import { DatasetLines } from './lines.ts';
import { parsingQueue, readingQueue } from './queues.ts';

type Ids = keyof ReturnType<typeof datasetHandlers>;

export function datasetsModule(deps: ModuleDeps): Module<Ids> & { readonly lines: DatasetLines } {
  const { sql, clock } = deps;
  const pageReads = new PageReads(deps, 'dataset');
  const reading = readingQueue();
  return {
    lines: new DatasetLines({ ...deps, reading }),
    handlers: datasetHandlers({ ...deps, parsing: parsingQueue(), reading, pageReads }),
    sweeps: [{ name: 'datasetReaders', run: () => deleteOldPageReads(sql, 'dataset', clock.nowMs() - RETENTION.datasetReaders.keptMs) }],
    drain: () => pageReads.drain(),
  };
}
