/** Who has something open is told, within a turn, of all that may end it. */
import { expect, test } from 'vitest';
import { ANONYMOUS, type ArtifactHead, letIn, type Principal } from '../../actors/access.ts';
import { type ArtifactId, newId, type TokenId } from '../../protocol/ids.ts';
import { type AccessNow, AccessWatch } from '../../src/services/access-watch.ts';
import { ArtifactNotices } from '../../src/services/notices.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const DAY_MS = 24 * 3600 * 1000;
const id: ArtifactId = newId('artifact');
const head: ArtifactHead = {
  id,
  slug: 'page',
  ownerId: null,
  workspaceId: null,
  visibility: 'public',
  allowAnonWrite: false,
  allowAnonCollab: false,
  liveVersionId: null,
  deletedAtMs: null,
  collaborators: new Map(),
};

function user(clock: VirtualClock, livesMs: number | null): Extract<Principal, { kind: 'user' }> {
  return {
    kind: 'user',
    userId: newId('user'),
    tokenId: newId('token'),
    tokenKind: 'personal',
    isAdmin: false,
    expiresAtMs: livesMs === null ? null : clock.nowMs() + livesMs,
  };
}

function watching(read: () => Promise<ArtifactHead | null> = () => Promise.resolve(head)) {
  const clock = new VirtualClock();
  const notices = new ArtifactNotices();
  const revoked: ((token: TokenId) => void)[] = [];
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const access = new AccessWatch({ clock, log, notices, heads: { get: read }, tokens: { onRevoked: (tell) => revoked.push(tell) } });
  const told: AccessNow[] = [];
  const watch = (principal: Principal) => access.watch(id, principal, (now) => told.push(now));
  const emit = (kind: 'changed' | 'gone' | 'replaced') => notices.emit({ artifactId: id, slugs: [], kind });
  const revoke = (token: TokenId) => {
    for (const tell of revoked) tell(token);
  };
  return { clock, told, watch, emit, revoke };
}

/** Settles when what waits for nothing but promises has run. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('a change tells the head as it is now; gone is over, once', async () => {
  const { told, watch, emit } = watching();
  watch(ANONYMOUS);
  emit('changed');
  await turn();
  emit('gone');
  emit('gone');
  await turn();
  expect(told).toEqual([{ head }, { over: 'gone' }]);
});

test('of two changes, what was read because of the first does not overwrite the second', async () => {
  const reads: ((read: ArtifactHead | null) => void)[] = [];
  const { told, watch, emit } = watching(() => new Promise((resolve) => reads.push(resolve)));
  watch(ANONYMOUS);
  emit('changed');
  emit('changed');
  const later = { ...head, slug: 'later' };
  reads[1]?.(later);
  await turn();
  reads[0]?.(head);
  await turn();
  expect(told).toEqual([{ head: later }]);
});

test('a token that is revoked, and no other', async () => {
  const { clock, told, watch, revoke } = watching();
  const [one, other] = [user(clock, null), user(clock, null)];
  watch(one);
  watch(other);
  revoke(one.tokenId);
  revoke(one.tokenId);
  expect(told).toEqual([{ over: 'revoked' }]);
});

test('a token ends at its time, however far that is: further than a timer of the platform reaches', () => {
  const { clock, told, watch } = watching();
  watch(user(clock, 100 * DAY_MS));
  clock.advance(100 * DAY_MS - 1);
  expect(told).toEqual([]);
  clock.advance(1);
  expect(told).toEqual([{ over: 'expired' }]);
});

test('a pass may have ended with any change: its bearer comes back', async () => {
  const { clock, told, watch, emit } = watching();
  watch(letIn(ANONYMOUS, { artifactId: id, expiresAtMs: clock.nowMs() + DAY_MS }));
  emit('changed');
  await turn();
  expect(told).toEqual([{ over: 'undecided' }]);
});

test('who cannot be decided comes back', async () => {
  const { told, watch, emit } = watching(() => Promise.reject(new Error('database')));
  watch(ANONYMOUS);
  emit('changed');
  await turn();
  expect(told).toEqual([{ over: 'undecided' }]);
});

test('who has stopped watching hears nothing, and leaves no timer', async () => {
  const { clock, told, watch, emit } = watching();
  watch(user(clock, 1000))();
  emit('gone');
  clock.advance(2000);
  await turn();
  expect(told).toEqual([]);
});
