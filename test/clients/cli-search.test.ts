/** The search by the command line, against the real service. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { published } from '../support/requests.ts';
import { runInProcess } from './in-process.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

it('search shows what was found by group, and admin search rebuild queues every page', async () => {
  const user = await easel.newUser();
  const run = (args: readonly string[], token = user.token) => runInProcess(args, { EASEL_URL: easel.baseUrl, EASEL_TOKEN: token });
  expect((await run(['search', 'lighthouse'])).out).toBe('Nothing was found.\n');
  const content = '<p>The keeper of the \u0007lighthouse';
  const { slug } = await published(easel, user, { name: 'Coast', files: [{ path: 'index.html', content }] });
  const { out } = await vi.waitFor(
    async () => {
      const shown = await run(['search', 'keeper', 'ligthouse', '--in', 'artifacts', 'people']);
      expect(shown.out).not.toBe('Nothing was found.\n');
      return shown;
    },
    { timeout: 60_000, interval: 20 },
  );
  expect(out).toMatch(new RegExp(`^ARTIFACTS .*\\nCoast +${slug} +http.* The keeper of the +lighthouse\\n$`));
  expect(JSON.parse((await run(['search', '--json'])).out).artifacts).toHaveLength(1);
  expect((await run(['search', 'x', '--limit', '26'])).code).toBe(2);
  expect((await run(['admin', 'search', 'rebuild'], easel.adminToken)).out).toBe('1 artifact waits to be indexed.\n');
});
