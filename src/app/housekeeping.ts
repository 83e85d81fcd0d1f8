/** Daily work on what belongs to no resource. Last in the list: what other modules remove leaves objects that nothing names, and dead rows. */
import { RETENTION } from '../../protocol/business/retention.ts';
import { deleteOldRecords } from '../edge/idempotency.ts';
import type { Module, ModuleDeps, Sweep } from '../features/module.ts';
import { removeOrphans } from '../storage/orphans.ts';
import { deleteOldWindows } from '../storage/shared-limiter.ts';
import { deleteOldPieces } from '../storage/slices.ts';
import { vacuum } from '../storage/vacuum.ts';

export function housekeeping(deps: ModuleDeps & { readonly isEmbedded: boolean }): Module {
  const { sql, clock } = deps;
  const sweeps: Sweep[] = [
    { name: 'idempotencyRecords', run: () => deleteOldRecords(sql, clock.nowMs() - RETENTION.idempotencyRecords.keptMs) },
    { name: 'rateWindows', run: () => deleteOldWindows(sql, clock.nowMs()) },
    { name: 'documentPieces', run: () => deleteOldPieces(sql) },
    { name: 'objects', run: (signal) => removeOrphans(deps, signal) },
  ];
  // A server vacuums by itself.
  if (deps.isEmbedded) sweeps.push({ name: 'vacuumedTables', run: (signal) => vacuum(sql, signal) });
  return { sweeps };
}
