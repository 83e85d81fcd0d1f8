/** The form of a job. What is typed outlives the screen that is left, and can be tried before it is saved. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { type Artifact, api, type Job, type Rehearsal } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { useDraft } from '../../state/drafts.ts';
import { createJob, saveJob } from '../../state/jobs.ts';
import { myId } from '../../state/session.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { AreaField, Switch, TextField } from '../../ui/fields.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';
import { bodyOf, changesOf, deedOf, draftOf, type JobDraft } from './job-draft.ts';
import { ActionFields, BESIDE_FIELDS, RetryFields } from './job-fields.tsx';
import { RehearsalDialog } from './rehearsal.tsx';
import { TriggerFields } from './schedule-fields.tsx';

interface JobFormProps {
  readonly artifact: Artifact;
  readonly stored: Job | undefined;
}

const NOTHING_TYPED: Partial<JobDraft> = {};

export function JobForm({ artifact, stored }: JobFormProps) {
  const [typed, setTyped] = useDraft(`job:${artifact.id}:${stored?.id ?? 'new'}`, NOTHING_TYPED);
  const [busy, setBusy] = useState<'save' | 'rehearse'>();
  const [problem, setProblem] = useState<Problem>();
  const [rehearsal, setRehearsal] = useState<Rehearsal>();
  const { route } = useLocation();
  const { jobs, app } = words.value;
  const before = draftOf(stored);
  const draft: JobDraft = { ...before, ...typed };
  const isChanged = (Object.keys(before) as (keyof JobDraft)[]).some(
    (field) => JSON.stringify(draft[field]) !== JSON.stringify(before[field]),
  );
  const isAt = (field: string) => problem?.param === field || problem?.param?.startsWith(`${field}.`) === true;
  const fields = {
    artifactId: artifact.id,
    workspaceId: artifact.workspace_id,
    draft,
    write: (change: Partial<JobDraft>) => {
      // A problem names the place of a file in the list, where another one is when one before it goes.
      if (change.files !== undefined && change.files.length < draft.files.length && isAt('config.attachments')) setProblem(undefined);
      setTyped({ ...typed, ...change });
    },
    errorOf: (field: string) => (problem !== undefined && isAt(field) ? problemWords(problem).text : undefined),
  };
  const during = async (what: 'save' | 'rehearse', work: () => Promise<void>) => {
    setBusy(what);
    setProblem(undefined);
    try {
      await work();
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(undefined);
  };
  const save = async () => {
    if (stored === undefined) {
      const id = await createJob(bodyOf(artifact.id, draft));
      setTyped(NOTHING_TYPED);
      route(`/p/${artifact.id}/jobs/${id}`, true);
    } else {
      await saveJob(stored.id, changesOf(draft, stored), stored.updated_at);
      setTyped(NOTHING_TYPED);
    }
    tell(words.value.jobs.saved);
  };
  const rehearse = async (job: Job) => setRehearsal((await api.jobs.rehearse({ params: { jobId: job.id }, body: deedOf(draft) })).body);
  return (
    <form
      class="template-editor"
      aria-label={stored === undefined ? jobs.newJob : jobs.settings}
      onSubmit={(event) => {
        event.preventDefault();
        void during('save', save);
      }}
    >
      <div class="panel">
        <TextField
          label={jobs.title}
          value={draft.title}
          onText={(title) => fields.write({ title })}
          required
          maxLength={200}
          autoFocus={stored === undefined}
          error={fields.errorOf('title')}
        />
        <ActionFields {...fields} />
        <AreaField
          label={jobs.description}
          value={draft.description}
          onText={(description) => fields.write({ description })}
          rows={2}
          maxLength={2000}
          error={fields.errorOf('description')}
        />
      </div>
      <div class="panel">
        <TriggerFields {...fields} />
        <RetryFields {...fields} />
        {stored === undefined && (
          <Switch label={jobs.starts} hint={jobs.startsHint} isOn={draft.enabled} onTurn={(enabled) => fields.write({ enabled })} />
        )}
        {stored !== undefined && stored.creator_id !== myId() && <p class="notice">{jobs.becomesYours}</p>}
        {problem !== undefined && !BESIDE_FIELDS.some(isAt) && <ProblemLine problem={problem} />}
        <div class="row">
          <Button look="main" type="submit" isBusy={busy === 'save'} disabled={stored !== undefined && !isChanged}>
            {stored === undefined ? jobs.create : app.save}
          </Button>
          {stored !== undefined && (
            <Button icon="eye" isBusy={busy === 'rehearse'} onClick={() => void during('rehearse', () => rehearse(stored))}>
              {jobs.rehearseTyped}
            </Button>
          )}
          {isChanged && <Button onClick={() => setTyped(NOTHING_TYPED)}>{app.discard}</Button>}
        </div>
        {stored !== undefined && <p class="small soft">{jobs.rehearseHint}</p>}
      </div>
      {rehearsal !== undefined && <RehearsalDialog found={rehearsal} onClose={() => setRehearsal(undefined)} />}
    </form>
  );
}

function ProblemLine({ problem }: { readonly problem: Problem }) {
  const { title, text } = problemWords(problem);
  return (
    <p class="notice bad" role="alert">
      {title} {text}
    </p>
  );
}
