/** The bytes of files, and their pictures. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { DeliverableId } from '../../../../protocol/core/ids.ts';
import { contentEtag, etagMatches } from '../../../edge/answer.ts';
import type { BaseCall, Handlers } from '../../../edge/call.ts';
import { contentReply } from '../../data/blobs/content.ts';
import type { ServiceDeps } from '../../deps.ts';
import { readerOfPerson } from './reader.ts';
import { findReadable, type ReadableFile, type Reader } from './rows.ts';
import type { ShareLinks } from './share-links.ts';

interface Deps extends Pick<ServiceDeps, 'sql' | 'objects' | 'clock'> {
  readonly shareLinks: ShareLinks;
}

/** The browser asks each time, so that it ends with the access and shows the newest version. */
const CACHE = 'private, no-cache';
/** With a link, pages of any origin may show it. */
const LINKED = { 'Cross-Origin-Resource-Policy': 'cross-origin' };
/** A change of links and files is told to no open call, so that the access is asked again while bytes are sent. */
const ASK_AGAIN_MS = 500;
const PICTURE_HEADERS = { 'Cache-Control': CACHE, 'Content-Security-Policy': "default-src 'none'; sandbox" };

export function contentHandlers({ sql, objects, clock, shareLinks }: Deps): Handlers<'files.content' | 'files.thumbnail'> {
  /** Throws FILE_NOT_FOUND. */
  async function read(call: BaseCall, id: string, version: number | undefined, secret: string | undefined): Promise<ReadableFile> {
    const linked = secret === undefined ? null : await opened(shareLinks, call, secret);
    const found = await findReadable(sql, id, version, readerOf(call, id, linked));
    if (found === null) throw new Failure('FILE_NOT_FOUND');
    return found;
  }

  /** Ends with an error once `ask` throws, so that the caller cannot take what has arrived for the whole. */
  async function* whileReadable(chunks: AsyncIterable<Uint8Array>, ask: () => Promise<unknown>): AsyncGenerator<Uint8Array> {
    let askedAtMs = clock.monotonicMs();
    for await (const chunk of chunks) {
      if (clock.monotonicMs() - askedAtMs >= ASK_AGAIN_MS) {
        await ask();
        askedAtMs = clock.monotonicMs();
      }
      yield chunk;
    }
  }

  return {
    'files.content': async (call) => {
      const { params, query } = call;
      const find = () => read(call, params.fileId, query.version, query.link);
      const file = await find();
      const watched: Pick<typeof objects, 'readRange'> = { readRange: (...range) => whileReadable(objects.readRange(...range), find) };
      return contentReply(watched, file, call, { 'Cache-Control': CACHE, ...(query.link !== undefined && LINKED) });
    },
    'files.thumbnail': async (call) => {
      const { picture } = await read(call, call.params.fileId, undefined, call.query.link);
      if (picture === null) throw new Failure('FILE_NOT_FOUND', { message: 'There is no picture of this file.' });
      const etag = contentEtag(picture);
      const isKnown = call.ifNoneMatch !== undefined && etagMatches(call.ifNoneMatch, etag);
      const headers = { ...PICTURE_HEADERS, ...(call.query.link !== undefined && LINKED) };
      return { reply: 'ok', body: isKnown ? '' : await objects.read(picture), type: 'image/webp', etag, headers };
    },
  };
}

async function opened(links: ShareLinks, call: BaseCall, secret: string): Promise<DeliverableId | null> {
  const link = await links.find(secret);
  return link !== null && (await links.entry(link, call)) === 'open' ? link.deliverableId : null;
}

/** Who is signed in on a page's own origin, or calls for a job, is nobody here. */
function readerOf({ principal }: BaseCall, id: string, linked: DeliverableId | null): Reader {
  const nobody = { accounts: [], workspaces: [], sharedBy: [], linked };
  if (principal.kind === 'agent') return { ...nobody, workspaces: [principal.workspaceId] };
  if (principal.kind !== 'user' || principal.onPage !== undefined || principal.run !== undefined) return nobody;
  return readerOfPerson(principal.person, id, linked);
}
