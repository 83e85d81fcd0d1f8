/** When a script of the service adds something to a page. */

/** It appears after this time even if an image of the page never finishes loading. */
const LOAD_MS_MAX = 3000;

/** Waits for the page to load, because a framework that hydrates the page fails on unexpected elements. */
export function pageLoaded(): Promise<unknown> {
  return new Promise((resolve) => {
    if (document.readyState === 'complete') resolve(undefined);
    addEventListener('load', resolve, { once: true });
    setTimeout(resolve, LOAD_MS_MAX);
  });
}
