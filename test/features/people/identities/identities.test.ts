/** How others see a caller: always the same for the same token, and never set by the client. */
import { expect, test } from 'vitest';
import { ANONYMOUS } from '../../../../actors/access/access.ts';
import { newId } from '../../../../protocol/core/ids.ts';
import { Identities } from '../../../../src/features/people/identities/identities.ts';
import { LocalBus } from '../../../../src/platform/bus.ts';
import type { Sql } from '../../../../src/storage/sql.ts';
import { SILENT } from '../../../support/database.ts';
import { agentPrincipal, userPrincipal } from '../../../support/principals.ts';

/** An account table with one name that can change; counts the reads. */
function accounts(name: string | null) {
  const table = { name, reads: 0 };
  const sql = (() => {
    table.reads += 1;
    return Promise.resolve(table.name === '' ? [] : [{ name: table.name }]);
  }) as unknown as Sql;
  const bus = new LocalBus(SILENT);
  return { table, bus, identities: new Identities({ sql, bus }) };
}

const user = userPrincipal(newId('user'));

test('an account is read once, until its profile changes', async () => {
  const { table, bus, identities } = accounts('Ada');
  const first = await identities.of(user, 'a');
  expect(first).toMatchObject({ id: user.userId, name: 'Ada', kind: 'human' });
  expect(identities.of(user, 'b')).toEqual(first);
  expect(table.reads).toBe(1);
  table.name = 'Grace';
  bus.tell({ kind: 'account.changed', userId: user.userId });
  expect(await identities.of(user, 'c')).toEqual({ ...first, name: 'Grace' });
});

test('the end of the id tells accounts without a name apart', async () => {
  const { identities } = accounts(null);
  expect((await identities.of(user, 'a')).name).toBe(`User ${user.userId.slice(-4)}`);
});

test('each session is one anonymous person, each guest and each agent one identity', async () => {
  const { identities } = accounts('');
  expect(await identities.of(ANONYMOUS, 'a')).toMatchObject({ id: 'anonymous:a', kind: 'anonymous' });
  const guestId = newId('guest');
  const tokenId = newId('token');
  const guest = { kind: 'guest', guestId, artifactId: newId('artifact'), name: 'Eve', email: 'e@x.test', tokenId, expiresAtMs: 1 } as const;
  expect(await identities.of(guest, 'a')).toMatchObject({ id: guestId, name: 'Eve', kind: 'guest' });
  const agent = agentPrincipal(newId('workspace'), []);
  expect(await identities.of(agent, 'a')).toMatchObject({ id: agent.principalId, name: agent.name, kind: 'agent' });
});

test('white text is readable on every colour', async () => {
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
