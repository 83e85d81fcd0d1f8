import type { Module, ModuleDeps } from '../../module.ts';
import { datasetHandlers } from './handlers.ts';
import { parsingQueue, readingQueue } from './queues.ts';

type Ids = keyof ReturnType<typeof datasetHandlers>;

export function datasetsModule(deps: ModuleDeps): Module<Ids> {
  return { handlers: datasetHandlers({ ...deps, parsing: parsingQueue(), reading: readingQueue() }) };
}
