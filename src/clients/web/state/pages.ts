/** Lists that are longer than one page: the first is loaded, and more as the reader comes near the end. */
import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { type Problem, problemOf } from '../api/problem.ts';
import { useLoaded } from './store.ts';

export interface PageOf<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

export interface ListReply {
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export function pageOf<T>(items: readonly T[], { has_more, next_cursor }: ListReply): PageOf<T> {
  return { items, next: has_more ? next_cursor : null };
}

export interface Pages<T> {
  readonly items: readonly T[] | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  /** Why the last attempt to load more has failed. */
  readonly moreProblem: Problem | undefined;
  more(): void;
  reload(): void;
}

type LoadPage<T> = (cursor: string | undefined) => Promise<PageOf<T>>;

/** A list is loaded again as far as it was shown, so that nothing jumps. */
const PAGES_AGAIN_MAX = 10;

export function usePages<T>(key: string, load: LoadPage<T>): Pages<T> {
  const depth = useMemo(() => ({ pages: 1 }), [key]);
  const growth = useMemo(
    () => signal<{ isLoading: boolean; problem: Problem | undefined }>({ isLoading: false, problem: undefined }),
    [key],
  );
  const loaded = useLoaded<PageOf<T>>(key, () => loadDeep(load, depth.pages));
  const grow = async () => {
    if (growth.peek().isLoading) return;
    growth.value = { isLoading: true, problem: undefined };
    depth.pages += 1;
    try {
      await loaded.extend((shown) => (shown.next === null ? Promise.resolve(shown) : addTo(shown, load)));
      growth.value = { isLoading: false, problem: undefined };
    } catch (error) {
      depth.pages -= 1;
      growth.value = { isLoading: false, problem: problemOf(error) };
    }
  };
  return {
    items: loaded.data?.items,
    problem: loaded.problem,
    isLoading: loaded.isLoading,
    hasMore: (loaded.data?.next ?? null) !== null,
    isLoadingMore: growth.value.isLoading,
    moreProblem: growth.value.problem,
    more: () => void grow(),
    reload: loaded.reload,
  };
}

async function addTo<T>(shown: PageOf<T>, load: LoadPage<T>): Promise<PageOf<T>> {
  const added = await load(shown.next ?? undefined);
  return { items: [...shown.items, ...added.items], next: added.next };
}

async function loadDeep<T>(load: LoadPage<T>, pages: number): Promise<PageOf<T>> {
  let shown = await load(undefined);
  for (let page = 1; page < Math.min(pages, PAGES_AGAIN_MAX) && shown.next !== null; page += 1) shown = await addTo(shown, load);
  return shown;
}
