/** A renderer of pages with the Chromium of this machine, what hostile pages must not reach, and a way to look at pictures. */
import { createSocket } from 'node:dgram';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Browser } from 'playwright-core';
import { ChromiumRenderer } from '../../src/features/artifacts/thumbnails/chromium/chromium-renderer.ts';
import type { PageReply } from '../../src/features/artifacts/thumbnails/renderer.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { SILENT } from '../support/database.ts';
import { services } from '../support/services.ts';

/** Only ends pages that never end: a busy machine takes many times as long as an idle one. */
export const PATIENCE_MS = 80_000;

export function chromiumRenderer(deadlineMs = PATIENCE_MS): ChromiumRenderer {
  const path = services().chromiumPath ?? undefined;
  return new ChromiumRenderer({ mode: 'on', path, clock: systemClock, log: SILENT, deadlineMs });
}

export type Site = Readonly<Record<string, string | Buffer | PageReply>>;

const TYPES: Readonly<Record<string, string>> = { html: 'text/html', css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' };

/** A page of these files, `/` among them, and the paths that were asked for. */
export function siteOf(files: Site) {
  const asked: string[] = [];
  const get = ({ path }: { readonly path: string }): PageReply => {
    asked.push(path);
    const found = files[path];
    if (found === undefined) return { status: 404, headers: [['Content-Type', 'text/plain']], body: 'missing' };
    if (typeof found === 'object' && 'status' in found) return found;
    const type = TYPES[/\.(\w+)$/.exec(path)?.[1] ?? 'html'] ?? 'application/octet-stream';
    return { status: 200, headers: [['Content-Type', type]], body: found };
  };
  return { asked, page: { origin: 'http://page.localhost:8787', files: { get } } };
}

/** Servers on this machine that count whoever comes: TCP for everything that is HTTP or a WebSocket, UDP for WebRTC and QUIC. */
export async function canary() {
  let visits = 0;
  const tcp = createServer((socket) => {
    visits += 1;
    socket.destroy();
  });
  const udp = createSocket('udp4', () => {
    visits += 1;
  });
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
  const { port } = tcp.address() as { port: number };
  await new Promise<void>((resolve) => udp.bind(port, '127.0.0.1', resolve));
  return {
    port,
    visits: () => visits,
    close: () => {
      tcp.close();
      udp.close();
    },
  };
}

/** Processes of browsers with a profile below this folder. */
export function processesIn(folder: string): string[] {
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc').flatMap((id) => {
    if (!/^\d+$/.test(id)) return [];
    try {
      const said = readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return said.includes(folder) ? [said.slice(0, 200)] : [];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}

/** The size of a picture and the colour in its middle. */
export async function lookAt(browser: Browser, picture: Buffer): Promise<{ width: number; height: number; colour: string }> {
  const page = await browser.newPage();
  try {
    return await page.evaluate(
      async (source) => {
        const image = new Image();
        image.src = source;
        await image.decode();
        const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
        const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D;
        context.drawImage(image, 0, 0);
        const [red = 0, green = 0, blue = 0] = context.getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data;
        const named = { red, green, blue };
        const colour = Object.entries(named).toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? '';
        const isPure = red + green + blue - Math.max(red, green, blue) < 60;
        return { width: canvas.width, height: canvas.height, colour: isPure ? colour : `${red},${green},${blue}` };
      },
      `data:image/webp;base64,${picture.toString('base64')}`,
    );
  } finally {
    await page.close();
  }
}
