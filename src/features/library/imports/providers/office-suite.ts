/** OneDrive and SharePoint, Microsoft Graph v1.0. https://learn.microsoft.com/en-us/graph/api/resources/onedrive */
import { z } from 'zod';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { type DriveCalls, DriveFailure } from './calls.ts';
import {
  BROWSE_PAGES_MAX,
  type DownloadWish,
  type DriveProvider,
  type RemoteContent,
  type RemoteEntry,
  type RemoteFile,
  type RemotePage,
  type RemotePlace,
} from './provider.ts';

const PAGE_ITEMS = 200;

const id = z.string().min(1).max(512);
const named = z.object({ id, displayName: z.string().nullish(), name: z.string().nullish() });
const item = z.object({
  id,
  name: z.string(),
  size: z.number().optional(),
  eTag: z.string().optional(),
  cTag: z.string().optional(),
  lastModifiedDateTime: z.string().optional(),
  file: z.object({ mimeType: z.string().optional() }).optional(),
  folder: z.object({}).optional(),
  parentReference: z.object({ driveId: z.string().optional() }).optional(),
});
const NEXT = '@odata.nextLink';
const DELTA = '@odata.deltaLink';
const items = z.object({ value: z.array(item), [NEXT]: z.string().optional() });
const names = z.object({ value: z.array(named), [NEXT]: z.string().optional() });
const delta = z.object({ value: z.array(z.unknown()), [NEXT]: z.string().optional(), [DELTA]: z.string().optional() });

export class OfficeSuite implements DriveProvider {
  readonly id = 'office_suite';
  readonly scope = 'offline_access User.Read Files.Read.All Sites.Read.All';
  readonly authorizeParameters = { response_mode: 'query' };
  readonly searchable = true;
  readonly #base: string;

  /** `apiUrl`: without a trailing slash. */
  constructor(apiUrl: string) {
    this.#base = `${apiUrl}/v1.0`;
  }

