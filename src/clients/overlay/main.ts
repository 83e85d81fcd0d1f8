/** The script that Easel adds to pages if their comment settings ask for it. The data attributes of its element configure it. */
import { commentsBrowser } from '../page/browser.ts';
import { waitFor } from '../sdk/wait.ts';
import { HOST_NAME } from './host.ts';
import { Overlay } from './overlay.ts';
import type { OverlaySite } from './visitor.ts';

/** Comments appear after this time even if an image of the page never finishes loading. */
const LOAD_MS_MAX = 3000;

function siteOf({ artifact = '', version = '', page = '', identity, replies, guests }: DOMStringMap): OverlaySite {
  return {
    artifactId: artifact,
    versionId: version,
    page,
    identity: identity === 'anonymous' || identity === 'named' ? identity : 'authenticated',
    replies: replies === 'true',
    guests: guests === 'true',
  };
}

/** Waits for the page to load, because a framework that hydrates the page fails on unexpected elements. */
async function start(script: HTMLOrSVGScriptElement): Promise<void> {
  const site = siteOf(script.dataset);
  const loaded = new Promise((resolve) => {
    if (document.readyState === 'complete') resolve(undefined);
    else addEventListener('load', resolve, { once: true });
  });
  await Promise.race([loaded, waitFor(LOAD_MS_MAX)]);
  if (document.querySelector(HOST_NAME) === null) new Overlay(site, commentsBrowser()).mount();
}

// A page inside a frame shows no overlay if it belongs to the same site: comments are made on the outer page.
if (document.currentScript !== null && frameElement === null) void start(document.currentScript);
