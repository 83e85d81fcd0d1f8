/** `easel open` for somebody who signs in: the browser is sent to the page as that person, and no link is made that shows it to anybody. */
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { publishArtifact } from '../support/data-client.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { type CommandLine, commandLine } from './command-line.ts';

// Every step starts a process, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

let service: TestEasel;
let easel: CommandLine;
beforeAll(async () => {
  service = await startTestEasel();
  easel = await commandLine(service.baseUrl);
});
afterAll(async () => {
  await easel.close();
  await service.close();
});

test.skipIf(process.platform !== 'linux')('a private page opens as oneself; an account without a sign-in gets a preview link', async () => {
  const owner = await service.newUser('pro');
  await easel.json(['login', '--token', owner.token]);
  const page = await publishArtifact(service, owner);
  // Stands in for the desktop's program that opens addresses.
  const programs = join(easel.home, 'programs');
  const opened = join(easel.home, 'opened');
  await mkdir(programs);
  await writeFile(join(programs, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > "${opened}.new" && mv "${opened}.new" "${opened}"\n`);
  await chmod(join(programs, 'xdg-open'), 0o755);
  const env = { DISPLAY: ':0', PATH: `${programs}:${process.env.PATH}` };
  const addressOpened = () => expect.poll(() => readFile(opened, 'utf8').catch(() => ''));

  expect((await easel.run(['open', page.slug], { env, asProcess: true })).code).toBe(0);
  await addressOpened().toContain('?_preview=');
  await service.sql`update account set email = 'ada@example.com' where id = ${owner.userId}`;
  const shown = await easel.run(['open', page.slug], { env, asProcess: true });
  expect([shown.code, shown.out.trim()]).toEqual([0, service.contentUrl(page.slug)]);
  await addressOpened().toBe(`${service.baseUrl}/open?slug=${page.slug}`);
  expect((await easel.json(['open', page.slug])).preview_url).toContain('?_preview=');
});
