/** Makes codes and queues the mail that brings them. */
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { queueMail } from '../../../mail/outbox.ts';
import { composeMail } from '../../../mail/templates/compose.ts';
import { type Locale, localeOf } from '../../../mail/templates/message.ts';
import type { Config } from '../../../platform/config.ts';
import type { Queries } from '../../deps.ts';
import { makeCode, type Pending } from './codes.ts';
import { type CodeOf, type CodePurpose, lockName } from './rows.ts';

const KINDS = { sign_in: 'email_code', sign_up: 'sign_up', reset: 'password_reset', link: 'link_code' } as const satisfies Record<
  CodePurpose,
  string
>;

export interface CodeMail {
  readonly what: CodeOf;
  /** The Accept-Language header of whoever asks, who should be the recipient. */
  readonly languages: string;
  readonly nowMs: number;
  readonly pending?: Pending;
  /** What the address gets instead of the code, which then nobody knows. The work is the same. */
  readonly instead?: 'account_exists' | 'no_account';
}

/** Answers the code's id. Wake the sender of mail after the commit. */
export async function mailCode(tx: Queries, config: Pick<Config, 'baseUrl'>, mail: CodeMail): Promise<string> {
  const { what, nowMs, pending, instead } = mail;
  await lockName(tx, what.email);
  const { id, code } = await makeCode(tx, what, nowMs, pending);
  const to = { recipient: what.email, locale: localeOfHeader(mail.languages) };
  const minutes = LIMITS.signInCodeTtlMs / 60_000;
  const url = signInUrl(config);
  const composed = instead === undefined ? composeMail(KINDS[what.purpose], { code, url, minutes }, to) : composeMail(instead, { url }, to);
  await queueMail(tx, [composed], nowMs);
  return id;
}

export function signInUrl({ baseUrl }: Pick<Config, 'baseUrl'>): string {
  return `${baseUrl}/sign-in`;
}

export function localeOfHeader(languages: string): Locale {
  return localeOf(...languages.split(',').map((one) => one.split(';')[0]?.trim()));
}
