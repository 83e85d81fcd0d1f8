import { RETENTION } from '../../../../protocol/business/retention.ts';
import { SigningKey } from '../../../storage/signing-key.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { answerHandlers } from './answer-handlers.ts';
import { attachmentHandlers } from './attachments.ts';
import { type SupportDeps, ticketHandlers } from './handlers.ts';
import { inboundHandlers } from './inbound/handlers.ts';
import { MailParser } from './inbound/mail-parser.ts';
import { deleteOldInbound } from './inbound/rows.ts';
import { MailReceiver } from './inbound/smtp.ts';
import { deleteLoose } from './message-rows.ts';
import { pageChatHandlers } from './page-chat.ts';
import { closeQuiet } from './rows.ts';
import { QUIET_MS } from './rules.ts';

type Ids =
  | keyof ReturnType<typeof ticketHandlers>
  | keyof ReturnType<typeof answerHandlers>
  | keyof ReturnType<typeof attachmentHandlers>
  | keyof ReturnType<typeof inboundHandlers>
  | keyof ReturnType<typeof pageChatHandlers>;

/** Bounds a statement of the sweep, which goes on until none is left. */
const CLOSED_AT_ONCE = 500;

export function supportModule(given: ModuleDeps & Pick<SupportDeps, 'mail'>): Module<Ids> {
  const { sql, clock, settings } = given;
  const deps = {
    ...given,
    linkKey: new SigningKey(sql, 'ticket_file_key'),
    proofKey: new SigningKey(sql, 'page_chat_key'),
    parser: new MailParser(given),
  };
  const port = settings.SUPPORT_SMTP_PORT;
  const receiver = port === undefined ? undefined : new MailReceiver(deps, { port, host: settings.SUPPORT_SMTP_HOST });
  return {
    handlers: {
      ...ticketHandlers(deps),
      ...answerHandlers(deps),
      ...attachmentHandlers(deps),
      ...inboundHandlers(deps),
      ...pageChatHandlers(deps),
    },
    sweeps: [
      { name: 'quiet tickets', run: (signal) => closeAllQuiet(given, signal) },
      { name: 'files of no ticket', run: () => deleteLoose(sql, clock.nowMs() - RETENTION['files of no ticket'].keptMs) },
      { name: 'taken mails', run: () => deleteOldInbound(sql, clock.nowMs() - RETENTION['taken mails'].keptMs) },
    ],
    start: () => receiver?.start(),
    close: async () => receiver?.close(),
  };
}

async function closeAllQuiet({ sql, clock }: Pick<ModuleDeps, 'sql' | 'clock'>, signal: AbortSignal): Promise<number> {
  let closed = 0;
  while (!signal.aborted) {
    const nowMs = clock.nowMs();
    const some = await closeQuiet(sql, nowMs - QUIET_MS, nowMs, CLOSED_AT_ONCE);
    closed += some;
    if (some < CLOSED_AT_ONCE) break;
  }
  return closed;
}
