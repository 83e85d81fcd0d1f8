/** A headless browser and pages that remember everything that went wrong in them. */
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
  /** Console errors, uncaught exceptions, failed requests and answers from 400 up, of the page's own origin. */
  readonly troubles: string[];
  /** Paths of the page's own origin that were answered, with their status. */
  readonly answered: Map<string, number>;
}

const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/** A fresh browser profile. What a page asks of other hosts is answered here, so that a test needs no network. */
export async function visit(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1200, height: 750 }, ...options });
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
