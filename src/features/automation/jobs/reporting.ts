/** Records what came of a try, in one transaction: the run, what its job has come to, mail that it queues, and the notice where it is paused. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Fact } from '../../../platform/bus.ts';
import type { Transaction } from '../../../storage/sql.ts';
import { credentialName } from '../../people/tokens/kinds.ts';
import { type Claim, type Report, reportRun, reportSuccess } from './claims.ts';
import { type ExecuteDeps, type Executed, failed } from './execute.ts';
import { pauseAndTell } from './pausing.ts';
import { type JobRow, lockJob, noteOutcome } from './rows.ts';

type Deps = Pick<ExecuteDeps, 'sql' | 'clock' | 'bus' | 'config'>;

/** Whether the claim still held. */
export async function reportOutcome(deps: Deps, claim: Claim, executed: Executed, isCanceled: boolean): Promise<boolean> {
  const { sql, bus } = deps;
  try {
    if (!isCanceled && executed.error === null && executed.skipped === undefined && executed.record === undefined) {
      const isHeld = await reportSuccess(sql, claim, executed, deps.clock.nowMs());
      if (isHeld) executed.recorded?.();
      return isHeld;
    }
    const facts = await sql.begin(async (tx) => {
      const job = await lockJob(tx, claim.jobId);
      const report = reportOf(deps, claim, executed, job, isCanceled);
      if (!(await reportRun(tx, claim, report, deps.clock.nowMs()))) return null;
      if (report.status === 'succeeded') await executed.record?.(tx);
      return job === null ? [] : noteOnJob(tx, deps, job, report);
    });
    if (facts === null) return false;
    if (executed.error === null) executed.recorded?.();
    for (const fact of facts) bus.tell(fact);
    return true;
  } catch (error) {
    // What it wanted to record is refused, such as mail beyond the day's limit: then that is the outcome.
    if (executed.record === undefined || !(error instanceof Failure) || error.code === 'UNAVAILABLE') throw error;
    const { record: _, ...rest } = executed;
    return reportOutcome(deps, claim, { ...rest, ...failed(error) }, isCanceled);
  } finally {
    revoke(deps, claim);
  }
}

/** Caches forget the token of the run, which nothing uses any more. */
function revoke({ bus }: Deps, { runId, tokenSha256 }: Claim): void {
  bus.tell({ kind: 'token.revoked', tokenId: runId, credential: credentialName('run', tokenSha256) });
}

function reportOf({ clock }: Deps, claim: Claim, executed: Executed, job: JobRow | null, isCanceled: boolean): Report {
  const { error, output, changes, skipped, isFinal } = executed;
  const common = { error, output, changes, reason: skipped ?? null, dueMs: null };
  if (isCanceled) return { ...common, status: 'canceled' };
  if (skipped !== undefined) return { ...common, status: 'skipped' };
  if (error === null) return { ...common, status: 'succeeded' };
  const mayRetry = job !== null && !isFinal && claim.attempt < job.retry_config.maxAttempts;
  if (!mayRetry) return { ...common, status: 'failed' };
  return { ...common, status: 'queued', dueMs: clock.nowMs() + retryAfterMs(job.retry_config, claim.attempt, Math.random()) };
}

const RETRY_LAST_MS = 6 * 3600 * 1000;

/** `chance`: 0 to 1, so that jobs which failed together are not tried again together. */
function retryAfterMs({ backoff, initialDelay }: JobRow['retry_config'], attempt: number, chance: number): number {
  const delayMs = initialDelay * 1000 * (backoff === 'fixed' ? 1 : 2 ** (attempt - 1));
  return Math.round(Math.min(RETRY_LAST_MS, delayMs) * (0.75 + chance / 2));
}

/** Answers what to tell the bus after the commit. */
async function noteOnJob(tx: Transaction, { clock, config }: Deps, job: JobRow, { status, error }: Report): Promise<readonly Fact[]> {
  if (status === 'queued' || status === 'skipped') return [];
  const nowMs = clock.nowMs();
  const failures = await noteOutcome(tx, job.id, { status, startedAtMs: nowMs });
  if (status !== 'failed' || failures < LIMITS.jobFailuresMax || !job.enabled) return [];
  const reason = `It has failed ${failures} times in a row: ${error ?? ''}`;
  return pauseAndTell(tx, job, reason, { config, nowMs });
}
