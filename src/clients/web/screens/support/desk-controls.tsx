/** What whoever answers decides of a ticket: its state, how urgent it is, and who has it. */
import { useState } from 'preact/hooks';
import { api, type Ticket } from '../../api/client.ts';
import { myId } from '../../state/session.ts';
import { changeTicket, PRIORITIES, type Priority, STATUSES, type Status, showTicket } from '../../state/support.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField } from '../../ui/fields.tsx';
import { words } from '../../words/words.ts';

export function DeskControls({ ticket }: { readonly ticket: Ticket }) {
  const [isBusy, setBusy] = useState(false);
  const { support } = words.value;
  const params = { ticketId: ticket.id };
  const change = async (make: () => Promise<{ readonly body: { readonly ticket: Ticket } }>, said: string) => {
    setBusy(true);
    const isDone = await changeTicket(ticket.id, async () => showTicket((await make()).body.ticket));
    if (isDone) tell(said);
    setBusy(false);
  };
  const setStatus = (status: Status) =>
    change(() => api.support.status({ params, body: { status } }), support.isNow(support.statuses[status]));
  const setPriority = (priority: Priority) =>
    change(() => api.support.priority({ params, body: { priority } }), support.priorityIs(support.priorities[priority]));
  const { assignee } = ticket;
  const isMine = assignee?.user_id === myId();
  const assign = (userId: string | null) =>
    change(() => api.support.assign({ params, body: { user_id: userId } }), userId === null ? support.unassigned : support.assignedMe);
  return (
    <section class="panel ticket-desk" aria-label={support.scopes.all} aria-busy={isBusy}>
      <SelectField
        label={support.status}
        value={ticket.status}
        options={STATUSES.map((value) => ({ value, label: support.statuses[value] }))}
        disabled={isBusy}
        onChoose={(status) => void setStatus(status)}
      />
      <SelectField
        label={support.priority}
        value={ticket.priority}
        options={PRIORITIES.map((value) => ({ value, label: support.priorities[value] }))}
        disabled={isBusy}
        onChoose={(priority) => void setPriority(priority)}
      />
      <div class="field">
        <span class="label">{support.assignee}</span>
        <p class="row">
          <span>{assignee?.name ?? support.nobody}</span>
          {!isMine && (
            <Button small icon="person" disabled={isBusy} onClick={() => void assign(myId())}>
              {support.assignMe}
            </Button>
          )}
          {assignee && (
            <Button small icon="close" disabled={isBusy} onClick={() => void assign(null)}>
              {support.unassign}
            </Button>
          )}
        </p>
      </div>
      <Requests ticket={ticket} />
    </section>
  );
}

/** The requests that the messages quote, for staff. */
function Requests({ ticket: { request_ids = [] } }: { readonly ticket: Ticket }) {
  const { support } = words.value;
  if (request_ids.length === 0) return null;
  return (
    <div class="field ticket-requests">
      <span class="label">{support.requests}</span>
      <ul>
        {request_ids.map(({ request_id, log_url }) => (
          <li key={request_id}>
            {log_url === null ? (
              <code>{request_id}</code>
            ) : (
              <a class="request-id" href={log_url} target="_blank" rel="noopener noreferrer">
                {request_id}
              </a>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
