import { systemClock } from '../../../platform/clock.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { ChromiumRenderer } from './chromium/chromium-renderer.ts';
import { thumbnailHandlers } from './handlers.ts';
import { type QueueDeps, ThumbnailQueue } from './queue.ts';

type Ids = keyof ReturnType<typeof thumbnailHandlers>;

type Deps = ModuleDeps & Pick<QueueDeps, 'wishes' | 'content'> & { readonly chromium: ChromiumRenderer | null };

/** Draws the pictures of pages and of videos; null where none are wanted. */
export function chromiumFor({ settings, log }: Pick<ModuleDeps, 'settings' | 'log'>): ChromiumRenderer | null {
  if (settings.THUMBNAILS === 'off') return null;
  return new ChromiumRenderer({ mode: settings.THUMBNAILS, path: settings.CHROMIUM_PATH, clock: systemClock, log });
}

export function thumbnailsModule(deps: Deps): Module<Ids> {
  const handlers = thumbnailHandlers(deps);
  if (deps.chromium === null) return { handlers };
  const queue = new ThumbnailQueue({ ...deps, renderer: deps.chromium });
  return { handlers, start: () => queue.start(), close: () => queue.stop() };
}
