/** Feed of documents: reports only that a document changed. The content is sent over its own socket. */
import type { ChangeOf } from '../../../../actors/kinds.ts';
import { bareThing, type Feed } from '../changes/feed.ts';

export const documentsFeed: Feed<ChangeOf<'documents'>> = {
  need: 'collab:read',
  named: 'name',
  withoutData: ['doc.update', 'doc.drop'],
  // A document changes many times a second.
  lastOf: (change) => (change.kind === 'doc.update' ? change.doc : undefined),
  thingOf: ({ seq, kind, doc, atMs }) => bareThing(seq, kind, doc, atMs),
  stored: (sql, id, { sinceSeq, limit }) => [
    sql`
      select seq, 'doc.update', name, null, null, updated_at_ms, null::bigint, null::json
      from document where artifact_id = ${id} and seq > ${sinceSeq} order by seq limit ${limit + 1}`,
  ],
  thingOfStored: ({ seq, kind, name, at_ms: atMs }) => bareThing(seq, kind, name, atMs),
};
