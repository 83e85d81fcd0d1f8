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

/** Settles when what fades in or out has done so: colours in between are nobody's choice. What moves for ever is not waited for. */
const AT_REST = `Promise.all(document.getAnimations()
  .filter((each) => Number.isFinite(each.effect?.getComputedTiming().endTime))
  .map((each) => each.finished.catch(() => undefined)))`;

/** Looks so often at most until nothing fades while it looks. */
const LOOKS_MAX = 5;

/**
 * Serious and critical findings. The script is run by the debugger, which the page's policy does not restrict. A message may come up while it looks,
 * which takes a second on a busy machine: then it looks again.
 */
export async function findingsOf(page: Page, axe: string): Promise<string[]> {
  for (let look = 1; ; look += 1) {
    await page.evaluate(AT_REST);
    const { violations, hasFaded } = (await page.evaluate(
      `${axe}
      (() => {
        let hasFaded = false;
        const note = () => { hasFaded = true; };
        const begins = ['animationstart', 'transitionrun'];
        for (const event of begins) document.addEventListener(event, note);
        return axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => {
          for (const event of begins) document.removeEventListener(event, note);
          return { violations, hasFaded };
        });
      })()`,
    )) as { readonly violations: readonly Violation[]; readonly hasFaded: boolean };
    if (hasFaded && look < LOOKS_MAX) continue;
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id} at ${JSON.stringify(target)}: ${failureSummary}`));
  }
}
