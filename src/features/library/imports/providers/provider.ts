/** The port of a cloud drive. Two adapters: `CloudDrive` speaks Google Drive v3, `OfficeSuite` Microsoft Graph v1.0. */
import type { ImportProvider } from '../../../../../protocol/library/file-imports.ts';
import type { DriveCalls } from './calls.ts';

/** What the provider calls something that can be opened. */
export interface RemotePlace {
  readonly kind: 'folder' | 'drive' | 'site' | 'group';
  /** The drive that it is in; null for the own drive of the account. */
  readonly driveId: string | null;
  /** Within the drive; of a site or a group its own id. */
  readonly itemId: string;
}

export interface RemoteEntry {
  readonly place: RemotePlace;
  readonly name: string;
  readonly selectable: boolean;
}

export interface RemoteFile {
  /** Stays when the file is renamed or moved. */
  readonly id: string;
  readonly name: string;
  /** As the provider says; may be wrong or empty. */
  readonly mime: string;
  /** Changes with its content: an ETag, a digest, a time. */
  readonly mark: string;
  /** Null where the provider does not say. */
  readonly sizeBytes: number | null;
  readonly driveId: string | null;
  /** `exported`: it has no bytes of its own and is exported. `none`: the provider gives it in no form. */
  readonly form: 'bytes' | 'exported' | 'none';
}

export interface RemoteFolder {
  readonly place: RemotePlace;
  readonly name: string;
}

export interface RemotePage {
  readonly files: readonly RemoteFile[];
  readonly folders: readonly RemoteFolder[];
  /** Of the next page; null on the last. */
  readonly next: string | null;
}

export interface RemoteContent {
  readonly bytes: Buffer;
  /** Of a document that has no bytes of its own, what it was exported as: an extension without the dot. */
  readonly exportedAs: string | null;
}

export interface DownloadWish {
  /** Documents of the drive's own kind are exported for conversion, else to be looked at. */
  readonly convert: boolean;
  readonly bytesMax: number;
}

/** Of one list that `browse` reads: a provider can answer pages of nothing, or a page that leads to itself. */
export const BROWSE_PAGES_MAX = 20;

/** Methods throw `DriveFailure`, and what ends the calls. */
export interface DriveProvider {
  readonly id: ImportProvider;
  readonly scope: string;
  /** Parameters of the authorize URL beyond those of OAuth. */
  readonly authorizeParameters: Readonly<Record<string, string>>;
  /** Whether the root can be searched. */
  readonly searchable: boolean;
  accountEmail(calls: DriveCalls): Promise<string | null>;
  /** `place` null is the root. */
  browse(calls: DriveCalls, place: RemotePlace | null, q: string | undefined): Promise<readonly RemoteEntry[]>;
  /** Throws gone where it is not there any more. */
  nameOf(calls: DriveCalls, place: RemotePlace): Promise<string>;
  /** From where `hasChanged` can tell later. */
  cursorNow(calls: DriveCalls, place: RemotePlace): Promise<string>;
  /** False only where certainly nothing in it has. A cursor that the provider does not know any more answers true. */
  hasChanged(calls: DriveCalls, place: RemotePlace, cursor: string): Promise<boolean>;
  children(calls: DriveCalls, place: RemotePlace, page: string | null): Promise<RemotePage>;
  download(calls: DriveCalls, file: RemoteFile, wish: DownloadWish): Promise<RemoteContent>;
}
