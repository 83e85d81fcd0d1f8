/** Replies with a file: encoding, ETag and 304, Range, cache policy. Synchronous while the file is in memory. */

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Log } from '../../actors/runtime/ports.ts';
import { chain } from '../edge/chain.ts';
import { EncodingPreferences, matchingEtag, partOf } from './conditions.ts';
import { type EncodedForms, type Encoding, type Encodings, isCompressible } from './encodings.ts';
import type { HotFiles } from './hot-files.ts';
import type { ServedFile } from './sites.ts';
import type { ContentReply, ContentRequest } from './types.ts';

export interface View {
  readonly status: 200 | 404;
  /** `private`: no shared cache may store it, and the browser must revalidate it. */
  readonly audience: 'public' | 'private';
  /** The URL contains the file's digest, so it never refers to other bytes. */
  readonly immutable: boolean;
}

type Header = readonly [name: string, value: string];
type Form = Encoding | 'identity';

/** Values that are computed once for each file. */
interface Known {
  readonly compressible: boolean;
  /** Quotes included. Strong ETags, one for each form, because their bytes differ. */
  readonly etags: Readonly<Record<Form, string>>;
  readonly etagList: readonly string[];
  contentType: string | undefined;
  /** Keyed by form, audience and immutability, see `answer`. */
  readonly heads: (readonly Header[] | undefined)[];
}

const FORM_NUMBERS: Readonly<Record<Form, number>> = { identity: 0, br: 1, gzip: 2 };
const ONE_YEAR_S = 31_536_000;
const CACHE_PRIVATE = 'private, no-store';
// URLs without a digest show a new version at once; an unchanged file costs a 304.
const CACHE_REVALIDATE = 'public, max-age=0, must-revalidate';
const CACHE_IMMUTABLE = `public, max-age=${ONE_YEAR_S}, immutable`;

const TEXTUAL = /^(?:text\/|application\/(?:javascript|json|xml|manifest\+json|[\w.-]+\+(?:json|xml))|image\/svg\+xml)/;

export class FileReplies {
  readonly #hot: HotFiles;
  readonly #encodings: Encodings;
  readonly #log: Log;
  readonly #preferences = new EncodingPreferences();
  readonly #known = new WeakMap<ServedFile, Known>();

  constructor(deps: { readonly hot: HotFiles; readonly encodings: Encodings; readonly log: Log }) {
    this.#hot = deps.hot;
    this.#encodings = deps.encodings;
    this.#log = deps.log;
  }

  reply(file: ServedFile, request: ContentRequest, view: View): ContentReply | Promise<ContentReply> {
    const known = this.#know(file);
    const conditional = view.status === 200;
    const ifNoneMatch = conditional ? request.header('if-none-match') : '';
    if (ifNoneMatch !== '') {
      const etag = matchingEtag(ifNoneMatch, known.etagList);
      if (etag !== undefined) return notModified(etag, known, view);
    }
    const range = conditional && request.method === 'GET' ? request.header('range') : '';
    // A range is served unencoded, because a part of a compressed form cannot be decoded alone.
    if (range !== '') return this.#part(file, known, request, range, view);
    if (!known.compressible) return this.#whole(file, known, view);
    return chain(this.#encodings.forms(file.sha256), (forms) => this.#encoded(file, known, request, view, forms));
  }

  #encoded(file: ServedFile, known: Known, request: ContentRequest, view: View, forms: EncodedForms | null) {
    if (forms === null) return this.#whole(file, known, view);
    this.#encodings.want({ sha256: file.sha256, stored: file.make === undefined }, forms);
    for (const form of this.#preferences.of(request.header('accept-encoding'))) {
      if (form === 'identity') break;
      const sha256 = forms[form];
      if (sha256) return this.#form(file, known, view, forms, form, sha256);
    }
    return this.#whole(file, known, view);
  }

