/** What a publish may hold and what it is based on, decided without I/O. */
import type { Grant } from '../../../../actors/access/access.ts';
import type { Visibility } from '../../../../protocol/artifacts/artifacts.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Accounts } from '../../people/accounts/rules.ts';
import type { FolderHead } from '../../workspaces/folders/rows.ts';
import { artifactEtag } from '../artifacts/conditions.ts';
import type { ArtifactRow } from '../artifacts/rows.ts';
import { checkPath } from './paths.ts';

/** Where a publish goes: into a workspace and into a folder, if any. */
export interface Place {
  readonly workspaceId: WorkspaceId | null;
  /** As it was when the call came. */
  readonly folder: FolderHead | null;
  /** By which somebody from outside publishes there. */
  readonly grant?: Grant;
}

/** A file of the version that is being published. */
export interface DeclaredFile {
  readonly path: string;
  readonly mime: string;
  /** Lowercase hex. */
  readonly sha256: string;
}

export interface SizedFile extends DeclaredFile {
  readonly sizeBytes: number;
}

/** Throws FILE_TOO_LARGE for a file or a version over its limit; `field` names the list. */
export function requireSizes(files: readonly SizedFile[], field: string): void {
  let totalBytes = 0;
  for (const [index, file] of files.entries()) {
    totalBytes += file.sizeBytes;
    if (file.sizeBytes > LIMITS.versionFileBytesMax) {
      throw new Failure('FILE_TOO_LARGE', { param: `${field}.${index}`, message: `${file.path}: has ${file.sizeBytes} bytes.` });
    }
    if (totalBytes > LIMITS.versionBytesMax) {
      throw new Failure('FILE_TOO_LARGE', {
        param: field,
        message: `The files have more than ${LIMITS.versionBytesMax} bytes together, counted up to ${file.path}.`,
      });
    }
  }
}

/** The entry file's normalised path. Throws INVALID_REQUEST when it is not among the files. */
export function requireEntrypoint(entrypoint: string, files: readonly { readonly path: string }[]): string {
  const check = checkPath(entrypoint);
  if (check.ok && files.some((file) => file.path === check.path)) return check.path;
  throw new Failure('INVALID_REQUEST', {
    param: 'entrypoint',
    message: `entrypoint: "${entrypoint}" is not among the files.`,
    hint: 'Name the file that opens first, or add index.html.',
  });
}

/** Throws VERSION_CONFLICT when the publish is based on another version than the last. */
export function requireBase(row: ArtifactRow, base: number | undefined): void {
  if (base === undefined || base === row.last_version_no) return;
  throw new Failure('VERSION_CONFLICT', {
    param: 'base_version_no',
    message: `The last version is ${row.last_version_no}, not ${base}.`,
    etag: artifactEtag(row),
  });
}

/** Throws FILE_TOO_LARGE when an upload cannot take another content: it serves one version and may hold no more than one may. */
export function requireRoom(held: { readonly parts: number; readonly bytes: number }, sizeBytes: number): void {
  if (held.parts < LIMITS.versionFilesMax && held.bytes + sizeBytes <= LIMITS.versionBytesMax) return;
  throw new Failure('FILE_TOO_LARGE', { message: 'This upload holds as much as a version may.' });
}

/** Throws RATE_LIMITED: contents of unfinished uploads are kept for a day, and without a bound an account could fill the store. */
export function requireFewUploads(open: { readonly uploads: number; readonly firstExpiryMs: number | null }, nowMs: number): void {
  if (open.uploads < LIMITS.uploadsOpenMax) return;
  throw new Failure('RATE_LIMITED', {
    message: `An account may begin ${LIMITS.uploadsOpenMax} uploads an hour that it does not publish.`,
    retryAfterS: Math.max(1, Math.ceil(((open.firstExpiryMs ?? nowMs) - nowMs) / 1000)),
  });
}

/** The files with the sizes of their contents. Throws INVALID_REQUEST naming the first content that was not sent. */
export function withSizes(files: readonly DeclaredFile[], sizes: ReadonlyMap<string, number>): SizedFile[] {
  return files.map((file, index) => {
    const sizeBytes = sizes.get(file.sha256);
    if (sizeBytes === undefined) throw contentMissing(index, file);
    return { ...file, sizeBytes };
  });
}

function contentMissing(index: number, file: DeclaredFile): Failure {
  const param = `files_digest.${index}.sha256`;
  return new Failure('INVALID_REQUEST', {
    param,
    message: `${param}: the content of ${file.path} has not been sent.`,
    hint: 'PUT every missing content to /v1/publish/uploads/{upload_id}/{sha256} first.',
  });
}

/** Throws INVALID_REQUEST or FORBIDDEN where an existing artifact cannot be in the workspace or folder that a publish names. */
export function requirePlace(
  row: Pick<ArtifactRow, 'workspace_id' | 'owner_id'>,
  { workspaceId, folder }: Place,
  accounts: Accounts,
): void {
  const param = folder === null ? 'workspace_id' : 'folder_id';
  const isElsewhere = workspaceId === null ? folder !== null && row.workspace_id !== null : row.workspace_id !== workspaceId;
  if (isElsewhere) {
    throw new Failure('INVALID_REQUEST', {
      param,
      message: `${param}: the artifact belongs elsewhere.`,
      hint: 'Leave it out to publish to the artifact where it is, or PATCH its workspace_id first.',
    });
  }
  const isPersonal = folder !== null && folder.workspaceId === null;
  if (isPersonal && (row.owner_id === null || !accounts.includes(row.owner_id))) {
    throw new Failure('FORBIDDEN', { param, message: 'Only its owner may file an artifact in a personal folder.' });
  }
}

/** The visibility of a new artifact that does not say: what its Team Space folder comes to; elsewhere private. */
export function visibilityIn(folder: FolderHead | null): Visibility | undefined {
  return folder?.visibility ?? undefined;
}
