/** A browser as far as signing in needs one: it keeps cookies and names its page's origin. */
import type { TestEasel } from './easel.ts';

export interface VisitorOptions {
  readonly userAgent?: string;
  /** Sent as X-Forwarded-For; needs TRUST_PROXY. */
  readonly address?: string;
  readonly languages?: string;
  /** The service's address as this browser has it. Default: by number. */
  readonly baseUrl?: string;
}

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:132.0) Gecko/20100101 Firefox/132.0';

export class Visitor {
  readonly cookies = new Map<string, string>();
  readonly #easel: TestEasel;
  readonly #options: VisitorOptions;

  constructor(easel: TestEasel, options: VisitorOptions = {}) {
    this.#easel = easel;
    this.#options = options;
  }

  get baseUrl(): string {
    return this.#options.baseUrl ?? this.#easel.baseUrl;
  }

  get cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  get headers(): Record<string, string> {
    const { userAgent = FIREFOX, address, languages } = this.#options;
    return {
      'user-agent': userAgent,
      origin: this.baseUrl,
      ...(this.cookies.size > 0 && { cookie: this.cookieHeader }),
      ...(address !== undefined && { 'x-forwarded-for': address }),
      ...(languages !== undefined && { 'accept-language': languages }),
    };
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...this.headers, ...(init.headers as Record<string, string> | undefined) };
    const reply = await fetch(`${this.baseUrl}${path}`, { redirect: 'manual', ...init, headers });
    this.keep(reply);
    return reply;
  }

  /** Keeps the cookies that an answer sets. */
  keep(reply: Response): void {
    for (const line of reply.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';');
      const at = pair.indexOf('=');
      const name = pair.slice(0, at);
      if (attributes.some((attribute) => /^\s*max-age=0$/i.test(attribute))) this.cookies.delete(name);
      else this.cookies.set(name, pair.slice(at + 1));
    }
  }

  send(method: string, path: string, body: unknown = {}): Promise<Response> {
    return this.fetch(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
  }

  post(path: string, body: unknown = {}): Promise<Response> {
    // Mails are ordered by their time, and the clock stands still.
    this.#easel.clock.advance(1);
    return this.send('POST', path, body);
  }

  /** Signs in with a code by mail; makes the account where there is none. Answers its id. */
  async signInByCode(email: string): Promise<string> {
    await ok(this.post('/v1/auth/email/start', { email }), 202);
    const reply = await ok(this.post('/v1/auth/email/verify', { email, code: await codeFor(this.#easel, email) }));
    return ((await reply.json()) as { user: { id: string } }).user.id;
  }

  /** Signs up with a password and answers the account's id. */
  async signUp(email: string, password: string): Promise<string> {
    await ok(this.post('/v1/auth/password/sign-up', { email, password }), 202);
    const reply = await ok(this.post('/v1/auth/password/sign-up/verify', { email, code: await codeFor(this.#easel, email) }));
    return ((await reply.json()) as { user: { id: string } }).user.id;
  }
}

export async function ok(sent: Promise<Response>, status = 200): Promise<Response> {
  const reply = await sent;
  if (reply.status !== status) throw new Error(`answered ${reply.status} instead of ${status}: ${await reply.text()}`);
  return reply;
}

export interface SentMail {
  readonly kind: string;
  readonly subject: string;
  readonly text: string;
}

/** What was mailed to an address, the newest first. */
export async function mailsTo(easel: TestEasel, email: string): Promise<readonly SentMail[]> {
  return easel.sql<SentMail[]>`
    select kind, subject, text_body as text from mail_outbox where recipient = ${email} order by created_at_ms desc, id`;
}

/** The code in the newest mail to this address. */
export async function codeFor(easel: TestEasel, email: string): Promise<string> {
  const [mail] = await mailsTo(easel, email);
  const code = /\d{6}/.exec(mail?.text ?? '')?.[0];
  if (code === undefined) throw new Error(`no code was mailed to ${email}`);
  return code;
}
