/** One ticket: what it is, who said what, and the place to answer. */
import { useState } from 'preact/hooks';
import { api, type Seen, type Ticket } from '../../api/client.ts';
import { seatIn } from '../../state/place.ts';
import { myId } from '../../state/session.ts';
import { changeTicket, type Status, showTicket, useAllMessages, useTicket } from '../../state/support.ts';
import { tell } from '../../state/toasts.ts';
import { useTitle } from '../../state/window.ts';
import { Button } from '../../ui/button.tsx';
import { Head, Time } from '../../ui/small.tsx';
import { Loaded, ProblemNote, ProblemState, Skeleton } from '../../ui/states.tsx';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import { AnswerForm, WriteForm } from './answer-form.tsx';
import { DeskControls } from './desk-controls.tsx';
import { MessageItem } from './message-item.tsx';
import { PriorityTag, StatusTag, whoAsks } from './ticket-words.tsx';

export function TicketScreen({ ticketId }: { readonly ticketId: string }) {
  const loaded = useTicket(ticketId);
  const { support } = words.value;
  useTitle(loaded.data?.ticket.subject ?? support.title);
  return (
    <>
      {loaded.data === undefined && <Head title={support.title} />}
      <Loaded of={loaded} missing={support.missing}>
        {(seen) => (
          <>
            {loaded.problem !== undefined && <ProblemNote problem={loaded.problem} onRetry={loaded.reload} />}
            <SeenTicket seen={seen} />
          </>
        )}
      </Loaded>
    </>
  );
}

/** Whoever has asked writes as who has asked, also where they answer other tickets. */
function answersHere({ may_answer, requester_user_id }: Ticket): boolean {
  return may_answer && requester_user_id !== myId();
}

function SeenTicket({ seen }: { readonly seen: Seen }) {
  const [isWhole, setWhole] = useState(false);
  const { support } = words.value;
  const { ticket, thread, thread_has_more } = seen;
  return (
    <>
      <Head
        title={ticket.subject}
        above={
          <nav class="crumbs" aria-label={support.title}>
            <a href="/my/support">{support.title}</a>
          </nav>
        }
        text={<TicketFacts ticket={ticket} />}
      >
        {!ticket.may_answer && <CustomerActions ticket={ticket} />}
      </Head>
      <div class="narrow ticket">
        {ticket.may_answer && <DeskControls ticket={ticket} />}
        <h2 class="unseen">{support.thread}</h2>
        {thread_has_more && !isWhole && (
          <p class="row center">
            <Button small onClick={() => setWhole(true)}>
              {support.earlier}
            </Button>
          </p>
        )}
        {isWhole ? (
          <WholeThread ticket={ticket} />
        ) : (
          <ol class="ticket-thread">
            {thread.map((message) => (
              <MessageItem key={message.id} ticket={ticket} message={message} />
            ))}
          </ol>
        )}
        {answersHere(ticket) ? <AnswerForm key={ticket.id} ticket={ticket} /> : <WriteForm key={ticket.id} ticket={ticket} />}
      </div>
    </>
  );
}

function WholeThread({ ticket }: { readonly ticket: Ticket }) {
  const pages = useAllMessages(ticket.id);
  const { items, problem, reload } = pages;
  if (items === undefined) {
    return problem === undefined ? <Skeleton shape="line" count={5} /> : <ProblemState problem={problem} onRetry={reload} />;
  }
  return (
    <>
      <ol class="ticket-thread">
        {items.map((message) => (
          <MessageItem key={message.id} ticket={ticket} message={message} />
        ))}
      </ol>
      <More pages={pages} />
    </>
  );
}

function TicketFacts({ ticket }: { readonly ticket: Ticket }) {
  const { support } = words.value;
  const { status, priority, channel, workspace_id, artifact_id, follows, created_at } = ticket;
  const workspace = workspace_id === null ? undefined : seatIn(workspace_id);
  return (
    <span class="ticket-facts">
      <StatusTag status={status} />
      <PriorityTag priority={priority} />
      <span>{support.from(whoAsks(ticket))}</span>
      <span>{support.channels[channel]}</span>
      {workspace && <span>{workspace.name}</span>}
      {artifact_id !== null && <a href={`/p/${artifact_id}`}>{support.ofPage}</a>}
      {follows !== null && <a href={`/my/support/${follows}`}>{support.follows}</a>}
      <span>
        {support.opened} <Time at={created_at} />
      </span>
    </span>
  );
}

/** Customers settle their ticket, or open it again. */
function CustomerActions({ ticket }: { readonly ticket: Ticket }) {
  const [isBusy, setBusy] = useState(false);
  const { support } = words.value;
  const isSettled = ticket.status === 'resolved' || ticket.status === 'closed';
  const to: Status = isSettled ? 'open' : 'resolved';
  const set = async () => {
    setBusy(true);
    const isDone = await changeTicket(ticket.id, async () => {
      showTicket((await api.support.status({ params: { ticketId: ticket.id }, body: { status: to } })).body.ticket);
    });
    if (isDone) tell(support.isNow(support.statuses[to]));
    setBusy(false);
  };
  return (
    <Button icon={isSettled ? 'restore' : 'check'} isBusy={isBusy} onClick={() => void set()}>
      {isSettled ? support.reopen : support.resolve}
    </Button>
  );
}
