/** Whom the access policy of a workspace admits, decided without I/O. */
import type { WorkspaceRow } from '../workspaces/rows.ts';

type Policy = Pick<WorkspaceRow, 'allowed_domains' | 'allowed_emails' | 'auto_join'>;

/** `email` is in lowercase. */
function isNamed({ allowed_domains, allowed_emails }: Policy, email: string): boolean {
  return allowed_emails.includes(email) || allowed_domains.includes(email.slice(email.lastIndexOf('@') + 1));
}

/** A policy that names nobody excludes nobody. */
export function mayBeInvited(policy: Policy, email: string): boolean {
  return (policy.allowed_domains.length === 0 && policy.allowed_emails.length === 0) || isNamed(policy, email);
}

/** Only an address that is named joins by itself. */
export function mayJoin(policy: Policy, email: string): boolean {
  return policy.auto_join && isNamed(policy, email);
}
