/** Support: the tickets that somebody sees, or one of them. */
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Ticket } from '../../api/client.ts';
import { mayManage } from '../../state/place.ts';
import { me } from '../../state/session.ts';
import {
  type Assignee,
  STATUSES,
  type Status,
  type TicketFilter,
  type TicketScope,
  ticketFilter,
  useTickets,
} from '../../state/support.ts';
import { useTitle } from '../../state/window.ts';
import { Button } from '../../ui/button.tsx';
import { SearchField, SelectField } from '../../ui/fields.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Head, Time } from '../../ui/small.tsx';
import { Empty, ProblemNote, ProblemState, Skeleton } from '../../ui/states.tsx';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import { NewTicketDialog } from './new-ticket-dialog.tsx';
import { TicketScreen } from './ticket.tsx';
import { CHANNEL_ICONS, PriorityTag, StatusTag, whoAsks } from './ticket-words.tsx';

export function SupportScreen({ ticketId }: { readonly ticketId?: string }) {
  return ticketId === undefined ? <TicketsScreen /> : <TicketScreen key={ticketId} ticketId={ticketId} />;
}

function TicketsScreen() {
  const { query, route } = useLocation();
  const [isWriting, setWriting] = useState(false);
  // Somebody may come from a fault of this very screen.
  const writes = isWriting || query.request !== undefined;
  const { support } = words.value;
  const filter = fitting(ticketFilter.value);
  const pages = useTickets(filter);
  const { items, problem, reload } = pages;
  useTitle(support.title);
  const close = () => {
    setWriting(false);
    // The request is written about once.
    if (query.request !== undefined) route('/my/support', true);
  };
  const isFiltered = filter.status !== '' || filter.assignee !== '' || filter.q.trim() !== '';
  return (
    <>
      <Head title={support.title} text={support.texts[filter.scope]}>
        <Button look="main" icon="plus" onClick={() => setWriting(true)}>
          {support.new}
        </Button>
      </Head>
      <Filters filter={filter} />
      {items === undefined && problem === undefined && <Skeleton shape="line" count={5} />}
      {items === undefined && problem !== undefined && <ProblemState problem={problem} onRetry={reload} />}
      {items !== undefined && problem !== undefined && <ProblemNote problem={problem} onRetry={reload} />}
      {items?.length === 0 && <Empty icon="comment" {...support.empty[isFiltered ? 'filtered' : filter.scope]} />}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((ticket) => (
            <TicketRow key={ticket.id} ticket={ticket} scope={filter.scope} />
          ))}
        </ul>
      )}
      <More pages={pages} />
      {writes && <NewTicketDialog requestId={query.request ?? ''} onClose={close} />}
    </>
  );
}

function administered() {
  return me.value?.workspaces.filter(({ slug }) => mayManage(slug)) ?? [];
}

function scopes(): readonly TicketScope[] {
  return [
    'mine',
    ...(administered().length > 0 ? (['workspace'] as const) : []),
    'pages',
    ...(me.value?.is_staff ? (['all'] as const) : []),
  ];
}

/** What somebody has chosen, as far as they may still see it. */
function fitting(chosen: TicketFilter): TicketFilter {
  const scope = scopes().includes(chosen.scope) ? chosen.scope : 'mine';
  const known = administered().some(({ id }) => id === chosen.workspaceId);
  return { ...chosen, scope, workspaceId: known ? chosen.workspaceId : (administered()[0]?.id ?? '') };
}

const ASSIGNEES: readonly Assignee[] = ['', 'me', 'none'];

function Filters({ filter }: { readonly filter: TicketFilter }) {
  const { support } = words.value;
  const set = (change: Partial<TicketFilter>) => {
    ticketFilter.value = { ...fitting(ticketFilter.peek()), ...change };
  };
  const anyStatus: readonly (Status | '')[] = ['', ...STATUSES];
  const workspaces = administered();
  return (
    <div class="row support-filters">
      <fieldset class="segments" aria-label={support.scope}>
        {scopes().map((one) => (
          <button
            key={one}
            type="button"
            class="segment"
            aria-pressed={one === filter.scope}
            onClick={() => set({ scope: one, ...(one !== 'all' && { assignee: '' }) })}
          >
            {support.scopes[one]}
          </button>
        ))}
      </fieldset>
      {filter.scope === 'workspace' && workspaces.length > 1 && (
        <SelectField
          label={support.workspace}
          hideLabel
          value={filter.workspaceId}
          options={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
          onChoose={(workspaceId) => set({ workspaceId })}
        />
      )}
      <SelectField
        label={support.status}
        hideLabel
        value={filter.status}
        options={anyStatus.map((value) => ({ value, label: value === '' ? support.anyStatus : support.statuses[value] }))}
        onChoose={(status) => set({ status })}
      />
      {filter.scope === 'all' && (
        <SelectField
          label={support.assignee}
          hideLabel
          value={filter.assignee}
          options={ASSIGNEES.map((value) => ({ value, label: `${support.assignee}: ${support.assignees[value].toLowerCase()}` }))}
          onChoose={(assignee) => set({ assignee })}
        />
      )}
      <Finder stored={filter.q} onFind={(q) => set({ q })} />
    </div>
  );
}

/** How long after the last key the list is asked for. */
const TYPING_MS = 250;

function Finder({ stored, onFind }: { readonly stored: string; readonly onFind: (q: string) => void }) {
  const [typed, setTyped] = useState(stored);
  const { support } = words.value;
  useEffect(() => {
    if (typed === stored) return undefined;
    const timer = setTimeout(() => onFind(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return <SearchField label={support.find} value={typed} onText={setTyped} />;
}

function TicketRow({ ticket, scope }: { readonly ticket: Ticket; readonly scope: TicketScope }) {
  const { support } = words.value;
  const { id, subject, channel, assignee, updated_at } = ticket;
  return (
    <li class="row-item is-top ticket-row">
      <Icon name={CHANNEL_ICONS[channel]} />
      <div class="grow">
        <p class="row-title">
          <a href={`/my/support/${id}`}>{subject}</a>
        </p>
        <p class="row-facts">
          {scope !== 'mine' && <span>{support.from(whoAsks(ticket))}</span>}
          <span>{support.channels[channel]}</span>
          {assignee && <span>{support.assignedTo(assignee.name)}</span>}
          <Time at={updated_at} />
        </p>
      </div>
      <p class="row">
        <PriorityTag priority={ticket.priority} />
        <StatusTag status={ticket.status} />
      </p>
    </li>
  );
}
