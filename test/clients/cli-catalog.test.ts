/** The catalog by the command line, against the real service. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { post, published } from '../support/requests.ts';
import { moveInto, newWorkspace } from '../support/workspaces.ts';
import { runInProcess } from './in-process.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

it('is made, found, read, written and followed', async () => {
  const owner = await easel.newUser('pro');
  const workspace = await newWorkspace(easel, { [owner.userId]: 'owner' }, { slug: 'maps', tier: 'team' });
  const { id } = await published(easel, owner, { name: 'Shop' });
  const data = `/v1/data/${id}`;
  await easel.fetch(`${data}/tables/orders`, { token: owner.token, ...post({ rows: [{ n: 1 }, { n: 2 }] }) });
  await easel.fetch(`${data}/datasets/totals`, { token: owner.token, ...post([{ sum: 3 }]), method: 'PUT' });
  await moveInto(easel, owner, id, workspace);
  const job = { artifact_id: id, title: 'Totals', action: 'materialize', trigger_type: 'cron', schedule: '0 0 1 1 *' };
  const config = { table: 'orders', dataset: 'totals' };
  expect((await easel.fetch('/v1/jobs', { token: owner.token, ...post({ ...job, config }) })).status).toBe(201);
  const run = (args: string[], input = '') => runInProcess(args, { EASEL_URL: easel.baseUrl, EASEL_TOKEN: owner.token }, { input });

  expect((await run(['catalog', 'list', 'maps'])).out).toBe('There is no catalog yet. Make it with: easel catalog enable maps\n');
  expect((await run(['catalog', 'enable', 'maps'])).out).toBe('The workspace has a catalog of 2 entries.\n');
  expect((await run(['catalog', 'list', 'maps', 'orders'])).out).toMatch(/orders +table +Shop +- +- +2 /);
  expect((await run(['catalog', 'list', 'maps', '--kind', 'page'])).err).toContain('There are: table, dataset, connection, note.');
  expect(
    (await run(['catalog', 'update', 'maps', 'Shop/totals', '-'], '{"domain":"Sales","fields":[{"name":"sum","description":"in euros"}]}'))
      .out,
  ).toBe('Changed totals.\n');
  const shown = (await run(['catalog', 'show', 'maps', 'totals'])).out;
  expect(shown).toContain('totals (dataset)');
  expect(shown).toContain('sum (number): in euros');
  expect((await run(['catalog', 'lineage', 'maps', 'orders'])).out).toBe('orders (table of Shop) → totals (dataset of Shop)\n');
  expect((await run(['catalog', 'create', 'maps', '-'], '{"name":"Ledger"}')).out).toContain('Made the entry Ledger: cat_');
  const ada = await easel.newUser();
  await easel.sql`update account set email = 'ada@example.com' where id = ${ada.userId}`;
  await easel.sql`insert into workspace_member (workspace_id, user_id, role, joined_at_ms) values (${workspace}, ${ada.userId}, 'member', 0)`;
  expect((await run(['catalog', 'give', 'maps', 'Ledger', 'ada@example.com'])).out).toBe('Ledger belongs to ada@example.com now.\n');
  expect((await run(['catalog', 'give', 'maps', 'Ledger', '-'])).out).toBe('Ledger belongs to the workspace now.\n');
  expect((await run(['catalog', 'give', 'maps', 'Ledger', 'eve@example.com'])).code).toBe(4);
  expect((await run(['catalog', 'delete', 'maps', 'Ledger'])).out).toBe('Deleted Ledger.\n');
  expect((await run(['catalog', 'show', 'maps', 'Ledger'])).code).toBe(4);
});
