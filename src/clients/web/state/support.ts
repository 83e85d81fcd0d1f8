/** Tickets: which are listed, one with its thread, and what is done with it. */
import { signal } from '@preact/signals';
import { answered, api, type PageChat, type Seen, type Ticket, type TicketFile, type TicketMessage } from '../api/client.ts';
import { useFollowing } from './jobs.ts';
import { type PageOf, pageOf, usePages } from './pages.ts';
import { changed, showAtOnce, useLoaded } from './store.ts';
import { tellProblem } from './toasts.ts';

export type TicketScope = 'mine' | 'workspace' | 'pages' | 'all';
export type Status = Ticket['status'];
export type Priority = Ticket['priority'];
export type Assignee = '' | 'me' | 'none';

export const STATUSES: readonly Status[] = ['open', 'pending', 'resolved', 'closed'];
export const PRIORITIES: readonly Priority[] = ['low', 'normal', 'high', 'urgent'];

export interface TicketFilter {
  readonly scope: TicketScope;
  /** Counts with the scope `workspace`. */
  readonly workspaceId: string;
  readonly status: Status | '';
  /** Counts on the desk. */
  readonly assignee: Assignee;
  readonly q: string;
}

/** It outlives the list: whoever comes back from a ticket finds the list as they have left it. */
export const ticketFilter = signal<TicketFilter>({ scope: 'mine', workspaceId: '', status: '', assignee: '', q: '' });

/** Not every message rings the bell: whoever has a ticket hears that it is open again, and not of each message while it is open. */
const THREAD_MS = 6000;
const LIST_MS = 20_000;

export function useTickets({ scope, workspaceId, status, assignee, q }: TicketFilter) {
  const key = `tickets:${JSON.stringify([scope, workspaceId, status, assignee, q])}`;
  const pages = usePages<Ticket>(key, async (cursor) => {
    const query = {
      ...{ scope, cursor },
      ...(scope === 'workspace' && { workspaceId }),
      ...(status !== '' && { status }),
      ...(scope === 'all' && assignee !== '' && { assignee }),
      ...(q.trim() !== '' && { q: q.trim() }),
    };
    const { body } = await api.support.list({ query });
    return pageOf(body.tickets, body);
  });
  useFollowing(LIST_MS, { isLoading: pages.isLoading, data: pages.items }, pages.reload);
  return pages;
}

export function useTicket(id: string) {
  const loaded = useLoaded<Seen>(`ticket:${id}`, async () => (await api.support.get({ params: { ticketId: id } })).body);
  useFollowing(loaded.problem?.isMissing ? undefined : THREAD_MS, loaded, loaded.reload);
  return loaded;
}

/** All of them, where the ticket itself comes with its last ones alone. */
export function useAllMessages(id: string) {
  return usePages<TicketMessage>(`ticket-messages:${id}`, async (cursor) => {
    const { body } = await api.support.messages({ params: { ticketId: id }, query: { cursor } });
    return pageOf(body.messages, body);
  });
}

export function ticketChanged(id: string): void {
  changed(`ticket:${id}`, `ticket-messages:${id}`, 'tickets:');
}

/** Makes a change of a ticket; where it is refused, says why. Answers whether it was made. */
export async function changeTicket(id: string, make: () => Promise<unknown>): Promise<boolean> {
  try {
    await make();
    return true;
  } catch (error) {
    tellProblem(error);
    return false;
  } finally {
    ticketChanged(id);
  }
}

/** Shows what the ticket is about to be, before it is loaded again. */
export function showTicket(ticket: Ticket): void {
  showAtOnce<Seen>(`ticket:${ticket.id}`, (seen) => ({ ...seen, ticket }));
  showAtOnce<PageOf<Ticket>>('tickets:', (page) => ({ ...page, items: page.items.map((one) => (one.id === ticket.id ? ticket : one)) }));
}

interface Uploaded {
  readonly attachment: TicketFile;
}

export async function uploadTicketFile(file: File): Promise<TicketFile> {
  const init = {
    method: 'POST',
    body: file,
    headers: { 'content-type': file.type || 'application/octet-stream', accept: 'application/json' },
  };
  const reply = await answered(() => fetch(`/v1/support/attachments?filename=${encodeURIComponent(file.name)}`, init));
  const { attachment } = (await reply.json()) as Uploaded;
  return attachment;
}

export function fileAddress(ticketId: string, { id }: TicketFile): string {
  return `/v1/support/tickets/${ticketId}/attachments/${id}`;
}

export function usePageChat(artifactId: string) {
  return useLoaded<PageChat>(`page-chat:${artifactId}`, async () => (await api.pageChat.getConfig({ params: { artifactId } })).body.data);
}

export async function setPageChat(artifactId: string, body: PageChat): Promise<void> {
  await api.pageChat.putConfig({ params: { artifactId }, body });
  changed(`page-chat:${artifactId}`);
}
