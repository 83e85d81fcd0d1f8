/** What others change on a page while its screen is open: comments as they come. */
import { useEffect } from 'preact/hooks';
import { changed } from '../../state/store.ts';

const SETTLE_MS = 150;
const EVENTS = ['hello', 'change', 'reset'] as const;

/**
 * Follows the artifact's stream of changes by the session, while the window is looked at: browsers hold six connections to a host, which
 * windows in the background would use up. Whoever comes back to a window loads everything again.
 */
export function useLiveChanges(id: string, isKnown: boolean): void {
  useEffect(() => {
    if (!isKnown) return undefined;
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => changed(`comments:${id}`), SETTLE_MS);
    };
    const follow = () => {
      source?.close();
      source = undefined;
      if (document.visibilityState !== 'visible') return;
      source = new EventSource(`/v1/data/${encodeURIComponent(id)}/changes?types=comments`);
      for (const name of EVENTS) source.addEventListener(name, heard);
    };
    follow();
    document.addEventListener('visibilitychange', follow);
    return () => {
      clearTimeout(timer);
      source?.close();
      document.removeEventListener('visibilitychange', follow);
    };
  }, [id, isKnown]);
}
