/** What the search finds while one types: asked for when the keys rest, and the answer to an older text is dropped. */
import { useEffect, useState } from 'preact/hooks';
import type { SearchGroup, SearchHit } from '../../../../protocol/library/search.ts';
import { api } from '../api/client.ts';
import type { IconName } from '../ui/icon.tsx';

const TYPING_MS = 120;
const HITS_MAX = 6;

/** Those that have a screen, in the order in which they are shown. */
export const SHOWN_GROUPS = [
  'artifacts',
  'folders',
  'datasets',
  'connectors',
  'people',
  'schedules',
  'alerts',
  'crew',
] as const satisfies SearchGroup[];
export type ShownGroup = (typeof SHOWN_GROUPS)[number];

export const GROUP_ICONS: Readonly<Record<ShownGroup, IconName>> = {
  artifacts: 'page',
  folders: 'folder',
  datasets: 'table',
  connectors: 'link',
  people: 'people',
  schedules: 'clock',
  alerts: 'bell',
  crew: 'robot',
};

export interface Found {
  readonly text: string;
  readonly hits: Readonly<Partial<Record<ShownGroup, readonly SearchHit[]>>>;
}

const NOTHING: Found = { text: '', hits: {} };

export function useFound(text: string) {
  const [found, setFound] = useState(NOTHING);
  const [isSearching, setSearching] = useState(false);
  useEffect(() => {
    if (text === '') {
      setFound(NOTHING);
      setSearching(false);
      return undefined;
    }
    const stop = new AbortController();
    setSearching(true);
    const timer = setTimeout(() => {
      const query = { q: text, groups: SHOWN_GROUPS.join(','), limit: HITS_MAX };
      api.search.find({ query, signal: stop.signal }).then(
        ({ body }) => {
          setFound({ text, hits: body });
          setSearching(false);
        },
        (error: unknown) => {
          if (stop.signal.aborted) return;
          console.debug('nothing was found', error);
          setSearching(false);
        },
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text]);
  return { found, isSearching };
}

/** The screen of a hit, in this app. */
export function screenOf({ type, id, url }: SearchHit): string | null {
  if (type === 'artifact') return `/p/${id}`;
  return url === null ? null : new URL(url).pathname;
}

/** A text with the words that were looked for marked. */
export function Marked({ text, marks }: NonNullable<SearchHit['snippet']>) {
  const parts = marks.flatMap(([start, end], at) => [
    text.slice(marks[at - 1]?.[1] ?? 0, start),
    <mark key={start} class="palette-mark">
      {text.slice(start, end)}
    </mark>,
  ]);
  return (
    <span class="palette-snippet">
      {parts}
      {text.slice(marks.at(-1)?.[1] ?? 0)}
    </span>
  );
}
