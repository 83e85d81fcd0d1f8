/** A schedule in the languages of the web app, by cronstrue: it knows both and is kept well. */
import i18n from 'cronstrue/i18n.js';
import type { Schedule } from './schedule.ts';

/** Node hands over the CommonJS module itself, a test runner what it exports by default. */
const cronstrue: Pick<typeof i18n.default, 'toString'> = i18n.default ?? i18n;

export function inWords({ expression, timezone }: Schedule): { readonly en: string; readonly es: string } {
  const said = (locale: 'en' | 'es') =>
    `${cronstrue.toString(expression, { locale, use24HourTimeFormat: true, verbose: false })} (${timezone})`;
  return { en: said('en'), es: said('es') };
}
