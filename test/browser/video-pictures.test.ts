/** Pictures of videos, by the Chromium that draws pages. */
import sharp from 'sharp';
import { beforeAll, expect, it } from 'vitest';
import { ChromiumRenderer } from '../../src/features/artifacts/thumbnails/chromium/chromium-renderer.ts';
import { videoDrawingIn } from '../../src/features/library/assets/thumbnails/video-drawing.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { delivered, MINE, pictured } from '../features/library/assets/asset-stage.ts';
import { SILENT } from '../support/database.ts';
import { startTestEasel } from '../support/easel.ts';
import { describeWith, services } from '../support/services.ts';
import { launchBrowser } from './browser.ts';

const forever = new AbortController().signal;

/** A red video as a camera makes it in a browser. */
async function redVideo(width: number, height: number): Promise<Buffer> {
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    const text = await page.evaluate(
      async ([wide, high]) => {
        const canvas = Object.assign(document.createElement('canvas'), { width: wide, height: high });
        document.body.append(canvas);
        const drawing = canvas.getContext('2d');
        const recorder = new MediaRecorder(canvas.captureStream(), { mimeType: 'video/webm;codecs=vp8' });
        const parts: Blob[] = [];
        recorder.ondataavailable = ({ data }) => parts.push(data);
        const stopped = new Promise((resolve) => {
          recorder.onstop = resolve;
        });
        recorder.start();
        for (let frame = 0; frame < 30; frame += 1) {
          await new Promise((resolve) => requestAnimationFrame(resolve));
          if (drawing === null) throw new Error('no canvas');
          drawing.fillStyle = frame % 2 === 0 ? '#d01010' : '#d01111';
          drawing.fillRect(0, 0, wide, high);
        }
        recorder.stop();
        await stopped;
        const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
        return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
      },
      [width, height] as const,
    );
    return Buffer.from(text, 'latin1');
  } finally {
    await browser.close();
  }
}

async function colourIn(picture: Buffer): Promise<readonly number[]> {
  const { data } = await sharp(picture)
    .extract({ left: 20, top: 20, width: 1, height: 1 })
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return [...data];
}

describeWith('chromiumPath')('pictures of videos', () => {
  let video: Buffer;
  let chromium: ChromiumRenderer;
  beforeAll(async () => {
    video = await redVideo(640, 360);
    chromium = new ChromiumRenderer({
      mode: 'on',
      path: services().chromiumPath ?? '',
      clock: systemClock,
      log: SILENT,
      deadlineMs: 90_000,
    });
  });

  it('an early frame is drawn, small and in its shape and colours', async () => {
    const picture = await videoDrawingIn(chromium)(pictured(video, 'video/webm'), forever);
    expect(await sharp(picture).metadata()).toMatchObject({ format: 'webp', width: 480, height: 270 });
    const [red = 0, green = 255, blue = 255] = await colourIn(picture);
    expect([red > 150, green < 80, blue < 80]).toEqual([true, true, true]);
  });

  it('a video of many megabytes is drawn too', async () => {
    const voidBytes = 40 * 1024 * 1024;
    const head = Buffer.from([0xec, 0x01, 0, 0, 0, 0, 0, 0, 0]);
    head.writeUInt32BE(voidBytes, 5);
    const long = Buffer.concat([video, head, Buffer.alloc(voidBytes)]);
    expect(await sharp(await videoDrawingIn(chromium)(pictured(long, 'video/x-matroska'), forever)).metadata()).toMatchObject({
      width: 480,
      height: 270,
    });
  });

  it('what cannot be played has no picture', async () => {
    const draw = videoDrawingIn(chromium);
    await expect(draw(pictured(video.subarray(0, 200), 'video/webm'), forever)).rejects.toThrow('cannot be played');
    await expect(draw(pictured(Buffer.from('no video at all'), 'video/mp4'), forever)).rejects.toThrow('cannot be played');
  });

  it('ends at its deadline and when the service stops', async () => {
    const late = new ChromiumRenderer({ mode: 'on', path: services().chromiumPath ?? '', clock: systemClock, log: SILENT, deadlineMs: 1 });
    await expect(videoDrawingIn(late)(pictured(video, 'video/webm'), forever)).rejects.toThrow('was not drawn within 1 ms');
    await expect(
      videoDrawingIn(chromium)(pictured(video, 'video/webm'), AbortSignal.abort(new Error('the service stops'))),
    ).rejects.toThrow('stops');
    await expect(videoDrawingIn(null)(pictured(video, 'video/webm'), forever)).rejects.toThrow('switched off');
  });

  it('an uploaded video gets its picture by itself', async () => {
    const easel = await startTestEasel({ settings: { THUMBNAILS: 'on', CHROMIUM_PATH: services().chromiumPath ?? '' } });
    try {
      const user = await easel.newUser();
      const { id } = await delivered(easel, user, video, { name: 'red.webm', type: 'video/webm' });
      const picture = () => easel.fetch(`/v1/files/${id}/thumbnail`, { token: user.token });
      await expect.poll(async () => (await picture()).status, { timeout: 90_000 }).toBe(200);
      expect(await sharp(Buffer.from(await (await picture()).arrayBuffer())).metadata()).toMatchObject({ width: 480, height: 270 });
      expect(await (await easel.fetch(`${MINE}/${id}`, { token: user.token })).json()).toMatchObject({
        thumbnailUrl: expect.stringContaining('/thumbnail'),
      });
    } finally {
      await easel.close();
    }
  });
});
