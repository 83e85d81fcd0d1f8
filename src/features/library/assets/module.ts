import { join } from 'node:path';
import { RETENTION } from '../../../../protocol/business/retention.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { ChromiumRenderer } from '../../artifacts/thumbnails/chromium/chromium-renderer.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { PasswordHasher } from '../../people/sign-in/password-hasher.ts';
import { contentHandlers } from './content.ts';
import { assetHandlers } from './handlers.ts';
import { deleteEndedLinks } from './link-rows.ts';
import { ShareLinks } from './share-links.ts';
import { sharePages } from './share-page.ts';
import { removeEndedLibraries } from './sweeps.ts';
import { drawingIn } from './thumbnails/drawing.ts';
import { PictureQueue } from './thumbnails/queue.ts';
import { isVideo } from './thumbnails/rules.ts';
import { videoDrawingIn } from './thumbnails/video-drawing.ts';
import { expireAssetUploads } from './uploads.ts';

type Ids = keyof (ReturnType<typeof assetHandlers> & ReturnType<typeof contentHandlers> & ReturnType<typeof sharePages>);

export function assetsModule(deps: ModuleDeps & { readonly chromium: ChromiumRenderer | null }): Module<Ids> {
  const { sql, clock } = deps;
  const hasher = new PasswordHasher(deps);
  const shareLinks = new ShareLinks({ ...deps, hasher, limiter: deps.limiters.shared });
  const drawFile = drawingIn(join(deps.builtDir, 'picture-process.js'), systemClock);
  const drawVideo = videoDrawingIn(deps.chromium);
  const pictures = new PictureQueue({
    ...deps,
    draw: (file, signal) => (isVideo(file.mimeType) ? drawVideo : drawFile)(file, signal),
    drawsVideos: () => deps.chromium?.isUsable() ?? false,
  });
  return {
    handlers: {
      ...assetHandlers({ ...deps, shareLinks, hasher, pictures }),
      ...contentHandlers({ ...deps, shareLinks }),
      ...sharePages({ ...deps, shareLinks }),
    },
    sweeps: [
      { name: 'assetUploads', run: (signal) => expireAssetUploads(deps, signal) },
      { name: 'assetLinks', run: () => deleteEndedLinks(sql, clock.nowMs() - RETENTION.assetLinks.keptMs) },
      { name: 'assetsOfDeletedWorkspaces', run: (signal) => removeEndedLibraries(deps, signal) },
    ],
    start: () => pictures.start(),
    close: () => pictures.stop(),
  };
}
