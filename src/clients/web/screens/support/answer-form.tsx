/** Where a message is written: by who asked, and by who answers. What was typed stays where sending fails, and while another screen is shown. */
import { useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { api, type Ticket } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { useDraft } from '../../state/drafts.ts';
import { ticketChanged } from '../../state/support.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { AreaField } from '../../ui/fields.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';
import { BODY_CHARS_MAX } from './new-ticket-dialog.tsx';
import { FilesField, useTicketFiles } from './ticket-files.tsx';

type Way = 'send' | 'draft';

interface Written {
  readonly body: string;
  readonly attachment_ids: string[];
}

interface FormProps {
  readonly ticket: Ticket;
  readonly label: string;
  readonly hint: string | undefined;
  readonly hasDrafts: boolean;
  readonly onSend: (written: Written, way: Way) => Promise<void>;
}

function MessageForm({ ticket, label, hint, hasDrafts, onSend }: FormProps) {
  const [text, setText] = useDraft(`ticket:${ticket.id}`, '');
  const [problem, setProblem] = useState<Problem>();
  const [busyWith, setBusyWith] = useState<Way>();
  const files = useTicketFiles();
  const { support } = words.value;
  const typed = useRef(text);
  typed.current = text;
  const send = async (way: Way) => {
    setBusyWith(way);
    setProblem(undefined);
    try {
      await onSend({ body: text, attachment_ids: [...files.ids] }, way);
      // What was typed meanwhile is the next message.
      if (typed.current === text) setText('');
      files.clear();
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusyWith(undefined);
    ticketChanged(ticket.id);
  };
  const failed = problem && problemWords(problem);
  const isReady = text.trim() !== '' && !files.isSending && busyWith === undefined;
  return (
    <form
      class="panel ticket-form"
      onSubmit={(event) => {
        event.preventDefault();
        void send('send');
      }}
    >
      <AreaField label={label} hint={hint} value={text} onText={setText} rows={4} maxLength={BODY_CHARS_MAX} />
      <FilesField files={files} />
      {failed && (
        <p class="notice bad" role="alert">
          {failed.title} {failed.text}
        </p>
      )}
      <p class="row">
        <Button type="submit" look="main" icon="send" isBusy={busyWith === 'send'} disabled={!isReady}>
          {support.send}
        </Button>
        {hasDrafts && (
          <Button isBusy={busyWith === 'draft'} disabled={!isReady} onClick={() => void send('draft')}>
            {support.keepDraft}
          </Button>
        )}
      </p>
    </form>
  );
}

/** For who asked. A ticket that was closed for long is continued by another one. */
export function WriteForm({ ticket }: { readonly ticket: Ticket }) {
  const { route } = useLocation();
  const { support } = words.value;
  const isSettled = ticket.status === 'resolved' || ticket.status === 'closed';
  const send = async (body: Written) => {
    const { body: made } = await api.support.message({ params: { ticketId: ticket.id }, body });
    tell(support.sent);
    if (made.ticket.id !== ticket.id) route(`/my/support/${made.ticket.id}`);
  };
  return (
    <MessageForm ticket={ticket} label={support.answer} hint={isSettled ? support.reopens : undefined} hasDrafts={false} onSend={send} />
  );
}

/** For who answers: it leaves on the channel that the ticket came from. */
export function AnswerForm({ ticket }: { readonly ticket: Ticket }) {
  const { support } = words.value;
  const { id, channel, requester_email } = ticket;
  const hint = channel === 'email' ? support.leaves.email(requester_email ?? support.somebody) : support.leaves[channel];
  const send = async (written: Written, way: Way) => {
    await api.support.reply({ params: { ticketId: id }, body: { ...written, draft: way === 'draft' } });
    tell(way === 'draft' ? support.draftKept : support.sent);
  };
  return <MessageForm ticket={ticket} label={support.reply} hint={hint} hasDrafts onSend={send} />;
}
