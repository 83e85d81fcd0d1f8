/** How soon a browser shows the home screen of somebody with many pages, and how long it is busy with it. */
import { chromium } from 'playwright-core';
import { type Spread, spreadOf } from '../report/statistics.ts';

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export interface HomeTimes {
  /** From the start of the navigation until the cards are painted and the main thread is free. */
  readonly interactiveMs: Spread;
  /** The longest task of the main thread until then; 0 where none took 50 ms. */
  readonly longestTaskMs: Spread;
  readonly cards: number;
}

interface Seen {
  readonly interactiveMs: number;
  readonly longestTaskMs: number;
  readonly cards: number;
}

interface Visit {
  readonly chromiumPath: string;
  /** Of the app. */
  readonly origin: string;
  readonly cookies: readonly { readonly name: string; readonly value: string }[];
  readonly rounds: number;
}

/** Each round is a new profile: nothing is cached. */
export async function measureHome({ chromiumPath, origin, cookies, rounds }: Visit): Promise<HomeTimes> {
  const browser = await chromium.launch({ executablePath: chromiumPath, headless: true, args: FLAGS });
  const seen: Seen[] = [];
  try {
    // The first round only fills the system's caches of the browser's own files.
    for (let round = 0; round <= rounds; round += 1) {
      const context = await browser.newContext({ viewport: { width: 1200, height: 750 } });
      await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: origin })));
      const page = await context.newPage();
      await page.addInitScript(observe);
      await page.goto(origin);
      const handle = await page.waitForFunction(() => (globalThis as { seen?: Seen }).seen);
      if (round > 0) seen.push((await handle.jsonValue()) as Seen);
      await context.close();
    }
  } finally {
    await browser.close();
  }
  return {
    interactiveMs: spreadOf(seen.map(({ interactiveMs }) => interactiveMs)),
    longestTaskMs: spreadOf(seen.map(({ longestTaskMs }) => longestTaskMs)),
    cards: Math.min(...seen.map(({ cards }) => cards)),
  };
}

/** Runs in the page, before its own scripts. */
function observe(): void {
  let longestTaskMs = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longestTaskMs = Math.max(longestTaskMs, duration);
  }).observe({ type: 'longtask', buffered: true });
  const look = () => {
    const cards = document.querySelectorAll('ul.cards > li').length;
    if (cards === 0) {
      requestAnimationFrame(look);
      return;
    }
    // The frame with the cards is painted before the second one from here, and a timer runs only where no task is in its way.
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        setTimeout(() => {
          (globalThis as { seen?: Seen }).seen = { interactiveMs: performance.now(), longestTaskMs, cards };
        }),
      ),
    );
  };
  requestAnimationFrame(look);
}
