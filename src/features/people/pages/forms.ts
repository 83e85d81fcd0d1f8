/** Fields of a form of ours, and the answers that pages give. */
import { ERRORS, Failure } from '../../../../protocol/core/errors.ts';
import { type Html, html } from '../../../edge/html.ts';
import { type Frame, framedPage, PAGE_HEADERS, PAGE_TYPE } from '../../../edge/page-frame.ts';

export type Headers = Readonly<Record<string, string | readonly string[]>>;

export class Form {
  readonly #fields: URLSearchParams;

  /** Bytes that are no UTF-8 become replacement characters, which no field accepts that names something. */
  constructor(body: Uint8Array) {
    this.#fields = new URLSearchParams(Buffer.from(body).toString('utf8'));
  }

  /** Empty where absent. White space around it is left out. */
  text(name: string): string {
    return (this.#fields.get(name) ?? '').trim();
  }

  /** As it was typed, for passwords. */
  exact(name: string): string {
    return this.#fields.get(name) ?? '';
  }

  optional(name: string): string | undefined {
    return this.text(name) || undefined;
  }
}

/** People type codes with spaces, as mails show them. */
export function digits(form: Form): string {
  return form.text('code').replace(/[\s-]/g, '');
}

export function shown(frame: Frame, content: Html, headers: Headers = {}) {
  return { reply: 'page', body: framedPage(frame, content), type: PAGE_TYPE, headers: { ...PAGE_HEADERS, ...headers } } as const;
}

export function again(frame: Frame, content: Html) {
  return { reply: 'again', body: framedPage(frame, content), type: PAGE_TYPE, headers: PAGE_HEADERS } as const;
}

/** `path` is one of ours, or comes from `ownPath`. */
export function goTo(path: string, headers: Headers = {}) {
  return {
    reply: 'elsewhere',
    body: 'See Location.\n',
    type: 'text/plain; charset=utf-8',
    headers: { ...PAGE_HEADERS, ...headers, Location: path },
  } as const;
}

/** The failure that a form shows. Anything else is a bug, or is for the caller's program, and is thrown again. */
export function expected(error: unknown): Failure {
  if (error instanceof Failure && error.status < 500) return error;
  throw error;
}

/** What went wrong, announced to screen readers as the page loads. `text`: in place of the catalogue's English. */
export function problem(failure: Failure | undefined, text?: string): Html | undefined {
  if (failure === undefined) return undefined;
  if (text !== undefined) return html`<p class="notice bad" role="alert" id="problem">${text}</p>`;
  const { details, code } = failure;
  const waitS = details.retryAfterS;
  const hint = code === 'TOO_MANY_ATTEMPTS' && waitS !== undefined ? `Try again in ${waitText(waitS)}.` : hintFor(failure);
  return html`<p class="notice bad" role="alert" id="problem">${sentence(failure.message)}${hint && html`<br>${hint}`}</p>`;
}

/** The catalogue's hints speak to programs; those that help a person at a form are kept. */
function hintFor({ code, details }: Failure): string | undefined {
  if (details.hint !== undefined) return details.hint;
  if (code === 'INVALID_CREDENTIALS') return 'Check both, or let us send you a code.';
  return code === 'CODE_INVALID' || code === 'LAST_SIGN_IN' ? ERRORS[code].hint : undefined;
}

/** Messages about a field begin with its name. */
function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function waitText(seconds: number): string {
  return seconds <= 90 ? `${Math.ceil(seconds)} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}
