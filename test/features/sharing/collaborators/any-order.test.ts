/** In whatever order people are added, changed, removed, prove addresses and become one: everybody has what a plain model says, and one entry. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DatabaseKind, databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { pageOf, Sharing } from '../sharing-stage.ts';

const ADDRESSES = [0, 1, 2] as const;
const ACCOUNTS = [0, 1, 2, 3] as const;
type Role = 'viewer' | 'editor';

const address = fc.constantFrom(...ADDRESSES);
const role = fc.constantFrom<Role>('viewer', 'editor');
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('add' as const), address, role }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('change' as const), address, role }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), address }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('prove' as const), address, account: fc.constantFrom(...ACCOUNTS) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** What waits by address, what accounts have, and who is one person. */
class Model {
  readonly #waits = new Map<number, Role>();
  readonly #rows = new Map<number, Role>();
  /** By address, the accounts of the person who has proved it. */
  readonly #provers = new Map<number, Set<number>>();
  readonly #proved = new Set<number>();

  /** False where the service refuses it. */
  apply(step: Step): boolean {
    if (step.do === 'prove') return this.#prove(step.account, step.address);
    const person = this.#provers.get(step.address);
    const before = person === undefined ? this.#waits.get(step.address) : this.roleOf([...person][0] ?? -1);
    if (step.do !== 'add' && before === undefined) return false;
    if (step.do === 'remove') {
      this.#waits.delete(step.address);
      for (const account of person ?? []) this.#rows.delete(account);
    } else if (step.do === 'change' || before !== 'editor') this.#give(step.address, person, step.role);
    return true;
  }

  /** Of an account by any account of its person. */
  roleOf(account: number): Role | undefined {
    const person = [...this.#provers.values()].find((accounts) => accounts.has(account)) ?? new Set([account]);
    const roles = [...person].map((one) => this.#rows.get(one));
    return roles.includes('editor') ? 'editor' : roles.find((one) => one !== undefined);
  }

  get entries(): number {
    const persons = new Set([...this.#provers.values()].filter((person) => [...person].some((one) => this.#rows.has(one))));
    return this.#waits.size + persons.size;
  }

  #give(at: number, person: Set<number> | undefined, role: Role): void {
    if (person === undefined) this.#waits.set(at, role);
    else for (const account of person) this.#rows.set(account, role);
  }

  #prove(account: number, at: number): boolean {
    // The tests prove with tokens, and whoever can sign in needs a session for that.
    if (this.#proved.has(account)) return false;
    this.#proved.add(account);
    const person = this.#provers.get(at) ?? new Set();
    person.add(account);
    this.#provers.set(at, person);
    const waited = this.#waits.get(at);
    this.#waits.delete(at);
    if (waited !== undefined) this.#rows.set(account, waited);
    return true;
  }
}

describe.each<DatabaseKind>(databaseKinds())('%s', (database) => {
  let easel: TestEasel;
  let sharing: Sharing;
  let worlds = 0;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    sharing = new Sharing(easel);
  });
  afterAll(() => easel.close());

  test('as the model', { timeout: 240_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        worlds += 1;
        easel.clock.advance(25 * 3_600_000);
        const page = await pageOf(easel);
        const accounts: TestUser[] = [];
        for (const _ of ACCOUNTS) accounts.push(await easel.newUser());
        const email = (at: number) => `any.${worlds}.${at}@example.com`;
        const model = new Model();
        for (const one of steps) {
          const isTaken = model.apply(one);
          const reply = await make(one, page, accounts, email, isTaken);
          expect([one, reply]).toEqual([one, isTaken]);
          await compare(one, page, accounts, model);
        }
      }),
      { numRuns: 12, seed: 20261123 },
    );
  });

  type Page = Awaited<ReturnType<typeof pageOf>>;

  async function compare(after: Step, page: Page, accounts: readonly TestUser[], model: Model): Promise<void> {
    for (const at of ACCOUNTS) {
      const has = model.roleOf(at);
      const may = has === undefined ? null : has === 'editor' ? 'edit' : 'view';
      expect([after, at, await sharing.may(accounts[at] as TestUser, page)]).toEqual([after, at, may]);
    }
    expect([after, (await sharing.listed(page.owner, page)).length]).toEqual([after, model.entries]);
  }

  /** Whether the service has taken it. */
  async function make(
    one: Step,
    page: Page,
    accounts: readonly TestUser[],
    email: (at: number) => string,
    isTaken: boolean,
  ): Promise<boolean> {
    switch (one.do) {
      case 'add':
        return (await sharing.add(page.owner, page, [email(one.address)], one.role)).status === 200;
      case 'change':
        return (await sharing.change(page.owner, page, email(one.address), one.role)).status === 200;
      case 'remove':
        return (await sharing.remove(page.owner, page, email(one.address))).status === 200;
      case 'prove':
        if (isTaken) await sharing.prove(accounts[one.account] as TestUser, email(one.address));
        return isTaken;
      default:
        return one satisfies never;
    }
  }
});
