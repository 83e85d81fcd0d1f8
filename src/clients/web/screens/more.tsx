/** The end of a list that is loaded page by page. */

import { useEffect, useRef } from 'preact/hooks';
import type { Pages } from '../state/pages.ts';
import { Button } from '../ui/button.tsx';
import { words } from '../words/words.ts';

interface MoreProps {
  readonly pages: Pages<unknown>;
  /** Loads only when asked, for lists of which most may not be shown: with nothing added the end would stay near, and all would be loaded. */
  readonly isByHand?: boolean;
}

/** Loads more when the end comes near; the button is for the keyboard and for whoever has no observer. */
export function More({ pages, isByHand = false }: MoreProps) {
  const end = useRef<HTMLDivElement>(null);
  const { hasMore, isLoadingMore, moreProblem } = pages;
  useEffect(() => {
    const at = end.current;
    if (at === null || isByHand || !hasMore || isLoadingMore || moreProblem !== undefined) return undefined;
    const observer = new IntersectionObserver((entries) => entries.at(-1)?.isIntersecting && pages.more(), { rootMargin: '600px' });
    observer.observe(at);
    return () => observer.disconnect();
    // Also after a list was loaded anew with as many items, which drops what was being added: a new observer tells again where the end is.
  }, [hasMore, isLoadingMore, moreProblem, pages.items]);
  if (!hasMore) return null;
  return (
    <div class="more" ref={end}>
      <Button isBusy={isLoadingMore} onClick={pages.more}>
        {moreProblem === undefined ? words.value.app.more : words.value.app.retry}
      </Button>
    </div>
  );
}
