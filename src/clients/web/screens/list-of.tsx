/** A list that is loaded page by page, with what is shown while it is not there. */
import type { ComponentChildren } from 'preact';
import type { Pages } from '../state/pages.ts';
import type { IconName } from '../ui/icon.tsx';
import { Empty, ProblemState, Skeleton } from '../ui/states.tsx';
import { More } from './more.tsx';

interface ListProps<T> {
  readonly pages: Pages<T>;
  readonly icon: IconName;
  readonly empty: { readonly title: string; readonly text: string };
  /** What can be done where there is nothing. */
  readonly action?: ComponentChildren;
  readonly children: (item: T) => ComponentChildren;
}

/** A list page by page, or why there is none. */
export function ListOf<T>({ pages, icon, empty, action, children }: ListProps<T>) {
  const { items, problem } = pages;
  return (
    <>
      {items === undefined && problem === undefined && <Skeleton shape="line" count={6} />}
      {items === undefined && problem !== undefined && <ProblemState problem={problem} onRetry={pages.reload} />}
      {items?.length === 0 && (
        <Empty icon={icon} {...empty}>
          {action}
        </Empty>
      )}
      {items !== undefined && items.length > 0 && <ul class="rows">{items.map(children)}</ul>}
      <More pages={pages} />
    </>
  );
}
