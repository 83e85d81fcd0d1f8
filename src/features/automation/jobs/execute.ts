/** One try of a run: whose access it needs, its secrets, its action. */
import { type ArtifactHead, decide, type Principal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { EgressFailure, type EgressReason } from '../../../egress/failure.ts';
import { Unopenable } from '../../../storage/sealing/sealer.ts';
import { SourceFailure } from '../../library/connections/sources/target.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import type { Action, ActionDeps, ActionOutcome } from './actions/action.ts';
import { email } from './actions/email.ts';
import { httpGet, webhook } from './actions/http.ts';
import { materialize } from './actions/materialize.ts';
import { script } from './actions/script.ts';
import type { Claim } from './claims.ts';
import type { JobRow } from './rows.ts';
import { withSecrets } from './rules.ts';
import type { RunChange } from './runs.ts';
import type { TableUses } from './table-uses.ts';
import { LiveWorld, type OwnApi } from './world.ts';

export const ACTIONS: Readonly<Record<JobRow['action'], Action>> = { email, webhook, http_get: httpGet, script, materialize };

export interface ExecuteDeps extends ActionDeps {
  readonly api: OwnApi;
  readonly heads: { get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null> };
  readonly tokens: { authenticate(bearer: string): Principal | Promise<Principal> };
  readonly tableUses: TableUses;
}

export type Executed = ActionOutcome & {
  readonly changes: readonly RunChange[];
  /** It does not run, through no fault of the job. */
  readonly skipped?: string;
};

/** `token`: the run's own. Does not reject for what the job can be blamed for. */
export async function execute(deps: ExecuteDeps, job: JobRow, claim: Claim, token: string, signal: AbortSignal): Promise<Executed> {
  const world = new LiveWorld({ api: deps.api, egress: deps.egress, artifactId: claim.artifactId, token, signal });
  const head = await deps.heads.get(claim.artifactId);
  if (head === null) return { error: null, output: null, changes: [], skipped: 'The artifact is in the trash.' };
  if (head.isSuspended === true) return { error: null, output: null, changes: [], skipped: 'The artifact is suspended.' };
  const principal = await callerOf(deps, token);
  if (principal === null) return { error: null, output: null, changes: [], skipped: 'Who has made the job is suspended.' };
  if (decide(head, principal, 'edit', null) !== 'allowed') {
    const error = 'Who has made the job may not edit the artifact any more.';
    return { error, isFinal: true, output: null, changes: [] };
  }
  try {
    const outcome = await ACTIONS[job.action].run(deps, {
      id: claim.runId,
      job,
      config: withSecrets(job, deps.sealer),
      trigger: claim.trigger,
      scheduledForMs: claim.scheduledForMs,
      attempt: claim.attempt,
      events: claim.events,
      userId: claim.creatorId,
      accounts: accountsOf(principal),
      chain: claim.chain,
      world,
      signal,
    });
    return { ...outcome, changes: world.changes };
  } catch (error) {
    return { ...failed(error), output: null, changes: world.changes };
  } finally {
    // What the other actions use is in their config.
    if (job.action === 'script') deps.tableUses.note(job, world.tableUses, deps.clock.nowMs());
  }
}

/** Null where the account is suspended: its jobs go on once that is lifted. */
async function callerOf({ tokens }: ExecuteDeps, token: string): Promise<Principal | null> {
  try {
    return await tokens.authenticate(token);
  } catch (error) {
    if (error instanceof Failure && error.details.reason === 'suspended') return null;
    throw error;
  }
}

export function failed(error: unknown): Pick<ActionOutcome, 'error' | 'isFinal'> {
  if (error instanceof EgressFailure) return { error: error.advice, isFinal: isFinal(error) };
  if (error instanceof Failure) return { error: error.message, isFinal: isFinal(error) };
  if (error instanceof SourceFailure) return { error: error.message, isFinal: error.isFinal };
  if (error instanceof Unopenable) return { error: 'Its secrets cannot be read any more; store them again.', isFinal: true };
  return { error: error instanceof Error ? error.message : String(error) };
}

const FINAL: ReadonlySet<string> = new Set([
  'INVALID_REQUEST',
  'INVALID_JSON',
  'EMAIL_NOT_PROVED',
  'TEMPLATE_NOT_FOUND',
  'FILE_NOT_FOUND',
  'ATTACHMENTS_TOO_LARGE',
  'CONNECTION_NOT_FOUND',
]);

/** A destination that is not allowed stays so, and an answer that is too large comes again as large. */
const FINAL_OUTSIDE: ReadonlySet<string> = new Set(['blocked', 'invalid', 'too_large'] satisfies EgressReason[]);

function isFinal(error: EgressFailure | Failure): boolean {
  return error instanceof EgressFailure ? FINAL_OUTSIDE.has(error.reason) : FINAL.has(error.code);
}
