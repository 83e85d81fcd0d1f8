/** Every kind of mail and its template. A mail is composed here and nowhere else, so that all are escaped by the same code. */
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import { alert, notice } from './automation.ts';
import { billingEnded, billingUnpaid } from './billing.ts';
import { accountExists, emailCode, guestCode, linkCode, noAccount, passwordChanged, passwordReset, signUp } from './codes.ts';
import { htmlPart, textPart } from './layout.ts';
import { type Locale, type Message, oneLine, type Template } from './message.ts';
import { accessDenied, accessGranted, accessRequested, assigned, invite, mention, share } from './notices.ts';
import { sharedOutside } from './sharing.ts';

const TEMPLATES = {
  guest_code: guestCode,
  email_code: emailCode,
  link_code: linkCode,
  sign_up: signUp,
  account_exists: accountExists,
  no_account: noAccount,
  password_reset: passwordReset,
  password_changed: passwordChanged,
  invite,
  share,
  access_requested: accessRequested,
  access_granted: accessGranted,
  access_denied: accessDenied,
  shared_outside: sharedOutside,
  mention,
  assigned,
  alert,
  notice,
  billing_unpaid: billingUnpaid,
  billing_ended: billingEnded,
} as const;

export type MailKind = keyof typeof TEMPLATES;
export const MAIL_KINDS = Object.keys(TEMPLATES) as readonly MailKind[];

export type FactsOf<K extends MailKind> = (typeof TEMPLATES)[K] extends Template<infer Facts> ? Facts : never;

export interface Mail {
  /** Null for mail that is about no artifact. */
  readonly artifactId: ArtifactId | null;
  readonly kind: MailKind;
  /** A single address. */
  readonly recipient: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
}

interface Addressed {
  readonly recipient: string;
  readonly locale: Locale;
  readonly artifactId?: ArtifactId;
}

/** The mail of a kind. Queue it with `queueMail` in the transaction of its cause, and wake the sender after the commit. */
export function composeMail<K extends MailKind>(kind: K, facts: FactsOf<K>, { recipient, locale, artifactId }: Addressed): Mail {
  // The facts belong to the kind, which TypeScript cannot follow through the table.
  const write = TEMPLATES[kind][locale] as (facts: FactsOf<K>) => Message;
  const written = write(facts);
  const message = { ...written, subject: oneLine(written.subject) };
  return {
    artifactId: artifactId ?? null,
    kind,
    recipient,
    subject: message.subject,
    text: textPart(message),
    html: htmlPart(message, locale),
  };
}
