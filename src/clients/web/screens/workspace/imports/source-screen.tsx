/** One source: its rules, its run under way, and those before. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { ImportSource } from '../../../api/client.ts';
import { type Problem, problemOf } from '../../../api/problem.ts';
import { changesAfterMs, deleteSource, isUnderWay, type ReadSource, saveSource, useSource } from '../../../state/imports.ts';
import { useFollowing } from '../../../state/jobs.ts';
import { mayManage, seatIn } from '../../../state/place.ts';
import { tell, tellProblem } from '../../../state/toasts.ts';
import { useTitle } from '../../../state/window.ts';
import { Button } from '../../../ui/button.tsx';
import { Confirm, Dialog } from '../../../ui/dialog.tsx';
import { Head } from '../../../ui/small.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { problemWords } from '../../../words/problems.ts';
import { words } from '../../../words/words.ts';
import { WorkspaceTabs } from '../tabs.tsx';
import { ConnectButton, NextRun, SyncButton } from './import-words.tsx';
import { LastRun, RunHistory } from './runs-part.tsx';
import { type Rules, SourceFields } from './source-fields.tsx';

export function SourceScreen({ slug, sourceId }: { readonly slug: string; readonly sourceId: string }) {
  const { workspace, imports } = words.value;
  const seat = seatIn(slug);
  const read = useSource(slug, sourceId);
  const { data, isLoading, reload } = read;
  useTitle(`${data?.source.remoteName ?? imports.title} · ${seat?.name ?? slug}`);
  // The run under way is followed by itself; this waits for one that the clock begins.
  const isIdle = data !== undefined && !isUnderWay(data.source.lastRun);
  useFollowing(isIdle ? changesAfterMs([data.source]) : undefined, { isLoading, data }, reload);
  if (seat === undefined) return <Empty icon="search" {...workspace.missing} />;
  return (
    <>
      <Head title={seat.name} />
      <WorkspaceTabs slug={seat.slug} />
      <div class="narrow">
        <p class="small">
          <a href={`/w/${slug}/imports`}>{imports.back}</a>
        </p>
        <Loaded of={read} missing={imports.missing}>
          {(shown) => (
            <>
              <SourceView slug={slug} read={shown} />
              {shown.source.lastRun !== null && (
                <LastRun key={shown.source.lastRun.id} slug={slug} source={shown.source} runId={shown.source.lastRun.id} />
              )}
              <RunHistory slug={slug} source={shown.source} />
            </>
          )}
        </Loaded>
      </div>
    </>
  );
}

function SourceView({ slug, read }: { readonly slug: string; readonly read: ReadSource }) {
  const { imports } = words.value;
  const { source } = read;
  const { provider, remoteName, connected, mine } = source;
  return (
    <section class="panel">
      <header class="row">
        <h2 class="grow">{remoteName}</h2>
      </header>
      {!connected && mine && (
        <div class="notice warn" role="alert">
          <p>{imports.cutOff}</p>
          <p class="row">
            <ConnectButton slug={slug} provider={provider} isAgain />
          </p>
        </div>
      )}
      <SourceFacts slug={slug} source={source} />
      <SourceActions slug={slug} read={read} />
    </section>
  );
}

function SourceFacts({ slug, source }: { readonly slug: string; readonly source: ImportSource }) {
  const { imports } = words.value;
  const { provider, targetFolderId, targetFolderName, convert, dailySync, mine } = source;
  const rules = [convert ? imports.converts : imports.asTheyAre, ...(dailySync ? [imports.everyDay] : [])];
  return (
    <dl class="job-facts">
      <dt>{imports.facts.drive}</dt>
      <dd>
        {imports.providers[provider]}
        {!mine && ` · ${imports.ofOther}`}
      </dd>
      <dt>{imports.facts.into}</dt>
      <dd>
        {targetFolderId === null ? (
          imports.targetGone
        ) : (
          <a href={`/w/${slug}/folders/${targetFolderId}`} aria-label={imports.pagesIn(targetFolderName ?? '')}>
            {targetFolderName}
          </a>
        )}
      </dd>
      <dt>{imports.facts.rules}</dt>
      <dd>{rules.join(' · ')}</dd>
      <dt>{imports.facts.next}</dt>
      <dd>
        <NextRun source={source} />
      </dd>
    </dl>
  );
}

function SourceActions({ slug, read }: { readonly slug: string; readonly read: ReadSource }) {
  const [dialog, setDialog] = useState<'edit' | 'remove'>();
  const { route } = useLocation();
  const { imports } = words.value;
  const { id, remoteName, mine, connected, lastRun } = read.source;
  const remove = async () => {
    try {
      await deleteSource(slug, id);
      tell(imports.removed(remoteName));
      route(`/w/${slug}/imports`, true);
    } catch (error) {
      tellProblem(error);
    }
  };
  return (
    <div class="row">
      {mine && connected && !isUnderWay(lastRun) && <SyncButton slug={slug} source={read.source} look="main" />}
      {mine && (
        <Button small icon="pen" onClick={() => setDialog('edit')}>
          {imports.edit}
        </Button>
      )}
      {(mine || mayManage(slug)) && (
        <Button small look="danger" icon="trash" onClick={() => setDialog('remove')}>
          {imports.remove}
        </Button>
      )}
      {dialog === 'edit' && <RulesDialog slug={slug} read={read} onClose={() => setDialog(undefined)} />}
      {dialog === 'remove' && (
        <Confirm
          title={imports.removeOf(remoteName)}
          text={imports.removeText}
          action={imports.remove}
          onClose={() => setDialog(undefined)}
          onConfirm={() => void remove()}
        />
      )}
    </div>
  );
}

interface RulesProps {
  readonly slug: string;
  readonly read: ReadSource;
  readonly onClose: () => void;
}

function RulesDialog({ slug, read, onClose }: RulesProps) {
  // As they were when the dialog was opened: a change of somebody else meanwhile is a conflict.
  const [opened] = useState(read);
  const { targetFolderId, convert, dailySync, remoteName } = opened.source;
  const [rules, setRules] = useState<Rules>({ targetFolderId, convert, dailySync });
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { imports, app } = words.value;
  const isChanged = rules.targetFolderId !== targetFolderId || rules.convert !== convert || rules.dailySync !== dailySync;
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      const { targetFolderId: folder, ...rest } = rules;
      await saveSource(slug, opened, { ...rest, ...(folder !== null && { targetFolderId: folder }) });
      tell(imports.changed);
      onClose();
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const failed = problem && problemWords(problem);
  return (
    <Dialog title={imports.editOf(remoteName)} isChanged={isChanged} onClose={onClose}>
      <form onSubmit={save}>
        <SourceFields slug={slug} rules={rules} onRules={setRules} />
        {failed && (
          <p class="field-note is-bad" role="alert">
            {failed.title} {failed.text}
          </p>
        )}
        <div class="dialog-foot">
          <Button onClick={onClose}>{app.cancel}</Button>
          <Button type="submit" look="main" isBusy={isBusy} disabled={!isChanged}>
            {app.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
