/** The one file of a multipart form, handed on while it comes. */
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { Failure } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';

export interface FilePart {
  readonly filename: string;
  /** As sent; `application/octet-stream` where the sender does not know. */
  readonly type: string;
}

export interface FilePartTaker {
  /** Called once, before the first bytes. What it throws ends the reading. */
  begin(part: FilePart): void;
  /** `chunk` may be used until it settles. */
  write(chunk: Uint8Array): Promise<void>;
}

/** Throws INVALID_REQUEST for a form that is malformed, cut short, or has not exactly one file; and what `taker` throws. */
export async function readFilePart(body: AsyncIterable<Uint8Array>, contentType: string, taker: FilePartTaker): Promise<void> {
  const form = openForm(contentType);
  const reader = new FilePartReader(form, taker);
  for await (const chunk of body) {
    await reader.push(chunk);
    for (const piece of reader.take()) await taker.write(piece);
  }
  await reader.end();
  for (const piece of reader.take()) await taker.write(piece);
}

function openForm(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      // Whatever a chunk holds of the file passes through the parser's streams at once: they borrow the chunk.
      fileHwm: 1,
      limits: { fields: 20, fieldSize: LIMITS.multipartOverheadBytesMax, headerPairs: 20, headerSize: 8192 },
    });
  } catch {
    throw malformed('the Content-Type names no boundary');
  }
}

class FilePartReader {
  readonly #form: BusboyInstance;
  #file: BusboyFileStream | undefined;
  #pieces: Buffer[] = [];
  #error: Error | undefined;
  #wake: (() => void) | undefined;
  #finished = false;

  constructor(form: BusboyInstance, taker: FilePartTaker) {
    this.#form = form;
    form.on('error', (error) => this.#fail(malformed(error instanceof Error ? error.message : 'cannot be read')));
    form.on('finish', () => {
      this.#finished = true;
      this.#wake?.();
    });
    form.on('file', (_field, file, filename, _encoding, type) => {
      file.on('error', (error: Error) => this.#fail(malformed(error.message)));
      file.on('data', (piece: Buffer) => this.#pieces.push(piece));
      if (this.#file !== undefined) {
        this.#fail(malformed('has more than one file'));
        return;
      }
      this.#file = file;
      try {
        taker.begin({ filename: filename ?? '', type });
      } catch (error) {
        this.#fail(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  /** All that `chunk` holds of the file is in `take` when it settles. */
  async push(chunk: Uint8Array): Promise<void> {
    await this.#settle((done) => this.#form.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length), () => done()));
    await this.#drained();
  }

  async end(): Promise<void> {
    await this.#settle((done) => {
      this.#wake = done;
      if (this.#finished) done();
      else this.#form.end();
    });
    if (this.#file === undefined) throw malformed('has no file');
  }

  /** Views of the chunk that was pushed last. */
  take(): Buffer[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  /** The parser hands on what it has in later steps of the event loop. */
  async #drained(): Promise<void> {
    do {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (this.#error !== undefined) throw this.#error;
    } while (this.#file !== undefined && this.#file.readableLength > 0);
  }

  #settle(begin: (done: () => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = () => {
        this.#wake = undefined;
        if (this.#error === undefined) resolve();
        else reject(this.#error);
      };
      this.#wake = done;
      begin(done);
      if (this.#error !== undefined) done();
    });
  }

  #fail(error: Error): void {
    this.#error ??= error;
    this.#wake?.();
  }
}

function malformed(problem: string): Failure {
  return new Failure('INVALID_REQUEST', {
    message: `The form ${problem}.`,
    hint: 'Send multipart/form-data with one file that has a filename.',
    param: 'file',
  });
}
