/** People in front of the web app: a service, a browser, and sessions without the way through the sign-in pages. */
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { type Client, createClient } from '../../src/clients/sdk/client.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { WebPerson } from '../support/web-person.ts';
import { launchBrowser, type Visit, visit } from './browser.ts';

export interface AppPerson extends Visit {
  readonly userId: string;
  /** Calls of this person beside the browser, with a token. */
  readonly client: Client;
}

export class AppStage {
  readonly easel: TestEasel;
  readonly browser: Browser;
  readonly origin: string;
  readonly #open: Visit[] = [];

  private constructor(easel: TestEasel, browser: Browser) {
    this.easel = easel;
    this.browser = browser;
    this.origin = `http://localhost:${easel.port}`;
  }

  /** `settings`: as environment variables. */
  static async start(settings: Readonly<Record<string, string>> = {}): Promise<AppStage> {
    const [easel, browser] = await Promise.all([startTestEasel({ settings }), launchBrowser()]);
    return new AppStage(easel, browser);
  }

  async close(): Promise<void> {
    for (const { page } of this.#open) await page.context().close();
    await this.browser.close();
    await this.easel.close();
  }

  async visitor(options: BrowserContextOptions = {}): Promise<Visit> {
    const one = await visit(this.browser, this.origin, options);
    this.#open.push(one);
    return one;
  }

  /** A browser in which this address is signed in, and a token of the same person. */
  async person(email: string, options: BrowserContextOptions = {}): Promise<AppPerson> {
    const web = await WebPerson.signedIn(this.easel, email);
    const one = await this.visitor(options);
    await one.page.context().addCookies([...web.cookies].map(([name, value]) => ({ name, value, url: this.origin })));
    const made = JSON.parse((await web.call('POST', '/v1/me/tokens', {})).text) as { token: string };
    const client = createClient({ baseUrl: this.easel.baseUrl, token: made.token });
    return { ...one, userId: web.userId, client };
  }
}

/** Whether a workspace may share with people outside, as an administrator of the installation decides. */
export async function allowOutside(easel: TestEasel, workspace: string, isAllowed = true): Promise<void> {
  const body = JSON.stringify({ features: { 'collab.external_sharing': isAllowed } });
  const headers = { 'content-type': 'application/json' };
  const reply = await easel.fetch(`/v1/workspaces/${workspace}/features`, { method: 'PATCH', token: easel.adminToken, body, headers });
  if (reply.status !== 200) throw new Error(`the feature was not changed: ${await reply.text()}`);
}

/** Publishes a page of one line and answers its id. */
export async function publishPage(
  client: Client,
  name: string,
  more: { text?: string; workspace_id?: string; artifact_id?: string } = {},
): Promise<string> {
  const { text = name, ...target } = more;
  const what = target.artifact_id === undefined ? { name, ...target } : target;
  const { body } = await client.publish.publish({
    body: { ...what, files: [{ path: 'index.html', content: `<!doctype html>\n<h1>Page</h1>\n<p>${text}</p>\n` }] },
  });
  if (!('artifact' in body)) throw new Error('the publish asked for more');
  return body.artifact.id;
}

/** Without requests that end because a test leaves the screen that made them. */
export function unexpected(troubles: readonly string[]): string[] {
  return troubles.filter((trouble) => !trouble.endsWith('net::ERR_ABORTED'));
}
