/** One run from its claim to its end. */
import type { UserPrincipal } from '../../../../actors/access/access.ts';
import type { TokenId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { isEnabled } from '../../business/tiers/rules.ts';
import type { ModuleDeps } from '../../module.ts';
import { isSuspendedPerson, readStandings } from '../../people/persons/rows.ts';
import { seesFolder } from '../../workspaces/folders/places.ts';
import type { WorkspaceDirectory } from '../../workspaces/workspaces/directory.ts';
import type { Drives } from './drives.ts';
import { DriveFailure, PATIENT } from './providers/calls.ts';
import { LostClaim, MakerSuspended, NOT_CONNECTED, NOT_MEMBER, RunRecord, SourceChanged, StopRun } from './record.ts';
import { readSourceOfRun, type SourceRow } from './rows.ts';
import {
  CANCELED,
  type Claim,
  countItems,
  finishRun,
  giveBackRun,
  giveBackSuspended,
  lastCompleted,
  noteDeleted,
  type RunEnd,
  saveCursor,
} from './runs.ts';
import type { TakeDeps } from './taking.ts';
import { walkSource } from './walking.ts';

export type RunDeps = TakeDeps & Pick<ModuleDeps, 'log'> & { readonly drives: Drives; readonly workspaces: WorkspaceDirectory };

/** Why a run is ended from outside. */
export type EndReason = 'canceled' | 'suspended' | 'stopping' | 'lost';

interface Outcome extends Pick<RunEnd, 'status' | 'stopCode' | 'stopMessage'> {
  readonly isWhole: boolean;
  /** From where the next run looks; null for everything. */
  readonly cursor: string | null;
}

/** `ending` is aborted with an `EndReason`. Rejects where its end cannot be recorded: another process then begins it again. */
export async function executeRun(deps: RunDeps, claim: Claim, ending: AbortSignal): Promise<void> {
  const record = new RunRecord(deps.sql, claim);
  const source = await readSourceOfRun(deps.sql, claim.sourceId);
  // The run is gone with it.
  if (source === null) return;
  const outcome = await run(deps, claim, source, record, ending).catch((error) => outcomeOf(deps, claim, error, ending));
  if (outcome === 'lost') return;
  if (outcome === 'given back') return giveBackRun(deps.sql, claim);
  if (outcome === 'suspended') return giveBackSuspended(deps.sql, claim);
  await finish(deps, claim, source, record, outcome);
}

async function run(deps: RunDeps, claim: Claim, source: SourceRow, record: RunRecord, signal: AbortSignal): Promise<Outcome> {
  if (claim.claims > LIMITS.importRunClaimsMax)
    throw new StopRun('STALLED', `The processes that worked on it ended ${LIMITS.importRunClaimsMax} times.`);
  const principal = await requireAccess(deps, source);
  const held = { principal };
  const key = { workspaceId: source.workspace_id, userId: source.user_id, provider: source.provider };
  if (!deps.drives.ids.includes(source.provider)) throw new StopRun('FAILED', 'This installation does not connect to this drive any more.');
  const { provider } = deps.drives.drive(source.provider);
  const calls = deps.drives.calls(key, { patience: PATIENT, signal });
  const place = source.remote;
  await provider.nameOf(calls, place).catch(rootFailure);
  const whole = { status: 'completed', stopCode: null, stopMessage: null } as const;
  if (source.cursor !== null && claim.claims === 1 && !(await provider.hasChanged(calls, place, source.cursor))) {
    await repeat(deps, source, record);
    return { ...whole, isWhole: false, cursor: source.cursor };
  }
  // Before anything is looked at: what changes meanwhile is told from here on.
  const cursor = await provider.cursorNow(calls, place).catch(rootFailure);
  const walked = await walkSource(deps, {
    ...{ claim, source, provider, calls, record, signal },
    principal: () => held.principal,
    requireAccess: async () => {
      held.principal = await requireAccess(deps, source);
      return held.principal;
    },
  }).catch(rootFailure);
  if (walked.isLimited) {
    const message = `The folder has more than ${LIMITS.importFilesMax} files; the others were not looked at.`;
    return { ...whole, stopCode: 'WALK_LIMIT', stopMessage: message, isWhole: false, cursor: null };
  }
  // What failed is tried again.
  const isClean = walked.isWhole && record.counts.failed === 0;
  return { ...whole, isWhole: walked.isWhole, cursor: isClean ? cursor : null };
}

/** Nothing has changed since the run that saved the cursor: what that one found is still there, and what it skipped still is. */
async function repeat({ sql }: RunDeps, { id }: SourceRow, { counts, errors }: RunRecord): Promise<void> {
  const former = await lastCompleted(sql, id);
  // It can have been deleted for its age.
  const found = former?.counts.found ?? (await countItems(sql, id));
  counts.found = found;
  counts.skipped = former?.counts.skipped ?? 0;
  counts.unchanged = found - counts.skipped;
  errors.push(...(former?.errors ?? []).filter(({ status }) => status === 'skipped'));
}

/** Throws `StopRun` where the source itself is gone. */
function rootFailure(error: unknown): never {
  if (error instanceof DriveFailure && (error.kind === 'gone' || error.kind === 'denied'))
    throw new StopRun('SOURCE_DELETED', 'The folder is not in the drive any more, or the account does not see it.');
  throw error;
}

/** The maker of the source as they are now. Throws `MakerSuspended`, `StopRun` NOT_ALLOWED. */
async function requireAccess({ sql, clock, workspaces }: RunDeps, source: SourceRow): Promise<UserPrincipal> {
  if (await isSuspendedPerson(sql, source.user_id)) throw new MakerSuspended();
  const standing = (await readStandings(sql, [source.user_id], clock.nowMs())).get(source.user_id);
  const workspace = await workspaces.get(source.workspace_id);
  if (standing?.person.workspaces.get(source.workspace_id) === undefined || workspace === null)
    throw new StopRun('NOT_ALLOWED', NOT_MEMBER);
  if (!isEnabled(workspace, 'file_imports')) throw new StopRun('NOT_ALLOWED', 'The plan of the workspace has no file imports any more.');
  // No credential of the account is used: this is what the account itself may do.
  const principal: UserPrincipal = {
    kind: 'user',
    userId: source.user_id,
    ...standing,
    tokenId: '' as TokenId,
    tokenKind: 'personal',
    expiresAtMs: null,
  };
  if (source.target_folder_id === null || !(await seesFolder(sql, principal, source.target_folder_id)))
    throw new StopRun('NOT_ALLOWED', 'The Team Space folder is gone, or who has made the source does not see it any more.');
  return principal;
}

/** The run has not ended: somebody else has it, anybody may take it, or nobody until a suspension is lifted. */
type Returned = 'lost' | 'given back' | 'suspended';

function outcomeOf({ log }: RunDeps, claim: Claim, error: unknown, ending: AbortSignal): Outcome | Returned {
  const stopped = { status: 'stopped', isWhole: false, cursor: null } as const;
  if (error instanceof LostClaim) return 'lost';
  if (ending.aborted) {
    const reason = ending.reason as EndReason;
    if (reason === 'canceled') return { ...stopped, stopCode: null, stopMessage: CANCELED };
    return reason === 'stopping' ? 'given back' : reason;
  }
  if (error instanceof MakerSuspended) return 'suspended';
  if (error instanceof SourceChanged) return 'given back';
  if (error instanceof StopRun) {
    const status = error.code === 'STALLED' || error.code === 'FAILED' ? 'failed' : 'stopped';
    return { ...stopped, status, stopCode: error.code, stopMessage: error.message };
  }
  if (error instanceof DriveFailure) {
    if (error.kind === 'revoked') return { ...stopped, stopCode: 'CONNECTION_REVOKED', stopMessage: NOT_CONNECTED };
    if (error.kind === 'rate') return { ...stopped, stopCode: 'RATE_LIMITED', stopMessage: `${error.message} The next run goes on.` };
    return { ...stopped, status: 'failed', stopCode: 'FAILED', stopMessage: error.message };
  }
  log.error({ err: error, run: claim.id }, 'an import failed');
  return { ...stopped, status: 'failed', stopCode: 'FAILED', stopMessage: 'Something went wrong here. It is logged.' };
}

async function finish({ sql, clock }: RunDeps, claim: Claim, source: SourceRow, record: RunRecord, outcome: Outcome): Promise<void> {
  const { status, stopCode, stopMessage, isWhole, cursor } = outcome;
  await sql
    .begin(async (tx) => {
      // Others wait for the source before its runs.
      await tx`select 1 from import_source where id = ${source.id} for update`;
      const gone = isWhole ? await noteDeleted(tx, claim) : [];
      for (const { path } of gone)
        record.tell(path, 'unchanged', 'REMOTE_DELETED', 'The file was deleted in the drive; what was imported stays.');
      const { counts, errors } = record;
      const isOurs = await finishRun(tx, claim, { counts, errors, status, stopCode, stopMessage }, clock.nowMs());
      if (!isOurs) throw new LostClaim();
      await saveCursor(tx, source, cursor);
    })
    .catch((error) => {
      // Somebody else has the run; what was noted here is undone.
      if (!(error instanceof LostClaim)) throw error;
    });
}
