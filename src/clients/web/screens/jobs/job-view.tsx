/** One job: what it is, what it has done, and its settings. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { type Artifact, api, type Job, type Rehearsal } from '../../api/client.ts';
import { deleteJob, runJob, turnJob, useJob } from '../../state/jobs.ts';
import { myId } from '../../state/session.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Time } from '../../ui/small.tsx';
import { Loaded } from '../../ui/states.tsx';
import { words } from '../../words/words.ts';
import { JobForm } from './job-form.tsx';
import { StateTag, StatusTag, WhenText } from './job-words.tsx';
import { Ledger } from './ledger.tsx';
import { RehearsalDialog } from './rehearsal.tsx';

interface JobViewProps {
  readonly artifact: Artifact;
  readonly jobId: string;
}

export function JobView({ artifact, jobId }: JobViewProps) {
  const loaded = useJob(jobId);
  const [side, setSide] = useState<'ledger' | 'settings'>('ledger');
  const { jobs } = words.value;
  return (
    <Loaded of={loaded} shape="block" missing={jobs.missing}>
      {(job) => (
        <div class="job-view">
          <JobHead artifact={artifact} job={job} />
          <fieldset class="segments" aria-label={jobs.sides}>
            {(['ledger', 'settings'] as const).map((one) => (
              <button key={one} type="button" class="segment" aria-pressed={one === side} onClick={() => setSide(one)}>
                {one === 'ledger' ? jobs.ledger : jobs.settings}
              </button>
            ))}
          </fieldset>
          {side === 'ledger' ? <Ledger job={job} onStale={loaded.reload} /> : <JobForm artifact={artifact} stored={job} />}
        </div>
      )}
    </Loaded>
  );
}

function JobHead({ artifact, job }: { readonly artifact: Artifact; readonly job: Job }) {
  const { jobs } = words.value;
  return (
    <section class="panel">
      <header class="row">
        <h2 class="grow">{job.title}</h2>
        <StateTag job={job} />
      </header>
      {job.description !== null && <p class="job-about">{job.description}</p>}
      <JobFacts job={job} />
      {job.paused_reason !== null && (
        <div class="notice bad" role="alert">
          <p>{jobs.stopped(job.paused_reason)}</p>
        </div>
      )}
      <JobActions artifact={artifact} job={job} />
    </section>
  );
}

function JobFacts({ job }: { readonly job: Job }) {
  const { jobs } = words.value;
  const { action, enabled, next_run_at, last_run_at, last_status, creator_id } = job;
  return (
    <dl class="job-facts">
      <dt>{jobs.action}</dt>
      <dd>{jobs.actions[action]}</dd>
      <dt>{jobs.when}</dt>
      <dd>
        <WhenText job={job} />
      </dd>
      {enabled && next_run_at !== null && (
        <>
          <dt>{jobs.nextRun}</dt>
          <dd>
            <Time at={next_run_at} />
          </dd>
        </>
      )}
      <dt>{jobs.lastRun}</dt>
      <dd>
        {last_run_at === null ? jobs.notYet : <Time at={last_run_at} />} {last_status !== null && <StatusTag status={last_status} />}
      </dd>
      <dt>{jobs.inTheNameOf}</dt>
      <dd>{creator_id === myId() ? jobs.you : jobs.anotherEditor}</dd>
    </dl>
  );
}

function JobActions({ artifact, job }: { readonly artifact: Artifact; readonly job: Job }) {
  const [busy, setBusy] = useState<'run' | 'rehearse' | 'turn'>();
  const [rehearsal, setRehearsal] = useState<Rehearsal>();
  const [isDeleting, setDeleting] = useState(false);
  const { route } = useLocation();
  const { jobs } = words.value;
  const during = async (what: typeof busy, work: () => Promise<unknown>) => {
    setBusy(what);
    try {
      await work();
    } catch (error) {
      tellProblem(error);
    }
    setBusy(undefined);
  };
  const run = async () => {
    await runJob(job.id);
    tell(words.value.jobs.started_);
  };
  const rehearse = async () => setRehearsal((await api.jobs.rehearse({ params: { jobId: job.id } })).body);
  const remove = async () => {
    try {
      await deleteJob(job.id);
      tell(jobs.deleted);
      route(`/p/${artifact.id}/jobs`, true);
    } catch (error) {
      tellProblem(error);
    }
  };
  return (
    <div class="row">
      <Button isBusy={busy === 'run'} onClick={() => void during('run', run)}>
        {jobs.run}
      </Button>
      <Button icon="eye" isBusy={busy === 'rehearse'} onClick={() => void during('rehearse', rehearse)}>
        {jobs.rehearse}
      </Button>
      <Button
        look={job.paused_reason === null ? 'second' : 'main'}
        isBusy={busy === 'turn'}
        onClick={() => void during('turn', () => turnJob(job.id, !job.enabled))}
      >
        {job.enabled ? jobs.pause : jobs.resume}
      </Button>
      <Button look="danger" icon="trash" onClick={() => setDeleting(true)}>
        {jobs.delete}
      </Button>
      {rehearsal !== undefined && <RehearsalDialog found={rehearsal} onClose={() => setRehearsal(undefined)} />}
      {isDeleting && (
        <Confirm
          title={jobs.delete}
          text={jobs.deleteText(job.title)}
          action={jobs.delete}
          onConfirm={() => void remove()}
          onClose={() => setDeleting(false)}
        />
      )}
    </div>
  );
}
