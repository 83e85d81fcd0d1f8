/** GET …/changes: a stream of events, or a page of JSON. */
import { Failure } from '../../../protocol/errors.ts';
import { type ChangeType, DEFAULT_CHANGE_TYPES } from '../../../protocol/schemas/change.ts';
import type { Endpoints } from '../../../protocol/table.ts';
import type { Call, Handlers, Reply } from '../../edge/call.ts';
import { requireHead } from '../artifacts.ts';
import type { ServiceDeps } from '../deps.ts';
import type { CommentsGate } from './comments-gate.ts';
import { type CommentText, eventOf } from './events.ts';
import { mustReset } from './follower.ts';
import { type ChangeHub, mayFollow } from './hub.ts';
import { readChanges } from './store.ts';

type ChangesCall = Call<Endpoints['data.changes']>;

type ChangeDeps = Pick<ServiceDeps, 'sql' | 'clock'> & {
  readonly hub: ChangeHub;
  readonly commentText: CommentText;
  readonly mayReadComments: CommentsGate;
};

export function changeHandlers(deps: ChangeDeps): Handlers<'data.changes'> {
  return {
    'data.changes': async (call) => {
      const types = wantedTypes(call);
      if (types.includes('comments') && !(await deps.mayReadComments(requireHead(call.head), call.principal))) {
        throw new Failure('COMMENTS_DISABLED');
      }
      if (wantsPage(call.accept)) return pageReply(deps, call, types);
      const request = { types, reserved: maySeeReserved(call), sinceSeq: lastSeen(call) };
      const stream = deps.hub.stream(call.params.artifactId, call.principal, request);
      // A proxy that collects what it passes on would hold events back.
      return { reply: 'stream', body: '', stream, type: 'text/event-stream', headers: { 'X-Accel-Buffering': 'no' } };
    },
  };
}

/** Throws FORBIDDEN for what the caller may not hear. */
function wantedTypes({ query, head, principal }: ChangesCall): readonly ChangeType[] {
  const types = query.types ?? DEFAULT_CHANGE_TYPES;
  if (mayFollow(requireHead(head), principal, types)) return types;
  throw new Failure('FORBIDDEN', {
    message: 'You may not read all of these types.',
    param: 'types',
    hint: 'Leave out documents or comments.',
  });
}

function wantsPage(accept: string): boolean {
  return accept.includes('application/json') && !accept.includes('text/event-stream');
}

function maySeeReserved({ role }: Pick<Call, 'role'>): boolean {
  return role === 'owner' || role === 'editor';
}

/** What a browser that comes back says counts more than the address that it first called. */
function lastSeen({ lastEventId, query }: ChangesCall): number | undefined {
  if (lastEventId === undefined) return query.since;
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId);
  throw new Failure('INVALID_REQUEST', { message: 'Last-Event-ID must be the id of an event.', param: 'Last-Event-ID' });
}

async function pageReply(
  deps: ChangeDeps,
  call: ChangesCall,
  types: readonly ChangeType[],
): Promise<Reply<Endpoints['data.changes'], 'page'>> {
  const { limit, since: sinceSeq = 0 } = call.query;
  const wanted = { sinceSeq, types, reserved: maySeeReserved(call), limit, nowMs: deps.clock.nowMs() };
  const read = await readChanges(deps.sql, call.params.artifactId, wanted, deps.commentText);
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
