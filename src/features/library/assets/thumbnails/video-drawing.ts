/**
 * Pictures an early frame of a video with Chromium, in a browser of its own that has no network, a deadline and a bound of memory. The only page in
 * it is this one; the video is data for it. It gets the bytes in pieces, as a page that the DevTools answer with one large body would need them
 * twice, and plays them from its memory, where it can seek.
 */
import { z } from 'zod';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import type { ChromiumRenderer } from '../../../artifacts/thumbnails/chromium/chromium-renderer.ts';
import { load, openTab, takePicture } from '../../../artifacts/thumbnails/chromium/page-drawing.ts';
import { type PageReply, type PageToDraw, RendererUnusable } from '../../../artifacts/thumbnails/renderer.ts';
import type { DrawPicture, Pictured } from './queue.ts';
import { playedAs } from './rules.ts';

const SIDE_PIXELS = 480;
/** A piece has so many at least, or the file would take more requests than a page may make; it is encoded in one turn of the event loop. */
const PIECE_BYTES = 256 * 1024;
/** The page itself is small. */
const BYTES_MAX = LIMITS.blobBytesMax + 64 * 1024;
/** A frame that cannot be reached within this is not waited for: the first one is drawn. */
const SEEK_MS_MAX = 3000;
/** Nothing is ever asked there. */
const ORIGIN = 'http://video.invalid';

const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; media-src blob:";

const side = z.number().int().min(1).max(SIDE_PIXELS);
const evaluated = z.object({ result: z.object({ value: z.object({ width: side, height: side }) }) });

/** `chromium`: null where no pictures are made by it. */
export function videoDrawingIn(chromium: ChromiumRenderer | null): DrawPicture {
  return async (file, signal) => {
    if (chromium === null) throw new RendererUnusable('pictures by Chromium are switched off');
    const pieces = piecesOf(file);
    const page = pageOf(file, pieces);
    try {
      return await chromium.inBrowser(async (pipe) => {
        const sessionId = await openTab(pipe, page);
        await load(pipe, sessionId, page);
        const asked = { expression: 'drawn', awaitPromise: true, returnByValue: true };
        const drawn = evaluated.safeParse(await pipe.ask('Runtime.evaluate', asked, sessionId));
        if (!drawn.success) throw new Error('the video cannot be played');
        return takePicture(pipe, sessionId, { ...drawn.data.result.value, scale: 1 });
      }, signal);
    } finally {
      // Not awaited: a piece that is being read ends by its deadline.
      pieces.return().catch(() => undefined);
    }
  };
}

/** The page asks for the pieces in their order, so that the file is read once. */
function pageOf({ mimeType }: Pictured, pieces: AsyncIterator<Buffer, void>): PageToDraw {
  const html = htmlFor(playedAs(mimeType) ?? mimeType);
  let next = 0;
  return {
    origin: ORIGIN,
    bytesMax: BYTES_MAX,
    files: {
      async get({ path }): Promise<PageReply> {
        if (path === '/') {
          const headers = [['content-type', 'text/html; charset=utf-8'] as const, ['content-security-policy', POLICY] as const];
          return { status: 200, headers, body: html };
        }
        const piece = path === `/${next}` ? await pieces.next() : undefined;
        if (piece === undefined || piece.done) return { status: 404, headers: [], body: null };
        next += 1;
        const headers = [['content-type', 'application/octet-stream'] as const];
        return { status: 200, headers, body: piece.value };
      },
    },
  };
}

async function* piecesOf({ sizeBytes, bytes }: Pictured): AsyncGenerator<Buffer, void> {
  let parts: Buffer[] = [];
  let partsBytes = 0;
  for await (const chunk of bytes(0, sizeBytes - 1)) {
    // It is valid until the next is asked for.
    parts.push(Buffer.from(chunk));
    partsBytes += chunk.length;
    if (partsBytes < PIECE_BYTES) continue;
    yield Buffer.concat(parts);
    parts = [];
    partsBytes = 0;
  }
  if (partsBytes > 0) yield Buffer.concat(parts);
}

/** `drawn` settles with the size of the picture once it is on the page, and rejects where there is no frame to show. */
function htmlFor(type: string): string {
  const given = { type, sideMax: SIDE_PIXELS, pixelsMax: LIMITS.assetPicturePixelsMax, seekMsMax: SEEK_MS_MAX };
  return `<!doctype html>
<style>html, body { margin: 0; background: #000 } canvas { display: block }</style>
<canvas></canvas>
<script>
const given = ${JSON.stringify(given)};
const heard = (target, name) => new Promise((resolve) => target.addEventListener(name, resolve, { once: true }));
const drawn = (async () => {
  const parts = [];
  for (let reply; (reply = await fetch('/' + parts.length)).ok; ) parts.push(await reply.arrayBuffer());
  const video = Object.assign(document.createElement('video'), { muted: true, preload: 'auto' });
  const failed = heard(video, 'error').then(() => Promise.reject(new Error('cannot be played')));
  const loaded = heard(video, 'loadeddata');
  video.src = URL.createObjectURL(new Blob(parts, { type: given.type }));
  await Promise.race([loaded, failed]);
  const { videoWidth, videoHeight, duration } = video;
  if (videoWidth * videoHeight < 1 || videoWidth * videoHeight > given.pixelsMax) throw new Error('has no frame of a usable size');
  if (Number.isFinite(duration) && duration > 0) {
    const sought = heard(video, 'seeked');
    video.currentTime = Math.min(1, duration / 10);
    await Promise.race([sought, new Promise((resolve) => setTimeout(resolve, given.seekMsMax))]);
  }
  const scale = Math.min(1, given.sideMax / Math.max(videoWidth, videoHeight));
  const canvas = document.querySelector('canvas');
  canvas.width = Math.max(1, Math.round(videoWidth * scale));
  canvas.height = Math.max(1, Math.round(videoHeight * scale));
  canvas.getContext('2d').drawImage(video, 0, 0, canvas.width, canvas.height);
  for (let frame = 0; frame < 2; frame += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
  return { width: canvas.width, height: canvas.height };
})();
drawn.catch(() => undefined);
</script>`;
}
