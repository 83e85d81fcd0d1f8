/** A person with a browser's cookies, without a browser: signs in with a code by mail and goes onto a page as themselves. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type postgres from 'postgres';
import type { Server } from '../servers/processes.ts';

const REDIRECTS_MAX = 10;

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly location: string | undefined;
}

export class Viewer {
  readonly #port: number;
  /** Of each host. */
  readonly #cookies = new Map<string, Map<string, string>>();

  private constructor(server: Server) {
    this.#port = Number(new URL(server.origin).port);
  }

  /** The code is read from the outbox, because the bench has no mail server. */
  static async signedIn(server: Server, sql: postgres.Sql, email: string): Promise<Viewer> {
    const viewer = new Viewer(server);
    await viewer.call('POST', '/v1/auth/email/start', { email });
    const [mail] = await sql<{ text_body: string }[]>`select text_body from mail_outbox where recipient = ${email}`;
    if (mail === undefined) throw new Error(`No code was sent to ${email}.`);
    await viewer.call('POST', '/v1/auth/email/verify', { email, code: mail.text_body.slice(0, 6) });
    return viewer;
  }

  get appHost(): string {
    return `localhost:${this.#port}`;
  }

  cookieHeader(host: string): string {
    return [...this.#jarOf(host)].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** A call of the API with the cookies of the app, as its own pages make them. */
  async call(method: string, path: string, sent?: unknown): Promise<Record<string, unknown>> {
    const { status, body } = await this.#send(method, this.appHost, path, sent);
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${body}`);
    return body === '' ? {} : (JSON.parse(body) as Record<string, unknown>);
  }

  /** Follows the way from a page's origin through the app and back, after which that origin knows this person. */
  async enter(pageHost: string): Promise<void> {
    let [host, path] = [pageHost, '/_easel/view?to=%2F'];
    for (let hops = 0; hops < REDIRECTS_MAX; hops += 1) {
      const { status, body, location } = await this.#send('GET', host, path);
      const next = location ?? /http-equiv="refresh" content="0;url=([^"]+)"/.exec(body)?.[1]?.replaceAll(/&amp;|&#38;/g, '&');
      if (next === undefined) {
        if (status === 200 && host === pageHost) return;
        throw new Error(`The way onto ${pageHost} ended at ${host}${path} with ${status}: ${body.slice(0, 500)}`);
      }
      const url = new URL(next, `http://${host}`);
      [host, path] = [url.host, url.pathname + url.search];
    }
    throw new Error(`The way onto ${pageHost} has more than ${REDIRECTS_MAX} redirects.`);
  }

  /** Goes to a page of the app that sends the browser on, as the way back from another service does. */
  async visit(path: string): Promise<void> {
    const { status, body } = await this.#send('GET', this.appHost, path);
    if (status >= 400) throw new Error(`GET ${path} answered ${status}: ${body.slice(0, 500)}`);
  }

  /** The cookies for the app, as a browser takes them. */
  appCookies(): readonly { readonly name: string; readonly value: string }[] {
    return [...this.#jarOf(this.appHost)].map(([name, value]) => ({ name, value }));
  }

  #jarOf(host: string): Map<string, string> {
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    return jar;
  }

  async #send(method: string, host: string, path: string, sent?: unknown): Promise<Answer> {
    const body = sent === undefined ? undefined : JSON.stringify(sent);
    const cookie = this.cookieHeader(host);
    const asked = request({
      host: '127.0.0.1',
      port: this.#port,
      method,
      path,
      agent: false,
      headers: {
        host,
        origin: `http://${host}`,
        accept: body === undefined ? 'text/html, application/json' : 'application/json',
        ...(cookie !== '' && { cookie }),
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      },
    }).end(body);
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      if (/max-age=0\b/i.test(line)) this.#jarOf(host).delete(pair.slice(0, at));
      else this.#jarOf(host).set(pair.slice(0, at), pair.slice(at + 1));
    }
    return { status: answer.statusCode ?? 0, body: await text(answer), location: answer.headers.location };
  }
}
