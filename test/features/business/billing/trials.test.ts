/** One trial a person, with whatever accounts and addresses they come, and one a workspace. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leavePerson } from '../../../../src/features/people/linked-accounts/rows.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { Paying } from './paying.ts';

describe.each(databaseKinds())('trials on %s', (database) => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());

  const make = (owner?: TestUser) => Paying.make({ easel, fake: null }, owner);
  const trialOf = async (paying: Paying) => {
    const { status, body } = await paying.subscribe('pro_monthly');
    expect(status, JSON.stringify(body)).toBe(201);
    return body.status;
  };

  async function link(into: TestUser, joining: TestUser): Promise<void> {
    await easel.sql`update account set person_id = (select person_id from account where id = ${into.userId}) where id = ${joining.userId}`;
  }

  test('who leaves a person that has had a trial has had it, and so have those who stay', async () => {
    const [one, other] = [await easel.newUser(), await easel.newUser()];
    await link(one, other);
    expect(await trialOf(await make(one))).toBe('trialing');
    await easel.sql.begin((tx) => leavePerson(tx, other.userId));
    expect(await trialOf(await make(other))).toBe('incomplete');
    // One that was linked after the trial.
    const late = await easel.newUser();
    await link(one, late);
    await easel.sql.begin((tx) => leavePerson(tx, late.userId));
    expect(await trialOf(await make(late))).toBe('incomplete');
    // The account that had it leaves, and another one stays.
    const staying = await easel.newUser();
    await link(one, staying);
    await easel.sql.begin((tx) => leavePerson(tx, one.userId));
    expect(await trialOf(await make(staying))).toBe('incomplete');
    expect(await trialOf(await make())).toBe('trialing');
  });

  test('an account that is made anew with the same address or sign-in begins no second trial', async () => {
    const [first, second, third] = [await easel.newUser(), await easel.newUser(), await easel.newUser()];
    await easel.sql`update account set email = 'Again@example.com' where id = ${first.userId}`;
    const signIn = (user: TestUser) => easel.sql`
      insert into sign_in (account_id, provider, issuer, subject, email, email_proved, linked_at_ms, last_used_at_ms)
      values (${user.userId}, 'idp', 'https://idp.example.com', 'subject-1', null, false, 1, 1)`;
    await signIn(first);
    expect(await trialOf(await make(first))).toBe('trialing');
    await easel.sql`delete from sign_in where account_id = ${first.userId}`;
    await easel.sql`update account set email = null where id = ${first.userId}`;
    await easel.sql`update account set email = 'again@EXAMPLE.com' where id = ${second.userId}`;
    expect(await trialOf(await make(second))).toBe('incomplete');
    // Without an address they are known by how they sign in.
    await signIn(third);
    expect(await trialOf(await make(third))).toBe('incomplete');
  });

  test('the trial of a workspace is also that of who has made it', async () => {
    const [maker, friend] = [await easel.newUser(), await easel.newUser()];
    expect(await trialOf(await make(maker))).toBe('trialing');
    const next = await make(maker);
    await easel.sql`
      insert into workspace_member (workspace_id, user_id, role, joined_at_ms) values (${next.workspaceId}, ${friend.userId}, 'owner', 1)`;
    const asked = new Paying({ easel, fake: null }, friend, next.workspaceId);
    expect(await trialOf(asked)).toBe('incomplete');
    // What was refused has not cost the friend their own.
    expect(await trialOf(await make(friend))).toBe('trialing');
  });

  test('a workspace that an administrator has made for others has a trial of its own', async () => {
    const administrator = await easel.newUser();
    expect(await trialOf(await make(administrator))).toBe('trialing');
    const customer = await make();
    // As provisioning does: made by somebody who is no member.
    await easel.sql`update workspace set created_by = ${administrator.userId} where id = ${customer.workspaceId}`;
    expect(await trialOf(customer)).toBe('trialing');
  });

  test('two at once have one trial', async () => {
    const owner = await easel.newUser();
    const both = [await make(owner), await make(owner)];
    const states = await Promise.all(both.map(trialOf));
    expect([...states].sort()).toEqual(['incomplete', 'trialing']);
  });
});
