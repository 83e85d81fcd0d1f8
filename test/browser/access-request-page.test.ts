/** The page on which a request for access is decided, in Chromium: from the link in the mail to the decision, in every theme and width. */
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { published } from '../support/requests.ts';
import { describeWith } from '../support/services.ts';
import { lastCode, WebPerson } from '../support/web-person.ts';
import { axeSource, findingsOf } from './axe.ts';
import { launchBrowser, type Visit, visit } from './browser.ts';

// A browser is slow to start on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

describeWith('chromiumPath')('the page of a request for access', () => {
  let easel: TestEasel;
  let browser: Browser;
  let axe: string;
  let origin: string;
  const open: Visit[] = [];
  beforeAll(async () => {
    [easel, browser, axe] = await Promise.all([startTestEasel(), launchBrowser(), axeSource()]);
    origin = `http://localhost:${easel.port}`;
  });
  afterAll(async () => {
    for (const { page } of open) await page.context().close();
    await browser?.close();
    await easel?.close();
  });

  async function newVisit(options: BrowserContextOptions): Promise<Visit> {
    const one = await visit(browser, origin, options);
    open.push(one);
    return one;
  }

  it.each([
    ['light', 1200, 'Let them see it', 200],
    ['light', 360, 'Decline', 404],
    ['dark', 1200, 'Decline', 404],
    ['dark', 360, 'Let them see it', 200],
  ] as const)('%s and %i px wide: "%s"', async (colorScheme, width, button, status) => {
    const name = `${colorScheme}-${width}`;
    const email = `owner-${name}@example.com`;
    const owner = await WebPerson.signedIn(easel, email);
    const asker = await WebPerson.signedIn(easel, `somebody-with-a-rather-long-address-${name}@example.com`);
    await asker.call('PATCH', '/v1/auth/profile', { name: 'A person with a name that is long enough to need two lines' });
    const { token } = JSON.parse((await owner.call('POST', '/v1/me/tokens', {})).text) as { token: string };
    const { id } = await published(easel, { token }, { name: 'The_plan_without_any_place_to_break_a_line_at_all_'.repeat(2) });
    await asker.call('POST', '/v1/access-requests', { artifact_id: id, message: `May I?\n${'x'.repeat(200)}` });
    const [mail] = await easel.sql<
      { html_body: string }[]
    >`select html_body from mail_outbox where recipient = ${email} and kind = 'access_requested'`;
    const [, link = ''] = /class="button" href="([^"]*)"/.exec(mail?.html_body ?? '') ?? [];

    const { page, troubles } = await newVisit({ colorScheme, viewport: { width, height: 740 } });
    const findings: string[] = [];
    const look = async (what: string) => {
      await page.waitForLoadState('load');
      findings.push(...(await findingsOf(page, axe)).map((finding) => `${what}: ${finding}`));
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (overflow > 0) findings.push(`${what}: ${overflow} px too wide`);
    };
    // Whoever is not signed in signs in first, and comes back to it.
    await page.goto(link.replaceAll('&#38;', '&'));
    await page.getByLabel('E-mail address').fill(email);
    easel.clock.advance(1);
    await page.getByRole('button', { name: 'Send me a code' }).click();
    await page.getByLabel('Code').fill(await lastCode(easel, email));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'asks for access' }).waitFor();
    await look('the question');
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('status').waitFor();
    await look('the decision');
    expect((await asker.call('GET', `/v1/artifacts/${id}`)).status).toBe(status);
    expect([findings, troubles.filter((one) => !one.endsWith('net::ERR_ABORTED'))]).toEqual([[], []]);
  });
});
