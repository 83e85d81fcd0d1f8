/** The script that Easel adds to pages if their comment settings ask for it. The data attributes of its element configure it. */
import { commentsBrowser } from '../page/browser.ts';
import { pageLoaded } from './loaded.ts';
import { HOST_NAME, Overlay } from './overlay.ts';
import type { OverlaySite } from './visitor.ts';

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

async function start(script: HTMLOrSVGScriptElement): Promise<void> {
  const site = siteOf(script.dataset);
  await pageLoaded();
  if (document.querySelector(HOST_NAME) === null) new Overlay(site, commentsBrowser()).mount();
}

// A page inside a frame shows no overlay if it belongs to the same site: comments are made on the outer page.
if (document.currentScript !== null && frameElement === null) void start(document.currentScript);
