/** Open streams and sockets are told within a turn about everything that may end their access. */
import { expect, test } from 'vitest';
import { ANONYMOUS, type ArtifactHead, letIn, type Principal, type UserPrincipal } from '../../../../actors/access/access.ts';
import { type ArtifactId, newId, type TokenId, type UserId } from '../../../../protocol/core/ids.ts';
import type { AccessNow } from '../../../../src/edge/open-access.ts';
import { AccessWatch } from '../../../../src/features/people/access-watch/access-watch.ts';
import type { Standing } from '../../../../src/features/people/persons/rows.ts';
import type { TokenService } from '../../../../src/features/people/tokens/tokens.ts';
import { type Hearing, LocalBus } from '../../../../src/platform/bus.ts';
import { SILENT } from '../../../support/database.ts';
import { userPrincipal } from '../../../support/principals.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const DAY_MS = 24 * 3600 * 1000;
const id: ArtifactId = newId('artifact');
const head: ArtifactHead = {
  id,
  slug: 'page',
  ownerId: null,
  workspaceId: null,
  folder: null,
  visibility: 'public',
  allowAnonWrite: false,
  allowAnonCollab: false,
  liveVersionId: null,
  deletedAtMs: null,
  collaborators: new Map(),
};

function user(clock: VirtualClock, livesMs: number | null): UserPrincipal {
  return userPrincipal(newId('user'), { expiresAtMs: livesMs === null ? null : clock.nowMs() + livesMs });
}

type Standings = TokenService['standingsOf'];
const gone: Standings = async () => new Map();

function watching(
  read: (id: ArtifactId) => Promise<ArtifactHead | null> = () => Promise.resolve(head),
  standingsOf: Standings = gone,
  endedOf: TokenService['endedOf'] = async () => new Set(),
) {
  const clock = new VirtualClock();
  const bus = new MissingBus(SILENT);
  const access = new AccessWatch({ clock, ioClock: clock, log: SILENT, bus, heads: { get: read }, tokens: { standingsOf, endedOf } });
  const told: AccessNow[] = [];
  const watch = (principal: Principal) => access.watch(id, principal, (now) => told.push(now));
  const emit = (kind: 'changed' | 'gone' | 'replaced') => bus.tell({ kind: `artifact.${kind}`, artifactId: id, slugs: [] });
  const revoke = (tokenId: TokenId) => bus.tell({ kind: 'token.revoked', tokenId, credential: '' });
  const changePeople = (...userIds: UserId[]) => bus.tell({ kind: 'person.changed', userIds });
  return { clock, bus, access, told, watch, emit, revoke, changePeople };
}

/** A bus that can say that facts were missed. */
class MissingBus extends LocalBus {
  resync: () => void | Promise<void> = () => undefined;

  override listen(name: string, hearing: Hearing): void {
    this.resync = () => hearing.resync();
    super.listen(name, hearing);
  }
}

