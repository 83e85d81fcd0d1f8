/** The outbox: what waits, what was given up and why. */
import { useState } from 'preact/hooks';
import type { InstanceMail } from '../../api/client.ts';
import { dropMail, MAIL_STATES, type MailState, retryMail, useInstanceMails } from '../../state/instance-work.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/fields.tsx';
import { Tag } from '../../ui/small.tsx';
import { ago, dateText } from '../../words/format.ts';
import { instanceWords } from '../../words/instance-words.ts';
import { ListOf } from '../list-of.tsx';
import { ActionButton, PageLink, type PartProps, SearchBox } from './common.tsx';

const TONES = { queued: 'info', failed: 'warn', suppressed: 'plain', sent: 'good' } as const satisfies Record<MailState, string>;

export function MailPart({ q: initial }: PartProps) {
  const [q, setQ] = useState(initial);
  const [state, setState] = useState<'all' | MailState>('all');
  const pages = useInstanceMails(q, state);
  const said = instanceWords.value;
  const { mail } = said;
  const isFiltered = q !== '' || state !== 'all';
  return (
    <>
      <p class="soft small instance-intro">{mail.text}</p>
      <div class="instance-tools">
        <SearchBox label={mail.search} initial={initial} onSearch={setQ} />
        <SelectField
          label={mail.state}
          hideLabel
          value={state}
          options={[{ value: 'all' as const, label: mail.anyState }, ...MAIL_STATES.map((value) => ({ value, label: mail.states[value] }))]}
          onChoose={setState}
        />
      </div>
      <ListOf pages={pages} icon="mail" empty={isFiltered ? said.noneFound : mail.empty}>
        {(one) => <MailRow key={one.id} one={one} />}
      </ListOf>
    </>
  );
}

function MailRow({ one }: { readonly one: InstanceMail }) {
  const [asks, setAsks] = useState(false);
  const { mail } = instanceWords.value;
  const { id, recipient, subject, artifact_id, state, attempts, failure, next_attempt_at, sent_at, created_at } = one;
  const isOpen = state === 'queued' || state === 'failed';
  const drop = async () => {
    try {
      await dropMail(id);
      tell(mail.dropped);
    } catch (error) {
      tellProblem(error);
    }
  };
  return (
    <li class="row-item">
      <div class="grow">
        <p class="row-title is-long">{subject}</p>
        <p class="row-facts">
          <span>{recipient}</span>
          <span title={dateText(created_at)}>{mail.queued(ago(created_at))}</span>
          {attempts > 0 && <span>{mail.attempts(attempts)}</span>}
          {sent_at !== null && <span title={dateText(sent_at)}>{mail.sent(ago(sent_at))}</span>}
          {state === 'queued' && next_attempt_at !== null && attempts > 0 && <span>{mail.next(ago(next_attempt_at))}</span>}
          {artifact_id !== null && <PageLink id={artifact_id} />}
        </p>
        {failure !== null && <p class="row-note is-bad">{failure}</p>}
      </div>
      <Tag tone={TONES[state]}>{mail.states[state]}</Tag>
      {isOpen && (
        <>
          <ActionButton
            label={mail.retryOf(subject, recipient)}
            run={async () => {
              await retryMail(id);
              tell(mail.retried);
            }}
          >
            {mail.retry}
          </ActionButton>
          <Button small look="quiet" aria-label={mail.dropOf(subject, recipient)} onClick={() => setAsks(true)}>
            {mail.drop}
          </Button>
        </>
      )}
      {asks && (
        <Confirm
          title={mail.dropTitle}
          text={mail.dropText(recipient)}
          action={mail.drop}
          onConfirm={() => void drop()}
          onClose={() => setAsks(false)}
        />
      )}
    </li>
  );
}
