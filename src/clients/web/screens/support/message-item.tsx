/** One message of a ticket: by whom, when, what, and its files. A draft can be sent, changed and deleted. */
import { useState } from 'preact/hooks';
import { api, type Ticket, type TicketMessage } from '../../api/client.ts';
import { changeTicket, fileAddress } from '../../state/support.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { AreaField } from '../../ui/fields.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Avatar, Tag, Time } from '../../ui/small.tsx';
import { bytesText } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { BODY_CHARS_MAX } from './new-ticket-dialog.tsx';
import { whoAsks } from './ticket-words.tsx';

interface ItemProps {
  readonly ticket: Ticket;
  readonly message: TicketMessage;
}

export function MessageItem({ ticket, message }: ItemProps) {
  const { support } = words.value;
  const { author, body, quoted, channel, draft, attachments, created_at } = message;
  const name = author.name ?? (author.kind === 'customer' ? whoAsks(ticket) : support.authors[author.kind]);
  return (
    <li class={`said ticket-said is-${author.kind}${draft ? ' is-draft' : ''}`}>
      <Avatar name={name} isSquare={author.kind === 'system'} />
      <div class="grow">
        <p class="said-head row">
          <strong>{name}</strong>
          {author.kind !== 'customer' && <Tag tone={author.kind === 'staff' ? 'accent' : 'plain'}>{support.authors[author.kind]}</Tag>}
          {draft && <Tag tone="warn">{support.draft}</Tag>}
          {channel === 'email' && <span>{support.byMail}</span>}
          {channel === 'chat' && <span>{support.byChat}</span>}
          <Time at={created_at} />
        </p>
        <p class="said-text">
          <MessageText text={body} ticket={ticket} />
        </p>
        {quoted !== null && (
          <details class="ticket-quoted">
            <summary>{support.quoted}</summary>
            <p class="said-text soft">{quoted}</p>
          </details>
        )}
        {attachments.length > 0 && (
          <ul class="ticket-files" aria-label={support.files}>
            {attachments.map((file) => (
              <li key={file.id}>
                <a
                  href={fileAddress(ticket.id, file)}
                  download={file.filename}
                  aria-label={support.openFile(file.filename, bytesText(file.size_bytes))}
                >
                  <Icon name="file" size={16} /> {file.filename}
                </a>
                <span class="small soft">{bytesText(file.size_bytes)}</span>
              </li>
            ))}
          </ul>
        )}
        {draft && ticket.may_answer && <DraftActions ticket={ticket} message={message} />}
      </div>
    </li>
  );
}

/** As the service makes them. */
const REQUEST_ID = /(\breq_[a-z2-7]{16}[0-9a-v]{8}\b)/;

/** The text of a message, with its request ids set off; for staff they lead to the log, where the installation says where that is. */
function MessageText({ text, ticket }: { readonly text: string; readonly ticket: Ticket }) {
  const urls = new Map(ticket.request_ids?.map(({ request_id, log_url }) => [request_id, log_url]));
  return (
    <>
      {text.split(REQUEST_ID).map((part, at) => {
        // Every second part is what the pattern has found.
        if (at % 2 === 0) return part;
        const url = urls.get(part);
        if (typeof url !== 'string') return <code key={at}>{part}</code>;
        return (
          <a key={at} class="request-id" href={url} target="_blank" rel="noopener noreferrer">
            {part}
          </a>
        );
      })}
    </>
  );
}

function DraftActions({ ticket, message }: ItemProps) {
  const [text, setText] = useState<string>();
  const [busyWith, setBusyWith] = useState<'send' | 'delete'>();
  const { support, app } = words.value;
  const params = { ticketId: ticket.id, messageId: message.id };
  const act = async (what: 'send' | 'delete', make: () => Promise<unknown>, said: string) => {
    setBusyWith(what);
    if (await changeTicket(ticket.id, make)) tell(said);
    setBusyWith(undefined);
  };
  const send = () => act('send', () => api.support.approveDraft({ params, body: text === undefined ? {} : { body: text } }), support.sent);
  const remove = () => act('delete', () => api.support.deleteDraft({ params }), support.draftDeleted);
  return (
    <div class="ticket-draft">
      {text !== undefined && (
        <AreaField label={support.draftBody} value={text} onText={setText} rows={4} maxLength={BODY_CHARS_MAX} autoFocus />
      )}
      <p class="row">
        <Button
          small
          look="main"
          icon="send"
          isBusy={busyWith === 'send'}
          disabled={busyWith !== undefined || text?.trim() === ''}
          onClick={() => void send()}
        >
          {text === undefined ? support.approve : support.sendEdited}
        </Button>
        {text === undefined ? (
          <Button small icon="pen" onClick={() => setText(message.body)}>
            {support.editDraft}
          </Button>
        ) : (
          <Button small onClick={() => setText(undefined)}>
            {app.discard}
          </Button>
        )}
        <Button small icon="trash" isBusy={busyWith === 'delete'} disabled={busyWith !== undefined} onClick={() => void remove()}>
          {support.deleteDraft}
        </Button>
      </p>
    </div>
  );
}
