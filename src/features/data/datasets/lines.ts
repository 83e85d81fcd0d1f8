/** Reads datasets from their first row on, a block at a time, for callers that look for something and may stop at any block. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { ShareQueue } from '../../../platform/share-queue.ts';
import type { Queries } from '../../deps.ts';
import type { ReadHolders } from '../tables/reads.ts';
import { laneOf } from './receive.ts';
import { blockLines, type Objects } from './renderings.ts';
import { readDataset, type StoredDataset } from './rows.ts';

interface Deps {
  readonly sql: Queries;
  readonly objects: Objects;
  /** Shared with the pages of rows, so that both together stay within the same bounds. */
  readonly reading: ShareQueue;
}

export class DatasetLines {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** The newest version; undefined where there is no such dataset. */
  find(id: ArtifactId, name: string): Promise<StoredDataset | undefined> {
    return readDataset(this.#deps.sql, id, name);
  }

  /** The rows as JSON. Each block waits for its turn, so that others read in between. Rejects with UNAVAILABLE if too many are waiting. */
  async *blocks(stored: StoredDataset, holders: ReadHolders, ended: AbortSignal): AsyncGenerator<readonly string[]> {
    const { objects, reading } = this.#deps;
    for (const index of stored.blocks.keys()) {
      yield await reading.run(holders, () => blockLines(objects, stored, index, laneOf(holders)), ended);
    }
  }
}
