/** Feed of comments. */
import type { ChangeOf } from '../../../../actors/kinds.ts';
import { bareThing, type Feed } from '../changes/feed.ts';
import { commentText } from './present.ts';

export const commentsFeed: Feed<ChangeOf<'comments'>> = {
  need: 'comment',
  named: 'id',
  withoutData: ['comment:deleted'],
  isSetting: ({ kind }) => kind === 'comments.config',
  thingOf(change) {
    if (change.kind === 'comments.config') throw new TypeError('nobody is told of settings');
    const { seq, commentId: name } = change;
    if (change.kind === 'comment.delete') return bareThing(seq, 'comment:deleted', name, change.atMs);
    const data = commentText({ ...change, id: name });
    return { seq, kind: `comment:${change.cause}`, name, rowId: null, data, atMs: change.updatedAtMs };
  },
  stored: (sql, id, { sinceSeq, limit }) => [
    sql`
      select seq, 'comment.put', id, null, data::text, updated_at_ms, created_at_ms, null::json
      from comment where artifact_id = ${id} and seq > ${sinceSeq} order by seq limit ${limit + 1}`,
  ],
  thingOfStored({ seq, kind, name, data: stored, at_ms: atMs, created_at_ms }) {
    if (kind === 'comment.delete') return bareThing(seq, 'comment:deleted', name, atMs);
    const createdAtMs = created_at_ms ?? atMs;
    const data = commentText({ id: name, data: stored ?? '{}', seq, createdAtMs, updatedAtMs: atMs });
    // The store keeps only the current state, not the changes in between.
    return { seq, kind: createdAtMs === atMs ? 'comment:added' : 'comment:updated', name, rowId: null, atMs, data };
  },
};
