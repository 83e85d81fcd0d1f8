/** What sending a mail would do now, without doing it. */
import { ERRORS, type ErrorCode } from '../../../../protocol/core/errors.ts';
import type { ArtifactId, UserId } from '../../../../protocol/core/ids.ts';
import { PAGE_MAIL_LIMITS } from '../../../../protocol/core/rate-limits.ts';
import { suppressedAmong } from '../../../mail/suppression.ts';
import { rateOf } from '../../business/tiers/rules.ts';
import type { LimiterDeps, ServiceDeps } from '../../deps.ts';
import { DAY_IS_SPENT } from '../email/queue.ts';
import { readSender } from '../email/rows.ts';

interface Intended {
  readonly artifactId: ArtifactId;
  readonly userId: UserId;
  readonly to: readonly string[];
  readonly subject: string;
  readonly nowMs: number;
}

export async function rehearseMail({ sql, limiters }: Pick<ServiceDeps, 'sql'> & LimiterDeps, intended: Intended) {
  const { artifactId, subject, nowMs } = intended;
  const to = [...new Set(intended.to)];
  const suppressed = await suppressedAmong(sql, artifactId, to, nowMs);
  const send = to.map((address) => ({
    to: address,
    subject,
    status: suppressed.has(address) ? ('suppressed' as const) : ('queued' as const),
  }));
  const refused = await refusalOf({ sql, limiters }, intended, to.length - suppressed.size);
  return { would: { send: refused === null ? send : [] }, refused };
}

async function refusalOf(
  { sql, limiters }: Pick<ServiceDeps, 'sql'> & LimiterDeps,
  intended: Intended,
  mails: number,
): Promise<{ readonly code: ErrorCode; readonly error: string } | null> {
  const sender = await readSender(sql, intended.userId);
  if (sender?.isProved !== true) return { code: 'EMAIL_NOT_PROVED', error: ERRORS.EMAIL_NOT_PROVED.message };
  if (mails === 0) return null;
  const { ofArtifact } = PAGE_MAIL_LIMITS;
  const ofPerson = rateOf(PAGE_MAIL_LIMITS.ofPerson, sender.tier);
  const person = await limiters.shared.look(ofPerson, sender.personId, mails);
  const artifact = await limiters.shared.look(ofArtifact, intended.artifactId, mails);
  if (person.accepted && artifact.accepted) return null;
  return {
    code: 'RATE_LIMITED',
    error: person.accepted ? DAY_IS_SPENT.ofArtifact(ofArtifact.quota) : DAY_IS_SPENT.ofPerson(ofPerson.quota),
  };
}
