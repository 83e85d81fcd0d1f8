/** Messages of visitors to the owner of a page. */
import type { ArtifactHead, Principal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId, UserId } from '../../../../protocol/core/ids.ts';
import { networkOf } from '../../../edge/address.ts';
import { suppressedAmong } from '../../../mail/suppression.ts';
import { localeOf, named, oneLine } from '../../../mail/templates/message.ts';
import type { LimiterDeps, Queries } from '../../deps.ts';
import { textOfHtml } from '../templates/text-of-html.ts';
import { type Proof, requireProof } from './proof.ts';
import { type QueuedMail, queuePageMail } from './queue.ts';
import { readOwner, readSender } from './rows.ts';

export interface Notice {
  readonly subject: string | undefined;
  readonly text: string | undefined;
  readonly html: string | undefined;
  readonly replyTo: string | undefined;
  readonly proof: Proof | undefined;
}

export interface NoticeCall {
  readonly head: ArtifactHead;
  readonly principal: Principal;
  readonly body: Notice;
  readonly address: string;
  readonly nowMs: number;
}

const SUBJECT = {
  en: (page: string) => `Message from your page "${page}"`,
  es: (page: string) => `Mensaje de tu página «${page}»`,
} as const;

/**
 * `key` signs challenges. Throws UNAUTHORIZED and FORBIDDEN for visitors where the artifact takes no messages of theirs, OWNER_UNREACHABLE,
 * PROOF_INVALID, RATE_LIMITED.
 */
export async function notifyOwner(tx: Queries, { limiters }: LimiterDeps, call: NoticeCall, key: Uint8Array): Promise<QueuedMail> {
  const { head, principal, body, nowMs } = call;
  const owner = await readOwner(tx, head.id);
  if (owner === null) throw new Failure('ARTIFACT_NOT_FOUND');
  const sender = await senderOf(tx, principal);
  if (sender === 'visitor' && !owner.takesVisitors) throw refusal(principal);
  const proofSha256 = sender === 'visitor' ? requireProof(key, head.id, body.proof, nowMs) : null;
  if (owner.email === null || (await isSuppressed(tx, head.id, owner.email, nowMs))) throw new Failure('OWNER_UNREACHABLE');
  const locale = localeOf(owner.locale, owner.workspaceLocale);
  const subject = oneLine(body.subject ?? SUBJECT[locale](named(owner.name)));
  // Words of strangers must not look like a mail of somebody else, so their HTML is not shown.
  const html = sender === 'visitor' ? undefined : body.html;
  const text = body.text ?? textOfHtml(body.html ?? '');
  return queuePageMail(tx, {
    artifactId: head.id,
    senderUserId: sender === 'visitor' || sender === 'agent' ? null : sender,
    to: [owner.email],
    subject,
    text,
    html,
    replyTo: body.replyTo ?? null,
    nowMs,
    limiters,
    toOwner: { locale, ...(proofSha256 !== null && { visitor: { network: networkOf(call.address), proofSha256 } }) },
  });
}

/** Whoever has proved no address counts as a visitor, because accounts without one are free. */
async function senderOf(tx: Queries, principal: Principal): Promise<UserId | 'agent' | 'visitor'> {
  if (principal.kind === 'agent') return 'agent';
  if (principal.kind !== 'user') return 'visitor';
  const sender = await readSender(tx, principal.userId);
  return sender?.isProved === true ? principal.userId : 'visitor';
}

function refusal(principal: Principal): Failure {
  if (principal.kind === 'user') return new Failure('EMAIL_NOT_PROVED');
  const hint = 'The owner can let everybody write: PATCH /v1/artifacts/{id} with allow_anon_email.';
  if (principal.kind === 'guest') return new Failure('FORBIDDEN', { hint });
  return new Failure('UNAUTHORIZED', { reason: 'missing', message: 'This page takes messages only of people who are signed in.', hint });
}

async function isSuppressed(tx: Queries, artifactId: ArtifactId, address: string, nowMs: number): Promise<boolean> {
  return (await suppressedAmong(tx, artifactId, [address.toLowerCase()], nowMs)).size > 0;
}
