/** Alert rules, metrics, watches and the bell by the command line against the real service. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { post, published } from '../support/requests.ts';
import { runInProcess } from './in-process.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

it('a metric is defined, a rule tested and created, run, and read in the bell', async () => {
  const user = await easel.newUser('pro');
  const { id, slug } = await published(easel, user);
  const run = (...args: string[]) => runInProcess(args, { EASEL_URL: easel.baseUrl, EASEL_TOKEN: user.token });
  const rows = Array.from({ length: 12 }, () => ({ status: 'open' }));
  await easel.fetch(`/v1/data/${id}/tables/orders`, { token: user.token, ...post({ rows }) });

  expect((await run('alerts', 'metrics', slug)).out).toBe('No metrics.\n');
  const define = ['alerts', 'define', 'open_orders', '-a', slug];
  expect((await run(...define)).code).toBe(2);
  expect((await run(...define, '--table', 'orders', '--where', 'open')).err).toContain('--where is not JSON');
  expect((await run(...define, '--table', 'orders', '--where', '{"status":"open"}')).out).toBe(
    'open_orders: count of orders where {"status":"open"}\n',
  );
  const create = ['alerts', 'create', '-a', slug, '--metric', 'open_orders', '--op', 'gt', '--value', '10', '--schedule', '0 * * * *'];
  expect((await run(...create, '--secret', 'a long secret')).err).toContain('Only a webhook has a secret.');
  expect((await run(...create, '--backtest')).out).toContain('It would have fired');
  expect((await run('alerts', 'list', slug)).out).toBe('No alert rules.\n');
  const made = JSON.parse((await run(...create, '--json')).out);
  expect((await run('alerts', 'show', made.id)).out).toContain('open_orders gt 10: open_orders gt 10, 0 * * * * (UTC)');
  expect((await run('alerts', 'rehearse', made.id)).out).toContain('bell: open_orders gt 10');
  expect((await run('alerts', 'run', made.id)).out).toBe('The value is 12. It fired.\n');
  expect((await run('alerts', 'events', made.id, '--fired')).out).toMatch(/12 +fired +yes/);
  expect((await run('alerts', 'off', made.id)).out).toBe('open_orders gt 10 is switched off.\n');
  expect((await run('alerts', 'list', slug)).out).toMatch(/off +open_orders gt 10 +0 \* \* \* \* +bell/);

  expect((await run('notifications', 'list', '--unread')).out).toMatch(
    /\* +\S+ \S+ +open_orders gt 10 +open_orders of .* is 12: above 10\./,
  );
  expect((await run('notifications', 'read')).out).toBe('1 notification marked as read, 0 unread.\n');
  expect((await run('notifications', 'list', '--unread')).out).toBe('Nothing here for you.\n');

  expect((await run('alerts', 'undefine', 'open_orders', '-a', slug)).err).toContain('Alert rules use this metric.');
  expect((await run('alerts', 'delete', made.id)).out).toBe('Deleted.\n');
  expect((await run('alerts', 'undefine', 'open_orders', '-a', slug)).out).toBe('Deleted, with its history.\n');
});

it('a table is watched and no longer watched', async () => {
  const user = await easel.newUser('pro');
  const { slug } = await published(easel, user);
  const run = (...args: string[]) => runInProcess(args, { EASEL_URL: easel.baseUrl, EASEL_TOKEN: user.token });
  const { watch } = JSON.parse((await run('alerts', 'watch', 'orders', '-a', slug, '--sum', 'total', '--threshold', '50', '--json')).out);
  expect((await run('alerts', 'watches', slug)).out).toMatch(new RegExp(`${watch.id} +on +sum of orders.total +50 % +- +learning`));
  expect((await run('alerts', 'watch', 'orders', '-a', slug, '--sum', 'a', '--last', 'b')).code).toBe(2);
  expect((await run('alerts', 'unwatch', watch.id)).out).toBe('You do not watch it any more.\n');
  expect((await run('alerts', 'watches', slug)).out).toBe('You watch nothing here.\n');
});
