/** An export of a person's data: how far it is, its file and its receipt. */
import type { PersonExport } from '../../api/client.ts';
import { saveFile } from '../../state/instance-whole.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Tag, Time } from '../../ui/small.tsx';
import { ago, bytesText } from '../../words/format.ts';
import { instanceWords } from '../../words/instance-words.ts';
import { Named, PersonLink } from './common.tsx';

const TONES = { queued: 'info', running: 'info', done: 'good', failed: 'warn' } as const satisfies Record<PersonExport['status'], string>;

interface RowProps {
  readonly one: PersonExport;
  /** Whether it says whose data it is. */
  readonly isNamed: boolean;
}

export function ExportRow({ one, isNamed }: RowProps) {
  const { data } = instanceWords.value;
  const { id, user_id, asked_by, status, error, created_at, expires_at, bytes, receipt } = one;
  const isThere = status === 'done';
  return (
    <li class="row-item is-top">
      <div class="grow">
        {isNamed && (
          <p class="row-title">
            <Named id={user_id}>{(who) => who}</Named>
          </p>
        )}
        <p class="row-facts">
          <Time at={created_at} />
          <span>
            <Named id={asked_by}>{(who) => data.askedBy(who)}</Named>
          </span>
          {bytes !== null && <span>{bytesText(bytes)}</span>}
          {expires_at !== null && <span>{data.until(ago(expires_at))}</span>}
          {isNamed && user_id !== null && <PersonLink id={user_id} />}
        </p>
        {(status === 'queued' || status === 'running') && <progress class="progress is-inline" aria-label={data.exportStatus[status]} />}
        {error !== null && <p class="row-note is-bad">{error}</p>}
        {receipt !== null && <ExportReceipt id={id} receipt={receipt} />}
      </div>
      <span role="status">
        <Tag tone={TONES[status]}>{data.exportStatus[status]}</Tag>
      </span>
      {isThere && (
        <LinkButton small icon="down" href={`/v1/admin/exports/${id}/file`} download="">
          {data.fetch}
        </LinkButton>
      )}
    </li>
  );
}

interface ReceiptProps {
  readonly id: string;
  readonly receipt: NonNullable<PersonExport['receipt']>;
}

function ExportReceipt({ id, receipt }: ReceiptProps) {
  const { data } = instanceWords.value;
  return (
    <details class="audit-detail">
      <summary>
        {data.receipt}: {data.files(receipt.length)}
      </summary>
      <dl>
        {receipt.map(({ file, rows, bytes, is_cut }) => (
          <div key={file}>
            <dt>{file}</dt>
            <dd>{[...(rows === null ? [] : [data.rows(rows)]), bytesText(bytes), ...(is_cut === true ? [data.cut] : [])].join(' · ')}</dd>
          </div>
        ))}
      </dl>
      <SaveReceipt name={`receipt-${id}.json`} receipt={receipt} />
    </details>
  );
}

export function SaveReceipt({ name, receipt }: { readonly name: string; readonly receipt: unknown }) {
  const save = () => saveFile(new Blob([`${JSON.stringify(receipt, null, 2)}\n`], { type: 'application/json' }), name);
  return (
    <p class="row instance-save">
      <Button small icon="down" onClick={save}>
        {instanceWords.value.data.saveReceipt}
      </Button>
    </p>
  );
}
