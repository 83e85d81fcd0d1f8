/** Ends the schedule of a job that cannot go on, and says so in the bell and by mail. */
import type { UserId } from '../../../../protocol/core/ids.ts';
import type { Fact } from '../../../platform/bus.ts';
import type { Config } from '../../../platform/config.ts';
import type { Transaction } from '../../../storage/sql.ts';
import { mailNotices } from '../notifications/notice-mails.ts';
import { addNotices, type NewNotice } from '../notifications/notices.ts';
import { type JobRow, pauseJob } from './rows.ts';
import { dropQueued } from './runs.ts';

/** Answers what to tell the bus after the commit. */
export async function pauseAndTell(
  tx: Transaction,
  job: JobRow,
  reason: string,
  { config, nowMs }: { readonly config: Config; readonly nowMs: number },
): Promise<readonly Fact[]> {
  await pauseJob(tx, job.id, reason, nowMs);
  await dropQueued(tx, job.id, 'The job was paused.', nowMs);
  const notices = await pausedNotices(tx, job, reason);
  await mailNotices(tx, notices, { config, nowMs });
  return [await addNotices(tx, notices, nowMs), { kind: 'jobs.changed', artifactId: job.artifact_id }];
}

/** For who has made the job, and for the owner of its artifact. */
async function pausedNotices(tx: Transaction, job: JobRow, body: string): Promise<NewNotice[]> {
  const [row] = await tx<{ owner_id: UserId | null }[]>`select owner_id from artifact where id = ${job.artifact_id}`;
  const userIds = new Set([job.creator_id, ...(row?.owner_id ? [row.owner_id] : [])]);
  return [...userIds].map((userId) => ({
    userId,
    kind: 'job.paused',
    title: `The job "${job.title}" was paused`,
    body,
    artifactId: job.artifact_id,
    url: `/p/${job.artifact_id}/jobs/${job.id}`,
  }));
}