/** Settles when everything that waits only for promises has run. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('a change reports the new head; a deleted artifact ends access, once', async () => {
  const { told, watch, emit } = watching();
  watch(ANONYMOUS);
  emit('changed');
  await turn();
  emit('gone');
  emit('gone');
  await turn();
  expect(told).toEqual([{ head, principal: ANONYMOUS }, { over: 'gone' }]);
});

test('a head that was read for an earlier change does not overwrite a later one', async () => {
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
  expect(told).toEqual([{ head: later, principal: ANONYMOUS }]);
});

test('a revoked token ends its own access and no other', async () => {
  const { clock, told, watch, revoke } = watching();
  const [one, other] = [user(clock, null), user(clock, null)];
  watch(one);
  watch(other);
  revoke(one.tokenId);
  revoke(one.tokenId);
  expect(told).toEqual([{ over: 'revoked' }]);
});

test('a token ends at its expiry, even further ahead than one timer can run', () => {
  const { clock, told, watch } = watching();
  watch(user(clock, 100 * DAY_MS));
  clock.advance(100 * DAY_MS - 1);
  expect(told).toEqual([]);
  clock.advance(1);
  expect(told).toEqual([{ over: 'expired' }]);
});

test('any change may end a pass: its holder has to connect again', async () => {
  const { clock, told, watch, emit } = watching();
  watch(letIn(ANONYMOUS, { artifactId: id, expiresAtMs: clock.nowMs() + DAY_MS }));
  emit('changed');
  await turn();
  expect(told).toEqual([{ over: 'undecided' }]);
});

test('a caller whose access cannot be checked has to connect again', async () => {
  const { told, watch, emit } = watching(() => Promise.reject(new Error('database')));
  watch(ANONYMOUS);
  emit('changed');
  await turn();
  expect(told).toEqual([{ over: 'undecided' }]);
});

test('after watching has stopped nothing is reported and no timer is left', async () => {
  const { clock, told, watch, emit } = watching();
  watch(user(clock, 1000))();
  emit('gone');
  clock.advance(2000);
  await turn();
  expect(told).toEqual([]);
});

test('whoever is told that an account stands for something else is decided again with it, and goes on with it', async () => {
  const workspace = newId('workspace');
  const joined = (principal: UserPrincipal) => ({
    ...principal,
    person: { ...principal.person, workspaces: new Map([[workspace, 'admin' as const]]) },
  });
  const clock = new VirtualClock();
  const [one, other] = [user(clock, null), user(clock, null)];
  const { person, isAdmin } = joined(one);
  const { told, watch, emit, changePeople } = watching(undefined, async () => new Map([[one.userId, { person, isAdmin, isStaff: false }]]));
  watch(one);
  watch(other);
  changePeople(one.userId);
  await turn();
  expect(told).toEqual([{ head, principal: joined(one) }]);
  emit('changed');
  await turn();
  expect(told.slice(1)).toEqual([
    { head, principal: joined(one) },
    { head, principal: other },
  ]);
});

test('the access of an account that is gone, or cannot be read in time, ends', async () => {
  const removed = watching(undefined, gone);
  const one = user(removed.clock, null);
  removed.watch(one);
  removed.changePeople(one.userId);
  await turn();
  expect(removed.told).toEqual([{ over: 'revoked' }]);

  const late = watching(undefined, () => new Promise(() => undefined));
  const two = user(late.clock, null);
  late.watch(two);
  late.changePeople(two.userId);
  late.clock.advance(1000);
  await turn();
  expect(late.told).toEqual([{ over: 'undecided' }]);
});

test('an access that was decided before a fact about its caller and begins after it is decided again', async () => {
  const { clock, told, watch, revoke, changePeople } = watching(undefined, gone);
  const [one, other, third] = [user(clock, null), user(clock, null), user(clock, null)];
  changePeople(one.userId);
  revoke(other.tokenId);
  await turn();
  for (const principal of [one, other, third]) watch(principal);
  await turn();
  expect(told).toEqual([{ over: 'revoked' }, { over: 'revoked' }]);
  clock.advance(60_000);
  watch(one);
  await turn();
  expect(told).toHaveLength(2);
});

test('a change of folders is heard by what is in folders of that workspace', async () => {
  const workspaceId = newId('workspace');
  const filed: ArtifactHead = {
    ...head,
    workspaceId,
    folder: { id: newId('folder'), visibility: 'private', guestComments: false, reach: [] },
  };
  const { bus, told, watch } = watching(async () => filed);
  watch(ANONYMOUS);
  bus.tell({ kind: 'folder.changed', workspaceId: newId('workspace'), ownerId: null });
  await turn();
  expect(told).toEqual([]);
  bus.tell({ kind: 'folder.changed', workspaceId, ownerId: null });
  await turn();
  expect(told).toEqual([{ head: filed, principal: ANONYMOUS }]);
});

test('facts about one account that come together leave what was read last, and end nothing', async () => {
  const reads: ((read: Map<UserId, Standing>) => void)[] = [];
  const { clock, told, watch, changePeople } = watching(undefined, () => new Promise((resolve) => reads.push(resolve)));
  const one = user(clock, null);
  const standing = (isAdmin: boolean) => new Map([[one.userId, { person: one.person, isAdmin, isStaff: false }]]);
  watch(one);
  changePeople(one.userId);
  changePeople(one.userId);
  reads[1]?.(standing(true));
  await turn();
  reads[0]?.(standing(false));
  await turn();
  expect(told).toEqual([{ head, principal: { ...one, isAdmin: true } }]);
});

test('a call that begins after a suspension was lifted does not end by what was read before', async () => {
  const reads: ((read: Map<UserId, Standing>) => void)[] = [];
  const { access, clock, changePeople } = watching(undefined, () => new Promise((resolve) => reads.push(resolve)));
  const one = user(clock, null);
  const ends: string[] = [];
  const call = (name: string) => ({
    caller: one,
    artifactId: undefined,
    decideAgain: () => ends.push(`${name} goes on`),
    end: (over: string) => ends.push(`${name}: ${over}`),
  });
  const open = [call('during')];
  access.attend({ open: () => open });
  changePeople(one.userId);
  open.length = 0;
  // Nothing of theirs is open now.
  changePeople(one.userId);
  open.push(call('after'));
  reads[0]?.(new Map());
  await turn();
  expect(ends).toEqual([]);
  reads[1]?.(new Map([[one.userId, { person: one.person, isAdmin: false, isStaff: false }]]));
  await turn();
  expect([ends, reads.length]).toEqual([['after goes on'], 2]);
});

test('facts that never cease hold up no decision for longer than a read may take', async () => {
  const reads: ((read: Map<UserId, Standing>) => void)[] = [];
  const { clock, told, watch, changePeople } = watching(undefined, () => new Promise((resolve) => reads.push(resolve)));
  const one = user(clock, null);
  watch(one);
  changePeople(one.userId);
  for (let at = 0; told.length === 0 && at < 20; at += 1) {
    clock.advance(100);
    changePeople(one.userId);
    reads[at]?.(new Map());
    await turn();
  }
  expect(told).toEqual([{ over: 'revoked' }]);
  expect(clock.monotonicMs()).toBeLessThan(1000);
});

test('facts that were missed: what is open is decided anew by its credential, its person and its artifact', async () => {
  const [revoked, left, kept] = [userPrincipal(newId('user')), userPrincipal(newId('user')), userPrincipal(newId('user'))];
  const standing = { person: kept.person, isAdmin: true, isStaff: false };
  const { bus, told, watch } = watching(
    undefined,
    async () => new Map([[kept.userId, standing]]),
    async () => new Set([revoked.tokenId]),
  );
  for (const principal of [revoked, left, kept]) watch(principal);
  await bus.resync();
  expect(told).toEqual([
    { over: 'revoked' },
    { over: 'revoked' },
    { head, principal: { ...kept, ...standing } },
    { head, principal: { ...kept, ...standing } },
  ]);
});

test('facts that were missed: an artifact that is gone ends access, and so do credentials that cannot be read', async () => {
  const away = watching(() => Promise.resolve(null));
  away.watch(ANONYMOUS);
  await away.bus.resync();
  expect(away.told).toEqual([{ over: 'gone' }]);
  const unread = watching(undefined, undefined, () => Promise.reject(new Error('database')));
  unread.watch(userPrincipal(newId('user')));
  await unread.bus.resync();
  expect(unread.told).toEqual([{ over: 'undecided' }]);
});

test('an access that begins shortly after facts were missed was perhaps decided before: its credential is read again', async () => {
  const { bus, told, watch } = watching(undefined, undefined, async (ids) => new Set(ids));
  await bus.resync();
  watch(userPrincipal(newId('user')));
  await turn();
  expect(told).toEqual([{ over: 'revoked' }]);
});

test('C12: many open artifacts are decided anew a few at a time', async () => {
  let reading = 0;
  let readingMost = 0;
  let reads = 0;
  const { bus, access } = watching(async () => {
    reads += 1;
    reading += 1;
    readingMost = Math.max(readingMost, reading);
    await turn();
    reading -= 1;
    return head;
  });
  for (let opened = 0; opened < 1000; opened += 1) access.watch(newId('artifact'), ANONYMOUS, () => undefined);
  await bus.resync();
  expect(reads).toBe(1000);
  expect(readingMost).toBeLessThanOrEqual(16);
});
