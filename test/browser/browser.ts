/** A headless browser whose pages record every error. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { services } from '../support/services.ts';

export async function launchBrowser(): Promise<Browser> {
  const { chromiumPath } = services();
  if (chromiumPath === null) throw new Error('this machine has no Chromium; use describeWith("chromiumPath")');
  return chromium.launch({
    executablePath: chromiumPath,
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}

export interface Visit {
  readonly page: Page;
  /** Console errors, uncaught exceptions, failed requests and answers with status 400 or more, of the page's own origin. */
  readonly troubles: string[];
  /** Answered paths of the page's own origin, with their status. */
  readonly answered: Map<string, number>;
}

/** Only ends waits for what never comes: a busy machine takes many times as long as an idle one. */
const PATIENCE_MS = 90_000;

const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/** A fresh browser profile. Requests to other hosts are answered here, so that a test needs no network. */
export async function visit(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1200, height: 750 }, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const troubles: string[] = [];
  const answered = new Map<string, number>();
  const isOwn = (url: string) => new URL(url).origin === origin;
  await context.route(
    (url) => url.origin !== origin,
    (route) => route.fulfill({ contentType: 'image/gif', body: PIXEL }),
  );
  page.on('console', (message) => {
    if (message.type() === 'error') troubles.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => troubles.push(`exception: ${error.message}`));
  page.on('requestfailed', (request) => {
    if (isOwn(request.url())) troubles.push(`failed: ${request.url()} ${request.failure()?.errorText}`);
  });
  page.on('response', (response) => {
    if (!isOwn(response.url())) return;
    answered.set(new URL(response.url()).pathname, response.status());
    if (response.status() >= 400) troubles.push(`${response.status()}: ${response.url()}`);
  });
  return { page, troubles, answered };
}

/** A call from a page, as its scripts make them. */
export function callFrom(
  page: Page,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: Record<string, unknown> }> {
  return page.evaluate(
    async ([way, where, sent]) => {
      const init = sent === undefined ? {} : { body: JSON.stringify(sent), headers: { 'content-type': 'application/json' } };
      const reply = await fetch(where as string, { method: way as string, ...init });
      return { status: reply.status, body: await reply.json() };
    },
    [method, path, body] as const,
  );
}
