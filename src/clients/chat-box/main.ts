/** The script that Easel adds to pages whose owner has turned the chat on. The data attributes of its element configure it. */
import { pageLoaded } from '../overlay/loaded.ts';
import { commentsBrowser } from '../page/browser.ts';
import { Box, HOST_NAME } from './box.ts';

/** A page that shows the chat itself, by `easel.chat`, says so in its head. */
const OWN = 'meta[name="easel-chat"][content="own"]';

async function start({ dataset }: HTMLOrSVGScriptElement): Promise<void> {
  const { artifact = '', greeting = '', beside } = dataset;
  await pageLoaded();
  if (document.querySelector(`${HOST_NAME},${OWN}`) !== null) return;
  new Box({ artifactId: artifact, greeting, isBeside: beside === 'true' }, commentsBrowser()).mount();
}

// A page inside a frame of the same site shows no box: the outer page has it.
if (document.currentScript !== null && frameElement === null) void start(document.currentScript);
