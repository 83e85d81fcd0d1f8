/** Mails that say what a notice says, where something of a person has stopped and they may not look at the bell for days. */

import { queueMail } from '../../../mail/outbox.ts';
import { localeOf } from '../../../mail/templates/message.ts';
import type { Config } from '../../../platform/config.ts';
import type { Queries } from '../../deps.ts';
import { composeFor } from '../templates/system.ts';
import type { NewNotice } from './notices.ts';
import { listAddressed } from './rows.ts';

/** To those with a proved address, in the transaction of the notices. The sender of mail finds them within a minute. */
export async function mailNotices(
  tx: Queries,
  notices: readonly NewNotice[],
  { config: { baseUrl }, nowMs }: { readonly config: Pick<Config, 'baseUrl'>; readonly nowMs: number },
): Promise<void> {
  for (const { userId, title, body, artifactId, url } of notices) {
    const [to] = await listAddressed(tx, userId, artifactId);
    if (to === undefined) continue;
    const facts = { title, body, url: new URL(url ?? '/', baseUrl).href };
    const addressed = { recipient: to.email, locale: localeOf(to.own_locale, to.workspace_locale) };
    await queueMail(tx, [await composeFor(tx, to.workspace_id, 'notice', facts, addressed)], nowMs);
  }
}
