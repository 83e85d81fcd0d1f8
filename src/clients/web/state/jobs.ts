/** Jobs of a page, and what they have done. */
import { useEffect } from 'preact/hooks';
import { api, type Job, type JobRun } from '../api/client.ts';
import { pageOf, usePages } from './pages.ts';
import { changed, useLoaded } from './store.ts';

export type JobBody = Parameters<typeof api.jobs.create>[0]['body'];
export type JobChanges = Parameters<typeof api.jobs.update>[0]['body'];
export type RunStatus = JobRun['status'];

export function useJobs(artifactId: string) {
  return usePages<Job>(`jobs:${artifactId}`, async (cursor) => {
    const { body } = await api.jobs.list({ query: { artifact_id: artifactId, cursor } });
    return pageOf(body.jobs, body);
  });
}

export function useJob(jobId: string) {
  return useLoaded(`job:${jobId}`, async () => (await api.jobs.get({ params: { jobId } })).body);
}

/** The record of a job; without `status` all of it. */
export function useLedger(jobId: string, status: RunStatus | undefined) {
  return usePages<JobRun>(`job-runs:${jobId}:${status ?? ''}`, async (cursor) => {
    const { body } = await api.jobs.logs({ params: { jobId }, query: { status, cursor } });
    return pageOf(body.runs, body);
  });
}

/** What a schedule means in words. Equal ones are asked for once. */
export function useMeaning(schedule: string, timezone: string) {
  return useLoaded(
    `schedule:${timezone}:${schedule}`,
    async () => (await api.jobs.preview({ body: { schedule, timezone } })).body.human ?? undefined,
  );
}

function jobChanged(jobId: string): void {
  changed('jobs:', `job:${jobId}`, `job-runs:${jobId}`);
}

export async function createJob(body: JobBody): Promise<string> {
  const { id } = (await api.jobs.create({ body })).body;
  changed('jobs:');
  return id;
}

/** `asOf`: when what was read was last changed; another change since then is not overwritten. */
export async function saveJob(jobId: string, body: JobChanges, asOf: string): Promise<void> {
  try {
    await api.jobs.update({ params: { jobId }, body, ifMatch: asOf });
  } finally {
    // After a conflict, what is there now is shown.
    jobChanged(jobId);
  }
}

export async function turnJob(jobId: string, enabled: boolean): Promise<void> {
  await api.jobs.update({ params: { jobId }, body: { enabled } });
  jobChanged(jobId);
}

export async function deleteJob(jobId: string): Promise<void> {
  await api.jobs.delete({ params: { jobId } });
  changed('jobs:');
}

export async function runJob(jobId: string): Promise<void> {
  await api.jobs.run({ params: { jobId } });
  jobChanged(jobId);
}

export async function cancelRun(jobId: string, runId: string): Promise<void> {
  await api.jobs.cancelRun({ params: { jobId, runId } });
  jobChanged(jobId);
}

export function isUnderWay({ status }: JobRun): boolean {
  return status === 'queued' || status === 'running';
}

const UNDER_WAY_MS = 1500;
/** Of a run that waits before it is tried again, and of jobs whose next run nobody knows. */
const WAITING_MS = 10_000;
/** A job that is due runs a moment later. */
const DUE_MS = 1500;
const FOLLOW_MS_MAX = 3_600_000;

/** After how long jobs and their runs have probably changed; undefined for jobs that are paused. */
export function changesAfterMs(jobs: readonly Job[], runs: readonly JobRun[], nowMs = Date.now()): number | undefined {
  const open = runs.filter(isUnderWay);
  if (open.some(({ status, next_attempt_at }) => status === 'running' || Date.parse(next_attempt_at ?? '') <= nowMs + DUE_MS))
    return UNDER_WAY_MS;
  const on = jobs.filter(({ enabled }) => enabled);
  const waits = on.map(({ next_run_at }) => (next_run_at === null ? WAITING_MS : Date.parse(next_run_at) - nowMs + DUE_MS));
  if (open.length > 0) waits.push(WAITING_MS);
  return waits.length === 0 ? undefined : Math.min(FOLLOW_MS_MAX, Math.max(UNDER_WAY_MS, Math.min(...waits)));
}

/**
 * Loads again after a while, counted from the end of the last load, so that a slow answer is not overtaken by the next question. A window that
 * nobody looks at rests until it is looked at, when everything is loaded again.
 */
export function useFollowing(
  waitMs: number | undefined,
  shown: { readonly isLoading: boolean; readonly data: unknown },
  reload: () => void,
) {
  const { isLoading, data } = shown;
  useEffect(() => {
    if (waitMs === undefined || isLoading) return undefined;
    const timer = setTimeout(() => document.visibilityState === 'visible' && reload(), waitMs);
    return () => clearTimeout(timer);
  }, [waitMs, isLoading, data]);
}
