/** The endpoints of runs: start, rehearse, read, cancel. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { JobId, RunId } from '../../../../protocol/core/ids.ts';
import { contentEtag } from '../../../edge/answer.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { changedJob, findJob, type JobHandlerDeps, requireUsableConfig } from './handlers.ts';
import type { Rehearsals } from './rehearsal.ts';
import { lockJob } from './rows.ts';
import { presentRun } from './rules.ts';
import type { JobRunner } from './runner.ts';
import { cancelRun, countRuns, insertRuns, listOpenRuns, listRuns, type RunRow, readRun } from './runs.ts';

type Ids = 'jobs.run' | 'jobs.rehearse' | 'jobs.logs' | 'jobs.getRun' | 'jobs.cancelRun';

export interface RunHandlerDeps extends Pick<JobHandlerDeps, 'sql' | 'heads' | 'sealer' | 'connections'> {
  readonly runner: Pick<JobRunner, 'wake' | 'cancel'>;
  readonly rehearsals: Rehearsals;
}

export function runHandlers(deps: RunHandlerDeps): Handlers<Ids> {
  const { sql, runner, rehearsals } = deps;
  return {
    'jobs.run': async ({ params, principal, nowMs }) => {
      const { row } = await findJob(deps, params.jobId, principal);
      const run = await sql.begin(async (tx) => {
        if ((await lockJob(tx, row.id)) === null) throw new Failure('JOB_NOT_FOUND');
        const [open] = await listOpenRuns(tx, [row.id]);
        if (open !== undefined)
          throw new Failure('RUN_IN_PROGRESS', { message: `${open.id} is ${open.status === 'running' ? 'under way' : 'waiting'}.` });
        const common = { jobId: row.id, artifactId: row.artifact_id, creatorId: row.creator_id, chain: [row.id], nowMs };
        const [id] = await insertRuns(tx, [{ ...common, trigger: 'manual', status: 'queued', scheduledForMs: nowMs, dueMs: nowMs }]);
        return requireRun(tx, row.id, id as RunId);
      });
      runner.wake();
      return { reply: 'accepted', body: { run: presentRun(run) } };
    },
    'jobs.rehearse': async ({ params, principal, user, body, nowMs }) => {
      const { row } = await findJob(deps, params.jobId, principal);
      const tried = changedJob(deps, row, body);
      if (body.config !== undefined) await requireUsableConfig(deps, deps.sql, tried, row.artifact_id, { principal, user, nowMs });
      return { reply: 'ok', body: await rehearsals.rehearse({ ...row, ...tried }, user, accountsOf(principal), nowMs) };
    },
    'jobs.logs': async ({ params, principal, query: { status, limit, cursor, count } }) => {
      const { row } = await findJob(deps, params.jobId, principal);
      const rows = await listRuns(sql, row.id, status, decodeCursor(cursor), limit + 1);
      const { items, page } = cutPage(rows, limit, (run) => ({ number: run.created_at_ms, id: run.id }));
      const total = count ? { total: await countRuns(sql, row.id, status) } : {};
      return { reply: 'ok', body: { runs: items.map(presentRun), ...page, ...total } };
    },
    'jobs.getRun': async ({ params, principal }) => {
      const { row } = await findJob(deps, params.jobId, principal);
      const body = presentRun(await requireRun(sql, row.id, params.runId));
      return { reply: 'ok', body, etag: contentEtag(JSON.stringify(body)) };
    },
    'jobs.cancelRun': async ({ params, principal, nowMs }) => {
      const { row } = await findJob(deps, params.jobId, principal);
      const run = await sql.begin(async (tx) => {
        await requireRun(tx, row.id, params.runId);
        if (!(await cancelRun(tx, params.runId, nowMs))) throw new Failure('RUN_FINISHED');
        return requireRun(tx, row.id, params.runId);
      });
      runner.cancel(params.runId);
      return { reply: 'ok', body: { run: presentRun(run) } };
    },
  };
}

async function requireRun(sql: Queries, jobId: JobId, id: RunId): Promise<RunRow> {
  const run = await readRun(sql, jobId, id);
  if (run === null) throw new Failure('RUN_NOT_FOUND');
  return run;
}
