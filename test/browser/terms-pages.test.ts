/** The pages of status and limits in Chromium, in both themes and on a phone: what axe-core finds, and whether anything is too wide. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { describeWith } from '../support/services.ts';
import { axeSource, findingsOf } from './axe.ts';
import { launchBrowser, visit } from './browser.ts';
import { keepScreenshot } from './screenshot.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

describeWith('chromiumPath')('pages of the terms', () => {
  let easel: TestEasel;
  let browser: Browser;
  let axe: string;
  beforeAll(async () => {
    [easel, browser, axe] = await Promise.all([startTestEasel(), launchBrowser(), axeSource()]);
  });
  afterAll(async () => {
    await browser?.close();
    await easel?.close();
  });

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['dark', 360],
  ] as const)('%s, %i px wide', async (colorScheme, width) => {
    const origin = `http://localhost:${easel.port}`;
    const { page } = await visit(browser, origin, { colorScheme, viewport: { width, height: 800 } });
    const findings: string[] = [];
    for (const path of ['/status', '/limits']) {
      await page.goto(origin + path);
      await page.getByRole('heading').first().waitFor();
      findings.push(...(await findingsOf(page, axe)).map((finding) => `${path}: ${finding}`));
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (overflow > 0) findings.push(`${path}: ${overflow} px too wide`);
      await keepScreenshot(page, `terms ${colorScheme} ${width} ${path}`);
    }
    expect(findings).toEqual([]);
    await page.context().close();
  });
});
