/** Reads paged lists up to the number of items that the user wants. */
import { InvalidArgumentError, Option } from 'commander';
import { LIMITS } from '../../../protocol/core/limits.ts';

/** `--limit <n>`: default 50, no maximum. */
export function limitOption(): Option {
  return new Option('--limit <n>', 'how many at most').default(50).argParser((text) => {
    const limit = Number(text);
    if (!Number.isInteger(limit) || limit < 1) throw new InvalidArgumentError('It must be a whole number, at least 1.');
    return limit;
  });
}

interface Page<Item> {
  readonly items: readonly Item[];
  /** The cursor of the next page; null at the end. */
  readonly next: string | null;
}

/** Reads pages until it has `limit` items or the list ends. */
export async function collect<Item>(limit: number, read: (page: { limit: number; cursor: string | undefined }) => Promise<Page<Item>>) {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const page = await read({ limit: Math.min(LIMITS.pageMax, limit - items.length), cursor });
    items.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined && items.length < limit);
  return { items, hasMore: cursor !== undefined };
}
