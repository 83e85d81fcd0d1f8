/** Who a caller is to others: always the same for the same token, and never what a client says. */
import { expect, test } from 'vitest';
import { ANONYMOUS, type Principal } from '../../actors/access.ts';
import { newId } from '../../protocol/ids.ts';
import { Identities } from '../../src/services/identities.ts';
import type { Sql } from '../../src/storage/sql.ts';

/** An account table of one name that can change; counts what is read. */
function accounts(name: string | null) {
  const table = { name, reads: 0 };
  const sql = (() => {
    table.reads += 1;
    return Promise.resolve(table.name === '' ? [] : [{ name: table.name }]);
  }) as unknown as Sql;
  return { table, identities: new Identities({ sql }) };
}

const user: Extract<Principal, { kind: 'user' }> = {
  kind: 'user',
  userId: newId('user'),
  tokenId: newId('token'),
  tokenKind: 'personal',
  isAdmin: false,
};

test('an account is read once, until its profile changes', async () => {
  const { table, identities } = accounts('Ada');
  const first = await identities.of(user, 'a');
  expect(first).toMatchObject({ id: user.userId, name: 'Ada', kind: 'human' });
  expect(identities.of(user, 'b')).toEqual(first);
  expect(table.reads).toBe(1);
  table.name = 'Grace';
  identities.forget(user.userId);
  expect(await identities.of(user, 'c')).toEqual({ ...first, name: 'Grace' });
});

test('an account without a name is told apart by the end of its id', async () => {
  const { identities } = accounts(null);
  expect((await identities.of(user, 'a')).name).toBe(`User ${user.userId.slice(-4)}`);
});

test('anonymous people are one a session, guests and agents one each', async () => {
  const { identities } = accounts('');
  expect(await identities.of(ANONYMOUS, 'a')).toMatchObject({ id: 'anonymous:a', kind: 'anonymous' });
  const guestId = newId('guest');
  const tokenId = newId('token');
  const guest = { kind: 'guest', guestId, artifactId: newId('artifact'), name: 'Eve', email: 'e@x.test', tokenId, expiresAtMs: 1 } as const;
  expect(await identities.of(guest, 'a')).toMatchObject({ id: guestId, name: 'Eve', kind: 'guest' });
  expect(await identities.of({ kind: 'agent', tokenId, workspaceId: 'w', scopes: [] }, 'a')).toMatchObject({ id: tokenId, kind: 'agent' });
});

test('white text can be read on every colour', async () => {
  const { identities } = accounts('');
  const seen = new Set<string>();
  for (let n = 0; n < 2000; n += 1) {
    const { color } = await identities.of(ANONYMOUS, `${n}`);
    seen.add(color);
    const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    expect([color, 1.05 / (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05) >= 4.5]).toEqual([color, true]);
  }
  expect(seen.size).toBeGreaterThan(300);
});
