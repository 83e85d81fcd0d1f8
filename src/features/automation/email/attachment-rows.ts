/** The SQL of `mail_attachment`. */
import type { BlobId, DeliverableId, MailBatchId, UserId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

/** A version of a file of a library that goes with a mail. */
export interface AttachedFile {
  readonly deliverableId: DeliverableId;
  readonly fileId: BlobId;
  readonly filename: string;
  readonly sizeBytes: number;
  /** Where the HTML shows it; null for one that is listed. */
  readonly cid: string | null;
}

/** In their order. */
export async function insertAttachments(tx: Queries, id: MailBatchId, files: readonly AttachedFile[]): Promise<void> {
  if (files.length === 0) return;
  const rows = files.map(({ deliverableId, fileId, filename, sizeBytes, cid }, position) => ({
    batch_id: id,
    position,
    deliverable_id: deliverableId,
    file_id: fileId,
    filename,
    size_bytes: sizeBytes,
    cid,
  }));
  await tx`insert into mail_attachment ${tx(rows)}`;
}

/** With who sends the mail; null where that is nobody with an account. */
export function listAttachments(sql: Queries, id: MailBatchId) {
  return sql<(AttachedFile & { readonly senderId: UserId | null })[]>`
    select f.deliverable_id as "deliverableId", f.file_id as "fileId", f.filename, f.size_bytes as "sizeBytes", f.cid, b.sender_id as "senderId"
    from mail_attachment f join mail_batch b on b.id = f.batch_id where f.batch_id = ${id} order by f.position`;
}
