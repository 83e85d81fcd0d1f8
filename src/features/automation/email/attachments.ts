/** Files of libraries that go with mail on behalf of pages: as far as who sends it may open them, when it is queued and again when it leaves. */
import type { Clock } from '../../../../actors/runtime/ports.ts';
import type { MailAttachment } from '../../../../protocol/automation/email.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { MailBatchId, UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { MailFiles } from '../../../mail/page-mail.ts';
import { type MailFile, MailRefused } from '../../../mail/transports.ts';
import type { ObjectStore } from '../../../storage/objects.ts';
import type { Sql } from '../../../storage/sql.ts';
import { contentTypeOf } from '../../data/blobs/record.ts';
import type { Queries } from '../../deps.ts';
import { readerOfPerson } from '../../library/assets/reader.ts';
import { findChosen, findReadable } from '../../library/assets/rows.ts';
import { readUsableStandings } from '../../people/persons/rows.ts';
import { type AttachedFile, listAttachments } from './attachment-rows.ts';

const MB = 1024 * 1024;

const fieldOf = (index: number) => `attachments.${index}.file_id`;

/**
 * The newest version of each. `userId`: who sends the mail. Throws FILE_NOT_FOUND, which names the field, and ATTACHMENTS_TOO_LARGE.
 */
export async function requireAttachable(
  sql: Queries,
  attachments: readonly MailAttachment[],
  userId: UserId,
  nowMs: number,
): Promise<readonly AttachedFile[]> {
  if (attachments.length === 0) return [];
  const person = (await readUsableStandings(sql, [userId], nowMs)).get(userId)?.person;
  const files: AttachedFile[] = [];
  for (const [index, { file_id: deliverableId, cid = null }] of attachments.entries()) {
    const found = person === undefined ? null : await findReadable(sql, deliverableId, undefined, readerOfPerson(person, deliverableId));
    if (found === null) throw missing(index);
    files.push({ deliverableId, fileId: found.id, filename: found.filename, sizeBytes: found.sizeBytes, cid });
  }
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (bytes <= LIMITS.mailAttachmentsBytesMax) return files;
  throw new Failure('ATTACHMENTS_TOO_LARGE', {
    param: 'attachments',
    message: `attachments: the files have ${(bytes / MB).toFixed(1)} MB together; a mail may have ${LIMITS.mailAttachmentsBytesMax / MB} MB.`,
  });
}

function missing(index: number): Failure {
  const param = fieldOf(index);
  return new Failure('FILE_NOT_FOUND', { param, message: `${param}: there is no such file, or who sends the mail has no access to it.` });
}

interface AttachmentDeps {
  readonly sql: Sql;
  readonly objects: Pick<ObjectStore, 'read'>;
  readonly clock: Clock;
}

export class MailAttachments implements MailFiles {
  readonly #deps: AttachmentDeps;

  constructor(deps: AttachmentDeps) {
    this.#deps = deps;
  }

  /** With their bytes. Throws `MailRefused` where one is gone, or its sender may not open it any more: a mail goes with all of its files or not at all. */
  async read(id: MailBatchId): Promise<readonly MailFile[]> {
    const { sql, objects, clock } = this.#deps;
    const attached = await listAttachments(sql, id);
    // Null where the account is gone, which may open nothing.
    const senderId = attached[0]?.senderId ?? null;
    const person = senderId === null ? undefined : (await readUsableStandings(sql, [senderId], clock.nowMs())).get(senderId)?.person;
    const files: MailFile[] = [];
    for (const [index, { deliverableId, fileId, filename, cid }] of attached.entries()) {
      const found = person === undefined ? null : await findChosen(sql, deliverableId, fileId, readerOfPerson(person, deliverableId));
      if (found === null)
        throw new MailRefused(`${fieldOf(index)}: ${filename} is gone, or who sends the mail may not open it any more.`, false);
      files.push({ filename, type: contentTypeOf(found), bytes: await objects.read(found.sha256), cid });
    }
    return files;
  }
}
