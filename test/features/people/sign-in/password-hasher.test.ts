/** Passwords are checked a few at a time, with a share for each network and an answer beyond it. */
import { expect, test } from 'vitest';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { type Argon2, PasswordHasher } from '../../../../src/features/people/sign-in/password-hasher.ts';

/** Checks that run until the test ends them, in the order in which they began. */
function slowArgon2() {
  const running: { readonly password: string; finish(): void }[] = [];
  let most = 0;
  const library: Argon2 = {
    hash: () => Promise.reject(new Error('not used here')),
    verify: (_hashed, password) =>
      new Promise((resolve) => {
        const finish = () => {
          running.splice(running.indexOf(one), 1);
          resolve(true);
        };
        const one = { password, finish };
        running.push(one);
        most = Math.max(most, running.length);
      }),
  };
  return { library, running, most: () => most };
}

function hasherOn(library: Argon2) {
  const refused: string[] = [];
  const hasher = new PasswordHasher({ refusals: { refused: (_resource, share) => refused.push(share) }, argon2: library });
  return { hasher, refused };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('one network may have a few at once; more are answered with 503 and a time', async () => {
  const { library, running, most } = slowArgon2();
  const { hasher, refused } = hasherOn(library);
  const calls = Array.from({ length: LIMITS.passwordChecksPerNetworkMax }, (_, n) => hasher.verify('x', `one ${n}`, 'one'));
  const beyond = await hasher.verify('x', 'too much', 'one').catch((error: unknown) => error);
  expect(beyond).toBeInstanceOf(Failure);
  expect([(beyond as Failure).code, (beyond as Failure).details.retryAfterS, refused]).toEqual(['UNAVAILABLE', 1, ['network']]);
  while (running.length > 0) {
    running[0]?.finish();
    await nextTurn();
  }
  expect(await Promise.all(calls)).toEqual(calls.map(() => true));
  expect([most(), hasher.open]).toEqual([LIMITS.passwordChecksMax, 0]);
});

test('networks take turns, so that nobody waits for all checks of another', async () => {
  const { library, running } = slowArgon2();
  const { hasher } = hasherOn(library);
  const calls = Array.from({ length: LIMITS.passwordChecksPerNetworkMax }, (_, n) => hasher.verify('x', `greedy ${n}`, 'greedy'));
  calls.push(hasher.verify('x', 'modest', 'modest'));
  const order: string[] = [];
  while (running.length > 0) {
    const [first] = running;
    order.push(first?.password ?? '');
    first?.finish();
    await nextTurn();
  }
  await Promise.all(calls);
  expect(order.indexOf('modest')).toBeLessThanOrEqual(LIMITS.passwordChecksMax + 1);
});

test('all networks together have a bound', async () => {
  const { library, running } = slowArgon2();
  const { hasher, refused } = hasherOn(library);
  const all = LIMITS.passwordChecksMax + LIMITS.passwordChecksWaitingMax;
  const calls = Array.from({ length: all }, (_, n) => hasher.verify('x', `${n}`, `network ${n}`));
  await expect(hasher.verify('x', 'one more', 'another')).rejects.toThrow('Too many passwords');
  expect(refused).toEqual(['total']);
  while (running.length > 0) {
    running[0]?.finish();
    await nextTurn();
  }
  expect((await Promise.all(calls)).length).toBe(all);
});

test('a check that fails gives its place back', async () => {
  const { hasher } = hasherOn({ hash: async () => '', verify: () => Promise.reject(new Error('broken')) });
  for (let n = 0; n < 3 * LIMITS.passwordChecksMax; n += 1) await expect(hasher.verify('x', 'y', 'one')).rejects.toThrow('broken');
  expect(hasher.open).toBe(0);
});
