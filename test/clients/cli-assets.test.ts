/** `easel assets` against the real service. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestEasel, type TestEasel, type TestUser } from '../support/easel.ts';
import { newWorkspace } from '../support/workspaces.ts';
import { runInProcess } from './in-process.ts';

let easel: TestEasel;
let owner: TestUser;
let folder = '';
beforeAll(async () => {
  easel = await startTestEasel();
  owner = await easel.newUser();
  await newWorkspace(easel, { [owner.userId]: 'owner' }, { slug: 'maps' });
  folder = mkdtempSync(join(tmpdir(), 'easel-assets-'));
});
afterAll(async () => {
  await easel.close();
  rmSync(folder, { recursive: true });
});

const env = () => ({ HOME: '/nonexistent', EASEL_URL: easel.baseUrl, EASEL_TOKEN: owner.token });
async function run(...args: string[]): Promise<string> {
  const { code, out, err } = await runInProcess(['assets', ...args], env());
  expect([code, err]).toEqual([0, '']);
  return out;
}
const document = async (...args: string[]) => JSON.parse(await run(...args, '--json'));
const given = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

it('stores a file, a newer version, shares and downloads it, and deletes it', async () => {
  expect(await run('list')).toContain('No files yet.');
  const made = await document('upload', given('plan.txt', 'first'), '--name', 'The plan');
  expect(made).toMatchObject({ name: 'The plan', versionNo: 1, mimeType: 'text/plain' });
  expect(await run('version', made.id, given('plan-2.txt', 'second'))).toBe('The plan has version 2 now.\n');
  expect(await run('versions', made.id)).toMatch(/2 .*plan-2.txt\n1 .*plan.txt/);
  expect(await run('list')).toMatch(new RegExp(`${made.id} +2 +6 B +text/plain .*The plan`));
  const out = join(folder, 'out.txt');
  await run('download', made.id, '-o', out);
  expect(readFileSync(out, 'utf8')).toBe('second');
  await run('download', made.id, '-o', out, '--at', '1');
  expect(readFileSync(out, 'utf8')).toBe('first');

  const link = await document('link', made.id, '--domain', 'example.com', '--expires', '2199-01-01T00:00:00Z');
  expect(link).toMatchObject({ gate: 'domain', domain: 'example.com', url: expect.stringContaining('/s/') });
  expect(await run('links', made.id)).toContain(link.url);
  expect(await run('revoke', made.id, link.id)).toContain('Revoked.');
  expect(await run('links', made.id)).toContain('revoked');
  expect((await runInProcess(['assets', 'link', made.id, '--password', '--domain', 'a.example'], env())).code).toBe(2);
  expect(await run('rm', made.id)).toBe('Deleted.\n');
});

it('does the same in a workspace, with loose files too', async () => {
  const loose = await document('upload', given('note.md', '# Note'), '--loose', '-w', 'maps');
  expect(loose.id).toMatch(/^blob_/);
  expect(await run('list', '-w', 'maps')).toMatch(/loose +6 B +text\/markdown .*note.md/);
  expect(await run('list')).toContain('No files yet.');
  expect(await run('rm', loose.id, '-w', 'maps')).toBe('Deleted.\n');
});
