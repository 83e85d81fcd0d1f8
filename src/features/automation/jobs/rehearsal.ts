/** Rehearsals: a job runs, but what it would write, send and call is only told. */
import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { rehearsal } from '../../../../protocol/automation/jobs.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { newId, type UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Accounts } from '../../people/accounts/rules.ts';
import { credentialName } from '../../people/tokens/kinds.ts';
import { newToken } from '../../people/tokens/secret.ts';
import { RehearsalWorld } from '../scripts/rehearsal-world.ts';
import type { ActionRun } from './actions/action.ts';
import { ACTIONS, type ExecuteDeps, failed } from './execute.ts';
import type { JobRow } from './rows.ts';
import { withSecrets } from './rules.ts';
import { LiveWorld } from './world.ts';

const LEASE_MS = 60_000;
const DEADLINE_MS = 30_000;
const RETRY_AFTER_S = 5;

type Told = z.input<typeof rehearsal>;

export class Rehearsals {
  readonly #deps: ExecuteDeps;
  readonly #people = new Set<UserId>();

  constructor(deps: ExecuteDeps) {
    this.#deps = deps;
  }

  /** In the name of who asks. Throws UNAVAILABLE where too many are under way. */
  async rehearse(job: JobRow, by: UserId, accounts: Accounts, nowMs: number): Promise<Told> {
    if (this.#people.has(by) || this.#people.size >= LIMITS.rehearsalsMax)
      throw new Failure('UNAVAILABLE', { message: 'A rehearsal is under way.', retryAfterS: RETRY_AFTER_S });
    this.#people.add(by);
    try {
      return await this.#run(job, by, accounts, nowMs);
    } finally {
      this.#people.delete(by);
    }
  }

  async #run(job: JobRow, by: UserId, accounts: Accounts, nowMs: number): Promise<Told> {
    const { sql, bus, api, egress } = this.#deps;
    const { token, sha256 } = newToken('run');
    const id = newId('run');
    // The row is what its token acts by.
    await sql`
      insert into job_run (
        id, job_id, artifact_id, creator_id, trigger, status, scheduled_for_ms, chain, attempt, lease_token, lease_ends_at, token_sha256,
        started_at_ms, created_at_ms)
      values (
        ${id}, ${job.id}, ${job.artifact_id}, ${by}, 'rehearsal', 'running', ${nowMs}, ${[job.id]}, 1, ${randomBytes(16).toString('hex')},
        clock_timestamp() + ${LEASE_MS}::int * interval '1 ms', ${sha256}, ${nowMs}, ${nowMs})`;
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const real = new LiveWorld({ api, egress, artifactId: job.artifact_id, token, signal });
    const told = await this.#told(job, { id, userId: by, accounts, scheduledForMs: nowMs, signal }, real);
    const status = told.error === null ? 'succeeded' : 'failed';
    await sql`
      update job_run set status = ${status}, error = ${told.error}, output = ${told.output}, finished_at_ms = ${this.#deps.clock.nowMs()},
        lease_token = null, lease_ends_at = null, token_sha256 = null
      where id = ${id}`;
    bus.tell({ kind: 'token.revoked', tokenId: id, credential: credentialName('run', sha256) });
    return told;
  }

  async #told(
    job: JobRow,
    of: Pick<ActionRun, 'id' | 'userId' | 'accounts' | 'scheduledForMs' | 'signal'>,
    real: LiveWorld,
  ): Promise<Told> {
    const world = new RehearsalWorld(real);
    try {
      const config = withSecrets(job, this.#deps.sealer);
      const run = { ...of, job, config, trigger: 'rehearsal', attempt: 1, events: null, chain: [job.id], world };
      const { error, output, send = [] } = await ACTIONS[job.action].rehearse(this.#deps, run);
      return {
        would: {
          ...(world.would() as Told['would']),
          send: send.map(({ to, subject, attachments }) => ({ to: [...to], subject, attachments: [...attachments] })),
        },
        output,
        error,
      };
    } catch (error) {
      return { would: { ...(world.would() as Told['would']), send: [] }, output: null, error: failed(error).error };
    }
  }
}
