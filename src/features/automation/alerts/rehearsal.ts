/** What a rule would send, if its condition began to hold now. */
import type { z } from 'zod';
import type { alertRehearsal } from '../../../../protocol/automation/alerts.ts';
import { newId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import { type EvaluationDeps, localeOfRule, readFor, requireSubject, type Subject } from './evaluation.ts';
import { composeAlertMail } from './mail.ts';
import { type Outgoing, outgoingOf } from './outgoing.ts';
import type { RuleRow } from './rows.ts';
import { judge } from './rules.ts';

type Would = z.input<typeof alertRehearsal>['would'];

/** Throws ALERT_NOT_FOUND. Rejects where the metric could not be read. */
export async function rehearse(deps: EvaluationDeps, id: RuleRow['id']): Promise<z.input<typeof alertRehearsal>> {
  const { sql, clock } = deps;
  const subject = await requireSubject(sql, id);
  const reading = await readFor(deps, subject);
  const nothing: Would = { write: [], send: [], call: [], ring: [] };
  if (reading.kind === 'asleep')
    return { value: null, would_fire: false, would: nothing, output: 'The artifact is in the trash.', error: null };
  if (reading.kind === 'failed') {
    return { value: null, would_fire: false, would: nothing, output: 'The metric could not be read.', error: reading.error };
  }
  const { value } = reading;
  if (value === null) return { value, would_fire: false, would: nothing, output: 'The metric has no value now.', error: null };
  const nowMs = clock.nowMs();
  const { fires, recovers } = judge(subject.rule, subject.rule, value, nowMs);
  const isTold = fires || (recovers && subject.rule.notify_recovery);
  const locale = await localeOfRule(sql, subject.rule);
  const outgoing = outgoingOf(subject, { id: newId('alertEvent'), at_ms: nowMs, value, recovered: recovers }, locale);
  return {
    value,
    would_fire: fires,
    would: await wouldBe(sql, subject, outgoing, { locale, baseUrl: deps.config.baseUrl }),
    output: isTold
      ? 'An evaluation now would send this.'
      : 'An evaluation now would send nothing; this is what is sent when the condition begins to hold.',
    error: null,
  };
}

async function wouldBe(
  sql: Queries,
  subject: Subject,
  outgoing: Outgoing,
  speaking: Parameters<typeof composeAlertMail>[3],
): Promise<Would> {
  const nothing: Would = { write: [], send: [], call: [], ring: [] };
  switch (outgoing.kind) {
    case 'email': {
      const mail = await composeAlertMail(sql, subject, outgoing, speaking);
      return { ...nothing, send: [{ to: [...outgoing.to], subject: mail.subject, text: mail.text }] };
    }
    case 'call':
      return { ...nothing, call: [{ method: outgoing.method, url: outgoing.url, body: outgoing.body }] };
    case 'bell':
      return { ...nothing, ring: [{ title: outgoing.title, body: outgoing.text }] };
    default:
      return outgoing satisfies never;
  }
}
