import type { Clock } from '../../../../actors/runtime/ports.ts';
import type { Handlers } from '../../../edge/call.ts';
import type { Queries } from '../../deps.ts';
import type { PageViews } from './page-views.ts';
import { listViews } from './rows.ts';
import { answerOf, dayOf } from './rules.ts';

export interface AnalyticsDeps {
  readonly sql: Queries;
  readonly clock: Clock;
  readonly views: PageViews;
}

export function analyticsHandlers({ sql, clock, views }: AnalyticsDeps): Handlers<'analytics.views'> {
  return {
    'analytics.views': async ({ params: { id }, query }) => {
      const range = Number(query.range);
      const today = dayOf(clock.nowMs());
      // Whoever has just opened the page looks for that view.
      await views.flush();
      return { reply: 'ok', body: answerOf(await listViews(sql, id, today - range + 1), range, today) };
    },
  };
}
