/** The jobs of a page; one of them, or a new one, where the address names it. */
import type { Artifact, Job } from '../../api/client.ts';
import { changesAfterMs, useFollowing, useJobs } from '../../state/jobs.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Time } from '../../ui/small.tsx';
import { Empty, ProblemState, Skeleton } from '../../ui/states.tsx';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import { JobForm } from './job-form.tsx';
import { JobView } from './job-view.tsx';
import { StateTag, StatusTag, WhenText } from './job-words.tsx';

interface JobsPartProps {
  readonly artifact: Artifact;
  /** `new`, or the job that is shown; undefined for the list. */
  readonly item: string | undefined;
}

export function JobsPart({ artifact, item }: JobsPartProps) {
  if (item === undefined) return <JobList artifact={artifact} />;
  return (
    <>
      <p>
        <a href={`/p/${artifact.id}/jobs`}>{words.value.jobs.back}</a>
      </p>
      {item === 'new' ? <JobForm artifact={artifact} stored={undefined} /> : <JobView artifact={artifact} jobId={item} />}
    </>
  );
}

function JobList({ artifact }: { readonly artifact: Artifact }) {
  const pages = useJobs(artifact.id);
  const { items, problem, isLoading } = pages;
  const { jobs } = words.value;
  useFollowing(changesAfterMs(items ?? [], []), { isLoading, data: items }, pages.reload);
  const make = (
    <LinkButton look="main" icon="plus" href={`/p/${artifact.id}/jobs/new`}>
      {jobs.newJob}
    </LinkButton>
  );
  return (
    <div class="narrow">
      <div class="section-head">
        <div class="grow">
          <h2>{jobs.heading}</h2>
          <p class="soft small">{jobs.headingText}</p>
        </div>
        {items !== undefined && items.length > 0 && make}
      </div>
      {items === undefined && problem === undefined && <Skeleton shape="line" count={3} />}
      {items === undefined && problem !== undefined && <ProblemState problem={problem} onRetry={pages.reload} />}
      {items?.length === 0 && (
        <Empty
          icon="clock"
          {...jobs.empty}
          command={`easel jobs create -a ${artifact.slug} --title "Count orders" --cron "0 9 * * 1-5" --script count.js`}
        >
          {make}
        </Empty>
      )}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((job) => (
            <JobRow key={job.id} job={job} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </div>
  );
}

function JobRow({ job }: { readonly job: Job }) {
  const { jobs } = words.value;
  const { enabled, next_run_at, last_run_at, last_status } = job;
  return (
    <li class="row-item">
      <Icon name={job.trigger_type === 'cron' ? 'clock' : 'history'} />
      <div class="grow">
        <p class="row-title">
          <a href={`/p/${job.artifact_id}/jobs/${job.id}`}>{job.title}</a>
        </p>
        <p class="row-facts">
          <span>{jobs.actions[job.action]}</span>
          <span>
            <WhenText job={job} />
          </span>
        </p>
        <p class="row-facts">
          {enabled && next_run_at !== null && (
            <span>
              {jobs.next} <Time at={next_run_at} />
            </span>
          )}
          {last_run_at === null ? (
            <span>{jobs.notYet}</span>
          ) : (
            <span>
              {jobs.last} <Time at={last_run_at} />
            </span>
          )}
        </p>
      </div>
      {last_status !== null && <StatusTag status={last_status} />}
      <StateTag job={job} />
    </li>
  );
}
