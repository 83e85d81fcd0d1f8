/** Members of workspaces: who may change whom, an owner always stays, and what a lost membership ends. Source: contract.md §2, §11, §14. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLOSE } from '../../../../protocol/core/close-codes.ts';
import { ChannelClient } from '../../../realtime/channel-client.ts';
import { type DatabaseKind, databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, patch, post, published, refusal } from '../../../support/requests.ts';
import { auditOf, type Person, person, stageOf } from '../workspace-stage.ts';

type Role = 'owner' | 'admin' | 'member';

describe.each<DatabaseKind>(databaseKinds())('%s', (database) => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());

  const call = (user: Person, path: string, init: RequestInit = {}) => easel.fetch(path, { token: user.token, ...init });
  const membersOf = (id: string) => `/v1/workspaces/${id}/members`;
  const setRole = (by: Person, id: string, who: Person, role: Role) => call(by, `${membersOf(id)}/${who.userId}`, patch({ role }));
  const remove = (by: Person, id: string, who: Person) => call(by, `${membersOf(id)}/${who.userId}`, { method: 'DELETE' });
  const rolesIn = async (id: string, by: Person): Promise<Record<string, Role>> => {
    const { members } = await json(await call(by, `${membersOf(id)}?limit=100`));
    return Object.fromEntries(members.map(({ email, role }: { email: string; role: Role }) => [email.split('.')[0], role]));
  };

  test('the list shows who they are to members, and to nobody else', async () => {
    const { id, owner, admin, member, stranger } = await stageOf(easel, `Listed ${database}`);
    const list = await json(await call(member, `${membersOf(id)}?limit=2&count=true`));
    expect([list.members.length, list.has_more, list.total]).toEqual([2, true, 3]);
    const rest = await json(await call(member, `${membersOf(id)}?limit=2&cursor=${list.next_cursor}`));
    const seen = [...list.members, ...rest.members].map(({ user_id, email, name, role }) => [user_id, email, name, role]);
    expect(seen.sort()).toEqual(
      [
        [owner.userId, owner.email, 'olive', 'owner'],
        [admin.userId, admin.email, 'adam', 'admin'],
        [member.userId, member.email, 'mia', 'member'],
      ].sort(),
    );
    expect((await call(stranger, membersOf(id))).status).toBe(404);
  });

  test('owners do everything, admins all but what concerns owners, members only leave', async () => {
    const { id, owner, admin, member, stranger } = await stageOf(easel, `Ranks ${database}`);
    const forbidden = [403, 'FORBIDDEN', undefined];
    expect(await refusal(setRole(member, id, member, 'admin'))).toEqual(forbidden);
    expect(await refusal(remove(member, id, admin))).toEqual(forbidden);
    expect(await refusal(setRole(admin, id, admin, 'owner'))).toEqual(forbidden);
    expect(await refusal(setRole(admin, id, owner, 'member'))).toEqual(forbidden);
    expect(await refusal(remove(admin, id, owner))).toEqual(forbidden);
    expect(await refusal(call(admin, membersOf(id), post({ email: stranger.email, role: 'owner' })))).toEqual(forbidden);
    expect(await refusal(setRole(owner, id, stranger, 'admin'))).toEqual([404, 'USER_NOT_FOUND', undefined]);
    expect((await json(await setRole(admin, id, member, 'admin'))).role).toBe('admin');
    expect((await json(await setRole(owner, id, member, 'owner'))).role).toBe('owner');
    expect((await remove(owner, id, admin)).status).toBe(200);
    expect((await remove(member, id, member)).status).toBe(200);
    expect(await refusal(call(owner, membersOf(id), post({ email: owner.email })))).toEqual([409, 'ALREADY_MEMBER', undefined]);
    expect(await rolesIn(id, owner)).toEqual({ olive: 'owner' });
    expect((await auditOf(easel, id)).slice(3)).toEqual([
      ['member.update', 'adam', 'mia'],
      ['member.update', 'olive', 'mia'],
      ['member.remove', 'olive', 'adam'],
      ['member.leave', 'mia', 'mia'],
    ]);
  });

  test('the last owner stays, also where several leave, demote each other or hand over at once', async () => {
    const last = [400, 'LAST_OWNER', undefined];
    const alone = await stageOf(easel, `Last ${database}`);
    expect(await refusal(remove(alone.owner, alone.id, alone.owner))).toEqual(last);
    expect(await refusal(setRole(alone.owner, alone.id, alone.owner, 'member'))).toEqual(last);
    const hand = (by: Person, id: string, to: Person) =>
      call(by, `/v1/workspaces/${id}/transfer-ownership`, post({ user_id: to.userId, confirm: true }));
    const races = [
      (id: string, one: Person, other: Person) => [remove(one, id, one), remove(other, id, other)],
      (id: string, one: Person, other: Person) => [setRole(one, id, other, 'member'), setRole(other, id, one, 'member')],
      (id: string, one: Person, other: Person) => [setRole(one, id, one, 'admin'), remove(other, id, other)],
      (id: string, one: Person, other: Person) => [hand(one, id, other), hand(other, id, one)],
    ];
    for (const [n, race] of races.entries()) {
      const { id, owner, admin } = await stageOf(easel, `Race ${n} ${database}`);
      await setRole(owner, id, admin, 'owner');
      const statuses = (await Promise.all(race(id, owner, admin))).map(({ status }) => status);
      const owners = await easel.sql`select 1 from workspace_member where workspace_id = ${id} and role = 'owner'`;
      expect([n, statuses.includes(200), owners.length]).toEqual([n, true, 1]);
    }
  });

  test('ownership is handed over to a member, who is the owner in place of the caller', async () => {
    const { id, owner, admin, member, stranger } = await stageOf(easel, `Handed ${database}`);
    const hand = (by: Person, body: object) => call(by, `/v1/workspaces/${id}/transfer-ownership`, post(body));
    expect(await refusal(hand(admin, { email: admin.email, confirm: true }))).toEqual([403, 'FORBIDDEN', undefined]);
    expect(await refusal(hand(owner, { email: stranger.email, confirm: true }))).toEqual([404, 'USER_NOT_FOUND', undefined]);
    expect(await refusal(hand(owner, { email: owner.email, confirm: true }))).toEqual([400, 'INVALID_REQUEST', 'email']);
    expect(await json(await hand(owner, { email: member.email, confirm: true, keep_as: 'member' }))).toEqual({
      success: true,
      new_owner: member.userId,
    });
    expect(await rolesIn(id, member)).toEqual({ olive: 'member', adam: 'admin', mia: 'owner' });
    expect(await refusal(hand(owner, { email: admin.email, confirm: true }))).toEqual([403, 'FORBIDDEN', undefined]);
  });

  test('linked accounts are one member: with the best role, and out together', async () => {
    const { id, owner, admin, member } = await stageOf(easel, `Linked ${database}`);
    const twin = await person(easel, 'twin');
    await easel.sql`update account set person_id = (select person_id from account where id = ${member.userId}) where id = ${twin.userId}`;
    expect((await json(await call(twin, `/v1/workspaces/${id}`))).role).toBe('member');
    expect(await refusal(call(admin, membersOf(id), post({ email: twin.email })))).toEqual([409, 'ALREADY_MEMBER', undefined]);
    await setRole(owner, id, member, 'admin');
    expect((await json(await call(twin, `/v1/workspaces/${id}`, patch({ name: 'By the twin' })))).role).toBe('admin');
    expect((await remove(owner, id, member)).status).toBe(200);
    for (const who of [member, twin]) expect((await call(who, `/v1/workspaces/${id}`)).status).toBe(404);
  });

  test('I8: a membership that ends is felt by the next request, by open sockets and by open streams; others go on', async () => {
    const { id, owner, admin, member } = await stageOf(easel, `Felt ${database}`);
    const page = await published(easel, owner);
    await easel.sql`update artifact set workspace_id = ${id}, visibility = 'workspace' where id = ${page.id}`;
    await call(owner, `/v1/artifacts/${page.id}`, patch({ name: 'Shared' }));
    const [hers, his] = await Promise.all([member, admin].map(({ token }) => ChannelClient.open(easel.port, page.id, { token })));
    const stream = await call(member, `/v1/data/${page.id}/changes`, { headers: { accept: 'text/event-stream' } });
    expect([stream.status, (await call(member, `/v1/data/${page.id}/json`)).status]).toEqual([200, 200]);
    expect((await remove(admin, id, member)).status).toBe(200);
    expect((await call(member, `/v1/data/${page.id}/json`)).status).toBe(404);
    expect((await call(member, `/v1/workspaces/${id}`)).status).toBe(404);
    expect(await hers?.closed()).toBe(CLOSE.revoked);
    // The stream ends by itself.
    await stream.text();
    expect(his?.ended).toBeUndefined();
    // Who is back is in at once, and a lower role takes effect on what is open.
    await call(admin, membersOf(id), post({ email: member.email }));
    const again = await ChannelClient.open(easel.port, page.id, { token: member.token });
    await setRole(owner, id, admin, 'member');
    expect((await call(admin, `/v1/artifacts/${page.id}`)).status).toBe(200);
    expect([again.ended, his?.ended]).toEqual([undefined, undefined]);
    his?.socket.terminate();
    again.socket.terminate();
  });
});
