/** An artifact without data, for rehearsals that have none: it answers the reads that a rehearsal makes, as its owner sees them. */
import type { Grouping } from '../../../data/tables/queries/aggregate.ts';
import { EVERYTHING } from '../../../data/tables/queries/filter.ts';
import { bodyOf, type ScriptWorld, type WorldCall, type WorldReply } from '../world.ts';
import { groupsOf } from './row-reads.ts';

export const EMPTY_ARTIFACT: Pick<ScriptWorld, 'call'> = {
  call: async (call) => answerTo(call),
};

function answerTo(call: WorldCall): WorldReply {
  const { path } = call;
  const body = bodyOf(call);
  const [place = ''] = path.split('?');
  const viewer = { person: null, role: 'owner', canWrite: true, canCollaborate: true, canEdit: true };
  if (place === '/viewer') return found(viewer);
  if (place === '/json') return found({ keys: [], count: 0, hasMore: false, nextCursor: null, entries: [] });
  if (place === '/tables') return found({ tables: [] });
  if (place.startsWith('/json/')) return missing('KEY_NOT_FOUND', 'There is no such key.');
  if (place.endsWith('/_schema')) return missing('TABLE_NOT_FOUND', 'There is no such table.');
  if (place.endsWith('/query')) {
    const isCounted = (body as { count?: unknown } | undefined)?.count === true;
    return found({ rows: [], hasMore: false, nextCursor: null, ...(isCounted && { total: 0 }) });
  }
  if (place.endsWith('/count')) return found({ count: 0 });
  if (place.endsWith('/aggregate')) {
    const { groupBy = [], metrics = [] } = (body ?? {}) as Partial<Grouping>;
    return found({ groups: groupsOf([], EVERYTHING, { groupBy, metrics }) });
  }
  return missing('ROW_NOT_FOUND', 'There is no such row.');
}

function found(data: unknown): WorldReply {
  return { status: 200, body: { success: true, data } };
}

function missing(code: string, error: string): WorldReply {
  return { status: 404, body: { success: false, code, error } };
}
