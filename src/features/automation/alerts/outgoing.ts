/** What an alert sends to the outside, as it would be sent. */

import type { Locale } from '../../../mail/templates/message.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { Sealer } from '../../../storage/sealing/sealer.ts';
import { messageFor, type Subject } from './evaluation.ts';
import type { EventRow } from './event-rows.ts';
import type { RuleRow } from './rows.ts';

export type Outgoing =
  | { readonly kind: 'email'; readonly to: readonly string[]; readonly title: string; readonly text: string }
  | { readonly kind: 'call'; readonly method: 'GET' | 'POST'; readonly url: string; readonly body: string | null }
  | { readonly kind: 'bell'; readonly title: string; readonly text: string };

/** The same bytes for each attempt at an event. */
export function outgoingOf(subject: Subject, event: Pick<EventRow, 'id' | 'at_ms' | 'value' | 'recovered'>, locale: Locale): Outgoing {
  const { rule, metric, artifactName } = subject;
  const { title, text } = messageFor(subject, event, locale);
  const { to = [], url = '' } = rule.destination;
  switch (rule.destination_kind) {
    case 'email':
      return { kind: 'email', to, title, text };
    case 'bell':
      return { kind: 'bell', title, text };
    case 'http_get':
      return { kind: 'call', method: 'GET', url, body: null };
    case 'webhook': {
      const body = {
        id: event.id,
        type: event.recovered ? 'alert.recovered' : 'alert.fired',
        at: dateTime(event.at_ms),
        alert: { id: rule.id, name: rule.name },
        artifact: { id: rule.artifact_id, name: artifactName },
        metric: { id: metric.metric_id, name: metric.name },
        condition: { op: rule.op, value: rule.threshold },
        value: event.value,
        message: text,
      };
      return { kind: 'call', method: 'POST', url, body: JSON.stringify(body) };
    }
    default:
      return rule.destination_kind satisfies never;
  }
}

export function placeOfSecret(id: RuleRow['id']) {
  return { table: 'alert_rule', row: id, field: 'secret' };
}

export function sealSecret(sealer: Sealer, id: RuleRow['id'], secret: string): Buffer {
  return sealer.seal(placeOfSecret(id), secret);
}

/** Null where the rule has none. Throws `Unopenable`. */
export function openSecret(sealer: Sealer, { id, sealed_secret }: Pick<RuleRow, 'id' | 'sealed_secret'>): string | null {
  return sealed_secret === null ? null : sealer.open(placeOfSecret(id), sealed_secret);
}
