import { systemClock } from '../../../platform/clock.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { ChromiumRenderer } from './chromium/chromium-renderer.ts';
import { thumbnailHandlers } from './handlers.ts';
import { type QueueDeps, ThumbnailQueue } from './queue.ts';

type Ids = keyof ReturnType<typeof thumbnailHandlers>;

export function thumbnailsModule(deps: ModuleDeps & Pick<QueueDeps, 'wishes' | 'content'>): Module<Ids> {
  const { settings, log } = deps;
  const handlers = thumbnailHandlers(deps);
  if (settings.THUMBNAILS === 'off') return { handlers };
  const renderer = new ChromiumRenderer({ mode: settings.THUMBNAILS, path: settings.CHROMIUM_PATH, clock: systemClock, log });
  const queue = new ThumbnailQueue({ ...deps, renderer });
  return { handlers, start: () => queue.start(), close: () => queue.stop() };
}
