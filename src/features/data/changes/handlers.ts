/** Handler of GET …/changes: a stream of events, or a page of JSON. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { type ChangeType, DEFAULT_CHANGE_TYPES } from '../../../../protocol/data/changes.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import type { Call, Handlers, Reply } from '../../../edge/call.ts';
import type { ServiceDeps } from '../../deps.ts';
import type { CommentsGate } from './comments-gate.ts';
import { eventOf } from './events.ts';
import { type ChangeHub, mayFollow } from './hub.ts';
import { lastSeenSeq, mustReset, seesReserved, wantsPage } from './rules.ts';
import { readChanges } from './store.ts';

type ChangesCall = Call<Endpoints['data.changes']>;

type ChangeDeps = Pick<ServiceDeps, 'sql' | 'clock'> & {
  readonly hub: ChangeHub;
  readonly mayReadComments: CommentsGate;
};

export function changeHandlers(deps: ChangeDeps): Handlers<'data.changes'> {
  return {
    'data.changes': async (call) => {
      const types = wantedTypes(call);
      if (types.includes('comments') && !(await deps.mayReadComments(call.head, call.principal))) {
        throw new Failure('COMMENTS_DISABLED');
      }
      if (wantsPage(call.accept)) return pageReply(deps, call, types);
      const sinceSeq = lastSeenSeq(call.lastEventId, call.query.since);
      const request = { types, reserved: seesReserved(call.role), sinceSeq };
      const stream = deps.hub.stream(call.params.artifactId, call, request);
      // Tells proxies such as nginx not to buffer the stream, which would delay events.
      return { reply: 'stream', body: '', stream, type: 'text/event-stream', headers: { 'X-Accel-Buffering': 'no' } };
    },
  };
}

/** Throws FORBIDDEN if the caller may not follow all of them. */
function wantedTypes({ query, head, principal }: ChangesCall): readonly ChangeType[] {
  const types = query.types ?? DEFAULT_CHANGE_TYPES;
  if (mayFollow(head, principal, types)) return types;
  throw new Failure('FORBIDDEN', {
    message: `You may not read changes of all these types: ${types.join(', ')}.`,
    param: 'types',
    hint: 'Leave out documents and comments.',
  });
}

async function pageReply(
  deps: ChangeDeps,
  call: ChangesCall,
  types: readonly ChangeType[],
): Promise<Reply<Endpoints['data.changes'], 'page'>> {
  const { limit, since: sinceSeq = 0 } = call.query;
  const wanted = { sinceSeq, types, reserved: seesReserved(call.role), limit, nowMs: deps.clock.nowMs() };
  const read = await readChanges(deps.sql, call.params.artifactId, wanted);
  if (read === null) throw new Failure('ARTIFACT_NOT_FOUND');
  const reset = mustReset(sinceSeq, read);
  const events = reset ? [] : read.things.map(eventOf);
  const hasMore = !reset && read.hasMore;
  const nextSeq = hasMore ? (events.at(-1)?.seq ?? sinceSeq) : read.headSeq;
  const rest = `"nextSeq":${nextSeq},"hasMore":${hasMore}${reset ? ',"reset":true' : ''}`;
  return {
    reply: 'page',
    body: { success: true, data: { events: [], nextSeq, hasMore } },
    json: `{"success":true,"data":{"events":[${events.map(({ json }) => json).join(',')}],${rest}}}`,
  };
}
