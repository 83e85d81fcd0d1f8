/** Webhooks and the proxy on the command line, against the real service. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type HookStage, hookStage } from '../features/automation/webhooks/hook-stage.ts';
import type { TestUser } from '../support/easel.ts';
import { published } from '../support/requests.ts';
import { newWorkspace } from '../support/workspaces.ts';
import { runInProcess } from './in-process.ts';

let stage: HookStage;
let owner: TestUser;
let artifactId: string;

beforeAll(async () => {
  stage = await hookStage();
  owner = await stage.easel.newUser('pro');
  await newWorkspace(stage.easel, { [owner.userId]: 'owner' }, { slug: 'maps' });
  artifactId = (await published(stage.easel, owner)).id;
});
afterAll(() => stage?.close());

const env = () => ({ HOME: '/nonexistent', EASEL_URL: stage.easel.baseUrl, EASEL_TOKEN: owner.token });
async function run(...args: string[]): Promise<string> {
  const { code, out, err } = await runInProcess(args, env());
  expect([code, err]).toEqual([0, '']);
  return out;
}
const document = async (...args: string[]) => JSON.parse(await run(...args, '--json'));

it('makes a webhook, tests it, shows what was sent, sends it again, rotates its secret and deletes it', async () => {
  expect(await run('hooks', 'list', '-a', artifactId)).toBe('There are no webhooks.\n');
  const made = await document('hooks', 'create', stage.host.url('/cli'), '-a', artifactId, '--event', 'data.changed', 'comment.added');
  expect(made).toMatchObject({ secret: expect.stringMatching(/^whsec_/), webhook: { events: ['data.changed', 'comment.added'] } });
  const { id } = made.webhook;
  expect(await run('hooks', 'list', '-a', artifactId)).toMatch(new RegExp(`${id} +on +data.changed comment.added +https:`));
  stage.host.answers = (_, response) => response.writeHead(200).end('thanks');
  expect(await run('hooks', 'test', id)).toMatch(/webhook.test {2}delivered\n[\s\S]*try 1 .* taken with 200\n {4}thanks\n$/);
  const { deliveries } = await document('hooks', 'deliveries', id);
  expect(deliveries).toMatchObject([{ number: 1, status: 'delivered' }]);
  expect(await run('hooks', 'delivery', id, deliveries[0].id)).toContain('"message":"A test of this webhook."');
  expect(await run('hooks', 'redeliver', id, deliveries[0].id)).toBe('Number 1 is sent again.\n');
  await stage.received('/cli', 2);
  const rotated = await document('hooks', 'rotate', id);
  expect(rotated.secret).not.toBe(made.secret);
  expect(await run('hooks', 'update', id, '--off', '--description', 'Ours')).toMatch(/off \(off\)[\s\S]*for {5}Ours/);
  expect((await runInProcess(['hooks', 'update', id], env())).code).toBe(2);
  expect(await run('hooks', 'delete', id)).toBe('Deleted, with its deliveries.\n');
});

it('makes those of a workspace by its slug', async () => {
  const made = await document('hooks', 'create', 'https://hooks.example.com/', '--workspace', 'maps', '--event', 'member.added');
  expect(await run('hooks', 'list', '-w', 'maps')).toContain(made.webhook.id);
  expect(await run('hooks', 'list', '--mine')).toContain(made.webhook.id);
});

it('sets which hosts a page reads, and reads one as the page does, also a refusal of that host', async () => {
  const server = createServer((request, response) => response.writeHead(request.url === '/gone' ? 404 : 200).end(`at ${request.url}`));
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await run('proxy', 'hosts', '-a', artifactId)).toContain('no host');
  expect(await document('proxy', 'hosts', '127.0.0.1', '-a', artifactId, '--cache', '30')).toEqual({ hosts: ['127.0.0.1'], cacheS: 30 });
  const read = await runInProcess(['proxy', 'read', `${origin}/x`, '-a', artifactId], env());
  expect([read.code, read.out]).toEqual([0, 'at /x']);
  expect(read.err).toMatch(/^200 .*\(miss\)\n$/);
  expect(await document('proxy', 'read', `${origin}/gone`, '-a', artifactId)).toMatchObject({ status: 404, size_bytes: 8 });
  expect(await document('proxy', 'hosts', '--none', '-a', artifactId)).toEqual({ hosts: [], cacheS: 30 });
  expect((await runInProcess(['proxy', 'read', origin, '-a', artifactId], env())).code).toBeGreaterThan(0);
});
