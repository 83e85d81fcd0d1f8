/** Writes the rows of a table, or what a connection answers, as a dataset. */
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { writeDataset } from '../../../data/datasets/write.ts';
import type { WorldReply } from '../../scripts/world.ts';
import type { Action, ActionRun } from './action.ts';
import { messageOf } from './http.ts';
import { isOfConnection, materializeConnection } from './materialize-connection.ts';

interface MaterializeConfig {
  readonly table: string;
  readonly filter?: Readonly<Record<string, unknown>>;
  readonly sort?: string;
  readonly select?: readonly string[];
  readonly dataset: string;
}

const PAGE_ROWS = 500;

type Row = Record<string, unknown>;

interface Page {
  readonly rows: readonly Row[];
  readonly nextCursor: string | null;
}

/** The rows by pages, so that they are never all in memory. Throws where a page cannot be read. */
async function* rowsOf({ world, config }: ActionRun): AsyncGenerator<Row> {
  const { table, filter = {}, sort, select } = config as unknown as MaterializeConfig;
  let cursor: string | null = null;
  let read = 0;
  do {
    const body: Row = {
      filter,
      limit: PAGE_ROWS,
      ...(sort !== undefined && { sort }),
      ...(select && { select }),
      ...(cursor && { cursor }),
    };
    const reply: WorldReply = await world.call({ method: 'POST', path: `/tables/${table}/query`, body });
    if (reply.status >= 300) throw new Error(`The table could not be read: ${messageOf(reply.body, reply.status)}`);
    const { rows, nextCursor }: Page = (reply.body as { readonly data: Page }).data;
    read += rows.length;
    if (read > LIMITS.materializeRowsMax) throw new Error(`A dataset takes ${LIMITS.materializeRowsMax} rows of a table; filter them.`);
    yield* rows;
    cursor = nextCursor;
  } while (cursor !== null);
}

export const materialize: Action = {
  async run(deps, run) {
    if (isOfConnection(run.config)) return materializeConnection.run(deps, run);
    const { dataset } = run.config as unknown as MaterializeConfig;
    const { stored, isNew } = await writeDataset(deps, {
      artifactId: run.job.artifact_id,
      name: dataset,
      rows: rowsOf(run),
      chain: run.chain,
    });
    run.world.note?.({ channel: 'datasets', name: dataset, op: 'put', count: 1 });
    return { error: null, output: `${dataset}: ${isNew ? 'version' : 'unchanged, version'} ${stored.version}, ${stored.rows} rows` };
  },
  async rehearse(deps, run) {
    if (isOfConnection(run.config)) return materializeConnection.rehearse(deps, run);
    const { dataset } = run.config as unknown as MaterializeConfig;
    let rows = 0;
    for await (const _ of rowsOf(run)) rows += 1;
    return { error: null, output: `${dataset}: would have ${rows} rows` };
  },
};
