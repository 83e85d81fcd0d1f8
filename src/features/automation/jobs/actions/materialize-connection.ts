/**
 * Writes what a connection answers as a dataset. With a cursor column each run asks for the rows beyond the last one that it has, and the new
 * version is the rows of the one before and these: a version is a whole, so appending costs a copy.
 */
import { createHash } from 'node:crypto';
import type { RowFields } from '../../../../../actors/tables/row-fields.ts';
import { DATASET_TYPES } from '../../../../../protocol/data/datasets.ts';
import { readDataset, type StoredDataset } from '../../../data/datasets/rows.ts';
import { datasetEtag } from '../../../data/datasets/rules.ts';
import { rowsIn } from '../../../data/datasets/sources.ts';
import { writeDataset } from '../../../data/datasets/write.ts';
import type { Scalar } from '../../../library/connections/sources/rows.ts';
import type { SourceConfig } from '../../../library/connections/use.ts';
import { readCursor, writeCursor } from '../cursors.ts';
import type { Action, ActionDeps, ActionRun } from './action.ts';

type ConnectionConfig = SourceConfig & { readonly dataset: string };

export function isOfConnection(config: Readonly<Record<string, unknown>>): config is Readonly<Record<string, unknown>> & SourceConfig {
  return config.connection_id !== undefined;
}

/** What the dataset has already, and the rows beyond it. */
interface Reading {
  /** Undefined where the dataset is written anew. */
  readonly before: StoredDataset | undefined;
  readonly rows: AsyncGenerator<RowFields>;
  /** The highest value of the cursor column that was read; undefined before that, and without one. */
  readonly reached: () => Scalar | undefined;
  /** Of what is read. */
  readonly source: string;
}

async function beginReading({ sql, connections }: ActionDeps, run: ActionRun, purpose: 'run' | 'rehearsal'): Promise<Reading> {
  const config = run.config as unknown as ConnectionConfig;
  const source = createHash('sha256')
    .update(JSON.stringify(Object.entries(config).sort()))
    .digest('hex');
  const known = config.cursor_column === undefined ? undefined : await readCursor(sql, run.job.id, source);
  const before = known === undefined ? undefined : await readDataset(sql, run.job.artifact_id, config.dataset);
  const { id: runId, userId, accounts, signal, job } = run;
  const user = { userId, accounts, artifactId: job.artifact_id, jobId: job.id, runId, purpose, signal };
  // A dataset that was deleted begins again.
  const after = before === undefined ? undefined : known;
  let reached: Scalar | undefined;
  const rows = connections.rows(config, user, after, (value) => {
    reached = value;
  });
  return { before, rows, reached: () => reached, source };
}

/** The rows of the version before, then the first new one and those behind it. */
async function* appended({ objects }: ActionDeps, before: StoredDataset | undefined, first: RowFields, rest: AsyncGenerator<RowFields>) {
  if (before !== undefined && before.sizeBytes > 0) {
    const bytes = objects.readRange(before.sha256, 0, before.sizeBytes - 1);
    for await (const { fields } of rowsIn(bytes, DATASET_TYPES.ndjson, before.sha256).rows) yield fields;
  }
  yield first;
  yield* rest;
}

async function* nothing(): AsyncGenerator<RowFields> {
  // A source without rows.
}

export const materializeConnection: Action = {
  async run(deps, run) {
    const { job, chain } = run;
    const { dataset } = run.config as unknown as ConnectionConfig;
    const { before, rows, reached, source } = await beginReading(deps, run, 'run');
    try {
      const first = await rows.next();
      if (first.done === true && before !== undefined)
        return { error: null, output: `${dataset}: no new rows, version ${before.version}, ${before.rows} rows` };
      const { stored, isNew } = await writeDataset(deps, {
        artifactId: job.artifact_id,
        name: dataset,
        rows: first.done === true ? nothing() : appended(deps, before, first.value, rows),
        chain,
        // Rows are appended to what was read, or the run is tried again.
        ...(before !== undefined && { ifMatch: datasetEtag(before) }),
        alongside: async (tx) => {
          const value = reached();
          if (value !== undefined) await writeCursor(tx, job.id, source, value, deps.clock.nowMs());
        },
      });
      run.world.note?.({ channel: 'datasets', name: dataset, op: 'put', count: 1 });
      const added = before === undefined ? '' : `, ${stored.rows - before.rows} of them new`;
      return {
        error: null,
        output: `${dataset}: ${isNew ? 'version' : 'unchanged, version'} ${stored.version}, ${stored.rows} rows${added}`,
      };
    } finally {
      await rows.return(undefined);
    }
  },
  async rehearse(deps, run) {
    const { dataset } = run.config as unknown as ConnectionConfig;
    const { before, rows } = await beginReading(deps, run, 'rehearsal');
    let found = 0;
    for await (const _ of rows) found += 1;
    const output = `${dataset}: would have ${found + (before?.rows ?? 0)} rows`;
    return { error: null, output: before === undefined ? output : `${output}, ${found} of them new` };
  },
};
