/** The script that Easel adds to pages whose comment settings ask for it. Its element says whose comments are shown, and how they are made. */
import { browser } from '../page/browser.ts';
import { waitFor } from '../wait.ts';
import { HOST_NAME } from './host.ts';
import { Overlay } from './overlay.ts';
import type { OverlaySite } from './visitor.ts';

/** A picture that does not come must not keep the comments away. */
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

/** After the page: frameworks take over what the server has sent, and would stumble over more. */
async function start(script: HTMLOrSVGScriptElement): Promise<void> {
  const site = siteOf(script.dataset);
  const loaded = new Promise((resolve) => {
    if (document.readyState === 'complete') resolve(undefined);
    else addEventListener('load', resolve, { once: true });
  });
  await Promise.race([loaded, waitFor(LOAD_MS_MAX)]);
  if (document.querySelector(HOST_NAME) === null) new Overlay(site, browser()).mount();
}

// A part of another page of this site is commented on there.
if (document.currentScript !== null && frameElement === null) void start(document.currentScript);
