/** What is typed of a workspace that is to be provisioned, and the request that it becomes. */
import type { ProvisionRequest } from '../../state/instance.ts';

export const SWITCHES = ['leave', 'on', 'off'] as const;
export type Switched = (typeof SWITCHES)[number];
export const LOCALES = ['en', 'es'] as const;
export const EXISTS = ['match', 'update', 'fail'] as const;

export interface Draft {
  readonly name: string;
  readonly slug: string;
  readonly locale: (typeof LOCALES)[number];
  readonly description: string;
  /** Lines. */
  readonly admins: string;
  readonly owner: string;
  readonly exists: (typeof EXISTS)[number];
  /** Lines. */
  readonly folders: string;
  readonly resend: boolean;
  readonly accent: string;
  readonly logo: string;
  readonly hideFooter: Switched;
  /** Lines. */
  readonly domains: string;
  /** Lines. */
  readonly emails: string;
  readonly externalSharing: Switched;
  readonly guestComments: Switched;
  readonly knowledge: Switched;
  /** A list in JSON, or empty. */
  readonly connectors: string;
}

export const EMPTY_DRAFT: Draft = {
  ...{ name: '', slug: '', locale: 'en', description: '', admins: '', owner: '', exists: 'match', folders: '', resend: false },
  ...{ accent: '', logo: '', hideFooter: 'leave', domains: '', emails: '' },
  ...{ externalSharing: 'leave', guestComments: 'leave', knowledge: 'leave', connectors: '' },
};

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Undefined where it is no list in JSON. What is in it the server checks. */
function connectorsIn(text: string): ProvisionRequest['connectors'] {
  if (text.trim() === '') return [];
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : undefined;
  } catch (error) {
    console.debug('not JSON yet', error);
    return undefined;
  }
}

export function isConnectors(text: string): boolean {
  return connectorsIn(text) !== undefined;
}

/** Without what is empty. */
function filled<T extends object>(fields: T): Partial<T> | undefined {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '');
  return kept.length === 0 ? undefined : (Object.fromEntries(kept) as Partial<T>);
}

function switched(value: Switched): boolean | undefined {
  return value === 'leave' ? undefined : value === 'on';
}

export function requestOf(draft: Draft): ProvisionRequest {
  const { accent, logo, hideFooter, domains, emails, externalSharing, guestComments, knowledge } = draft;
  const branding = filled({ accent_color: accent.trim(), logo: logo.trim(), hide_footer: switched(hideFooter) });
  const lists = { allowed_domains: linesOf(domains), allowed_emails: linesOf(emails) };
  const policy = filled({
    ...{ allowed_domains: lists.allowed_domains.length === 0 ? undefined : lists.allowed_domains },
    ...{ allowed_emails: lists.allowed_emails.length === 0 ? undefined : lists.allowed_emails },
    ...{ external_sharing: switched(externalSharing), guest_comments: switched(guestComments), knowledge: switched(knowledge) },
  });
  const owner = draft.owner.trim();
  const description = draft.description.trim();
  return {
    ...{ name: draft.name.trim(), slug: draft.slug.trim(), locale: draft.locale, admins: linesOf(draft.admins) },
    ...{ if_exists: draft.exists, folders: linesOf(draft.folders), resend_invites: draft.resend },
    ...(description !== '' && { description }),
    ...(owner !== '' && { owner_email: owner }),
    ...(branding !== undefined && { branding }),
    ...(policy !== undefined && { policy }),
    connectors: connectorsIn(draft.connectors) ?? [],
  };
}
