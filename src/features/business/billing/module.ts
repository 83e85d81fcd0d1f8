import { RETENTION } from '../../../../protocol/business/retention.ts';
import type { MailSender } from '../../../mail/sender.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { cardHandlers } from './card-handlers.ts';
import { payPages } from './embedded/pages.ts';
import { EmbeddedProvider } from './embedded/provider.ts';
import { deleteOldCalls } from './embedded/rows.ts';
import { billingHandlers } from './handlers.ts';
import { EventIntake } from './intake.ts';
import { Looking } from './looking.ts';
import { BillingLoop } from './loop.ts';
import { deleteOldCheckouts, deleteOldOperations } from './operation-rows.ts';
import { Operations } from './operations.ts';
import type { PaymentProvider } from './provider.ts';
import { deleteOldEvents, readWorkspaceOf } from './rows.ts';
import { StripeProvider } from './stripe/provider.ts';

type Ids = keyof ReturnType<typeof billingHandlers> | keyof ReturnType<typeof cardHandlers> | keyof ReturnType<typeof payPages>;

export function billingModule(deps: ModuleDeps & { readonly mail: Pick<MailSender, 'wake'> }): Module<Ids> {
  const { sql, clock, settings } = deps;
  const embedded = new EmbeddedProvider(deps);
  const provider: PaymentProvider = settings.billing === null ? embedded : new StripeProvider(settings.billing);
  const parts = { ...deps, provider };
  const looking = new Looking(parts);
  const operations = new Operations(parts, looking);
  const intake = new EventIntake(parts, looking);
  const loop = new BillingLoop(parts, { looking, operations, intake });
  const all = { ...parts, operations, intake, maySelfUpgrade: settings.maySelfUpgrade };
  const changed = async (customerRef: string) => {
    const workspaceId = await readWorkspaceOf(sql, provider.name, customerRef);
    if (workspaceId !== null) await looking.look(workspaceId);
  };
  return {
    handlers: {
      ...billingHandlers(all),
      ...cardHandlers(all),
      ...payPages({ embedded: settings.billing === null ? embedded : null, changed }),
    },
    sweeps: [
      { name: 'billingEvents', run: () => deleteOldEvents(sql, clock.nowMs() - RETENTION.billingEvents.keptMs) },
      { name: 'billingOperations', run: () => deleteOldOperations(sql, clock.nowMs() - RETENTION.billingOperations.keptMs) },
      { name: 'billingCheckouts', run: () => deleteOldCheckouts(sql, clock.nowMs() - RETENTION.billingCheckouts.keptMs) },
      { name: 'testPayments', run: () => deleteOldCalls(sql, clock.nowMs() - RETENTION.testPayments.keptMs) },
    ],
    start: () => loop.start(),
    close: () => loop.close(),
  };
}
