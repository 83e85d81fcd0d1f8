/** Google Drive, REST v3. https://developers.google.com/workspace/drive/api/reference/rest/v3 */
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

const FOLDER = 'application/vnd.google-apps.folder';
const PAGE_FILES = 1000;
const PAGE_DRIVES = 100;

/** What documents of the drive's own kinds are exported as. https://developers.google.com/workspace/drive/api/guides/ref-export-formats */
const EXPORTS: Readonly<Record<string, { readonly converted: string; readonly shown: string }>> = {
  'application/vnd.google-apps.document': { converted: 'docx', shown: 'pdf' },
  'application/vnd.google-apps.spreadsheet': { converted: 'xlsx', shown: 'pdf' },
  'application/vnd.google-apps.presentation': { converted: 'pdf', shown: 'pdf' },
  'application/vnd.google-apps.drawing': { converted: 'png', shown: 'png' },
};
const EXPORT_TYPES: Readonly<Record<string, string>> = {
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pdf: 'application/pdf',
  png: 'image/png',
};

const id = z.string().min(1).max(512);
const file = z.object({
  id,
  name: z.string(),
  mimeType: z.string(),
  modifiedTime: z.string().optional(),
  md5Checksum: z.string().optional(),
  size: z.string().optional(),
});
const fileList = z.object({ files: z.array(file), nextPageToken: z.string().optional() });
const driveList = z.object({ drives: z.array(z.object({ id, name: z.string() })), nextPageToken: z.string().optional() });
const FIELDS = 'nextPageToken,files(id,name,mimeType,modifiedTime,md5Checksum,size)';

export class CloudDrive implements DriveProvider {
  readonly id = 'cloud_drive';
  readonly scope = 'https://www.googleapis.com/auth/drive.readonly';
  // Without these there is no refresh token, or only at the first consent.
  readonly authorizeParameters = { access_type: 'offline', prompt: 'consent' };
  readonly searchable = false;
  readonly #base: string;

  /** `apiUrl`: without a trailing slash. */
  constructor(apiUrl: string) {
    this.#base = `${apiUrl}/drive/v3`;
  }

