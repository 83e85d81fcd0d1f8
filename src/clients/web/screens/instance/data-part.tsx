/** All exports and deletions of people's data, with their receipts. */
import { useState } from 'preact/hooks';
import type { PersonDeletion } from '../../api/client.ts';
import { cancelDeletion, personWorkChangesMs, usePersonDeletions, usePersonExports } from '../../state/instance-work.ts';
import { useFollowing } from '../../state/jobs.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Tag, Time } from '../../ui/small.tsx';
import { ago, dateText } from '../../words/format.ts';
import { instanceWords } from '../../words/instance-words.ts';
import { ListOf } from '../list-of.tsx';
import { Named, PersonLink } from './common.tsx';
import { ExportRow, SaveReceipt } from './export-row.tsx';

export function DataPart() {
  const { data } = instanceWords.value;
  return (
    <div class="narrow">
      <section class="part" aria-label={data.exports}>
        <div class="section-head">
          <div class="grow">
            <h2>{data.exports}</h2>
            <p class="soft small">{data.exportsText}</p>
          </div>
        </div>
        <Exports />
      </section>
      <section class="part" aria-label={data.deletions}>
        <div class="section-head">
          <div class="grow">
            <h2>{data.deletions}</h2>
            <p class="soft small">{data.deletionsText}</p>
          </div>
        </div>
        <Deletions />
      </section>
    </div>
  );
}

function Exports() {
  const pages = usePersonExports();
  const { data } = instanceWords.value;
  useFollowing(personWorkChangesMs(pages.items ?? [], []), { isLoading: pages.isLoading, data: pages.items }, pages.reload);
  return (
    <ListOf pages={pages} icon="zip" empty={data.noExports}>
      {(one) => <ExportRow key={one.id} one={one} isNamed />}
    </ListOf>
  );
}

function Deletions() {
  const pages = usePersonDeletions();
  const { data } = instanceWords.value;
  useFollowing(personWorkChangesMs([], pages.items ?? []), { isLoading: pages.isLoading, data: pages.items }, pages.reload);
  return (
    <ListOf pages={pages} icon="trash" empty={data.noDeletions}>
      {(one) => <DeletionRow key={one.id} one={one} />}
    </ListOf>
  );
}

const TONES = {
  waiting: 'info',
  running: 'info',
  done: 'good',
  failed: 'warn',
  canceled: 'plain',
} as const satisfies Record<PersonDeletion['status'], string>;

function DeletionRow({ one }: { readonly one: PersonDeletion }) {
  const [asks, setAsks] = useState(false);
  const { data } = instanceWords.value;
  const { id, user_id, asked_by, heir_id, status, error, created_at, due_at, finished_at } = one;
  const cancel = async () => {
    try {
      await cancelDeletion(id);
      tell(data.canceled);
    } catch (failure) {
      tellProblem(failure);
    }
  };
  return (
    <li class="row-item is-top">
      <div class="grow">
        <p class="row-title">{user_id === null ? data.removedPerson : <Named id={user_id}>{(who) => who}</Named>}</p>
        <p class="row-facts">
          <Time at={created_at} />
          <span>
            <Named id={asked_by}>{(who) => data.askedBy(who)}</Named>
          </span>
          {status === 'waiting' && <span title={dateText(due_at)}>{data.begins(ago(due_at))}</span>}
          {finished_at !== null && <span title={dateText(finished_at)}>{data.finished(ago(finished_at))}</span>}
          {status !== 'canceled' && <span>{heir_id === null ? data.noHeir : <Named id={heir_id}>{(who) => data.heir(who)}</Named>}</span>}
          {user_id !== null && <PersonLink id={user_id} />}
        </p>
        {status === 'running' && <progress class="progress is-inline" aria-label={data.deletionStatus.running} />}
        {error !== null && <p class="row-note is-bad">{error}</p>}
        {(status === 'running' || status === 'done') && <DeletionReceipt one={one} />}
      </div>
      <span role="status">
        <Tag tone={TONES[status]}>{data.deletionStatus[status]}</Tag>
      </span>
      {status === 'waiting' && (
        <Button small onClick={() => setAsks(true)}>
          {data.cancel}
        </Button>
      )}
      {asks && (
        <Confirm
          title={data.cancel}
          text={data.cancelText}
          action={data.cancel}
          onConfirm={() => void cancel()}
          onClose={() => setAsks(false)}
        />
      )}
    </li>
  );
}

function DeletionReceipt({ one }: { readonly one: PersonDeletion }) {
  const { data } = instanceWords.value;
  const { id, receipt, status } = one;
  if (receipt.length === 0) return <p class="row-note">{data.nothingYet}</p>;
  return (
    <details class="audit-detail">
      <summary>{data.receipt}</summary>
      <dl>
        {receipt.map(({ step, removed, kept }) => (
          <div key={step}>
            <dt>{stepWords(step)}</dt>
            <dd>{[...(removed === 0 ? [] : [data.removed(removed)]), ...(kept === 0 ? [] : [data.kept(kept)])].join(' · ')}</dd>
          </div>
        ))}
      </dl>
      {status === 'done' && <SaveReceipt name={`receipt-${id}.json`} receipt={one} />}
    </details>
  );
}

/** The other steps have the names of places in the database, as the list of what is held has them. */
function stepWords(step: string): string {
  const known: Readonly<Record<string, string>> = instanceWords.value.data.steps;
  return known[step] ?? step;
}
