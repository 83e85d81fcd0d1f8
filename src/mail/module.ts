import { LIMITS } from '../../protocol/core/limits.ts';
import type { Module, ModuleDeps } from '../features/module.ts';
import { devMailPages } from './dev-pages.ts';
import { deleteOldMail } from './outbox.ts';
import { PageMailFrame } from './page-mail.ts';
import { MailSender } from './sender.ts';
import { deleteOldBounces } from './suppression.ts';
import { mailTransport } from './transports.ts';

const KEPT_MS = LIMITS.mailRetentionDays * 24 * 3600 * 1000;

type Ids = keyof ReturnType<typeof devMailPages>;

export function mailModule(deps: ModuleDeps): Module<Ids> & { readonly mail: MailSender } {
  const { sql, clock, settings } = deps;
  const mail = new MailSender({ ...deps, transport: mailTransport(settings), pageMail: new PageMailFrame(deps) });
  return {
    mail,
    handlers: devMailPages(deps),
    sweeps: [
      { name: 'mails', run: () => deleteOldMail(sql, clock.nowMs() - KEPT_MS) },
      { name: 'bouncedAddresses', run: () => deleteOldBounces(sql, clock.nowMs()) },
    ],
    // What a process before this one left in the outbox is sent.
    start: () => mail.wake(),
    close: () => mail.stop(),
  };
}
