/** What puts notices into the bell. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ArtifactId, UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { addNotices, type NewNotice } from '../../../../src/features/automation/notifications/notices.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { published } from '../../../support/requests.ts';

describe.each(databaseKinds())('over %s', (database) => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());

  const notice = (userId: UserId, more: Partial<NewNotice> = {}): NewNotice => ({
    ...{ userId, kind: 'job.paused', title: 'A job is paused', body: 'It failed ten times.', artifactId: null, url: null },
    ...more,
  });
  // Of today: the sweep that a first start is due removes what is older than 90 days.
  const add = (notices: readonly NewNotice[], laterMs = 0) =>
    easel.sql.begin((tx) => addNotices(tx, notices, easel.clock.nowMs() + laterMs));
  const titles = async (userId: UserId) =>
    (await easel.sql<{ title: string }[]>`select title from notice where user_id = ${userId} order by created_at_ms desc, id`).map(
      ({ title }) => title,
    );

  test('one for each account, and the accounts to tell of', async () => {
    const [ada, bob] = [await easel.newUser(), await easel.newUser()];
    const told = await add([notice(ada.userId), notice(bob.userId, { title: 'For Bob' }), notice(bob.userId, { title: 'For Bob' })]);
    expect(told).toEqual({ kind: 'notices.changed', userIds: [ada.userId, bob.userId].sort() });
    expect([await titles(ada.userId), await titles(bob.userId)]).toEqual([['A job is paused'], ['For Bob', 'For Bob']]);
    expect(await add([])).toEqual({ kind: 'notices.changed', userIds: [] });
  });

  test('what the transaction takes back is not there', async () => {
    const ada = await easel.newUser();
    const undone = easel.sql.begin(async (tx) => {
      await addNotices(tx, [notice(ada.userId)], 1000);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await titles(ada.userId)).toEqual([]);
  });

  test('accounts and artifacts that are gone are left out, and a notice goes with its artifact', async () => {
    const ada = await easel.newUser();
    const { id } = await published(easel, ada);
    const gone = `art_${'z'.repeat(24)}` as ArtifactId;
    await add([
      notice(`usr_${'z'.repeat(24)}` as UserId),
      notice(ada.userId, { title: 'Of none', artifactId: gone }),
      notice(ada.userId, { title: 'Of one', artifactId: id as ArtifactId }),
    ]);
    expect(await titles(ada.userId)).toEqual(['Of one']);
    await easel.sql`delete from artifact where id = ${id}`;
    expect(await titles(ada.userId)).toEqual([]);
  });

  test('long texts are cut, NUL is left out', async () => {
    const ada = await easel.newUser();
    await add([notice(ada.userId, { title: `a\u0000${'é'.repeat(LIMITS.noticeTitleCharsMax)}` })]);
    const [title = ''] = await titles(ada.userId);
    expect([[...title].length, title.slice(0, 2), title.endsWith('…')]).toEqual([LIMITS.noticeTitleCharsMax, 'aé', true]);
  });

  test('the oldest of an account give way', async () => {
    const [ada, bob] = [await easel.newUser(), await easel.newUser()];
    await add([notice(ada.userId, { title: 'first' }), notice(bob.userId)]);
    const many = Array.from({ length: LIMITS.noticesPerAccountMax }, (_, at) => notice(ada.userId, { title: `n${at}` }));
    await add(many, 1000);
    const kept = await titles(ada.userId);
    expect([kept.length, kept.includes('first'), (await titles(bob.userId)).length]).toEqual([LIMITS.noticesPerAccountMax, false, 1]);
  });
});
