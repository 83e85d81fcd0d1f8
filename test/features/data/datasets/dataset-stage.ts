/** What `writeDataset` is built from, beside the service that a test runs. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { WriteDeps } from '../../../../src/features/data/datasets/write.ts';
import { LocalBus } from '../../../../src/platform/bus.ts';
import { fileObjects } from '../../../../src/storage/file-objects.ts';
import { Spool } from '../../../../src/storage/spool.ts';
import { SILENT, temporaryDir } from '../../../support/database.ts';
import type { TestEasel } from '../../../support/easel.ts';

export interface StoreStage {
  readonly deps: WriteDeps;
  /** The files that are left in the spool. */
  spooled(): Promise<string[]>;
  close(): Promise<void>;
}

export async function storeStage({ sql, clock }: TestEasel): Promise<StoreStage> {
  const folder = temporaryDir();
  const spoolDir = join(folder.path, 'spool');
  const objects = fileObjects(join(folder.path, 'objects'));
  const spool = new Spool(spoolDir);
  await objects.ready();
  await spool.ready();
  return {
    deps: { sql, clock, objects, spool, bus: new LocalBus(SILENT) },
    spooled: () => readdir(spoolDir),
    close: async () => folder.remove(),
  };
}
