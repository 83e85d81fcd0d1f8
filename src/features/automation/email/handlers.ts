/** The endpoints of mail on behalf of pages. */
import { roleOf } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { RATE_LIMITS } from '../../../../protocol/core/rate-limits.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import { rateHeaders } from '../../../edge/limits.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import type { MailSender } from '../../../mail/sender.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { SigningKey } from '../../../storage/signing-key.ts';
import { auditArtifact } from '../../artifacts/artifacts/audit.ts';
import { readHead, requireArtifact } from '../../artifacts/artifacts/rows.ts';
import type { LimiterDeps, Queries, ServiceDeps } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { isEditor, requireEditable, requireUsable } from '../templates/finding.ts';
import { renderTemplate } from '../templates/render.ts';
import { requireAttachable } from './attachments.ts';
import { notifyOwner } from './notify-owner.ts';
import { presentBatch } from './present.ts';
import { newChallenge } from './proof.ts';
import { queuePageMail } from './queue.ts';
import { countBatches, listBatches, readBatch } from './rows.ts';

export interface EmailDeps extends ServiceDeps, LimiterDeps {
  readonly mail: Pick<MailSender, 'wake'>;
  /** Of challenges. */
  readonly proofKey: SigningKey;
}

const EDITORS = 'Only editors of the artifact see and send its mail.';

type Ids = 'email.send' | 'email.list' | 'email.get' | 'email.challenge' | 'email.notifyOwner';

export function emailHandlers(deps: EmailDeps): Handlers<Ids> {
  const { sql, mail, proofKey } = deps;
  return {
    'email.send': async (call) => {
      const { id, status, left } = await sql.begin((tx) => send(deps, tx, call));
      mail.wake();
      return { reply: 'accepted', body: { id, status }, ...(left !== null && { headers: rateHeaders(RATE_LIMITS.email, left) }) };
    },
    'email.list': async ({ principal, query }) => {
      const head = await requireEditable(sql, query.artifact_id, principal, EDITORS);
      const rows = await listBatches(sql, head.id, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, ({ created_at_ms, id }) => ({ number: created_at_ms, id }));
      const total = query.count ? { total: await countBatches(sql, head.id) } : {};
      const isOwner = roleOf(head, principal) === 'owner';
      return { reply: 'ok', body: { emails: items.map((row) => presentBatch(row, isOwner)), ...page, ...total } };
    },
    'email.get': async ({ principal, params }) => {
      const row = await readBatch(sql, params.emailId);
      const head = row === null ? null : await readHead(sql, row.artifact_id);
      if (row === null || head === null) throw new Failure('MAIL_NOT_FOUND');
      const isSender = row.sender_id !== null && accountsOf(principal).includes(row.sender_id);
      if (!isSender && (head.deletedAtMs !== null || !isEditor(head, principal))) throw new Failure('MAIL_NOT_FOUND');
      const body = presentBatch(row, roleOf(head, principal) === 'owner');
      return { reply: 'ok', body, etag: bodyEtag(body) };
    },
    'email.challenge': async ({ head, nowMs }) => {
      const { challenge, expiresAtMs } = newChallenge(await proofKey.bytes(), head.id, nowMs);
      return { reply: 'ok', body: { success: true, data: { challenge, bits: LIMITS.mailProofBits, expiresAt: dateTime(expiresAtMs) } } };
    },
    'email.notifyOwner': async (call) => {
      // Before the transaction: on the embedded database a query beside an open one waits for its end.
      const key = await proofKey.bytes();
      const { id } = await sql.begin((tx) => notifyOwner(tx, deps, call, key));
      mail.wake();
      return { reply: 'accepted', body: { success: true, data: { sent: true, messageId: id } } };
    },
  };
}

/**
 * Throws ARTIFACT_NOT_FOUND, FORBIDDEN, TEMPLATE_NOT_FOUND, FILE_NOT_FOUND, ATTACHMENTS_TOO_LARGE, EMAIL_NOT_PROVED, RATE_LIMITED, INVALID_REQUEST.
 */
async function send({ limiters }: EmailDeps, tx: Queries, call: Call<Endpoints['email.send']>) {
  const { body, principal, user, nowMs } = call;
  const head = await requireEditable(tx, body.artifact_id, principal, EDITORS);
  const content = await contentOf(tx, call);
  const attachments = await requireAttachable(tx, body.attachments ?? [], user, nowMs);
  const queued = await queuePageMail(tx, {
    artifactId: head.id,
    senderUserId: user,
    to: body.to,
    ...content,
    replyTo: body.reply_to ?? null,
    attachments,
    nowMs,
    limiters,
  });
  await auditArtifact(tx, call, await requireArtifact(tx, head.id, []), 'email.send', {
    recipients: body.to.length,
    email: queued.id,
    ...(attachments.length > 0 && { files: attachments.map(({ deliverableId }) => deliverableId) }),
  });
  return queued;
}

/** Throws TEMPLATE_NOT_FOUND, INVALID_REQUEST. */
async function contentOf(tx: Queries, { body, principal }: Call<Endpoints['email.send']>) {
  if (body.template_id === undefined) return { subject: body.subject ?? '', html: body.html, text: body.text };
  const template = await requireUsable(tx, body.template_id, body.artifact_id, accountsOf(principal));
  const { subject, html, text } = renderTemplate(template, body.data ?? {});
  return { subject: body.subject ?? subject, html, text };
}
