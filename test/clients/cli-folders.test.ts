/** Folders, connections, agents, approvals and provisioning on the command line, against the real service. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Stage, stageOf } from '../features/workspaces/workspace-stage.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { type CommandLine, commandLine } from './command-line.ts';

// Every step starts a process, which is slow on a busy machine.
vi.setConfig({ testTimeout: 240_000 });

let service: TestEasel;
let stage: Stage;
let owner: CommandLine;
let member: CommandLine;

async function signedIn(token: string): Promise<CommandLine> {
  const easel = await commandLine(service.baseUrl);
  await easel.json(['login', '--token', token]);
  return easel;
}

beforeAll(async () => {
  service = await startTestEasel();
  stage = await stageOf(service, 'Maps');
  [owner, member] = [await signedIn(stage.owner.token), await signedIn(stage.member.token)];
  await owner.write({ 'site/index.html': '<h1>Coast</h1>' });
  await member.write({ 'draft/index.html': '<h1>Draft</h1>', 'own/index.html': '<h1>Own</h1>' });
});
afterAll(async () => {
  await Promise.all([owner.close(), member.close()]);
  await service.close();
});

it('makes folders of a workspace, publishes into them, lists, moves and deletes', async () => {
  const { slug } = stage;
  expect((await owner.run(['folders', 'list', '-w', slug])).out).toContain(`easel folders create "Reports" -w ${slug}`);
  const made = await owner.run(['folders', 'create', 'Reports', '-w', slug]);
  expect(made.out).toBe(`Made the folder reports.\nNext: easel publish --folder reports -w ${slug}\n`);
  await owner.json(['folders', 'create', '2026', '--in', 'reports', '-w', slug, '--visibility', 'workspace']);
  expect((await member.run(['folders', 'list', '-w', slug])).out).toMatch(
    /^FOLDER .*\nreports +inherit +0 +Reports\nreports\/2026 +workspace +0 +2026\n$/,
  );
  const published = await owner.json(['publish', 'site', '--slug', `coast-${slug}`, '-w', slug, '--folder', 'reports/2026']);
  expect(published).toMatchObject({ visibility: 'workspace', version_no: 1, live: true });
  expect((await member.run(['ls', '-w', slug, '--folder', 'reports/2026'])).out).toContain(`coast-${slug}`);
  expect((await member.run(['ls', '-w', slug, '--folder', 'reports'])).out).toContain('Nothing that you see is published there.');
  expect((await member.run(['ls'])).out).toContain('You have not published anything yet.');
  // A later publish stays in the folder, and a member names the page by its slug.
  expect(await owner.json(['publish', 'site', '--folder', 'reports'])).toMatchObject({ version_no: 2 });
  expect((await owner.run(['folders', 'show', 'reports', '-w', slug])).out).toBe('Reports (reports), workspace: 1 artifact, 1 folder.\n');
  expect((await member.run(['move', 'reports/2026', `coast-${slug}`])).code).toBe(3);
  expect((await owner.run(['move', 'reports/2026', `coast-${slug}`])).out).toBe(`coast-${slug} is in reports/2026.\n`);
  expect((await owner.run(['folders', 'update', 'reports', '-w', slug, '--to', 'reports/2026'])).code).toBe(5);
  expect((await owner.run(['folders', 'update', 'reports/2026', '-w', slug, '--to', '/', '--name', 'Year'])).out).toBe('Changed 2026.\n');
  expect((await owner.run(['folders', 'delete', '2026', '-w', slug])).out).toBe('Deleted 2026: 1 artifact unfiled, 0 folders moved up.\n');
  expect(await owner.run(['move', 'elsewhere', `coast-${slug}`])).toMatchObject({
    code: 4,
    err: expect.stringContaining(`has no folder "elsewhere" that you see.`),
  });
});

it('has personal folders, which nobody else sees', async () => {
  expect(await member.run(['folders', 'create', 'Mine', '--visibility', 'public'])).toMatchObject({ code: 2 });
  await member.json(['folders', 'create', 'Mine']);
  expect(await member.json(['publish', 'own', '--folder', 'mine'])).toMatchObject({ version_no: 1 });
  expect((await member.run(['ls', '--folder', 'mine'])).out).toContain('own');
  expect((await member.run(['move', '/', 'own'])).out).toMatch(/^own\S* is in no folder\.\n$/);
  expect(await owner.json(['folders', 'list'])).toEqual({ folders: [] });
});

it('says that a version waits, and an owner approves it', async () => {
  const { id, slug, owner: boss } = stage;
  const path = `/v1/workspaces/${id}/publish-policy`;
  const policy = JSON.stringify({ policy: 'require_approval', approvals_required: 1 });
  const headers = { 'content-type': 'application/json' };
  expect((await service.fetch(path, { token: boss.token, method: 'PATCH', headers, body: policy })).status).toBe(200);
  const held = await member.run(['publish', 'draft', '--slug', `draft-${slug}`, '-w', slug, '--visibility', 'workspace']);
  expect(held.out).toContain('This version goes live when owners or admins of the workspace have approved it.');
  expect(held.out).not.toContain('pinned');
  expect((await owner.run(['approvals', slug])).out).toMatch(new RegExp(`draft-${slug} +1 .* mia +0 of 1`));
  expect((await member.run(['approve', '1', `draft-${slug}`])).code).toBe(3);
  expect((await owner.run(['approve', '1', `draft-${slug}`])).code).toBe(0);
  expect((await owner.run(['approvals', slug])).out).toBe('Nothing waits for approval.\n');
  expect((await owner.run(['audit', slug, '--action', 'version.'])).out).toContain(`draft-${slug}`);
});

it('makes an agent, which publishes into its workspace until its token is revoked', async () => {
  const { slug } = stage;
  const made = await owner.json(['agent-tokens', 'create', slug, 'Nightly', '--scope', 'artifacts:read', 'artifacts:publish']);
  expect(made).toMatchObject({ shown_once: true, token: expect.stringMatching(/^sot_[0-9a-f]{64}$/) });
  const agent = await commandLine(service.baseUrl);
  await agent.write({ 'page/index.html': '<h1>Nightly</h1>' });
  const env = { EASEL_TOKEN: made.token };
  expect(await agent.json(['publish', 'page', '--slug', `nightly-${slug}`], { env })).toMatchObject({ version_no: 1 });
  const listed = await owner.run(['agent-tokens', 'list', slug]);
  expect(listed.out).toContain('Nightly');
  const [, id = ''] = /(tok_[a-z0-9]{24})/.exec(listed.out) ?? [];
  expect((await owner.run(['agent-tokens', 'revoke', slug, id])).code).toBe(0);
  expect((await agent.run(['ls'], { env })).code).toBe(3);
  expect((await owner.run(['ls', '-w', slug])).out).toContain(`nightly-${slug}`);
  await agent.close();
});

it('stores connections from a file and never shows their credentials', async () => {
  const { slug } = stage;
  const config = { host: 'db.example.com', database: 'sales' };
  await owner.write({
    'sales.json': JSON.stringify({ name: 'Sales', type: 'postgres', config, credentials: { username: 'reader', password: 'hunter22' } }),
  });
  const made = await owner.run(['connections', 'create', slug, 'sales.json']);
  expect(made).toMatchObject({ code: 0, out: 'Made the connection Sales (postgres), credentials stored.\n' });
  const shown = await owner.run(['connections', 'show', slug, 'Sales']);
  expect(shown.out).toContain('host: db.example.com');
  expect(shown.out + (await owner.run(['connections', 'show', slug, 'Sales', '--json'])).out).not.toContain('hunter22');
  const input = JSON.stringify({ name: 'Numbers' });
  expect((await owner.run(['connections', 'update', slug, 'Sales', '-'], { input })).out).toBe('Changed Numbers, credentials stored.\n');
  expect((await member.run(['connections', 'list', slug])).out).toMatch(/Numbers +postgres +stored/);
  expect((await owner.run(['connections', 'create', slug, '-'], { input: '{"password": "hunter22"' })).err).not.toContain('hunter22');
  expect((await owner.run(['connections', 'delete', slug, 'Numbers'])).code).toBe(0);
  expect((await owner.run(['connections', 'show', slug, 'Numbers'])).code).toBe(4);
});

it('provisions a workspace for an administrator, twice with the same outcome', async () => {
  const input = JSON.stringify({
    name: 'Acme',
    slug: `acme-${stage.slug}`,
    admins: ['boss@example.com'],
    folders: ['Reports'],
  });
  expect((await member.run(['admin', 'provision', '-'], { input })).code).toBe(3);
  const admin = await service.newUser();
  await service.sql`update account set is_admin = true where id = ${admin.userId}`;
  const env = { EASEL_TOKEN: admin.token };
  const first = await owner.run(['admin', 'provision', '-'], { input, env });
  expect(first).toMatchObject({ code: 0, out: expect.stringMatching(/^Created Acme/) });
  expect((await owner.run(['admin', 'provision', '-'], { input, env })).out).toMatch(/^Found Acme/);
});
