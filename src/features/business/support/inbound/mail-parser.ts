/** Parses mails, a few at a time in a process, each in a thread of its own that can be killed. */
import { join } from 'node:path';
import { Failure } from '../../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { runInThread } from '../../../../platform/one-shot-thread.ts';
import { ShareQueue } from '../../../../platform/share-queue.ts';
import type { ParsedMail, ParseTask, RefusedMail } from './mail-message.ts';

/** Beyond what a message and its quotation may have: the whole text is kept as a file then. */
const TEXT_CHARS_MAX = 2_000_000;

const BOUNDS: ParseTask['bounds'] = {
  headerBytesMax: LIMITS.inboundMailHeaderBytesMax,
  partsMax: LIMITS.inboundMailPartsMax,
  // One more may hold the text.
  attachmentsMax: LIMITS.ticketAttachmentsMax - 1,
  attachmentBytesMax: LIMITS.ticketAttachmentBytesMax,
  referencesMax: LIMITS.inboundMailReferencesMax,
  textCharsMax: TEXT_CHARS_MAX,
};

/** One mail server brings the mail of everybody. */
const NO_SHARES = { artifact: Infinity, network: Infinity, caller: Infinity };

export class MailParser {
  readonly #workerFile: string;
  readonly #parseMs: number;
  readonly #queue = new ShareQueue({
    running: { ...NO_SHARES, total: LIMITS.inboundMailsMax },
    waiting: { ...NO_SHARES, total: LIMITS.inboundMailsWaitingMax },
    full: () => new Failure('UNAVAILABLE', { message: 'Many mails are coming in at once.', retryAfterS: 30 }),
  });

  constructor({ builtDir }: { readonly builtDir: string }, parseMs: number = LIMITS.inboundMailParseMs) {
    this.#parseMs = parseMs;
    this.#workerFile = join(builtDir, 'mail-worker.js');
  }

  /** Throws INVALID_REQUEST where it cannot be read, UNAVAILABLE where too many wait, and the reason of `signal`. */
  async parse(bytes: Uint8Array, signal: AbortSignal): Promise<ParsedMail> {
    const parsed = await this.#queue.run({}, () => this.#run(bytes, signal), signal);
    if (parsed.kind === 'refused') throw new Failure('INVALID_REQUEST', { message: parsed.message, hint: 'Send the mail as it came in.' });
    return parsed;
  }

  #run(bytes: Uint8Array, signal: AbortSignal): Promise<ParsedMail | RefusedMail> {
    const data: ParseTask = { bytes, bounds: BOUNDS };
    const task = { name: 'mail', file: this.#workerFile, data, heapMb: LIMITS.inboundMailHeapMb, ms: this.#parseMs, signal };
    return runInThread<ParsedMail | RefusedMail>(task, (end) => ({
      kind: 'refused',
      message: end === 'too slow' ? 'The mail takes too long to read.' : 'The mail cannot be read.',
    }));
  }
}
