/** How often a page is opened and what people say to its owner, by the command line against the real service. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { wire } from '../support/page-requests.ts';
import { post, published } from '../support/requests.ts';
import { runInProcess } from './in-process.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

it('analytics lists the days from the first with views', async () => {
  const user = await easel.newUser('pro');
  const { slug } = await published(easel, user, { visibility: 'public' });
  const run = (args: readonly string[]) => runInProcess(args, { EASEL_URL: easel.baseUrl, EASEL_TOKEN: user.token });
  expect((await run(['analytics', slug])).out).toBe('Nobody has opened the page in the last 30 days.\n');
  const headers = { 'user-agent': FIREFOX, 'sec-fetch-dest': 'document' };
  for (const _ of [1, 2]) await wire(easel.port, new URL(easel.contentUrl(slug)).host, '/', { headers });
  const day = new Date(easel.clock.nowMs()).toISOString().slice(0, 10);
  const { code, out, err } = await run(['analytics', slug, '--range', '7']);
  expect([code, out]).toEqual([0, `DAY         VIEWS  VISITORS\n${day}  2      1\n`]);
  expect(err).toContain('2 views in 7 days.');
  const whole = JSON.parse((await run(['analytics', slug, '--json'])).out);
  expect([whole.range, whole.views.length, whole.total]).toEqual([30, 30, { views: 2, visitors: 1 }]);
  expect((await run(['analytics', slug, '--range', '8'])).code).toBe(2);
});

it('inbox lists what is said on pages of the caller, on one line each', async () => {
  const [owner, other] = [await easel.newUser('pro'), await easel.newUser()];
  const run = (args: readonly string[]) => runInProcess(args, { EASEL_URL: easel.baseUrl, EASEL_TOKEN: owner.token });
  expect((await run(['inbox'])).out).toBe('Nothing here for you.\n');
  const { id, slug } = await published(easel, owner, { visibility: 'public' });
  const said = await easel.fetch(`/v1/data/${id}/comments`, { token: other.token, ...post({ content: 'A title\nis\u001b[31m missing' }) });
  expect(said.status).toBe(201);
  const { code, out } = await run(['inbox', '--unread']);
  expect(code).toBe(0);
  expect(out.split('\n')[1]).toMatch(new RegExp(`^\\*  \\S+ \\S+  ${slug}  owner  .*A title is \\[31m missing$`));
  expect(JSON.parse((await run(['inbox', '--json'])).out).comments).toHaveLength(1);
  for (const args of [['--filter', 'mentions'], ['--filter', 'assigned'], ['--resolved']]) {
    expect(JSON.parse((await run(['inbox', '--json', ...args])).out)).toEqual({ comments: [], has_more: false });
  }
});
