/** Found 14: an account stored without bound: drafts of 100 MB grew the store by 6 GB an hour, and storing and deleting in turn by more. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TIERS } from '../../../protocol/business/tiers.ts';
import { leaveRoom, shownUsage } from '../../features/people/usage/storage-stage.ts';
import { databaseKinds } from '../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../support/easel.ts';
import { published } from '../../support/requests.ts';
import { attackerAddress, Caller, Victim } from './neighbour-stage.ts';

const MB = 1024 * 1024;
const ROOM = 6 * MB;
const { bytesMax } = TIERS.free;

describe.each(databaseKinds())('over %s', (database) => {
  let easel: TestEasel;
  let victim: Victim;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    // The sweep of the start, which would correct the counters that these tests set.
    await easel.sweep();
    victim = await Victim.of(easel);
  });
  afterAll(async () => {
    victim.close();
    await easel.close();
  });

  /** Bytes in the object store. */
  const stored = async () =>
    (await easel.sql<{ bytes: number }[]>`select sum(size_bytes)::bigint as bytes from stored_object`)[0]?.bytes ?? 0;

  async function attacker(): Promise<{
    user: TestUser;
    id: string;
    callers: Caller[];
    call: (n: number, path: string, body: string) => Promise<number>;
  }> {
    const user = await easel.newUser();
    const { id } = await published(easel, user);
    await leaveRoom(easel, user, ROOM, bytesMax);
    const callers = [0, 1, 2, 3].map((n) => new Caller(easel, attackerAddress(n)));
    const call = async (n: number, path: string, body: string) =>
      (await callers[n % callers.length]?.call({ method: 'POST', path, token: user.token, body }))?.status ?? 0;
    return { user, id, callers, call };
  }

  test('drafts end at the maximum of the account, however many come at once', async () => {
    const { user, id, callers, call } = await attacker();
    const before = await stored();
    const statuses: number[] = [];
    const draft = async (n: number) => {
      const body = { artifact_id: id, draft: true, files: [{ path: 'index.html', content: `${n} ${'x'.repeat(MB)}` }] };
      statuses.push(await call(n, '/v1/publish', JSON.stringify(body)));
    };
    const work = await victim.during(Promise.all(Array.from({ length: 20 }, (_, n) => draft(n))));
    for (const caller of callers) caller.close();
    expect(work.refused).toEqual([]);
    expect(statuses.filter((status) => status === 200).length).toBe(5);
    expect(statuses.filter((status) => status === 507).length).toBe(15);
    // What was refused was not stored either.
    expect((await stored()) - before).toBeLessThanOrEqual(ROOM);
    expect((await shownUsage(easel, user)).bytes).toBeLessThanOrEqual(bytesMax);
    // Another account is not affected.
    expect((await published(easel, victim.owner, { files: [{ path: 'index.html', content: 'y'.repeat(MB) }] })).id).toMatch(/^art_/);
  });

  test('blobs that anonymous visitors send to an open page end at the maximum of its owner', async () => {
    const { user, id, callers } = await attacker();
    await easel.sql`update artifact set visibility = 'public', allow_anon_write = true where id = ${id}`;
    const before = await stored();
    const boundary = 'part';
    const send = (n: number) => {
      const body = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n${n} ${'x'.repeat(MB)}\r\n--${boundary}--\r\n`;
      const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
      return callers[n % callers.length]?.call({ method: 'POST', path: `/v1/data/${id}/blobs`, headers, body });
    };
    const answers: (number | undefined)[] = [];
    const attack = async () => {
      for (let n = 0; n < 20; n += 4) {
        const replies = await Promise.all([0, 1, 2, 3].map((k) => send(n + k)));
        answers.push(...replies.map((reply) => reply?.status));
      }
    };
    const work = await victim.during(attack());
    for (const caller of callers) caller.close();
    expect(work.refused).toEqual([]);
    expect(answers.filter((status) => status === 201).length).toBe(5);
    expect(answers.filter((status) => status === 507).length).toBe(15);
    expect((await stored()) - before).toBeLessThanOrEqual(ROOM);
    expect((await shownUsage(easel, user)).bytes).toBeLessThanOrEqual(bytesMax);
  });
});
