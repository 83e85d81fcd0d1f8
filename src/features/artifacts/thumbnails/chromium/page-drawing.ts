/** Opens a page in a browser that has nothing else open, and takes its picture. */
import { z } from 'zod';
import type { Clock } from '../../../../../actors/runtime/ports.ts';
import type { PageToDraw } from '../renderer.ts';
import { PICTURE_BYTES_MAX } from '../rules.ts';
import type { DevtoolsPipe } from './devtools-pipe.ts';
import { VIEW } from './flags.ts';
import { PageRequests, pausedRequest } from './page-requests.ts';

const SCALE = 0.5;
/** For what scripts draw after the page has been loaded. */
const SETTLE_MS = 700;
const QUALITIES = [80, 60, 40, 20];

const target = z.object({ targetId: z.string() });
const session = z.object({ sessionId: z.string() });
const screenshot = z.object({ data: z.string() });

/** The part of the page from its upper left corner on, in pixels of CSS. */
interface View {
  readonly width: number;
  readonly height: number;
  readonly scale: number;
}

interface Waiting {
  readonly clock: Clock;
  /** A page that is not complete by then is drawn as it is. */
  readonly loadMsMax: number;
}

/** A tab that asks nothing of any network and stands still for nothing. Answers its session. */
export async function openTab(pipe: DevtoolsPipe, page: PageToDraw): Promise<string> {
  const { targetId } = target.parse(await pipe.ask('Target.createTarget', { url: 'about:blank' }));
  const { sessionId } = session.parse(await pipe.ask('Target.attachToTarget', { targetId, flatten: true }));
  const requests = new PageRequests(pipe, sessionId, page);
  pipe.on('Fetch.requestPaused', (params) => requests.take(pausedRequest.parse(params)));
  // A page that shows a dialog stands still until somebody answers.
  pipe.on('Page.javascriptDialogOpening', () => pipe.tell('Page.handleJavaScriptDialog', { accept: false }, sessionId));
  pipe.on('Inspector.targetCrashed', () => pipe.break(new Error('the page has crashed its tab')));
  const features = [
    { name: 'prefers-color-scheme', value: 'light' },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ];
  await Promise.all([
    pipe.ask('Browser.setDownloadBehavior', { behavior: 'deny' }),
    pipe.ask('Inspector.enable', {}, sessionId),
    pipe.ask('Page.enable', {}, sessionId),
    pipe.ask('Fetch.enable', { patterns: [{ urlPattern: '*' }] }, sessionId),
    pipe.ask('Emulation.setDeviceMetricsOverride', { ...VIEW, deviceScaleFactor: 1, mobile: false }, sessionId),
    pipe.ask('Emulation.setEmulatedMedia', { features }, sessionId),
  ]);
  return sessionId;
}

/** Settles once the page has been loaded. */
export async function load(pipe: DevtoolsPipe, sessionId: string, { origin }: PageToDraw): Promise<void> {
  const loaded = new Promise<void>((resolve) => pipe.on('Page.loadEventFired', () => resolve()));
  await Promise.all([pipe.ask('Page.navigate', { url: `${origin}/` }, sessionId), loaded]);
}

export async function drawPage(pipe: DevtoolsPipe, page: PageToDraw, { clock, loadMsMax }: Waiting): Promise<Buffer> {
  const sessionId = await openTab(pipe, page);
  await Promise.race([load(pipe, sessionId, page), pause(clock, loadMsMax)]);
  await pause(clock, SETTLE_MS);
  return takePicture(pipe, sessionId, { ...VIEW, scale: SCALE });
}

/** The first of falling quality that is small enough. */
export async function takePicture(pipe: DevtoolsPipe, sessionId: string, view: View): Promise<Buffer> {
  let picture = Buffer.alloc(0);
  for (const quality of QUALITIES) {
    const clip = { x: 0, y: 0, ...view };
    const taken = await pipe.ask('Page.captureScreenshot', { format: 'webp', quality, clip }, sessionId);
    picture = Buffer.from(screenshot.parse(taken).data, 'base64');
    if (picture.length <= PICTURE_BYTES_MAX) break;
  }
  return picture;
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}
