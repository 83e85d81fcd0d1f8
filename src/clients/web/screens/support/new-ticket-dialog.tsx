/** Writes a ticket. A request id from an error leads whoever answers to the log, so it becomes a line of the message. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { api } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { me } from '../../state/session.ts';
import { changed } from '../../state/store.ts';
import { PRIORITIES, type Priority } from '../../state/support.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { AreaField, SelectField, TextField } from '../../ui/fields.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';
import { FilesField, useTicketFiles } from './ticket-files.tsx';

// Source: ticketSubjectCharsMax and ticketBodyCharsMax of the protocol's limits, with room for the line of the request.
const SUBJECT_CHARS_MAX = 200;
export const BODY_CHARS_MAX = 19_800;
const REQUEST_CHARS_MAX = 100;

interface NewTicketProps {
  readonly requestId: string;
  readonly onClose: () => void;
}

export function NewTicketDialog({ requestId, onClose }: NewTicketProps) {
  const { route } = useLocation();
  const [subject, setSubject] = useState('');
  const [message, setMessage] = useState('');
  const [request, setRequest] = useState(requestId);
  const [priority, setPriority] = useState<Priority>('normal');
  const [workspaceId, setWorkspace] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const files = useTicketFiles();
  const { support, app } = words.value;
  const workspaces = me.value?.workspaces ?? [];
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    const about = request.trim();
    const body = about === '' ? message : `${message.trimEnd()}\n\n${support.requestLine(about)}`;
    try {
      const { body: made } = await api.support.create({
        body: { subject, body, priority, workspaceId: workspaceId === '' ? null : workspaceId, attachment_ids: [...files.ids] },
      });
      changed('tickets:');
      tell(support.created);
      route(`/my/support/${made.ticket.id}`);
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const failed = problem && problemWords(problem);
  const isReady = subject.trim() !== '' && message.trim() !== '' && !files.isSending;
  return (
    <Dialog title={support.new} onClose={onClose} isChanged={!isBusy && (subject !== '' || message !== '')}>
      <form class="ticket-form" onSubmit={send}>
        <TextField label={support.subject} value={subject} onText={setSubject} required maxLength={SUBJECT_CHARS_MAX} autoFocus />
        <AreaField label={support.message} value={message} onText={setMessage} rows={6} required maxLength={BODY_CHARS_MAX} />
        <div class="ticket-pair">
          <SelectField
            label={support.priority}
            value={priority}
            options={PRIORITIES.map((value) => ({ value, label: support.priorities[value] }))}
            onChoose={setPriority}
          />
          {workspaces.length > 0 && (
            <SelectField
              label={support.forWorkspace}
              hint={support.workspaceHint}
              value={workspaceId}
              options={[{ value: '', label: support.forMe }, ...workspaces.map(({ id, name }) => ({ value: id, label: name }))]}
              onChoose={setWorkspace}
            />
          )}
        </div>
        <TextField
          label={support.requestId}
          hint={support.requestHint}
          value={request}
          onText={setRequest}
          maxLength={REQUEST_CHARS_MAX}
          spellcheck={false}
        />
        <FilesField files={files} />
        {failed && (
          <p class="notice bad" role="alert">
            {failed.title} {failed.text}
          </p>
        )}
        <div class="dialog-foot">
          <Button onClick={onClose}>{app.cancel}</Button>
          <Button type="submit" look="main" isBusy={isBusy} disabled={!isReady}>
            {support.send}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
