/** `easel assets` against the real service. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
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

/** Passes connections on to the service, and cuts the one that carries what comes after so many bytes. */
async function cuttingProxy(cutAtBytes: number) {
  let passedBytes = 0;
  let cuts = 0;
  const server = createServer((from) => {
    const to = connect(easel.port, '127.0.0.1');
    for (const side of [from, to]) side.on('error', () => undefined);
    to.pipe(from);
    from.on('data', (chunk) => {
      passedBytes += chunk.length;
      to.write(chunk);
      if (cuts > 0 || passedBytes < cutAtBytes) return;
      cuts += 1;
      from.destroy();
      to.destroy();
    });
    from.on('close', () => to.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed: () => ({ bytes: passedBytes, cuts }),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

it('goes on with an upload whose connection is cut, and sends little of it twice', async () => {
  const content = randomBytes(2_500_000).toString('hex');
  const proxy = await cuttingProxy(3_000_000);
  const stored = await runInProcess(['assets', 'upload', given('big.txt', content), '--loose', '--json'], {
    ...env(),
    EASEL_URL: proxy.url,
  });
  expect([stored.code, stored.err]).toEqual([0, '']);
  const { bytes, cuts } = proxy.passed();
  expect([cuts, bytes < content.length + 2_500_000]).toEqual([1, true]);
  const out = join(folder, 'big-out.txt');
  await run('download', JSON.parse(stored.out).id, '-o', out);
  expect(readFileSync(out, 'utf8') === content).toBe(true);
  await proxy.close();
});

it('keeps files in collections', async () => {
  expect(await run('collections', 'list')).toContain('No collections yet.');
  const made = await document('upload', given('poster.txt', 'poster'));
  const { id } = await document('collections', 'create', 'Campaign');
  expect(await run('collections', 'rename', id, 'Spring')).toBe('It is called Spring now.\n');
  expect(await run('collections', 'add', id, made.id)).toBe('Spring has 1 file.\n');
  expect(await run('collections', 'list')).toMatch(new RegExp(`${id} +1 .*Spring`));
  expect(await run('list', '--collection', id)).toContain(made.id);
  expect(await run('collections', 'remove', id, made.id)).toContain('the file stays');
  expect(await run('list', '--collection', id)).toContain('No files yet.');
  expect(await run('collections', 'delete', id)).toContain('its files stay');
  expect(await run('list')).toContain(made.id);
  const ours = await document('collections', 'create', 'Maps', '-w', 'maps');
  expect(await run('collections', 'list', '-w', 'maps')).toContain(ours.id);
  expect(await run('collections', 'delete', ours.id, '-w', 'maps')).toContain('its files stay');
});
