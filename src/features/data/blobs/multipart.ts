/** Streams the only file of a multipart form. */
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';

export interface FilePart {
  readonly filename: string;
  /** As sent; `application/octet-stream` when the sender does not know the type. */
  readonly type: string;
}

export interface FilePartSink {
  /** Called once, before the first bytes. An error that it throws ends the reading. */
  begin(part: FilePart): void;
  /** `chunk` stays valid until the promise settles. */
  write(chunk: Uint8Array): Promise<void>;
}

/** Throws INVALID_REQUEST for a form that is malformed, truncated, or does not have exactly one file; and what `sink` throws. */
export async function readFilePart(body: AsyncIterable<Uint8Array>, contentType: string, sink: FilePartSink): Promise<void> {
  const form = openForm(contentType);
  const reader = new FilePartReader(form, sink);
  for await (const chunk of body) {
    await reader.push(chunk);
    for (const piece of reader.take()) await sink.write(piece);
  }
  await reader.end();
  for (const piece of reader.take()) await sink.write(piece);
}

function openForm(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      // A high-water mark of 1 byte makes the parser pass on all file bytes of a chunk before it takes the next, so views suffice.
      fileHwm: 1,
      limits: { fields: 20, fieldSize: LIMITS.multipartOverheadBytesMax, headerPairs: 20, headerSize: 8192 },
    });
  } catch {
    throw malformed('has no boundary in its Content-Type');
  }
}

class FilePartReader {
  readonly #form: BusboyInstance;
  #file: BusboyFileStream | undefined;
  #pieces: Buffer[] = [];
  #error: Error | undefined;
  #wake: (() => void) | undefined;
  #finished = false;

  constructor(form: BusboyInstance, sink: FilePartSink) {
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
        sink.begin({ filename: filename ?? '', type });
      } catch (error) {
        this.#fail(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  /** Once it settles, `take` answers all file bytes of `chunk`. */
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

  /** Views of the last pushed chunk. */
  take(): Buffer[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  /** The parser emits its data in later steps of the event loop. */
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
