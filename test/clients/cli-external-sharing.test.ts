/** Sharing with people outside on the command line, against the real service. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type SharingStage, sharingStage } from '../features/sharing/external-stage.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { post } from '../support/requests.ts';
import { type CommandLine, commandLine } from './command-line.ts';

// Every step starts a process, which is slow on a busy machine.
vi.setConfig({ testTimeout: 240_000 });

let service: TestEasel;
let stage: SharingStage;
let owner: CommandLine;
let client: CommandLine;

async function signedIn(token: string): Promise<CommandLine> {
  const easel = await commandLine(service.baseUrl);
  await easel.json(['login', '--token', token]);
  return easel;
}

beforeAll(async () => {
  service = await startTestEasel();
  stage = await sharingStage(service, 'Maps');
  [owner, client] = [await signedIn(stage.owner.token), await signedIn(stage.client.token)];
  await owner.write({ 'site/index.html': '<h1>Coast</h1>' });
});
afterAll(async () => {
  await Promise.all([owner.close(), client.close()]);
  await service.close();
});

it('shares a page outside, says why somebody sees it, and ends it', async () => {
  const { slug, client: outside } = stage;
  const page = `coast-${slug}`;
  await owner.json(['publish', 'site', '--slug', page, '-w', slug]);
  await service.fetch(`${stage.path}/sharees`, { token: stage.owner.token, ...post({ name: 'Client Ltd', type: 'client' }) });
  expect((await owner.run(['sharees', slug])).out).toMatch(/^NAME .*\nClient Ltd +client +0 +shr_\w+\n$/);
  expect((await owner.run(['grants', 'list', slug])).out).toBe('Nothing is shared outside.\n');
  expect((await client.run(['shared'])).out).toBe('Nothing is shared with you.\n');
  const added = await owner.run(['grants', 'add', slug, outside.email, page, '--may', 'comment']);
  expect(added.out).toMatch(new RegExp(`^${outside.email.replaceAll('.', '\\.')} may comment ".+"\\.\n$`));
  expect((await owner.run(['grants', 'list', slug])).out).toMatch(/comment +artifact .+ never +grt_\w+\n$/);
  expect((await client.run(['shared'])).out).toContain(page);
  const why = (await owner.run(['explain', outside.email, page])).out;
  expect(why).toMatch(/may view, comment\.\nRULE .*\ngrant +artifact shared outside \(grt_\w+\) +view, comment\n$/);
  const { grants } = (await owner.json(['grants', 'list', slug])) as { grants: [{ id: string }] };
  expect((await owner.run(['grants', 'end', slug, grants[0].id])).out).toBe('Ended. It opens nothing any more.\n');
  expect((await owner.run(['explain', outside.email, page])).out).toBe(`${outside.email} may do nothing with it.\n`);
});

it('shares a file of the workspace outside, which they download until it ends', async () => {
  const { slug, client: outside } = stage;
  await owner.write({ 'plan.txt': 'for the client' });
  const { id } = (await owner.json(['assets', 'upload', 'plan.txt', '-w', slug])) as { id: string };
  expect((await client.run(['assets', 'download', id])).code).toBe(4);
  const added = await owner.run(['grants', 'add', slug, outside.email, '--file', id]);
  expect(added.out).toMatch(/ may view "plan\.txt"\.\n$/);
  expect((await client.run(['shared'])).out).toContain(`/v1/files/${id}/content`);
  expect((await client.run(['assets', 'download', id, '-o', 'got.txt'])).out).toBe('Written to got.txt.\n');
  const { grants } = (await owner.json(['grants', 'list', slug])) as { grants: [{ id: string }] };
  await owner.run(['grants', 'end', slug, grants[0].id]);
  expect((await client.run(['assets', 'download', id])).code).toBe(4);
  expect((await owner.run(['grants', 'add', slug, outside.email, '--file', id, '--folder', 'fld_x'])).code).toBe(2);
});
