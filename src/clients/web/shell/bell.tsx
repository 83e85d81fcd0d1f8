/** The bell: how many notices are unread, beside the way to them. */
import { useEffect } from 'preact/hooks';
import { followBell, unreadNotices } from '../state/bell.ts';
import { Icon } from '../ui/icon.tsx';
import { words } from '../words/words.ts';

/** Beyond this the number says nothing more. */
const SHOWN_MAX = 99;

export function BellLink() {
  useEffect(followBell, []);
  const { bell } = words.value;
  const unread = unreadNotices.value ?? 0;
  return (
    <a class="btn-icon bell" href="/my/notifications" title={bell.title} aria-label={unread > 0 ? bell.titleWith(unread) : bell.title}>
      <Icon name="bell" />
      {unread > 0 && (
        <span class="bell-count" aria-hidden="true">
          {unread > SHOWN_MAX ? `${SHOWN_MAX}+` : unread}
        </span>
      )}
    </a>
  );
}
