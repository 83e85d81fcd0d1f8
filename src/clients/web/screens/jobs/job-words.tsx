/** What the list and the screen of a job say of it alike. */
import type { Job, JobRun, SchedulePreview } from '../../api/client.ts';
import { useMeaning } from '../../state/jobs.ts';
import { Tag } from '../../ui/small.tsx';
import { words } from '../../words/words.ts';

export function humanIn(human: SchedulePreview['human'] | undefined): string | undefined {
  return words.value.locale === 'es' ? human?.es : human?.en;
}

/** The schedule in words, or the event. */
export function WhenText({ job }: { readonly job: Job }) {
  const { schedule, timezone, event_type, event_filter } = job;
  if (schedule !== null) return <ScheduleText schedule={schedule} timezone={timezone ?? 'UTC'} />;
  if (event_type === null) return null;
  const of = [event_filter?.table, event_filter?.key].filter((name) => name !== undefined).join(', ');
  const text = words.value.jobs.events[event_type];
  return <>{of === '' ? text : `${text}: ${of}`}</>;
}

/** The expression itself until its meaning, which names the zone, is known. */
function ScheduleText({ schedule, timezone }: { readonly schedule: string; readonly timezone: string }) {
  const { data } = useMeaning(schedule, timezone);
  return <span title={schedule}>{humanIn(data) ?? `${schedule} (${timezone})`}</span>;
}

export function StateTag({ job }: { readonly job: Job }) {
  const { state } = words.value.jobs;
  if (job.enabled) return <Tag tone="good">{state.on}</Tag>;
  return job.paused_reason === null ? <Tag>{state.paused}</Tag> : <Tag tone="warn">{state.stopped}</Tag>;
}

const TONES: Partial<Record<JobRun['status'], 'good' | 'warn' | 'info'>> = {
  succeeded: 'good',
  failed: 'warn',
  missed: 'warn',
  queued: 'info',
  running: 'info',
};

export function StatusTag({ status }: { readonly status: JobRun['status'] }) {
  return <Tag tone={TONES[status] ?? 'plain'}>{words.value.jobs.status[status]}</Tag>;
}
