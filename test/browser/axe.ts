/** What axe-core finds on a page. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

export function axeSource(): Promise<string> {
  return readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
}

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly target: unknown; readonly failureSummary?: string }[];
}

/** Serious and critical findings. The script is run by the debugger, which the page's policy does not restrict. */
export async function findingsOf(page: Page, axe: string): Promise<string[]> {
  const violations = (await page.evaluate(
    `${axe}\naxe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  )) as Violation[];
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id} at ${JSON.stringify(target)}: ${failureSummary}`));
}