  async accountEmail(calls: DriveCalls): Promise<string | null> {
    const about = z.object({ user: z.object({ emailAddress: z.string().optional() }) });
    return (await calls.json(this.#url('/about', { fields: 'user(emailAddress)' }), about)).user.emailAddress ?? null;
  }

  async browse(calls: DriveCalls, place: RemotePlace | null): Promise<readonly RemoteEntry[]> {
    if (place === null) return [ownDrive(), ...(await this.#sharedDrives(calls))];
    const entries: RemoteEntry[] = [];
    let page: string | null = null;
    let pages = 0;
    do {
      pages += 1;
      const found = await this.#list(calls, place, page, ` and mimeType = '${FOLDER}'`);
      entries.push(...found.folders.map((folder) => ({ ...folder, selectable: true })));
      page = found.next;
    } while (page !== null && pages < BROWSE_PAGES_MAX && entries.length < LIMITS.importBrowseEntriesMax);
    return entries.slice(0, LIMITS.importBrowseEntriesMax);
  }

  async nameOf(calls: DriveCalls, { kind, driveId, itemId }: RemotePlace): Promise<string> {
    if (kind === 'drive') {
      if (driveId === null) return ownDrive().name;
      return (await calls.json(this.#url(`/drives/${encodeURIComponent(driveId)}`, { fields: 'name' }), z.object({ name: z.string() })))
        .name;
    }
    const parameters = { fields: 'name,mimeType,trashed', supportsAllDrives: 'true' };
    const schema = z.object({ name: z.string(), mimeType: z.string(), trashed: z.boolean().optional() });
    const found = await calls.json(this.#url(`/files/${encodeURIComponent(itemId)}`, parameters), schema);
    if (found.trashed === true || found.mimeType !== FOLDER) throw new DriveFailure('gone', 'The folder is not there any more.');
    return found.name;
  }

  async cursorNow(calls: DriveCalls, { driveId }: RemotePlace): Promise<string> {
    const url = this.#url('/changes/startPageToken', { supportsAllDrives: 'true', ...(driveId !== null && { driveId }) });
    return (await calls.json(url, z.object({ startPageToken: z.string() }))).startPageToken;
  }

  /** Of the whole drive: which folder a change was in is not told for what is gone. */
  async hasChanged(calls: DriveCalls, { driveId }: RemotePlace, cursor: string): Promise<boolean> {
    const url = this.#url('/changes', {
      ...{ pageToken: cursor, pageSize: '1', fields: 'changes(fileId,changeType),newStartPageToken,nextPageToken' },
      ...{ supportsAllDrives: 'true', includeItemsFromAllDrives: 'true' },
      ...(driveId !== null && { driveId }),
    });
    try {
      const { changes, nextPageToken } = await calls.json(
        url,
        z.object({ changes: z.array(z.unknown()), nextPageToken: z.string().optional() }),
      );
      return changes.length > 0 || nextPageToken !== undefined;
    } catch (error) {
      // A token that it does not know is answered as an invalid request.
      if (error instanceof DriveFailure && ['stale_cursor', 'denied', 'gone'].includes(error.kind)) return true;
      throw error;
    }
  }

  children(calls: DriveCalls, place: RemotePlace, page: string | null): Promise<RemotePage> {
    return this.#list(calls, place, page, '');
  }

  async download(calls: DriveCalls, { id: fileId, mime }: RemoteFile, { convert, bytesMax }: DownloadWish): Promise<RemoteContent> {
    const path = `/files/${encodeURIComponent(fileId)}`;
    const exported = Object.hasOwn(EXPORTS, mime) ? EXPORTS[mime] : undefined;
    if (exported === undefined) {
      return { bytes: await calls.content(this.#url(path, { alt: 'media', supportsAllDrives: 'true' }), bytesMax), exportedAs: null };
    }
    const exportedAs = convert ? exported.converted : exported.shown;
    const url = this.#url(`${path}/export`, { mimeType: EXPORT_TYPES[exportedAs] ?? '' });
    return { bytes: await calls.content(url, bytesMax), exportedAs };
  }

  async #sharedDrives(calls: DriveCalls): Promise<RemoteEntry[]> {
    const entries: RemoteEntry[] = [];
    let page: string | undefined;
    let pages = 0;
    do {
      pages += 1;
      const parameters = { pageSize: String(PAGE_DRIVES), fields: 'nextPageToken,drives(id,name)', ...(page && { pageToken: page }) };
      const found: z.output<typeof driveList> = await calls.json(this.#url('/drives', parameters), driveList);
      for (const { id: driveId, name } of found.drives)
        entries.push({ place: { kind: 'drive', driveId, itemId: driveId }, name, selectable: true });
      page = found.nextPageToken;
    } while (page !== undefined && pages < BROWSE_PAGES_MAX && entries.length < LIMITS.importBrowseEntriesMax);
    return entries;
  }

  async #list(calls: DriveCalls, { driveId, itemId }: RemotePlace, page: string | null, also: string): Promise<RemotePage> {
    const quoted = itemId.replace(/[\\']/g, '\\$&');
    const url = this.#url('/files', {
      ...{ q: `'${quoted}' in parents and trashed = false${also}`, pageSize: String(PAGE_FILES), fields: FIELDS, orderBy: 'folder,name' },
      ...{ supportsAllDrives: 'true', includeItemsFromAllDrives: 'true' },
      ...(driveId !== null && { corpora: 'drive', driveId }),
      ...(page !== null && { pageToken: page }),
    });
    const { files, nextPageToken } = await calls.json(url, fileList);
    const folders = files
      .filter(({ mimeType }) => mimeType === FOLDER)
      .map((folder) => ({ place: { kind: 'folder' as const, driveId, itemId: folder.id }, name: folder.name }));
    return {
      files: files.filter(({ mimeType }) => mimeType !== FOLDER).map((one) => fileOf(one, driveId)),
      folders,
      next: nextPageToken ?? null,
    };
  }

  #url(path: string, parameters: Readonly<Record<string, string>>): string {
    return `${this.#base}${path}?${new URLSearchParams(parameters)}`;
  }
}

function ownDrive(): RemoteEntry {
  return { place: { kind: 'drive', driveId: null, itemId: 'root' }, name: 'My Drive', selectable: true };
}

function formOf(mimeType: string): RemoteFile['form'] {
  if (!mimeType.startsWith('application/vnd.google-apps.')) return 'bytes';
  return Object.hasOwn(EXPORTS, mimeType) ? 'exported' : 'none';
}

function fileOf(
  { id: fileId, name, mimeType, modifiedTime, md5Checksum, size }: z.output<typeof file>,
  driveId: string | null,
): RemoteFile {
  const sizeBytes = size !== undefined && /^\d{1,15}$/.test(size) ? Number(size) : null;
  return { id: fileId, name, mime: mimeType, mark: md5Checksum ?? modifiedTime ?? '', sizeBytes, driveId, form: formOf(mimeType) };
}
