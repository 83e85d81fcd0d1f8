/** The stored form of what people write into a rule. */
import { isDeepStrictEqual } from 'node:util';
import { type AlertDestination, type AlertRuleUpdate, MASKED_SECRET, type NewAlertRule } from '../../../../protocol/automation/alerts.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { AlertRuleId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Sealer } from '../../../storage/sealing/sealer.ts';
import { requireTemplate } from './message.ts';
import { sealSecret } from './outgoing.ts';
import type { RuleRow, RuleSpec } from './rows.ts';
import { scheduleOf } from './rules.ts';

/** Throws INVALID_SCHEDULE and INVALID_REQUEST. */
export function newSpec(sealer: Sealer, id: AlertRuleId, body: NewAlertRule): RuleSpec {
  const { metric_id, name, condition, destination, notify_recovery, enabled } = body;
  return checked({
    ...{ metric_id, name, notify_recovery, enabled },
    ...{ op: condition.op, threshold: condition.value },
    schedule: body.schedule,
    timezone: body.timezone ?? 'UTC',
    ...destinationOf(sealer, id, destination, null),
    message: body.message ?? null,
    cooldown_s: body.cooldown_seconds ?? LIMITS.alertCooldownSDefault,
  });
}

/** `isAnew`: another number is compared, or in another way. Throws INVALID_SCHEDULE and INVALID_REQUEST. */
export function changedSpec(sealer: Sealer, before: RuleRow, body: AlertRuleUpdate): { readonly spec: RuleSpec; readonly isAnew: boolean } {
  const { condition, destination } = body;
  const spec = checked({
    metric_id: body.metric_id ?? before.metric_id,
    name: body.name ?? before.name,
    op: condition?.op ?? before.op,
    threshold: condition?.value ?? before.threshold,
    schedule: body.schedule ?? before.schedule,
    timezone: body.timezone ?? before.timezone,
    ...(destination === undefined ? keptDestination(before) : destinationOf(sealer, before.id, destination, before)),
    message: body.message === undefined ? before.message : body.message,
    cooldown_s: body.cooldown_seconds ?? before.cooldown_s,
    notify_recovery: body.notify_recovery ?? before.notify_recovery,
    enabled: body.enabled ?? before.enabled,
  });
  const compared = ({ metric_id, op, threshold }: RuleSpec) => [metric_id, op, threshold];
  return { spec, isAnew: !isDeepStrictEqual(compared(spec), compared(before)) };
}

function checked(spec: RuleSpec): RuleSpec {
  scheduleOf(spec.schedule, spec.timezone);
  requireTemplate(spec.message);
  return spec;
}

type StoredDestination = Pick<RuleSpec, 'destination_kind' | 'destination' | 'sealed_secret'>;

function keptDestination({ destination_kind, destination, sealed_secret }: RuleRow): StoredDestination {
  return { destination_kind, destination, sealed_secret };
}

function destinationOf(sealer: Sealer, id: AlertRuleId, destination: AlertDestination, before: RuleRow | null): StoredDestination {
  switch (destination.kind) {
    case 'email':
      return stored('email', { to: [...new Set(destination.config.to.map((address) => address.toLowerCase()))] });
    case 'http_get':
      return stored('http_get', { url: destination.config.url });
    case 'bell':
      return stored('bell', {});
    case 'webhook': {
      const { url, secret } = destination.config;
      if (secret === undefined) return stored('webhook', { url });
      if (secret !== MASKED_SECRET) return stored('webhook', { url }, sealSecret(sealer, id, secret));
      if (before === null || before.sealed_secret === null) {
        const message = `destination.config.secret: ${MASKED_SECRET} stands for the secret that the rule has, and it has none.`;
        throw new Failure('INVALID_REQUEST', { param: 'destination.config.secret', message, hint: 'Send the secret itself.' });
      }
      return stored('webhook', { url }, before.sealed_secret);
    }
    default:
      return destination satisfies never;
  }
}

function stored(kind: AlertDestination['kind'], destination: RuleSpec['destination'], secret: Buffer | null = null): StoredDestination {
  return { destination_kind: kind, destination, sealed_secret: secret };
}
