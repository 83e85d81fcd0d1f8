/** A person with a browser of their own, without the browser: keeps cookies, sends forms as a page of ours does. */
import type { UserId } from '../../protocol/core/ids.ts';
import type { TestEasel } from './easel.ts';

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly location: string | null;
  readonly headers: Headers;
}

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  /** Undefined sends no Origin. */
  readonly origin?: string | undefined;
}

export class WebPerson {
  readonly easel: TestEasel;
  readonly cookies = new Map<string, string>();

  constructor(easel: TestEasel) {
    this.easel = easel;
  }

  /** Signs in with a code by mail; makes the account where there is none. */
  static async signedIn(easel: TestEasel, email: string): Promise<WebPerson & { readonly userId: UserId }> {
    const person = new WebPerson(easel);
    const started = await person.call('POST', '/v1/auth/email/start', { email });
    if (started.status !== 202) throw new Error(`no code was sent: ${started.text}`);
    const verified = await person.call('POST', '/v1/auth/email/verify', { email, code: await lastCode(easel, email) });
    if (verified.status !== 200) throw new Error(`not signed in: ${verified.text}`);
    const { user } = JSON.parse(verified.text) as { user: { id: UserId } };
    return Object.assign(person, { userId: user.id });
  }

  open(path: string): Promise<Answer> {
    return this.#send(path, { headers: { accept: 'text/html' } });
  }

  /** `fields` as a form of a page on this host. */
  submit(path: string, fields: Readonly<Record<string, string>>, sent: Sent = { origin: this.easel.baseUrl }): Promise<Answer> {
    const headers = { accept: 'text/html', ...(sent.origin !== undefined && { origin: sent.origin }), ...sent.headers };
    return this.#send(path, { method: 'POST', body: new URLSearchParams(fields), headers });
  }

  /** The same, and opens where it leads. */
  async act(path: string, fields: Readonly<Record<string, string>>): Promise<Answer> {
    const done = await this.submit(path, fields);
    return done.status === 303 && done.location !== null ? this.open(done.location) : done;
  }

  /** A call of the interface, with the cookies. */
  call(method: string, path: string, body?: unknown): Promise<Answer> {
    const headers = { origin: this.easel.baseUrl, ...(body !== undefined && { 'content-type': 'application/json' }) };
    return this.#send(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  }

  async #send(path: string, init: RequestInit): Promise<Answer> {
    const headers = new Headers(init.headers);
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    if (cookie !== '') headers.set('cookie', cookie);
    const reply = await this.easel.fetch(path, { ...init, headers, redirect: 'manual' });
    for (const line of reply.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const [name = '', value = ''] = pair.split('=');
      if (/max-age=0\b/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return { status: reply.status, text: await reply.text(), location: reply.headers.get('location'), headers: reply.headers };
  }
}

/** The code in the last mail to an address that has one: other mails of the same millisecond may have been written later. */
export async function lastCode(easel: TestEasel, email: string): Promise<string> {
  const [mail] = await easel.sql<{ text_body: string }[]>`
    select text_body from mail_outbox where recipient = ${email} and text_body ~ '^[0-9]{6}'
    order by created_at_ms desc, xmin::text::bigint desc limit 1`;
  return mail?.text_body.slice(0, 6) ?? '';
}
