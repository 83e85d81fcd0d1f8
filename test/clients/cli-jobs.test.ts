/** `easel jobs` against the real service. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { type CommandLine, commandLine } from './command-line.ts';

// Every step starts a process, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

let service: TestEasel;
let easel: CommandLine;
beforeAll(async () => {
  service = await startTestEasel();
  easel = await commandLine(service.baseUrl);
  const { token } = await service.newUser('pro');
  await easel.json(['login', '--token', token]);
  await easel.write({
    'index.html': '<title>jobs</title>',
    'count.js': "await easel.json.set('count', params.by); console.log('counted');\n",
    'fails.js': "throw new Error('no luck');\n",
    'hook.json': '{"url":"https://example.com/hook","secret":"a-secret-of-16-or-more"}',
  });
  await easel.json(['publish', '--slug', 'jobs-site']);
});
afterAll(async () => {
  await easel?.close();
  await service?.close();
});

const out = async (args: readonly string[]) => {
  const { code, out: text, err } = await easel.run(['jobs', ...args]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return text;
};

it('makes, rehearses, runs, changes, pauses and deletes a script', async () => {
  expect(await out(['list'])).toBe('No jobs.\n');
  const trigger = ['--cron', '0 9 * * 1-5', '--timezone', 'Europe/Berlin'];
  const { id } = await easel.json(['jobs', 'create', '--title', 'Count', ...trigger, '--script', 'count.js', '--params', '{"by":3}']);
  expect(await out(['list', 'jobs-site'])).toMatch(/^ID .*\njob_\w+ +Count +script +0 9 \* \* 1-5 Europe\/Berlin +on +\d{4}-.* -\n$/);
  expect(await out(['rehearse', id])).toBe('It would do 1 thing:\nwrite json count\n  - null\n  + 3\n\ncounted\n');
  expect(await out(['logs', id, '--status', 'failed'])).toBe('No runs.\n');
  expect(await out(['run', id, '--wait'])).toMatch(/^succeeded, .*\ncounted\n(.*\n)?put json count \(1\)\n$/);
  expect((await easel.json(['data', 'get', 'count'])).value).toBe(3);
  // Its parameters stay where only the script is new.
  expect(await out(['update', id, '--script', 'fails.js', '--title', 'Fail'])).toMatch(/^Changed\.\n\nFail \(script\)/);
  expect((await easel.json(['jobs', 'show', id])).config).toEqual({ source: "throw new Error('no luck');\n", params: { by: 3 } });
  await easel.json(['jobs', 'pause', id]);
  expect(await out(['show', id])).toContain('State     paused\n');
  expect(await out(['resume', id])).toMatch(/^"Fail" is on\. It runs next at /);
  expect(await easel.run(['jobs', 'rehearse', id])).toMatchObject({ code: 1, err: expect.stringContaining('no luck') });
  await easel.json(['jobs', 'run', id]);
  expect(await out(['logs', id])).toMatch(/ rehearsal .*Error: no luck/);
  // The service's clock stands still, so they may be in either order.
  expect((await out(['logs', id, '--status', 'succeeded'])).match(/succeeded +(manual|rehearsal) +run_/g)).toHaveLength(2);
  expect(await out(['delete', id])).toContain(`Deleted ${id}`);
  expect((await easel.run(['jobs', 'show', id])).code).toBe(4);
});

it('makes a job after an event with settings from a file, and keeps its secret where it is sent back as shown', async () => {
  const event = ['--on', 'data.changed', '--table', 'orders', '--key', 'orders.*'];
  const job = await easel.json(['jobs', 'create', '--title', 'Tell', ...event, '--action', 'webhook', '--config', '@hook.json']);
  expect(job).toMatchObject({ event_type: 'data.changed', event_filter: { table: 'orders', key: 'orders.*' }, next_run_at: null });
  expect(job.config).toMatchObject({ url: 'https://example.com/hook', secret: '********' });
  expect(await out(['update', job.id, '--cron', '0 8 * * *'])).toContain('0 8 * * * UTC');
  const shown = JSON.stringify({ ...job.config, data: 1 });
  expect((await easel.json(['jobs', 'update', job.id, '--config', shown])).config).toEqual({ ...job.config, data: 1 });
});

it('says when a schedule is due, and what is missing', async () => {
  expect(await out(['preview', '0 9 * * 1-5', '--timezone', 'Europe/Berlin'])).toMatch(/^At 09:00.*\n( {2}\d{4}-.*\n){5}$/);
  expect(await out(['preview', 'soon'])).toMatch(/^Not a schedule: /);
  const refused = async (args: readonly string[], words: string) =>
    expect(await easel.run(['jobs', 'create', '--title', 'x', ...args])).toMatchObject({ code: 2, err: expect.stringContaining(words) });
  await refused(['--script', 'count.js'], 'when the job runs');
  await refused(['--cron', '0 9 * * *'], 'what the job does');
  await refused(['--cron', '0 9 * * *', '--on', 'data.changed', '--script', 'count.js'], 'not both');
  await refused(['--on', 'nothing', '--script', 'count.js'], 'is not known');
  await refused(['--cron', '0 9 * * *', '--action', 'webhook', '--config', '{nope'], 'not JSON');
});
