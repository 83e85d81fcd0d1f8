/** Who looks at a page. */

import type { UserId } from '../../../../protocol/core/ids.ts';
import type { BaseCall } from '../../../edge/call.ts';
import { type Locale, localeOf } from '../../../mail/templates/message.ts';
import type { ServiceDeps } from '../../deps.ts';
import { readAccount, readEmails } from '../accounts/rows.ts';
import { accountsOf } from '../accounts/rules.ts';
import { localeOfHeader } from '../sign-in/code-mail.ts';
import { goTo } from './forms.ts';

export interface SignedIn {
  readonly userId: UserId;
  readonly email: string | null;
  /** Proved addresses of all linked accounts. */
  readonly emails: readonly string[];
  /** For the eyes: name, address or id. */
  readonly shown: string;
  /** Of the account, as it was chosen in the app; else of the browser. */
  readonly locale: Locale;
}

/** Null for a visitor without a session; a token is for programs and opens no page. */
export async function signedIn({ sql }: Pick<ServiceDeps, 'sql'>, { principal, acceptLanguage }: BaseCall): Promise<SignedIn | null> {
  if (principal.kind !== 'user' || principal.tokenKind !== 'session') return null;
  const { userId } = principal;
  const { name, email, username, metadata } = await readAccount(sql, userId);
  const locale = localeOf(metadata.locale, localeOfHeader(acceptLanguage));
  const emails = await readEmails(sql, accountsOf(principal), userId);
  return { userId, email, emails, shown: name ?? email ?? username ?? userId, locale };
}

export function toSignIn(returnTo: string, loginHint?: string | null) {
  const query = new URLSearchParams({ return_to: returnTo, ...(loginHint && { login_hint: loginHint }) });
  return goTo(`/sign-in?${query}`);
}
