/** That the connection is gone, wherever somebody may be typing: above the screen, and in what covers it. */
import { isOnline } from '../state/window.ts';
import { words } from '../words/words.ts';
import { Icon } from './icon.tsx';

export function OfflineBanner() {
  if (isOnline.value) return null;
  return (
    <p class="banner" role="alert">
      <Icon name="offline" size={16} /> {words.value.app.offline}
    </p>
  );
}

/** In a dialog or the drawer, which cover the banner. */
export function OfflineNote() {
  if (isOnline.value) return null;
  return (
    <p class="offline-note" role="status">
      <Icon name="offline" size={16} /> {words.value.app.offline}
    </p>
  );
}
