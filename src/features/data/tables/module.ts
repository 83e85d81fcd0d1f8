import { RETENTION } from '../../../../protocol/business/retention.ts';
import type { Handlers } from '../../../edge/call.ts';
import type { Module, ModuleDeps, PurgeArtifact } from '../../module.ts';
import { deleteOldPageReads } from '../page-read-rows.ts';
import { PageReads } from '../page-reads.ts';
import { byFilterHandlers, tableHandlers } from './handlers.ts';
import { purgeDroppedTables, purgeRows, TablePurge } from './purge.ts';
import { tableQueryHandlers } from './queries/handlers.ts';
import { rowReadsOf, TableReads } from './reads.ts';

type Ids = keyof (ReturnType<typeof tableHandlers> & ReturnType<typeof byFilterHandlers> & ReturnType<typeof tableQueryHandlers>);

export function tablesModule(deps: ModuleDeps): Module<Ids> & { readonly purge: PurgeArtifact; readonly reads: TableReads } {
  const { sql, runtime, clock } = deps;
  const pageReads = new PageReads(deps, 'table');
  const reads = new TableReads(rowReadsOf(deps.tableSql, deps.isEmbedded));
  const purge = new TablePurge(deps);
  return {
    reads,
    purge: (artifactId, signal) => purgeRows(sql, artifactId, signal),
    handlers: {
      ...tableHandlers({ runtime, sql }),
      ...byFilterHandlers({ runtime, reads, purge }),
      ...tableQueryHandlers({ runtime, reads, pageReads }),
    },
    atomic: (turns): Partial<Handlers> => {
      // A schema holds the table while rows are read: that is more than one turn.
      const { 'tables.putSchema': _, ...handlers } = tableHandlers({ runtime: turns, sql });
      return handlers;
    },
    sweeps: [
      { name: 'droppedTables', run: (signal) => purgeDroppedTables(sql, signal) },
      { name: 'tableReaders', run: () => deleteOldPageReads(sql, 'table', clock.nowMs() - RETENTION.tableReaders.keptMs) },
    ],
    drain: () => pageReads.drain(),
    close: () => purge.stop(),
  };
}
