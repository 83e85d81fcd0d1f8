/** `easel workspaces` against the real service. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { codeFor, type Person, person } from '../features/workspaces/workspace-stage.ts';
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
});
afterAll(async () => {
  await Promise.all([easel.close(), hers.close()]);
  await service.close();
});

it('makes a workspace, invites, lets in, changes roles, hands over and deletes', async () => {
  expect((await easel.run(['workspaces', 'list'])).out).toContain('You belong to no workspace yet.');
  expect((await easel.run(['workspaces', 'create', 'Map makers', '--slug', 'maps'])).out).toContain('Made the workspace maps. You own it.');
  const invited = await easel.run(['workspaces', 'invite', 'maps', grace.email, 'nonsense', '--role', 'admin']);
  expect(invited.out).toMatch(new RegExp(`${grace.email} +invited`));
  expect(invited.out).toMatch(/nonsense +invalid +This is not an e-mail address\./);
  expect((await easel.run(['workspaces', 'invites', 'maps', '--open'])).out).toContain(grace.email);
  const code = await codeFor(service, grace.email);
  expect((await easel.run(['workspaces', 'claim', code])).err).toContain('another e-mail address');
  expect((await hers.run(['workspaces', 'claim', code])).out).toBe('Joined maps as admin.\n');
  expect((await hers.run(['workspaces', 'show', 'maps'])).out).toBe('Map makers (maps), plan free, 2 members. You are admin.\n');
  expect((await easel.run(['workspaces', 'role', 'maps', grace.email, 'boss'])).code).toBe(2);
  expect((await easel.run(['workspaces', 'role', 'maps', grace.email, 'member'])).out).toBe('grace is member.\n');
  expect((await easel.run(['workspaces', 'members', 'maps'])).out).toMatch(new RegExp(`member +grace +${grace.email}`));
  expect((await easel.run(['workspaces', 'transfer', 'maps', grace.email])).err).toContain('--yes');
  expect((await easel.run(['workspaces', 'transfer', 'maps', grace.email, '--yes'])).out).toContain('You are admin.');
  expect((await easel.run(['workspaces', 'leave', 'maps'])).out).toBe('You have left maps.\n');
  expect((await hers.run(['workspaces', 'update', 'maps', '--name', 'Charts'])).out).toBe('Changed maps.\n');
  expect((await hers.run(['workspaces', 'delete', 'maps'])).code).toBe(2);
  expect((await hers.run(['workspaces', 'delete', 'maps', '--yes'])).out).toContain('Deleted maps. 0 artifacts');
  expect((await hers.json(['workspaces', 'list'])) as object).toEqual({ workspaces: [], has_more: false });
});