  #form(
    file: ServedFile,
    known: Known,
    view: View,
    forms: EncodedForms,
    form: Encoding,
    sha256: string,
  ): ContentReply | Promise<ContentReply> {
    // The charset can only be detected in the unencoded bytes.
    if (known.contentType === undefined) {
      return chain(this.#bytes(file), (bytes) => {
        known.contentType = contentTypeOf(file.mime, bytes);
        return this.#form(file, known, view, forms, form, sha256);
      });
    }
    const held = this.#hot.get(sha256);
    if (!(held instanceof Promise)) return answer(file, known, view, form, held);
    return held.then(
      (bytes) => answer(file, known, view, form, bytes),
      (error) => {
        // The original is served instead, and the form is made again.
        this.#log.warn({ err: error, sha256, form }, 'a precompressed form cannot be read');
        forms[form] = undefined;
        return this.#whole(file, known, view);
      },
    );
  }

  #whole(file: ServedFile, known: Known, view: View): ContentReply | Promise<ContentReply> {
    return chain(this.#bytes(file), (bytes) => answer(file, known, view, 'identity', bytes));
  }

  #part(file: ServedFile, known: Known, request: ContentRequest, range: string, view: View) {
    const ifRange = request.header('if-range');
    if (ifRange !== '' && ifRange !== known.etags.identity) return this.#whole(file, known, view);
    return chain(this.#bytes(file), (bytes): ContentReply => {
      const part = partOf(range, bytes.length);
      const whole = answer(file, known, view, 'identity', bytes);
      if (part === 'whole') return whole;
      if (part === 'unsatisfiable') {
        return { status: 416, headers: [...whole.headers, ['Content-Range', `bytes */${bytes.length}`]], body: null };
      }
      return {
        status: 206,
        headers: [...whole.headers, ['Content-Range', `bytes ${part.start}-${part.end}/${bytes.length}`]],
        body: bytes.subarray(part.start, part.end + 1),
      };
    });
  }

  #bytes(file: ServedFile): Buffer | Promise<Buffer> {
    if (file.make === undefined) return this.#hot.get(file.sha256);
    return this.#hot.peek(file.sha256) ?? file.make();
  }

  #know(file: ServedFile): Known {
    let known = this.#known.get(file);
    if (known === undefined) {
      // The ETag includes the media type, because clients cache it and must notice a change of it.
      const tag = createHash('sha256').update(`${file.sha256} ${file.mime}`).digest('base64url').slice(0, 27);
      const etags = { identity: `"${tag}"`, br: `"${tag}-br"`, gzip: `"${tag}-gzip"` };
      known = {
        compressible: isCompressible(file.mime),
        etags,
        etagList: Object.values(etags),
        contentType: undefined,
        heads: [],
      };
      this.#known.set(file, known);
    }
    return known;
  }
}

function answer(file: ServedFile, known: Known, view: View, form: Form, bytes: Buffer): ContentReply {
  const key = FORM_NUMBERS[form] * 4 + (view.audience === 'private' ? 2 : 0) + (view.immutable ? 1 : 0);
  let headers = known.heads[key];
  if (headers === undefined) {
    known.contentType ??= contentTypeOf(file.mime, bytes);
    headers = headersOf(known, view, form, known.contentType);
    known.heads[key] = headers;
  }
  return { status: view.status, headers, body: bytes };
}

function headersOf(known: Known, view: View, form: Form, contentType: string): Header[] {
  const headers: Header[] = [
    ['Content-Type', contentType],
    ['ETag', known.etags[form]],
    ['Cache-Control', cachePolicy(view)],
    ['X-Content-Type-Options', 'nosniff'],
    ['Referrer-Policy', 'strict-origin-when-cross-origin'],
  ];
  if (known.compressible) headers.push(['Vary', 'Accept-Encoding']);
  headers.push(form === 'identity' ? ['Accept-Ranges', 'bytes'] : ['Content-Encoding', form]);
  if (view.audience === 'private') headers.push(['X-Robots-Tag', 'noindex']);
  return headers;
}

function notModified(etag: string, known: Known, view: View): ContentReply {
  const headers: Header[] = [
    ['ETag', etag],
    ['Cache-Control', cachePolicy(view)],
  ];
  if (known.compressible) headers.push(['Vary', 'Accept-Encoding']);
  return { status: 304, headers, body: null };
}

function cachePolicy(view: View): string {
  if (view.audience === 'private') return CACHE_PRIVATE;
  return view.immutable ? CACHE_IMMUTABLE : CACHE_REVALIDATE;
}

/** Adds the charset only where the bytes are UTF-8. A page in another encoding declares it itself, and a header would override that. */
function contentTypeOf(mime: string, bytes: Buffer): string {
  if (!TEXTUAL.test(mime)) return mime;
  const bare = mime.replace(/\s*;\s*charset="?utf-8"?/i, '');
  if (/;\s*charset=/i.test(bare)) return mime;
  return isUtf8(bytes) ? `${bare}; charset=utf-8` : bare;
}
