/** How a browser is found and ended, with programs that stand for one. What Chromium does with pages is in test/browser/thumbnails.test.ts. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ChromiumRenderer } from '../../../../src/features/artifacts/thumbnails/chromium/chromium-renderer.ts';
import { findChromium } from '../../../../src/features/artifacts/thumbnails/chromium/find.ts';
import { RendererUnusable } from '../../../../src/features/artifacts/thumbnails/renderer.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { SILENT, temporaryDir } from '../../../support/database.ts';

const NEVER = new AbortController().signal;
const PAGE = { origin: 'http://page.localhost', files: { get: () => ({ status: 404, headers: [], body: null }) } };

const folder = temporaryDir();
const profiles = join(folder.path, 'profiles');
const before = process.env.TMPDIR;
beforeAll(() => {
  process.env.TMPDIR = profiles;
});
beforeEach(() => mkdirSync(profiles, { recursive: true }));
afterAll(() => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  folder.remove();
});

function program(path: string, script = 'exit 1'): string {
  const file = join(folder.path, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

const renderer = (file: string, deadlineMs = 80_000) =>
  new ChromiumRenderer({ mode: 'on', path: file, clock: systemClock, log: SILENT, deadlineMs });

test('the first Chromium of PATH is taken, and one that is named before it', async () => {
  const [first, second] = ['one', 'two'].map((name) => join(folder.path, name));
  const chromium = program('two/chromium');
  const chrome = program('one/google-chrome');
  writeFileSync(join(folder.path, 'one/chromium'), 'not a program');
  const wanted = { mode: 'auto', path: undefined, searched: `relative:${first}:${second}`, isRoot: false } as const;
  expect(await findChromium(wanted)).toEqual({ file: chromium, sandboxed: true });
  expect(await findChromium({ ...wanted, searched: first ?? '' })).toEqual({ file: chrome, sandboxed: true });
  expect(await findChromium({ ...wanted, path: chrome })).toEqual({ file: chrome, sandboxed: true });
  expect(await findChromium({ ...wanted, path: join(folder.path, 'none') })).toEqual({ none: 'missing' });
  expect(await findChromium({ ...wanted, searched: '' })).toEqual({ none: 'missing' });
});

test('root uses it only where that is switched on, without its sandbox; nobody else does without', async () => {
  const file = program('root/chromium');
  const wanted = { path: file, searched: '' } as const;
  expect(await findChromium({ ...wanted, mode: 'auto', isRoot: true })).toEqual({ none: 'root' });
  expect(await findChromium({ ...wanted, mode: 'on', isRoot: true })).toEqual({ file, sandboxed: false });
  expect(await findChromium({ ...wanted, mode: 'on', isRoot: false })).toEqual({ file, sandboxed: true });
});

test('a browser that cannot use its sandbox is not tried again', async () => {
  const used = renderer(program('unsandboxed', "echo 'FATAL: No usable sandbox! Update your kernel.' >&2; exit 1"));
  expect(await used.isUsable()).toBe(true);
  await expect(used.draw(PAGE, NEVER)).rejects.toThrow(RendererUnusable);
  expect(await used.isUsable()).toBe(false);
  await expect(used.draw(PAGE, NEVER)).rejects.toThrow(RendererUnusable);
  expect(readdirSync(profiles)).toEqual([]);
});

test('one that cannot be started at all is not tried again', async () => {
  const file = program('no-program');
  writeFileSync(file, '#!/there/is/no/such/program\n');
  const used = renderer(file);
  await expect(used.draw(PAGE, NEVER)).rejects.toThrow(RendererUnusable);
  expect(await used.isUsable()).toBe(false);
  expect(readdirSync(profiles)).toEqual([]);
});

test('one that ends for another reason fails for this page only', async () => {
  const used = renderer(program('ends', "echo 'out of memory' >&2; exit 1"));
  await expect(used.draw(PAGE, NEVER)).rejects.toThrow('the browser has ended');
  expect(await used.isUsable()).toBe(true);
  expect(readdirSync(profiles)).toEqual([]);
});

test('one that never answers is ended at the deadline', async () => {
  await expect(renderer(program('hangs', 'sleep 1000'), 500).draw(PAGE, NEVER)).rejects.toThrow('within 500 ms');
  expect(readdirSync(profiles)).toEqual([]);
});

test('with the service the browser ends, the processes that it has started too, and its profile is removed', async () => {
  const ids = join(folder.path, 'ids');
  const stopping = new AbortController();
  const script = `sleep 1000 & touch "$HOME/left"; echo "$$ $!" >${ids}.new; mv ${ids}.new ${ids}; wait`;
  const drawing = renderer(program('waits', script)).draw(PAGE, stopping.signal);
  await expect.poll(() => existsSync(ids), { timeout: 60_000 }).toBe(true);
  stopping.abort();
  await expect(drawing).rejects.toThrow('the service stops');
  const left = () =>
    readFileSync(ids, 'utf8')
      .trim()
      .split(' ')
      .filter((id) => isAlive(Number(id)));
  await expect.poll(left, { timeout: 60_000 }).toEqual([]);
  expect(readdirSync(profiles)).toEqual([]);
});

test.each([
  ['floods', 'cat /dev/zero | tr "\\0" x >&4', /more than a page needs|within/],
  ['talks nonsense', "printf 'nonsense\\0' >&4; sleep 1000", /something else than a message/],
])('one that %s is ended', async (name, script, why) => {
  await expect(renderer(program(name.replace(' ', '-'), script), 60_000).draw(PAGE, NEVER)).rejects.toThrow(why);
  expect(readdirSync(profiles)).toEqual([]);
});

test('it gets none of the settings of the service', async () => {
  const told = join(folder.path, 'told');
  process.env.EASEL_TEST_SECRET = 'secret';
  try {
    await expect(renderer(program('tells', `env >${told}; exit 1`)).draw(PAGE, NEVER)).rejects.toThrow();
  } finally {
    delete process.env.EASEL_TEST_SECRET;
  }
  expect(readFileSync(told, 'utf8')).toContain('HOME=');
  expect(readFileSync(told, 'utf8')).not.toContain('secret');
});

function isAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${id}/status`, 'utf8'));
  } catch {
    return false;
  }
}
