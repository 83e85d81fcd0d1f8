/** Runs of a source: the last one as it goes on, and those before it. */
import { useEffect, useState } from 'preact/hooks';
import type { ImportRun, ImportSource } from '../../../api/client.ts';
import { cancelImport, isUnderWay, runEnded, useRun, useRuns } from '../../../state/imports.ts';
import { useFollowing } from '../../../state/jobs.ts';
import { mayManage } from '../../../state/place.ts';
import { tell, tellProblem } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { Tag, Time } from '../../../ui/small.tsx';
import { Loaded, ProblemState, Skeleton } from '../../../ui/states.tsx';
import { dateText } from '../../../words/format.ts';
import { words } from '../../../words/words.ts';
import { More } from '../../more.tsx';
import { StatusTag, summaryOf } from './import-words.tsx';

/** Counts are saved as files are done, and are asked for at this pace. */
const FOLLOW_MS = 1000;
/** As `importErrorsMax` in protocol/core/limits.ts, which is not bundled. */
const ERRORS_MAX = 200;
const COUNTS = ['found', 'imported', 'converted', 'skipped', 'unchanged', 'failed'] as const satisfies (keyof ImportRun['counts'])[];

interface LastRunProps {
  readonly slug: string;
  readonly source: ImportSource;
  readonly runId: string;
}

