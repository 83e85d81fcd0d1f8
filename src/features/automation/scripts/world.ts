/** What the calls of a script reach. A run has the artifact's own world, a rehearsal one that keeps its changes to itself. */

export interface WorldCall {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  /** Below /v1/data/{artifactId}, with its query: /json/counter, /tables/orders/query. */
  readonly path: string;
  /** Parsed JSON; left out where there is `bodyText`. */
  readonly body?: unknown;
  /** The body of a call of a script as JSON text, which may have megabytes: whoever sends it on need not parse it. */
  readonly bodyText?: string;
  /** Names in lower case: content-type, if-match, if-none-match. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WorldReply {
  readonly status: number;
  /** Parsed JSON, the envelope included; undefined where there is none. */
  readonly body: unknown;
  /** The same as text, where it is known: a script gets it without that anybody parses it. */
  readonly text?: string | undefined;
}

/** A reply that is parsed where somebody reads its `body`. */
export class TextReply implements WorldReply {
  readonly status: number;
  readonly text: string;
  #parsed: { readonly body: unknown } | undefined;

  constructor(status: number, text: string) {
    this.status = status;
    this.text = text;
  }

  get body(): unknown {
    this.#parsed ??= { body: parsed(this.text) };
    return this.#parsed.body;
  }
}

/** The body of a call, in either form. */
export function bodyOf({ body, bodyText }: Pick<WorldCall, 'body' | 'bodyText'>): unknown {
  return bodyText === undefined ? body : JSON.parse(bodyText);
}

/** In either form. Undefined where there is no body. */
export function bodyTextOf({ body, bodyText }: Pick<WorldCall, 'body' | 'bodyText'>): string | undefined {
  return bodyText ?? (body === undefined ? undefined : JSON.stringify(body));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface WorldFetch {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface WorldFetched {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** After redirects. */
  readonly url: string;
}

/** The artifact's data by the paths of the API, and the outside. What the API refuses is a reply; a method may also reject with a Failure. */
export interface ScriptWorld {
  call(call: WorldCall): Promise<WorldReply>;
  fetch(request: WorldFetch): Promise<WorldFetched>;
}
