/** What a job has done, and the due times at which it did not run and why. */
import { useEffect, useState } from 'preact/hooks';
import type { Job, JobRun } from '../../api/client.ts';
import { cancelRun, changesAfterMs, isUnderWay, type RunStatus, useFollowing, useLedger } from '../../state/jobs.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { SelectField } from '../../ui/fields.tsx';
import { Tag } from '../../ui/small.tsx';
import { ProblemState, Skeleton } from '../../ui/states.tsx';
import { ago, dateText } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import { StatusTag } from './job-words.tsx';

const STATUSES = ['succeeded', 'failed', 'running', 'queued', 'canceled', 'merged', 'skipped', 'missed'] as const satisfies RunStatus[];

interface LedgerProps {
  readonly job: Job;
  readonly onStale: () => void;
}

export function Ledger({ job, onStale }: LedgerProps) {
  const [status, setStatus] = useState<RunStatus | ''>('');
  const pages = useLedger(job.id, status === '' ? undefined : status);
  const { items, problem, isLoading } = pages;
  const { jobs } = words.value;
  useFollowing(changesAfterMs([job], items ?? []), { isLoading, data: items }, pages.reload);
  // After the ledger, so that the job is at least as new: what has ended may have paused it.
  useEffect(() => {
    if (items !== undefined) onStale();
  }, [items]);
  return (
    <section class="panel" aria-label={jobs.ledger}>
      <header class="section-head">
        <div class="grow">
          <h2>{jobs.ledger}</h2>
          <p class="small soft">{jobs.ledgerText}</p>
        </div>
        <SelectField
          label={jobs.which}
          hideLabel
          value={status}
          options={[{ value: '' as const, label: jobs.all }, ...STATUSES.map((value) => ({ value, label: jobs.status[value] }))]}
          onChoose={setStatus}
        />
      </header>
      {items === undefined && problem === undefined && <Skeleton shape="line" count={3} />}
      {items === undefined && problem !== undefined && <ProblemState problem={problem} onRetry={pages.reload} />}
      {items?.length === 0 && <p class="soft">{status === '' ? jobs.ledgerEmpty : jobs.noneOfThese}</p>}
      {items !== undefined && items.length > 0 && (
        <ul class="rows job-runs">
          {items.map((run) => (
            <RunRow key={run.id} run={run} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </section>
  );
}

function RunRow({ run }: { readonly run: JobRun }) {
  const { jobs } = words.value;
  const { status, scheduled_for, scheduled_until, due_times, trigger, reason, error } = run;
  const cancel = async () => {
    try {
      await cancelRun(run.job_id, run.id);
      tell(words.value.jobs.canceling);
    } catch (failure) {
      tellProblem(failure);
    }
  };
  return (
    <li class="row-item is-top">
      <div class="grow">
        <p class="row-title">
          <time dateTime={scheduled_for} title={scheduled_for}>
            {dateText(scheduled_for)}
          </time>
          {scheduled_until !== null && (
            <time dateTime={scheduled_until} title={scheduled_until}>
              {`– ${dateText(scheduled_until)}`}
            </time>
          )}
          {due_times > 1 && <Tag>{jobs.dueTimes(due_times)}</Tag>}
        </p>
        <p class="row-facts">
          <span>{jobs.by[trigger]}</span>
          <RunTimes run={run} />
        </p>
        {reason !== null && <p class="row-note">{reason}</p>}
        {error !== null && <p class="row-note is-bad">{error}</p>}
        <RunDetail run={run} />
      </div>
      <StatusTag status={status} />
      {isUnderWay(run) && (
        <Button small onClick={() => void cancel()}>
          {jobs.cancel}
        </Button>
      )}
    </li>
  );
}

function RunTimes({ run: { attempt, started_at, finished_at, next_attempt_at, status } }: { readonly run: JobRun }) {
  const { jobs } = words.value;
  return (
    <>
      {started_at !== null && <span>{jobs.attempt(attempt)}</span>}
      {started_at !== null && <span>{jobs.started(dateText(started_at))}</span>}
      {started_at !== null && finished_at !== null && <span>{jobs.took(tookText(Date.parse(finished_at) - Date.parse(started_at)))}</span>}
      {status === 'queued' && attempt > 0 && next_attempt_at !== null && <span>{jobs.again(ago(next_attempt_at))}</span>}
    </>
  );
}

function tookText(ms: number): string {
  const unit = ms < 1000 ? 'millisecond' : 'second';
  const value = unit === 'second' ? ms / 1000 : ms;
  return new Intl.NumberFormat(words.value.locale, { style: 'unit', unit, maximumFractionDigits: 1 }).format(Math.max(0, value));
}

function RunDetail({ run: { events, changes, output } }: { readonly run: JobRun }) {
  const { jobs } = words.value;
  const causes = causesIn(events);
  const made = changes ?? [];
  if (causes === undefined && made.length === 0 && (output === null || output === '')) return null;
  return (
    <details class="job-detail">
      <summary>{jobs.detail}</summary>
      {causes !== undefined && <p class="small">{jobs.setOffBy(causes)}</p>}
      {made.length > 0 && (
        <ul class="small job-changes">
          {made.map(({ channel, name, op, count }) => (
            <li key={`${channel} ${name} ${op}`}>
              <code>
                {op} {channel}/{name}
              </code>
              {count > 1 && ` × ${count}`}
            </li>
          ))}
        </ul>
      )}
      {output !== null && output !== '' && <Code text={output} label={jobs.copyOutput} />}
    </details>
  );
}

interface Causes {
  readonly types: readonly string[];
  readonly count: number;
  readonly things: readonly { readonly kind: string; readonly name: string }[];
}

/** The events as the service tells them; undefined where nothing but the clock or a person has set it off. */
function causesIn(events: unknown): string | undefined {
  if (typeof events !== 'object' || events === null) return undefined;
  const { types = [], count = 0, things = [] } = events as Partial<Causes>;
  const names = things.map(({ kind, name }) => `${kind} ${name}`);
  return `${words.value.jobs.eventCount(count)}: ${[...types, ...names].join(', ')}`;
}
