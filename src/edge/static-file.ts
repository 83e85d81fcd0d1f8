/** A file that the edge serves by itself, in the encoding that the client prefers. */
import { EncodingPreferences } from '../content/conditions.ts';
import { type Encoding, encode, isCompressible } from '../content/encodings.ts';
import { contentDigest, etagMatches } from './answer.ts';
import { chain } from './chain.ts';

interface Asking {
  readonly acceptEncoding: string;
  readonly ifNoneMatch: string | undefined;
}

interface StaticReply {
  readonly reply: 'ok';
  readonly body: Uint8Array | string;
  readonly type: string;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

const preferences = new EncodingPreferences();

export class StaticFile {
  readonly #body: Uint8Array | string;
  readonly #type: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #digest: string;
  /** Encoded forms, each made once on first request. Null where encoding does not pay. */
  readonly #forms = new Map<Encoding, Buffer | null | Promise<Buffer | null>>();

  /** `headers` go with every answer. `made`: encoded forms that the build has made; null where encoding does not pay. */
  constructor(
    body: Uint8Array | string,
    type: string,
    headers: Readonly<Record<string, string>>,
    made: Readonly<Partial<Record<Encoding, Buffer | null>>> = {},
  ) {
    this.#body = body;
    this.#type = type;
    this.#digest = contentDigest(body);
    for (const encoding of ['br', 'gzip'] as const) if (made[encoding] !== undefined) this.#forms.set(encoding, made[encoding]);
    this.#headers = isCompressible(type) ? { ...headers, Vary: 'Accept-Encoding' } : headers;
  }

  reply(asking: Asking): StaticReply | Promise<StaticReply> {
    const preferred = isCompressible(this.#type) ? preferences.of(asking.acceptEncoding)[0] : 'identity';
    const whole = { reply: 'ok', body: this.#body, type: this.#type, etag: `"${this.#digest}"`, headers: this.#headers } as const;
    if (preferred === undefined || preferred === 'identity') return whole;
    return chain<Buffer | null, StaticReply>(this.#form(preferred), (body) => {
      if (body === null) return whole;
      const etag = `"${this.#digest}-${preferred}"`;
      // A 304 has no body, so it has no Content-Encoding.
      const isKnown = asking.ifNoneMatch !== undefined && etagMatches(asking.ifNoneMatch, etag);
      return { ...whole, body, etag, headers: isKnown ? this.#headers : { ...this.#headers, 'Content-Encoding': preferred } };
    });
  }

  #form(encoding: Encoding): Buffer | null | Promise<Buffer | null> {
    const known = this.#forms.get(encoding);
    if (known !== undefined) return known;
    const making = encode(Buffer.from(this.#body), encoding).then(
      (form) => {
        this.#forms.set(encoding, form);
        return form;
      },
      (error) => {
        this.#forms.delete(encoding);
        throw error;
      },
    );
    this.#forms.set(encoding, making);
    return making;
  }
}
