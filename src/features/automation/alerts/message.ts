/** What an alert says. */
import type { AlertOp } from '../../../../protocol/automation/alerts.ts';
import type { Locale } from '../../../mail/templates/message.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { renderText } from '../templates/render.ts';
import { readSource } from '../templates/source.ts';

export interface AlertFacts {
  readonly rule: string;
  readonly metric: string;
  readonly artifact: string;
  readonly op: AlertOp;
  readonly threshold: number;
  readonly value: number;
  readonly state: 'firing' | 'recovered';
  readonly atMs: number;
}

interface Words {
  readonly op: Readonly<Record<AlertOp, string>>;
  readonly recovered: (rule: string) => string;
  readonly firing: (metric: string, artifact: string, value: string, condition: string) => string;
  readonly over: (metric: string, artifact: string, value: string, condition: string) => string;
}

const WORDS: Readonly<Record<Locale, Words>> = {
  en: {
    op: {
      gt: 'above',
      gte: 'at or above',
      lt: 'below',
      lte: 'at or below',
      eq: 'equal to',
      neq: 'different from',
      change_pct_gt: 'up by more than',
      change_pct_lt: 'changed by less than',
    },
    recovered: (rule) => `${rule} (recovered)`,
    firing: (metric, artifact, value, condition) => `${metric} of ${artifact} is ${value}: ${condition}.`,
    over: (metric, artifact, value, condition) => `${metric} of ${artifact} is ${value}, and not ${condition} any more.`,
  },
  es: {
    op: {
      gt: 'por encima de',
      gte: 'igual o por encima de',
      lt: 'por debajo de',
      lte: 'igual o por debajo de',
      eq: 'igual a',
      neq: 'distinto de',
      change_pct_gt: 'ha subido más de',
      change_pct_lt: 'ha cambiado menos de',
    },
    recovered: (rule) => `${rule} (recuperada)`,
    firing: (metric, artifact, value, condition) => `${metric} de ${artifact} es ${value}: ${condition}.`,
    over: (metric, artifact, value, condition) => `${metric} de ${artifact} es ${value}, y ya no cumple «${condition}».`,
  },
};

export interface AlertMessage {
  readonly title: string;
  readonly text: string;
}

/** `template`: null for the usual words. */
export function messageOf(template: string | null, facts: AlertFacts, locale: Locale): AlertMessage {
  const { rule, metric, value, threshold, op, state, artifact, atMs } = facts;
  const words = WORDS[locale];
  const title = state === 'firing' ? rule : words.recovered(rule);
  const unit = op.startsWith('change_pct') ? ' %' : '';
  const say = state === 'firing' ? words.firing : words.over;
  const usual = say(metric, artifact, String(value), `${words.op[op]} ${threshold}${unit}`);
  if (template === null) return { title, text: usual };
  const data = { rule, metric, artifact, value, threshold, op, state, at: dateTime(atMs) };
  return { title, text: renderText(template, data, 'message').text };
}

/** Throws INVALID_REQUEST. */
export function requireTemplate(template: string | null): void {
  if (template !== null) readSource(template, 'message');
}
