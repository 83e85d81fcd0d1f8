/**
 * Reads a file from standard input and writes a picture of it to standard output. Whoever starts this process kills it at its deadline; where that
 * one has ended, it kills itself.
 */
import { buffer } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { PDFiumLibrary } from '@hyzyla/pdfium';
import sharp, { type Sharp } from 'sharp';
import { LIMITS } from '../../../../../protocol/core/limits.ts';

const SIDE_PIXELS = 480;
const QUALITY = 78;
const BOUNDS = { limitInputPixels: LIMITS.assetPicturePixelsMax, failOn: 'error' } as const;

// A thread, because drawing a page leaves the event loop no turn. Killed from there, the process ends at once.
const OVERDUE_MS = LIMITS.assetPictureMsMax + 5000;
new Worker(`setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${OVERDUE_MS})`, { eval: true }).unref();

sharp.cache(false);
sharp.concurrency(1);
// Only the readers that are needed: others, such as that of SVG, could be reached by what a file claims to be.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: [
    'VipsForeignLoadJpegBuffer',
    'VipsForeignLoadPngBuffer',
    'VipsForeignLoadWebpBuffer',
    'VipsForeignLoadNsgifBuffer',
    'VipsForeignLoadHeifBuffer',
  ],
});

const bytes = await buffer(process.stdin);
const picture = process.argv[2] === 'application/pdf' ? await firstPage(bytes) : sharp(bytes, BOUNDS).autoOrient();
process.stdout.write(await webp(picture));

/** Without any metadata of the image, such as where it was taken. */
function webp(image: Sharp): Promise<Buffer> {
  return image.resize(SIDE_PIXELS, SIDE_PIXELS, { fit: 'inside', withoutEnlargement: true }).webp({ quality: QUALITY }).toBuffer();
}

async function firstPage(file: Buffer): Promise<Sharp> {
  const library = await PDFiumLibrary.init();
  const document = await library.loadDocument(file);
  const page = document.getPage(0);
  const { originalWidth, originalHeight } = page.getOriginalSize();
  // The size of the drawing does not depend on that of the page.
  const scale = SIDE_PIXELS / Math.max(originalWidth, originalHeight, 1);
  const { data, width, height } = await page.render({ scale, render: 'bitmap' });
  return sharp(data, { ...BOUNDS, raw: { width, height, channels: 4 } }).flatten({ background: '#ffffff' });
}
