/** What whoever runs the installation tells everybody, until it is dismissed or over. */
import { shownBanner } from '../state/banner.ts';
import { dismissBanner } from '../state/prefs.ts';
import { words } from '../words/words.ts';
import { IconButton } from './button.tsx';

export function SiteBanner() {
  const banner = shownBanner.value;
  if (banner === null) return null;
  const { text, level } = banner;
  const { app } = words.value;
  return (
    <aside class={`site-banner is-${level}`} aria-label={app.bannerLevel[level]}>
      <p role="status">{text}</p>
      <IconButton icon="close" label={app.dismiss} onClick={() => dismissBanner(text)} />
    </aside>
  );
}
