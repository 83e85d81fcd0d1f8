/** What people say to this person, on whichever pages: read, opened where it was said, resolved here. */
import { useRef, useState } from 'preact/hooks';
import type { InboxItem } from '../api/client.ts';
import { type InboxFilter, markRead, resolveThread, useInbox } from '../state/inbox.ts';
import type { Pages } from '../state/pages.ts';
import { useTitle } from '../state/window.ts';
import { Button } from '../ui/button.tsx';
import { Avatar, Head, Tag, Time } from '../ui/small.tsx';
import { Empty, ProblemNote, ProblemState, Skeleton } from '../ui/states.tsx';
import { ago } from '../words/format.ts';
import { words } from '../words/words.ts';
import { More } from './more.tsx';

const FILTERS: readonly InboxFilter[] = ['all', 'mentions', 'assigned'];

export function InboxScreen() {
  const [filter, setFilter] = useState<InboxFilter>('all');
  const [isResolved, setResolved] = useState(false);
  const pages = useInbox(filter, isResolved);
  const { inbox } = words.value;
  useTitle(inbox.title);
  const unread = pages.items?.filter((item) => item.unread) ?? [];
  return (
    <>
      <Head title={inbox.title} text={inbox.text}>
        {unread.length > 0 && (
          <Button icon="check" onClick={() => void markRead(unread.map(({ artifact }) => artifact.id))}>
            {inbox.markRead}
          </Button>
        )}
      </Head>
      <div class="row inbox-filters">
        <fieldset class="segments" aria-label={inbox.filter}>
          {FILTERS.map((one) => (
            <button key={one} type="button" class="segment" aria-pressed={one === filter} onClick={() => setFilter(one)}>
              {inbox.filters[one]}
            </button>
          ))}
        </fieldset>
        <fieldset class="segments" aria-label={inbox.state}>
          {[false, true].map((one) => (
            <button key={String(one)} type="button" class="segment" aria-pressed={one === isResolved} onClick={() => setResolved(one)}>
              {one ? inbox.states.resolved : inbox.states.open}
            </button>
          ))}
        </fieldset>
      </div>
      <Items pages={pages} empty={isResolved ? inbox.empty.resolved : inbox.empty[filter]} />
    </>
  );
}

interface ItemsProps {
  readonly pages: Pages<InboxItem>;
  readonly empty: { readonly title: string; readonly text: string };
}

function Items({ pages, empty }: ItemsProps) {
  const list = useRef<HTMLUListElement>(null);
  const { items, problem, reload } = pages;
  if (items === undefined) {
    return problem === undefined ? <Skeleton shape="line" count={5} /> : <ProblemState problem={problem} onRetry={reload} />;
  }
  const move = (event: KeyboardEvent) => {
    const links = [...(list.current?.querySelectorAll<HTMLAnchorElement>('.inbox-open') ?? [])];
    const at = links.findIndex((link) => link.closest('li')?.contains(document.activeElement));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
    if (at < 0 || to === undefined || links[to] === undefined) return;
    event.preventDefault();
    links[to].focus();
  };
  return (
    <>
      {problem !== undefined && <ProblemNote problem={problem} onRetry={reload} />}
      {items.length === 0 && <Empty icon="inbox" {...empty} />}
      {items.length > 0 && (
        <ul class="rows" ref={list} onKeyDown={move}>
          {items.map((item) => (
            <Item key={`${item.artifact.id} ${item.comment.id}`} item={item} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </>
  );
}

function Item({ item }: { readonly item: InboxItem }) {
  const { artifact, comment, reasons, unread, can_resolve } = item;
  const { inbox, comments } = words.value;
  const name = comment.author_name ?? comments.anonymous;
  return (
    <li class={`row-item is-top inbox-item${unread ? ' is-unread' : ''}`}>
      <Avatar name={name} />
      <div class="grow">
        <p class="row-facts">
          {unread && <span class="inbox-dot" role="img" aria-label={inbox.unread} />}
          <strong>{name}</strong>
          <span>{inbox.on(artifact.name)}</span>
          <Time at={comment.created_at} />
        </p>
        <p class="inbox-text">
          <a class="inbox-open" href={`/p/${artifact.id}/comments/${comment.thread_id}`}>
            {comment.excerpt}
          </a>
        </p>
        <p class="row tags">
          {reasons.map((reason) => (
            <Tag key={reason} tone={reason === 'mention' || reason === 'assigned' ? 'accent' : 'plain'}>
              {inbox.reasons[reason]}
            </Tag>
          ))}
          {comment.due_at !== null && <Tag icon="clock">{comments.due(ago(comment.due_at))}</Tag>}
          {comment.resolved && (
            <Tag tone="good" icon="check">
              {inbox.states.resolved}
            </Tag>
          )}
        </p>
      </div>
      {can_resolve && (
        <Button
          small
          icon={comment.resolved ? 'restore' : 'check'}
          aria-label={comment.resolved ? inbox.reopenOf(comment.excerpt) : inbox.resolveOf(comment.excerpt)}
          onClick={() => void resolveThread(item, !comment.resolved)}
        >
          {comment.resolved ? comments.reopen : comments.resolve}
        </Button>
      )}
    </li>
  );
}
