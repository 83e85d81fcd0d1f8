import { RETENTION } from '../../../../protocol/business/retention.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import type { MetricReader } from '../metrics/reading.ts';
import type { TurnLoop } from '../metrics/turn-loop.ts';
import { AlertDeliveries, type DeliveryDeps } from './deliveries.ts';
import { evaluate } from './evaluation.ts';
import { deleteOldEvents } from './event-rows.ts';
import { type AlertDeps, alertHandlers } from './handlers.ts';
import { resealAlerts } from './reseal.ts';

type Ids = keyof ReturnType<typeof alertHandlers>;
type Needed = Pick<AlertDeps, 'heads'> & Pick<DeliveryDeps, 'mail'> & { readonly turns: TurnLoop; readonly reader: MetricReader };

const EVENTS_KEPT_MS = RETENTION.alertEvents.keptMs;

export function alertsModule(deps: ModuleDeps & Needed): Module<Ids> {
  const { sql, clock, turns } = deps;
  const deliveries = new AlertDeliveries(deps);
  turns.take('rule', (claim) => evaluate({ ...deps, deliveries }, claim));
  return {
    handlers: alertHandlers({ ...deps, deliveries }),
    sweeps: [
      { name: 'alertEvents', run: () => deleteOldEvents(sql, clock.nowMs() - EVENTS_KEPT_MS, LIMITS.alertEventsPerRuleMax) },
      { name: 'resealed alerts', run: (signal) => resealAlerts(deps, signal) },
    ],
    gauges: [{ name: 'easel_alert_deliveries', help: 'Alerts that are being delivered now.', read: () => deliveries.running }],
    start: () => deliveries.start(),
    close: () => deliveries.close(),
  };
}