  async accountEmail(calls: DriveCalls): Promise<string | null> {
    const schema = z.object({ mail: z.string().nullish(), userPrincipalName: z.string().nullish() });
    const { mail, userPrincipalName } = await calls.json(this.#url('/me', { $select: 'mail,userPrincipalName' }), schema);
    return mail ?? userPrincipalName ?? null;
  }

  async browse(calls: DriveCalls, place: RemotePlace | null, q: string | undefined): Promise<readonly RemoteEntry[]> {
    if (place === null) return q === undefined || q === '' ? this.#root(calls) : this.#sites(calls, this.#url('/sites', { search: q }));
    if (place.kind === 'site' || place.kind === 'group') {
      const owner = place.kind === 'site' ? 'sites' : 'groups';
      return this.#named(calls, this.#url(`/${owner}/${encodeURIComponent(place.itemId)}/drives`, { $select: 'id,name' }), driveEntry);
    }
    const entries: RemoteEntry[] = [];
    let page: string | null = null;
    let pages = 0;
    do {
      pages += 1;
      const found = await this.children(calls, place, page);
      entries.push(...found.folders.map((folder) => ({ ...folder, selectable: true })));
      page = found.next;
    } while (page !== null && pages < BROWSE_PAGES_MAX && entries.length < LIMITS.importBrowseEntriesMax);
    return entries.slice(0, LIMITS.importBrowseEntriesMax);
  }

  async nameOf(calls: DriveCalls, place: RemotePlace): Promise<string> {
    if (place.kind === 'drive' && place.driveId === null) return OWN_DRIVE.name;
    const path = place.kind === 'drive' ? driveOf(place) : itemOf(place);
    const schema = z.object({ name: z.string(), deleted: z.unknown().optional() });
    const { name, deleted } = await calls.json(this.#url(path, {}), schema);
    if (deleted !== undefined) throw new DriveFailure('gone', 'The folder is not there any more.');
    return name;
  }

  async cursorNow(calls: DriveCalls, place: RemotePlace): Promise<string> {
    const found = await calls.json(this.#url(`${itemOf(place)}/delta`, { token: 'latest' }), delta);
    const link = found[DELTA];
    if (link === undefined) throw new DriveFailure('unavailable', 'The provider does not say from where on it tells of changes.');
    return this.#own(link);
  }

  async hasChanged(calls: DriveCalls, _place: RemotePlace, cursor: string): Promise<boolean> {
    try {
      const found = await calls.json(this.#own(cursor), delta);
      return found.value.length > 0 || found[NEXT] !== undefined;
    } catch (error) {
      if (error instanceof DriveFailure && ['stale_cursor', 'denied', 'gone'].includes(error.kind)) return true;
      throw error;
    }
  }

  async children(calls: DriveCalls, place: RemotePlace, page: string | null): Promise<RemotePage> {
    const first = this.#url(`${itemOf(place)}/children`, {
      $top: String(PAGE_ITEMS),
      $select: 'id,name,size,eTag,cTag,lastModifiedDateTime,file,folder,parentReference',
    });
    const found = await calls.json(page === null ? first : this.#own(page), items);
    const next = found[NEXT];
    return {
      files: found.value.filter((one) => one.folder === undefined).map((one) => fileOf(one, place.driveId)),
      folders: found.value
        .filter((one) => one.folder !== undefined)
        .map((one) => ({
          place: { kind: 'folder' as const, driveId: one.parentReference?.driveId ?? place.driveId, itemId: one.id },
          name: one.name,
        })),
      next: next === undefined ? null : this.#own(next),
    };
  }

  async download(calls: DriveCalls, file: RemoteFile, { bytesMax }: DownloadWish): Promise<RemoteContent> {
    const path = itemOf({ kind: 'folder', driveId: file.driveId, itemId: file.id });
    return { bytes: await calls.content(this.#url(`${path}/content`, {}), bytesMax), exportedAs: null };
  }

  async #root(calls: DriveCalls): Promise<readonly RemoteEntry[]> {
    const sites = await this.#sites(calls, this.#url('/me/followedSites', {}));
    return [OWN_DRIVE, ...sites, ...(await this.#groups(calls))];
  }

  #sites(calls: DriveCalls, url: string): Promise<RemoteEntry[]> {
    return this.#named(calls, url, (itemId, name) => ({ place: { kind: 'site', driveId: null, itemId }, name, selectable: false }));
  }

  /** Many organisations let only their administrators allow it to be read who is in which group; then there are none. */
  async #groups(calls: DriveCalls): Promise<RemoteEntry[]> {
    try {
      return await this.#named(calls, this.#url('/me/memberOf/microsoft.graph.group', { $select: 'id,displayName' }), (itemId, name) => ({
        ...{ place: { kind: 'group', driveId: null, itemId } as const, name, selectable: false },
      }));
    } catch (error) {
      if (error instanceof DriveFailure && error.kind === 'denied') return [];
      throw error;
    }
  }

  async #named(calls: DriveCalls, first: string, entryOf: (id: string, name: string) => RemoteEntry): Promise<RemoteEntry[]> {
    const entries: RemoteEntry[] = [];
    let url: string | undefined = first;
    for (let pages = 0; url !== undefined && pages < BROWSE_PAGES_MAX && entries.length < LIMITS.importBrowseEntriesMax; pages += 1) {
      const found: z.output<typeof names> = await calls.json(url, names);
      // A group that may not be read has no name.
      for (const one of found.value) {
        const name = one.displayName ?? one.name;
        if (name) entries.push(entryOf(one.id, name));
      }
      const next: string | undefined = found[NEXT];
      url = next === undefined ? undefined : this.#own(next);
    }
    return entries.slice(0, LIMITS.importBrowseEntriesMax);
  }

  /** The provider names whole addresses. The token goes to none but its own. */
  #own(link: string): string {
    if (link.startsWith(`${this.#base}/`)) return link;
    throw new DriveFailure('unavailable', 'The provider leads to another host.');
  }

  #url(path: string, parameters: Readonly<Record<string, string>>): string {
    const query = new URLSearchParams(parameters).toString();
    return `${this.#base}${path}${query === '' ? '' : `?${query}`}`;
  }
}

const OWN_DRIVE: RemoteEntry = { place: { kind: 'drive', driveId: null, itemId: 'root' }, name: 'OneDrive', selectable: true };

function driveEntry(driveId: string, name: string): RemoteEntry {
  return { place: { kind: 'drive', driveId, itemId: 'root' }, name, selectable: true };
}

function driveOf({ driveId }: RemotePlace): string {
  return driveId === null ? '/me/drive' : `/drives/${encodeURIComponent(driveId)}`;
}

function itemOf(place: RemotePlace): string {
  return place.itemId === 'root' ? `${driveOf(place)}/root` : `${driveOf(place)}/items/${encodeURIComponent(place.itemId)}`;
}

function fileOf(one: z.output<typeof item>, driveId: string | null): RemoteFile {
  return {
    id: one.id,
    name: one.name,
    mime: one.file?.mimeType ?? '',
    mark: one.cTag ?? one.eTag ?? one.lastModifiedDateTime ?? '',
    sizeBytes: one.size ?? null,
    driveId: one.parentReference?.driveId ?? driveId,
    // A notebook is a package of other things.
    form: one.file === undefined ? 'none' : 'bytes',
  };
}
