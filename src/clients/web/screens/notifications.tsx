/** What the service has told this person: alerts, watches, paused jobs and the like. */
import { useState } from 'preact/hooks';
import type { Notification } from '../api/client.ts';
import { readNotices, unreadNotices, useNotices } from '../state/bell.ts';
import { tellProblem } from '../state/toasts.ts';
import { useTitle } from '../state/window.ts';
import { Button } from '../ui/button.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Head, Time } from '../ui/small.tsx';
import { Empty, ProblemNote, ProblemState, Skeleton } from '../ui/states.tsx';
import { words } from '../words/words.ts';
import { More } from './more.tsx';

export function NotificationsScreen() {
  const [isUnread, setUnread] = useState(false);
  const pages = useNotices(isUnread);
  const { bell } = words.value;
  const { items, problem, reload } = pages;
  useTitle(bell.title);
  const read = (ids: readonly string[] | null) => void readNotices(ids).catch(tellProblem);
  return (
    <>
      <Head title={bell.title} text={bell.text}>
        {(unreadNotices.value ?? 0) > 0 && (
          <Button icon="check" onClick={() => read(null)}>
            {bell.markAll}
          </Button>
        )}
      </Head>
      <div class="row inbox-filters">
        <fieldset class="segments" aria-label={bell.filter}>
          {[false, true].map((one) => (
            <button key={String(one)} type="button" class="segment" aria-pressed={one === isUnread} onClick={() => setUnread(one)}>
              {one ? bell.unread : bell.all}
            </button>
          ))}
        </fieldset>
      </div>
      {items === undefined && problem === undefined && <Skeleton shape="line" count={5} />}
      {items === undefined && problem !== undefined && <ProblemState problem={problem} onRetry={reload} />}
      {items !== undefined && problem !== undefined && <ProblemNote problem={problem} onRetry={reload} />}
      {items?.length === 0 && <Empty icon="bell" {...(isUnread ? bell.emptyUnread : bell.empty)} />}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((notice) => (
            <NoticeRow key={notice.id} notice={notice} onRead={() => read([notice.id])} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </>
  );
}

function NoticeRow({ notice, onRead }: { readonly notice: Notification; readonly onRead: () => void }) {
  const { title, body, url, created_at, read_at, kind } = notice;
  const { bell } = words.value;
  const isNew = read_at === null;
  return (
    <li class={`row-item is-top inbox-item${isNew ? ' is-unread' : ''}`}>
      <Icon name={iconOf(kind)} />
      <div class="grow">
        <p class="row-facts">
          {isNew && <span class="inbox-dot" role="img" aria-label={bell.unread} />}
          {url === null ? (
            <strong>{title}</strong>
          ) : (
            <a href={url} onClick={isNew ? onRead : undefined}>
              <strong>{title}</strong>
            </a>
          )}
          <Time at={created_at} />
        </p>
        <p class="inbox-text">{body}</p>
      </div>
      {isNew && (
        <Button small icon="check" aria-label={bell.markOne(title)} onClick={onRead}>
          {bell.mark}
        </Button>
      )}
    </li>
  );
}

function iconOf(kind: string): IconName {
  if (kind.startsWith('alert.')) return 'alert';
  if (kind.startsWith('watch.')) return 'eye';
  if (kind.startsWith('job.')) return 'clock';
  if (kind.startsWith('skill.') || kind.startsWith('catalog.')) return 'book';
  if (kind.startsWith('ticket.')) return 'comment';
  return 'bell';
}