export function LastRun({ slug, source, runId }: LastRunProps) {
  const run = useRun(slug, runId);
  const { data, isLoading, reload } = run;
  const isOpen = data !== undefined && isUnderWay(data);
  useFollowing(isOpen ? FOLLOW_MS : undefined, { isLoading, data }, reload);
  // The source says when it runs next, and lists have the pages that were made.
  const wasOpen = isUnderWay(source.lastRun);
  useEffect(() => {
    if (data !== undefined && !isOpen && wasOpen) runEnded(slug);
  }, [data, isOpen, wasOpen]);
  const { imports } = words.value;
  return (
    <section class="panel" aria-label={imports.lastRun}>
      <Loaded of={run} shape="block">
        {(shown) => (
          <>
            <header class="row">
              <h3 class="grow">{imports.lastRun}</h3>
              <span role="status">
                <StatusTag run={shown} />
              </span>
              {isUnderWay(shown) && (source.mine || mayManage(slug)) && <CancelButton slug={slug} runId={runId} />}
            </header>
            <p class="row-facts">
              <span>{imports.trigger[shown.trigger]}</span>
              <Time at={shown.createdAt} />
            </p>
            {isUnderWay(shown) && <Progress counts={shown.counts} />}
            <Counts counts={shown.counts} />
            <StopNote run={shown} />
            <FileErrors run={shown} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function CancelButton({ slug, runId }: { readonly slug: string; readonly runId: string }) {
  const [isBusy, setBusy] = useState(false);
  const { imports } = words.value;
  const cancel = async () => {
    setBusy(true);
    try {
      await cancelImport(slug, runId);
      tell(imports.canceling);
    } catch (error) {
      tellProblem(error);
    }
    setBusy(false);
  };
  return (
    <Button small isBusy={isBusy} onClick={() => void cancel()}>
      {imports.cancel}
    </Button>
  );
}

function Progress({ counts: { found, imported, converted, skipped, unchanged, failed } }: Pick<ImportRun, 'counts'>) {
  const { imports } = words.value;
  const done = imported + converted + skipped + unchanged + failed;
  // Where all that was found is done, nobody knows yet how much is still to be found.
  return <progress class="progress is-inline" aria-label={imports.progress} {...(done < found && { value: done, max: found })} />;
}

function Counts({ counts }: Pick<ImportRun, 'counts'>) {
  const { imports } = words.value;
  return (
    <dl class="import-counts">
      {COUNTS.map((name) => (
        <div key={name} class={name === 'failed' && counts.failed > 0 ? 'is-bad' : undefined}>
          <dt>{imports.counts[name]}</dt>
          <dd>{counts[name].toLocaleString(words.value.locale)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What the server says of a failure, of which the code names no cause. */
function stopDetail({ stopCode, stopMessage }: ImportRun): string | null {
  return stopCode === 'FAILED' ? stopMessage : null;
}

/** Why it ended early; of one that has come to its end, what it has left out. */
function StopNote({ run }: { readonly run: ImportRun }) {
  const { imports } = words.value;
  const { status, stopCode } = run;
  const detail = stopDetail(run);
  if (stopCode === null) return status === 'stopped' ? <p class="soft small">{imports.canceled}</p> : null;
  return (
    <div class={`notice ${status === 'failed' ? 'bad' : 'warn'}`}>
      <p>{imports.stop[stopCode]}</p>
      {detail !== null && <p class="small">{detail}</p>}
    </div>
  );
}

function reasonOf({ code, message }: ImportRun['errors'][number]): string {
  const { because } = words.value.imports;
  return Object.hasOwn(because, code) ? because[code as keyof typeof because] : message;
}

function FileErrors({ run: { errors } }: { readonly run: ImportRun }) {
  const { imports } = words.value;
  if (errors.length === 0) return null;
  return (
    <section class="import-errors" aria-label={imports.errors(errors.length)}>
      <h4>{imports.errors(errors.length)}</h4>
      <ul>
        {errors.map((error, at) => (
          <li key={at}>
            <span class="import-path">{error.path}</span>
            <Tag tone={error.status === 'failed' ? 'warn' : 'plain'}>{imports.errorStatus[error.status]}</Tag>
            <span class="soft">{reasonOf(error)}</span>
          </li>
        ))}
      </ul>
      {errors.length >= ERRORS_MAX && <p class="soft small">{imports.errorsMax(ERRORS_MAX)}</p>}
    </section>
  );
}

export function RunHistory({ slug, source }: { readonly slug: string; readonly source: ImportSource }) {
  const pages = useRuns(slug, source.id);
  const { items, problem } = pages;
  const { imports } = words.value;
  return (
    <section class="catalog-section" aria-label={imports.history}>
      <h3>{imports.history}</h3>
      {items === undefined && problem === undefined && <Skeleton shape="line" count={3} />}
      {items === undefined && problem !== undefined && <ProblemState problem={problem} onRetry={pages.reload} />}
      {items?.length === 0 && <p class="soft">{imports.neverRan}</p>}
      {items !== undefined && items.length > 0 && (
        <ul class="rows job-runs">
          {items.map((run) => (
            <RunRow key={run.id} slug={slug} run={run} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </section>
  );
}

function RunRow({ slug, run }: { readonly slug: string; readonly run: ImportRun }) {
  const [isOpen, setOpen] = useState(false);
  const { imports } = words.value;
  const { createdAt, trigger, stopCode, errors } = run;
  return (
    <li class="row-item is-top">
      <div class="grow">
        <p class="row-title">
          <time dateTime={createdAt} title={createdAt}>
            {dateText(createdAt)}
          </time>
        </p>
        <p class="row-facts">
          <span>{imports.trigger[trigger]}</span>
          {!isUnderWay(run) && <span>{summaryOf(run)}</span>}
        </p>
        {stopCode !== null && <p class="row-note">{[imports.stop[stopCode], stopDetail(run)].filter(Boolean).join(' ')}</p>}
        {errors.length > 0 && (
          <details class="job-detail" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
            <summary>{imports.files}</summary>
            {isOpen && <AllErrors slug={slug} runId={run.id} />}
          </details>
        )}
      </div>
      <StatusTag run={run} />
    </li>
  );
}

/** A list of runs has the first ones alone. */
function AllErrors({ slug, runId }: { readonly slug: string; readonly runId: string }) {
  const run = useRun(slug, runId);
  return <Loaded of={run}>{(shown) => <FileErrors run={shown} />}</Loaded>;
}
