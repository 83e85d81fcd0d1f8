import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { analyticsHandlers } from './handlers.ts';
import { PageViews } from './page-views.ts';
import { deleteOldDays } from './rows.ts';
import { dayOf } from './rules.ts';
import { DailySalts } from './salts.ts';

type Ids = keyof ReturnType<typeof analyticsHandlers>;

export function analyticsModule(deps: ModuleDeps): Module<Ids> & { readonly views: PageViews } {
  const { sql, clock } = deps;
  const salts = new DailySalts(deps);
  const views = new PageViews({ ...deps, salts });
  const sweep = async () => {
    await salts.deleteOld();
    const today = dayOf(clock.nowMs());
    return deleteOldDays(sql, { keptFrom: today - LIMITS.viewsKeptDays + 1, sketchedFrom: today - 1 });
  };
  return {
    views,
    handlers: analyticsHandlers({ ...deps, views }),
    sweeps: [{ name: 'pageViews', run: sweep }],
    gauges: [{ name: 'easel_page_viewers_waiting', help: 'Visitors whose page views wait to be written.', read: () => views.waiting }],
    start: () => salts.start(),
    close: async () => {
      await views.flush();
      await salts.close();
    },
  };
}
