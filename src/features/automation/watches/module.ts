import type { Module, ModuleDeps } from '../../module.ts';
import type { MetricReader } from '../metrics/reading.ts';
import type { TurnLoop } from '../metrics/turn-loop.ts';
import { type WatchDeps, watchHandlers } from './handlers.ts';
import { lookAtWatch } from './looking.ts';
import { WatchesOnChange } from './on-change.ts';
import { deleteOldValues } from './rows.ts';
import { BASELINE_MS } from './rules.ts';

type Ids = keyof ReturnType<typeof watchHandlers>;
type Needed = Pick<WatchDeps, 'heads'> & { readonly turns: TurnLoop; readonly reader: MetricReader };

export function watchesModule(deps: ModuleDeps & Needed): Module<Ids> {
  const { sql, clock, turns } = deps;
  const wake = () => turns.wake();
  turns.take('watch', (claim) => lookAtWatch(deps, claim));
  const onChange = new WatchesOnChange({ ...deps, wake });
  return {
    handlers: watchHandlers({ ...deps, wake }),
    sweeps: [{ name: 'watchValues', run: () => deleteOldValues(sql, clock.nowMs() - BASELINE_MS) }],
    close: () => onChange.close(),
  };
}
