/** Files of messages: uploading them before the message, and downloading them from a ticket or from a mail. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Failure } from '../../../../protocol/core/errors.ts';
import { newId, type TicketAttachmentId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { contentEtag, etagMatches } from '../../../edge/answer.ts';
import type { BaseCall, Handlers } from '../../../edge/call.ts';
import { streamOf } from '../../../edge/reply-stream.ts';
import type { SigningKey } from '../../../storage/signing-key.ts';
import { stampObjects } from '../../artifacts/publish/rows.ts';
import { dispositionOf } from '../../data/blobs/record.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { lockPerson } from '../../people/persons/rows.ts';
import { requireTicket } from './access.ts';
import type { SupportDeps } from './handlers.ts';
import { type AttachmentRow, countLoose, findAttachment, findSent, insertAttachment } from './message-rows.ts';
import { presentAttachment } from './present.ts';

type Ids = 'support.upload' | 'support.attachment' | 'support.sentFile';

const HEADERS = { 'Cache-Control': 'private, no-cache', 'Content-Security-Policy': "default-src 'none'; sandbox" };
/** What a browser does with a file is not decided by whoever has sent it. */
const DOWNLOADED = 'application/octet-stream';

/** `linkKey` signs the addresses of files in mail. */
export function attachmentHandlers(deps: SupportDeps & { readonly linkKey: SigningKey }): Handlers<Ids> {
  const { sql, objects, spool, linkKey } = deps;
  return {
    'support.upload': async (call) => {
      const { principal, query, body, user, nowMs } = call;
      if ((await countLoose(sql, accountsOf(principal))) >= LIMITS.ticketUploadsOpenMax) throw tooMany();
      const file = await spool.receive(body);
      const { sha256, sizeBytes } = file;
      const row = { id: newId('ticketAttachment'), filename: query.filename, mediaType: call.mediaType ?? DOWNLOADED, sizeBytes, sha256 };
      try {
        // Stamped before the bytes arrive: the sweep skips objects that were stamped within the last day.
        await stampObjects(sql, new Map([[sha256, sizeBytes]]), nowMs);
        await objects.putFile(sha256, file.path, sizeBytes);
        await sql.begin(async (tx) => {
          // Of uploads that end together each sees those before it.
          await lockPerson(tx, user);
          if ((await countLoose(tx, accountsOf(principal))) >= LIMITS.ticketUploadsOpenMax) throw tooMany();
          await insertAttachment(tx, { ...row, messageId: null, uploaderId: user, position: 0, nowMs });
        });
      } finally {
        await file.dispose();
      }
      return { reply: 'created', body: { success: true, attachment: presentAttachment(row) } };
    },
    'support.attachment': async (call) => {
      const { ticket, seat } = await requireTicket(sql, call.principal, call.params.ticketId);
      const row = await findAttachment(sql, ticket.id, call.params.attachmentId, seat.answers);
      if (row === null) throw new Failure('TICKET_ATTACHMENT_NOT_FOUND');
      return download(deps, row, call);
    },
    'support.sentFile': async (call) => {
      const { attachmentId, signature } = call.params;
      const isRight = timingSafeEqual(signatureOf(await linkKey.bytes(), attachmentId), Buffer.from(signature, 'base64url'));
      const row = isRight ? await findSent(sql, attachmentId) : null;
      if (row === null) throw new Failure('TICKET_ATTACHMENT_NOT_FOUND');
      return download({ objects }, row, call);
    },
  };
}

function tooMany(): Failure {
  return new Failure('TICKET_LIMIT_EXCEEDED', {
    message: `An account may have ${LIMITS.ticketUploadsOpenMax} uploaded files that no message has yet.`,
  });
}

function download({ objects }: Pick<SupportDeps, 'objects'>, row: AttachmentRow, { ifNoneMatch }: Pick<BaseCall, 'ifNoneMatch'>) {
  const etag = contentEtag(`${row.id} ${row.sha256}`);
  const headers = { ...HEADERS, 'Content-Disposition': dispositionOf({ mimeType: DOWNLOADED, filename: row.filename }) };
  const reply = { reply: 'ok', body: '', type: DOWNLOADED, etag, headers } as const;
  if (row.sizeBytes === 0 || (ifNoneMatch !== undefined && etagMatches(ifNoneMatch, etag))) return reply;
  return { ...reply, stream: streamOf(objects.readRange(row.sha256, 0, row.sizeBytes - 1), row.sizeBytes) };
}

function signatureOf(key: Uint8Array, id: TicketAttachmentId): Buffer {
  return createHmac('sha256', key).update(`ticket file ${id}`).digest();
}

/** Where a file of a reply by mail is; its reader may have no account. */
export function sentFileUrl(baseUrl: string, key: Uint8Array, id: TicketAttachmentId): string {
  return `${baseUrl}/v1/support/files/${id}/${signatureOf(key, id).toString('base64url')}`;
}
