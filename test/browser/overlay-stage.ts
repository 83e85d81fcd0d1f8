/** A page with the comment overlay, and visitors who act like people. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import type { CommentSettingsUpdate } from '../../protocol/data/comment-settings.ts';
import type { Client } from '../../src/clients/sdk/client.ts';
import { codeFor } from '../features/data/comments/comment-stage.ts';
import type { TestEasel } from '../support/easel.ts';
import { clientOf, type Publication, publishSite, type Site } from '../support/publishing.ts';
import { type Visit, visit } from './browser.ts';

/** Folder for screenshots that a person can look at; none are saved if it is not set. */
const { SCREENSHOT_DIR } = process.env;

export async function screenshot(page: Page, name: string): Promise<void> {
  if (SCREENSHOT_DIR === undefined) return;
  mkdirSync(SCREENSHOT_DIR, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOT_DIR, `overlay-${name}.png`), animations: 'disabled' });
}

export function pageOf(body: string, head = ''): Site {
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Essay</title><link rel="icon" href="data:,">${head}</head><body>${body}</body></html>`;
  return new Map([['index.html', Buffer.from(html)]]);
}

export interface Commented extends Publication {
  readonly client: Client;
  configure(settings: CommentSettingsUpdate): Promise<unknown>;
}

export async function publishCommented(easel: TestEasel, slug: string, site: Site, settings: CommentSettingsUpdate): Promise<Commented> {
  const client = clientOf(easel, (await easel.newUser('pro')).token);
  const published = await publishSite(client, site, { slug, visibility: 'public' });
  const configure = (body: CommentSettingsUpdate) =>
    client.comments.putConfig({ params: { artifactId: published.artifactId as never }, body });
  await configure({ overlayEnabled: true, ...settings });
  return { ...published, client, configure };
}

/** One visitor's window. */
export class Visitor {
  readonly page: Page;
  readonly troubles: string[];
  readonly launcher: Locator;
  readonly panel: Locator;

  private constructor({ page, troubles }: Visit) {
    this.page = page;
    this.troubles = troubles;
    this.launcher = page.locator('easel-comments .launcher');
    this.panel = page.getByRole('dialog', { name: 'Comments' });
  }

  static async open(browser: Browser, { url }: Publication, options: BrowserContextOptions = {}, before?: () => void): Promise<Visitor> {
    const opened = await visit(browser, new URL(url).origin, options);
    onTestFinished(() => opened.page.context().close());
    if (before !== undefined) await opened.page.addInitScript(before);
    const visitor = new Visitor(opened);
    await opened.page.goto(url);
    await visitor.launcher.waitFor();
    return visitor;
  }

  /** Selects these words of the page like a drag of the pointer. */
  select(words: string): Promise<void> {
    return this.page.evaluate((wanted) => {
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        const at = (node as Text).data.indexOf(wanted);
        if (at === -1) continue;
        getSelection()?.setBaseAndExtent(node, at, node, at + wanted.length);
        return;
      }
      throw new Error(`not on the page: ${wanted}`);
    }, words);
  }

  async startOn(words: string): Promise<void> {
    await this.select(words);
    await this.page.getByRole('button', { name: 'Comment on the selected text' }).click();
  }

  async signIn(easel: TestEasel, artifactId: string, name: string): Promise<void> {
    const email = `${name.toLowerCase()}-${artifactId.slice(-6)}@example.com`;
    await this.panel.getByLabel('Your e-mail address').fill(email);
    await this.panel.getByLabel('Your name').fill(name);
    await this.panel.getByRole('button', { name: 'Send me a code' }).click();
    await this.panel.getByLabel('Code from the e-mail').fill('');
    await this.panel.getByLabel('Code from the e-mail').fill(await codeFor(easel, { id: artifactId as never }, email));
    await this.panel.getByRole('button', { name: 'Continue' }).click();
  }

  thread(text: string): Locator {
    return this.panel.getByRole('listitem').filter({ hasText: text });
  }

  /** The marked texts of the page. */
  marked(): Promise<string[]> {
    return this.page.evaluate(() => [...(CSS.highlights.get('easel-comment') ?? [])].map(String));
  }
}
