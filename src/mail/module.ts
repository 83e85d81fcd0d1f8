import { RETENTION } from '../../protocol/business/retention.ts';
import type { Module, ModuleDeps } from '../features/module.ts';
import { devMailPages } from './dev-pages.ts';
import { deleteOldMail } from './outbox.ts';
import { type MailFiles, PageMailFrame } from './page-mail.ts';
import { MailSender } from './sender.ts';
import { deleteOldBounces } from './suppression.ts';
import { mailTransport } from './transports.ts';

const KEPT_MS = RETENTION.mails.keptMs;

type Ids = keyof ReturnType<typeof devMailPages>;

/** `files`: what goes with mail of pages. */
export function mailModule(deps: ModuleDeps & { readonly files: MailFiles }): Module<Ids> & { readonly mail: MailSender } {
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
