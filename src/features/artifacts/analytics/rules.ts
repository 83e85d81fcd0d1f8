/** Days, and the answer from the rows. No I/O. */
import type { z } from 'zod';
import type { analytics } from '../../../../protocol/artifacts/analytics.ts';
import type { ViewsRow } from './rows.ts';

export const DAY_MS = 24 * 60 * 60 * 1000;

/** Days since 1970-01-01, UTC. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** Every day of the range, also those without views. */
export function answerOf(rows: readonly ViewsRow[], range: number, today: number): z.input<typeof analytics> {
  const byDay = new Map(rows.map((row) => [row.day, row]));
  const views = Array.from({ length: range }, (_, at) => {
    const day = today - range + 1 + at;
    const row = byDay.get(day);
    return { date: new Date(day * DAY_MS).toISOString().slice(0, 10), views: row?.views ?? 0, visitors: row?.visitors ?? 0 };
  });
  const sum = (of: 'views' | 'visitors') => views.reduce((total, each) => total + each[of], 0);
  return { range, views, total: { views: sum('views'), visitors: sum('visitors') } };
}
