import type { Module, ModuleDeps } from '../../module.ts';
import { blobDeleteHandler, blobHandlers } from './handlers.ts';
import { deleteExpiredBlobUploads } from './uploads.ts';

type Ids = keyof ReturnType<typeof blobHandlers>;

export function blobsModule(deps: ModuleDeps): Module<Ids> {
  return {
    handlers: blobHandlers(deps),
    atomic: (turns) => blobDeleteHandler({ runtime: turns }),
    sweeps: [{ name: 'blobUploads', run: (signal) => deleteExpiredBlobUploads(deps, signal) }],
  };
}
