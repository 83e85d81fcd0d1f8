/** Alerts by mail, on behalf of the page: they spend what its creator and the artifact may send. */
import type { composeMail } from '../../../mail/templates/compose.ts';
import type { Locale } from '../../../mail/templates/message.ts';
import type { Config } from '../../../platform/config.ts';
import type { LimiterDeps, Queries } from '../../deps.ts';
import { queuePageMail } from '../email/queue.ts';
import { composeFor } from '../templates/system.ts';
import type { Subject } from './evaluation.ts';
import type { Outgoing } from './outgoing.ts';
import { readWorkspaceOf } from './rows.ts';

export type AlertMail = Extract<Outgoing, { kind: 'email' }>;

/** As the workspace of the page wants mails of alerts, or as they usually are. */
export async function composeAlertMail(
  sql: Queries,
  { rule, artifactName }: Subject,
  { title, text }: Pick<AlertMail, 'title' | 'text'>,
  { locale, baseUrl }: { readonly locale: Locale } & Pick<Config, 'baseUrl'>,
): Promise<ReturnType<typeof composeMail>> {
  const facts = { rule: title, artifact: artifactName, what: text, url: `${baseUrl}/p/${rule.artifact_id}/alerts` };
  const addressed = { recipient: '', locale, artifactId: rule.artifact_id };
  return composeFor(sql, await readWorkspaceOf(sql, rule.artifact_id), 'alert', facts, addressed);
}

interface Sending extends LimiterDeps, Pick<Config, 'baseUrl'> {
  readonly locale: Locale;
  readonly nowMs: number;
}

/** In the transaction that marks the event as delivered. Throws RATE_LIMITED and EMAIL_NOT_PROVED. */
export async function sendAlertMail(tx: Queries, subject: Subject, mail: AlertMail, sending: Sending): Promise<void> {
  const { artifact_id: artifactId, created_by: senderUserId } = subject.rule;
  const { nowMs, limiters } = sending;
  const composed = await composeAlertMail(tx, subject, mail, sending);
  const { subject: line, text, html } = composed;
  await queuePageMail(tx, { artifactId, senderUserId, to: mail.to, subject: line, text, html: html ?? undefined, nowMs, limiters });
}
