/** Feed of JSON keys. */
import type { ChangeOf } from '../../../../actors/kinds.ts';
import { bareThing, DATA_BYTES_MAX, type Feed } from '../changes/feed.ts';

export const jsonFeed: Feed<ChangeOf<'json'>> = {
  need: 'data:read',
  named: 'key',
  withoutData: ['json.delete'],
  hasReserved: true,
  thingOf(change) {
    const { seq, kind, key } = change;
    if (kind === 'json.delete') return bareThing(seq, kind, key, change.atMs);
    return { seq, kind, name: key, rowId: null, data: change.value, atMs: change.updatedAtMs };
  },
  stored: (sql, id, { sinceSeq, reserved, limit, nowMs }) => [
    sql`
      select seq, 'json.put', key, null, case when octet_length(value) <= ${DATA_BYTES_MAX} then value end, updated_at_ms, null::bigint, null::json
      from json_key
      where artifact_id = ${id} and seq > ${sinceSeq} and (expires_at_ms is null or expires_at_ms > ${nowMs})
        and (${reserved} or not starts_with(key, '_'))
      order by seq limit ${limit + 1}`,
  ],
  thingOfStored({ seq, kind, name, data, at_ms: atMs }) {
    return { seq, kind, name, rowId: null, data, atMs };
  },
};
