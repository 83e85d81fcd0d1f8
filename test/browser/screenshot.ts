/** Pictures of our own screens that a person can look at. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** Folder for them; none are saved if it is not set. */
const { SCREENSHOT_DIR } = process.env;

/** Of the whole page. `name`: any text. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  if (SCREENSHOT_DIR === undefined) return;
  mkdirSync(SCREENSHOT_DIR, { recursive: true });
  const file = name.replace(/[^\w.-]+/g, '-').replace(/^-|-$/g, '');
  await page.screenshot({ path: join(SCREENSHOT_DIR, `${file}.png`), fullPage: true, animations: 'disabled' });
}
