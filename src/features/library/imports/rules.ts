/** Imports, decided without I/O: what is said of sources and runs, opaque refs, and what a failure of a provider is to a caller. */
import { z } from 'zod';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { importRun, importSource } from '../../../../protocol/library/file-imports.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { type Sealer, type SecretPlace, Unopenable } from '../../../storage/sealing/sealer.ts';
import { requireAllowed } from '../../business/tiers/rules.ts';
import type { WorkspaceRow } from '../../workspaces/workspaces/rows.ts';
import { DriveFailure } from './providers/calls.ts';
import type { RemotePlace } from './providers/provider.ts';
import type { ConnectionKey, SourceRow } from './rows.ts';
import type { RunRow } from './runs.ts';

export const DAY_MS = 24 * 3600 * 1000;

export function tokensPlace({ workspaceId, userId, provider }: ConnectionKey): SecretPlace {
  return { table: 'import_connection', row: `${workspaceId}/${userId}/${provider}`, field: 'tokens' };
}

/** A ref is sealed: it is opaque, cannot be made up, and counts for its person, workspace and provider only. */
function refPlace({ workspaceId, userId, provider }: ConnectionKey): SecretPlace {
  return { table: 'import_connection', row: `${workspaceId}/${userId}/${provider}`, field: 'ref' };
}

const place = z.object({ kind: z.enum(['folder', 'drive', 'site', 'group']), driveId: z.string().nullable(), itemId: z.string() });
const sealedPlace = z.object({ place, selectable: z.boolean() });

export function refOf(sealer: Sealer, key: ConnectionKey, of: { readonly place: RemotePlace; readonly selectable: boolean }): string {
  return sealer.seal(refPlace(key), JSON.stringify({ place: of.place, selectable: of.selectable })).toString('base64url');
}

/** Throws IMPORT_REF_NOT_FOUND. */
export function placeOfRef(sealer: Sealer, key: ConnectionKey, ref: string) {
  try {
    return sealedPlace.parse(JSON.parse(sealer.open(refPlace(key), Buffer.from(ref, 'base64url'))));
  } catch (error) {
    if (error instanceof Unopenable) throw new Failure('IMPORT_REF_NOT_FOUND', { param: 'ref' });
    throw error;
  }
}

/** Throws PLAN_REQUIRED. */
export function requireImports(workspace: WorkspaceRow): void {
  requireAllowed(workspace, 'file_imports');
}

/** What a failure of a provider is to who looks at it; other errors stay what they are. */
export function refusalOfDrive(error: unknown): unknown {
  if (!(error instanceof DriveFailure)) return error;
  switch (error.kind) {
    case 'revoked':
      return new Failure('IMPORT_NOT_CONNECTED');
    case 'gone':
    case 'denied':
      return new Failure('IMPORT_REF_NOT_FOUND', { param: 'ref', message: error.message });
    case 'rate':
    case 'unavailable':
    case 'stale_cursor':
    case 'too_large':
      return new Failure('DRIVE_UNAVAILABLE', { message: error.message });
    default:
      return error.kind satisfies never;
  }
}

/** When a daily source runs next; null for one that does not. */
export function nextSyncAt(dailySync: boolean, before: number | null, nowMs: number): number | null {
  return dailySync ? (before ?? nowMs + DAY_MS) : null;
}

export function presentRun(row: RunRow): z.input<typeof importRun> {
  return {
    id: row.id,
    sourceId: row.source_id,
    status: row.status,
    trigger: row.trigger,
    counts: row.counts,
    stopCode: row.stop_code,
    stopMessage: row.stop_message,
    createdAt: dateTime(row.created_at_ms),
    finishedAt: row.finished_at_ms === null ? null : dateTime(row.finished_at_ms),
    errors: [...row.errors],
  };
}

export function presentSource(row: SourceRow, accounts: readonly UserId[], lastRun: RunRow | undefined): z.input<typeof importSource> {
  return {
    id: row.id,
    provider: row.provider,
    remoteName: row.remote_name,
    targetFolderId: row.target_folder_id,
    targetFolderName: row.target_folder_name,
    convert: row.convert,
    dailySync: row.daily_sync,
    nextSyncAt: row.next_sync_at_ms === null ? null : dateTime(row.next_sync_at_ms),
    connected: row.connected,
    mine: accounts.includes(row.user_id),
    lastRun: lastRun === undefined ? null : presentRun(lastRun),
  };
}

/** A name that a provider gives, as we store it. */
export function storedName(name: string): string {
  const plain = name
    .replaceAll('\u0000', '')
    .replace(/\p{Cs}/gu, '\ufffd')
    .trim();
  return [...plain].slice(0, LIMITS.nameCharsMax).join('') || 'Untitled';
}
