/** The endpoint that serves the picture of a page. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { etagMatches } from '../../../edge/answer.ts';
import type { Handlers } from '../../../edge/call.ts';
import type { ServiceDeps } from '../../deps.ts';
import { readThumbnail } from './rows.ts';
import { PICTURE_TYPE, thumbnailEtag } from './rules.ts';
import type { ThumbnailWishes } from './wishes.ts';

interface Deps extends Pick<ServiceDeps, 'sql' | 'objects'> {
  readonly wishes: Pick<ThumbnailWishes, 'add'>;
}

/** No other cache keeps it, and the browser asks each time, so that it ends with the access. */
const HEADERS = {
  'Cache-Control': 'private, no-cache',
  'Content-Security-Policy': "default-src 'none'; sandbox",
};

export function thumbnailHandlers({ sql, objects, wishes }: Deps): Handlers<'artifacts.thumbnail'> {
  return {
    'artifacts.thumbnail': async ({ params: { id }, query, ifNoneMatch }) => {
      const shown = await readThumbnail(sql, id);
      if (shown === null) wishes.add([id]);
      if (!shown?.sha256 || (query.version !== undefined && query.version !== shown.versionId)) {
        throw new Failure('THUMBNAIL_NOT_FOUND');
      }
      const { sha256 } = shown;
      const etag = thumbnailEtag(sha256);
      const isKnown = ifNoneMatch !== undefined && etagMatches(ifNoneMatch, etag);
      const body = isKnown ? '' : await objects.read(sha256);
      return { reply: 'ok', body, type: PICTURE_TYPE, etag, headers: HEADERS };
    },
  };
}
