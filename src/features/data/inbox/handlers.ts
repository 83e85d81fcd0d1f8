/** The handler of the inbox. */
import { type ArtifactHead, decide } from '../../../../actors/access/access.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { viewerOf } from '../../artifacts/artifacts/lists.ts';
import type { ServiceDeps } from '../../deps.ts';
import { countInbox, keyOf, listInbox } from './rows.ts';
import { mayResolve, presentItem } from './rules.ts';

/** A mention with its id is longer than what an excerpt shows of it. */
const BEGINNING_CHARS = 4 * LIMITS.inboxExcerptCharsMax;

export interface InboxDeps extends Pick<ServiceDeps, 'sql' | 'config'> {
  readonly heads: { get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null> };
}

export function inboxHandlers({ sql, config, heads }: InboxDeps): Handlers<'inbox.list'> {
  return {
    'inbox.list': async ({ principal, query }) => {
      const viewer = viewerOf(principal);
      const { limit, cursor, count, ...filter } = query;
      const rows = await listInbox(sql, viewer, filter, decodeCursor(cursor), limit + 1, BEGINNING_CHARS);
      const { items, page } = cutPage(rows, limit, keyOf);
      const found = await Promise.all(items.map(async (row) => ({ row, head: await heads.get(row.artifact_id) })));
      // What has changed since the rows were read is left out.
      const comments = found.flatMap(({ row, head }) =>
        head !== null && decide(head, principal, 'comment', null) === 'allowed'
          ? [presentItem(row, mayResolve(row, head, principal), config)]
          : [],
      );
      const total = count ? { total: await countInbox(sql, viewer, filter, decodeCursor(undefined), LIMITS.inboxCountMax) } : {};
      return { reply: 'ok', body: { comments, ...page, ...total } };
    },
  };
}
