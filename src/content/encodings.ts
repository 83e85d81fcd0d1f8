/** Brotli and gzip forms of files, made once in the background and cached by digest. Until then a file is served unencoded. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Clock, Log } from '../../actors/runtime/ports.ts';
import { storeContents } from '../features/artifacts/publish/contents.ts';
import { ReadCache } from '../platform/cache.ts';
import type { ObjectStore } from '../storage/objects.ts';
import type { Sql } from '../storage/sql.ts';
import type { HotFiles } from './hot-files.ts';

export type Encoding = 'br' | 'gzip';

/** Digest of the encoded form; null where encoding does not pay, undefined where it is not made yet. */
export interface EncodedForms {
  br: string | null | undefined;
  gzip: string | null | undefined;
}

/** Bytes to encode. `stored`: they are in the object store, so their forms are stored there too; otherwise all is in memory only. */
export interface EncodingSource {
  readonly sha256: string;
  readonly stored: boolean;
}

const FORMS_MAX = 20_000;
/** Length of the queue; files beyond it are queued by a later request. */
const QUEUE_MAX = 2000;
/** Below this size the headers cost more than encoding saves. */
const ENCODE_BYTES_MIN = 256;
/** Text above this size is data and would occupy the compressor for seconds. */
const ENCODE_BYTES_MAX = 10 * 1024 * 1024;
/** An encoded form must save at least a tenth. */
const WORTH_RATIO = 0.9;
const BROTLI_HIGH_QUALITY_BYTES_MAX = 2 * 1024 * 1024;

const brotliOf = promisify(brotliCompress);
const gzipOf = promisify(gzip);

export class Encodings {
  readonly #sql: Sql;
  readonly #objects: ObjectStore;
  readonly #hot: HotFiles;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #forms: ReadCache<string, EncodedForms>;
  readonly #queue = new Map<string, { readonly source: EncodingSource; readonly forms: EncodedForms }>();
  #working: Promise<void> | undefined;
  #closed = false;

  constructor(deps: {
    readonly sql: Sql;
    readonly objects: ObjectStore;
    readonly hot: HotFiles;
    readonly clock: Clock;
    readonly log: Log;
  }) {
    this.#sql = deps.sql;
    this.#objects = deps.objects;
    this.#hot = deps.hot;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#forms = new ReadCache({ entriesMax: FORMS_MAX, load: (sha256) => this.#readForms(sha256) });
  }

  /** The known forms of a file by its digest. The object changes when a form is ready. */
  forms(sha256: string): EncodedForms | Promise<EncodedForms | null> {
    return this.#forms.get(sha256);
  }

  /** Queues the missing forms. They are made one at a time, so that requests keep the processor. */
  want(source: EncodingSource, forms: EncodedForms): void {
    if (forms.br !== undefined && forms.gzip !== undefined) return;
    if (this.#closed || this.#queue.has(source.sha256) || this.#queue.size >= QUEUE_MAX) return;
    this.#queue.set(source.sha256, { source, forms });
    // The work starts in a later turn. If it ended in this one, it would clear `#working` before the assignment, and no work would start again.
    this.#working ??= Promise.resolve().then(() => this.#work());
  }

  /** Settles when the queue is empty. */
  async idle(): Promise<void> {
    await this.#working;
  }

  /** Finishes the current form and drops the queue. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    for (let next = this.#first(); next && !this.#closed; next = this.#first()) {
      const { source, forms } = next;
      try {
        const bytes = source.stored ? await this.#hot.get(source.sha256) : this.#hot.peek(source.sha256);
        for (const encoding of ['br', 'gzip'] as const) {
          if (bytes && forms[encoding] === undefined) forms[encoding] = await this.#make(source, bytes, encoding);
        }
      } catch (error) {
        // The file is served unencoded, and a later request queues it again.
        this.#log.warn({ err: error, sha256: source.sha256 }, 'could not precompress a file');
      }
      this.#queue.delete(source.sha256);
    }
    this.#queue.clear();
    this.#working = undefined;
  }

  #first() {
    return this.#queue.values().next().value;
  }

  async #make(source: EncodingSource, original: Buffer, encoding: Encoding): Promise<string | null> {
    const bytes = await encode(original, encoding);
    if (bytes === null) {
      if (source.stored) await this.#remember(source.sha256, encoding, null);
      return null;
    }
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    if (source.stored) {
      await storeContents({ sql: this.#sql, objects: this.#objects, clock: this.#clock }, new Map([[sha256, bytes]]));
      await this.#remember(source.sha256, encoding, sha256);
    }
    this.#hot.keep(sha256, bytes);
    return sha256;
  }

  async #remember(sha256: string, encoding: Encoding, encodedSha256: string | null): Promise<void> {
    await this.#sql`
      insert into object_encoding (sha256, encoding, encoded_sha256)
      values (decode(${sha256}, 'hex'), ${encoding}, decode(${encodedSha256}, 'hex'))
      on conflict (sha256, encoding) do update set encoded_sha256 = excluded.encoded_sha256`;
  }

  async #readForms(sha256: string): Promise<EncodedForms> {
    const rows = await this.#sql<{ encoding: Encoding; encoded: string | null }[]>`
      select encoding, encode(encoded_sha256, 'hex') as encoded from object_encoding where sha256 = decode(${sha256}, 'hex')`;
    const forms: EncodedForms = { br: undefined, gzip: undefined };
    for (const row of rows) forms[row.encoding] = row.encoded;
    return forms;
  }
}

/** The encoded form, or null where encoding does not pay. */
export async function encode(bytes: Buffer, encoding: Encoding): Promise<Buffer | null> {
  if (bytes.length < ENCODE_BYTES_MIN || bytes.length > ENCODE_BYTES_MAX) return null;
  const encoded =
    encoding === 'gzip'
      ? await gzipOf(bytes, { level: constants.Z_BEST_COMPRESSION })
      : await brotliOf(bytes, {
          params: {
            // Quality 11 takes 4 s of a thread per megabyte and saves only another 5 %.
            [constants.BROTLI_PARAM_QUALITY]: bytes.length <= BROTLI_HIGH_QUALITY_BYTES_MAX ? 9 : 5,
            [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
          },
        });
  return encoded.length <= bytes.length * WORTH_RATIO ? encoded : null;
}

// Media types that compress well; images, sound, video, archives and woff2 are compressed already.
const COMPRESSIBLE =
  /^(?:text\/|font\/(?:ttf|otf|collection)|image\/(?:svg\+xml|bmp|x-icon|vnd\.microsoft\.icon)|model\/(?!vnd)|application\/(?:javascript|ecmascript|x-javascript|json|xml|wasm|manifest\+json|ld\+json|geo\+json|vnd\.ms-fontobject|x-font-ttf|rtf|toml|yaml|x-yaml|[\w.-]+\+(?:json|xml)))/;

export function isCompressible(mime: string): boolean {
  return COMPRESSIBLE.test(mime);
}
