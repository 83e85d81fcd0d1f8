/** How a ticket is named and marked. */
import type { Ticket } from '../../api/client.ts';
import type { Priority, Status } from '../../state/support.ts';
import type { IconName } from '../../ui/icon.tsx';
import { Tag } from '../../ui/small.tsx';
import { words } from '../../words/words.ts';

export const CHANNEL_ICONS = { ui: 'screen', email: 'mail', chat: 'comment' } as const satisfies Record<Ticket['channel'], IconName>;

const TONES = { open: 'accent', pending: 'info', resolved: 'good', closed: 'plain' } as const satisfies Record<Status, string>;

export function StatusTag({ status }: { readonly status: Status }) {
  return <Tag tone={TONES[status]}>{words.value.support.statuses[status]}</Tag>;
}

/** The usual priority says nothing. */
export function PriorityTag({ priority }: { readonly priority: Priority }) {
  if (priority === 'normal') return null;
  return <Tag tone={priority === 'low' ? 'plain' : 'warn'}>{words.value.support.priorities[priority]}</Tag>;
}

export function whoAsks({ requester_name, requester_email }: Ticket): string {
  return requester_name ?? requester_email ?? words.value.support.somebody;
}
