/** `easel share`, `easel collaborators`, `easel transfer` and `easel requests` against the real service. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Person, person } from '../features/workspaces/workspace-stage.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { type CommandLine, commandLine } from './command-line.ts';

// Every step starts a process, which is slow on a busy machine.
vi.setConfig({ testTimeout: 240_000 });

let service: TestEasel;
let ada: Person;
let grace: Person;
let easel: CommandLine;
let hers: CommandLine;
beforeAll(async () => {
  service = await startTestEasel();
  [ada, grace] = [await person(service, 'ada'), await person(service, 'grace')];
  [easel, hers] = [await commandLine(service.baseUrl), await commandLine(service.baseUrl)];
  await easel.json(['login', '--token', ada.token]);
  await hers.json(['login', '--token', grace.token]);
  await easel.write({ 'index.html': '<title>Map</title>' });
  await easel.json(['publish', '--slug', 'the-map']);
});
afterAll(async () => {
  await Promise.all([easel.close(), hers.close()]);
  await service.close();
});

it('asks, decides, shares, changes roles, removes, leaves and hands over', async () => {
  expect((await hers.run(['requests', 'list'])).out).toBe('Nobody waits for you.\n');
  expect((await hers.run(['requests', 'sent'])).out).toBe('You have asked for nothing.\n');
  expect((await hers.run(['requests', 'ask', 'the-map', '--message', 'Please'])).out).toBe('Asked the owner of the-map.\n');
  expect((await hers.run(['requests', 'ask', 'the-map'])).out).toContain('You have asked for the-map already');
  expect((await easel.run(['requests', 'list'])).out).toMatch(new RegExp(`the-map +grace +${grace.email} .* Please`));
  const { requests } = await easel.json(['requests', 'list']);
  const [{ id }] = requests as [{ id: string }];
  expect((await easel.run(['requests', 'approve', 'the-map'])).code).toBe(2);
  expect((await easel.run(['requests', 'approve', id])).out).toBe('They can see it now.\n');
  expect((await easel.run(['requests', 'deny', id])).err).toContain('decided already');
  expect((await hers.run(['requests', 'sent'])).out).toMatch(/the-map +approved/);
  const shared = await easel.run(['share', grace.email, 'new@example.com', '--role', 'editor', '--message', 'Look']);
  expect(shared.out).toMatch(new RegExp(`${grace.email} +editor +has a higher role now`));
  expect(shared.out).toMatch(/new@example\.com +editor +added, once an account proves the address/);
  expect(shared.err).toContain('Mails sent: 2.');
  const listed = (await easel.run(['collaborators', 'list'])).out;
  expect(listed).toMatch(new RegExp(`owner +ada +${ada.email}`));
  expect(listed).toMatch(/editor, not signed in yet +- +new@example\.com/);
  expect((await easel.run(['collaborators', 'add', ada.email, '-a', 'the-map'])).out).toMatch(/owner +owns it/);
  expect((await easel.run(['collaborators', 'role', grace.email, 'boss'])).code).toBe(2);
  expect((await easel.run(['collaborators', 'role', grace.email, 'viewer'])).out).toBe(`${grace.email} is viewer.\n`);
  expect((await easel.run(['collaborators', 'remove', 'new@example.com'])).out).toBe(
    'Removed new@example.com. They have no access any more.\n',
  );
  expect((await hers.run(['collaborators', 'leave', '-a', 'the-map'])).out).toBe('You are no collaborator any more.\n');
  expect((await easel.run(['transfer', grace.email])).err).toContain('--yes');
  expect((await easel.run(['transfer', grace.email, '--keep-as', 'viewer', '--yes'])).out).toBe(
    `${grace.email} owns it now. You are viewer.\n`,
  );
});
