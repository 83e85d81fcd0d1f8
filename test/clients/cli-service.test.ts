/** The command line against the real service: sign in, publish, versions, keep and move. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { artifact as artifactSchema, publishResponse, version as versionSchema } from '../../protocol/schemas/artifact.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { type CommandLine, commandLine } from './command-line.ts';
import { getPage } from './page.ts';

// Every step starts a process, which a busy machine does slowly.
vi.setConfig({ testTimeout: 120_000 });

let service: TestEasel;
let easel: CommandLine;
beforeAll(async () => {
  service = await startTestEasel();
});
afterAll(() => service.close());

/** A signed-in user with a home folder of their own; `pro` may publish publicly. */
async function newUser(tier: 'free' | 'pro' = 'pro'): Promise<CommandLine> {
  const user = await commandLine(service.baseUrl);
  const { token } = await service.newUser(tier);
  await user.json(['login', '--token', token]);
  return user;
}

const page = (slug: string, path = '/') => getPage(service.port, service.contentUrl(slug) + path);
const pageText = async (slug: string, path = '/') => (await page(slug, path)).text;

describe('login', () => {
  beforeEach(async () => {
    easel = await commandLine(service.baseUrl);
    return () => easel.close();
  });

  it('makes an account once, and keeps the token in a file that nobody else reads', async () => {
    const made = await easel.json(['login']);
    const again = await easel.json(['login']);
    expect([made.created, again.created, again.user.id]).toEqual([true, false, made.user.id]);
    const file = join(easel.home, '.config/easel/credentials.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const saved = JSON.parse(await readFile(file, 'utf8'));
    expect(saved).toEqual({ token: expect.stringMatching(/^so_[0-9a-f]{64}$/) });
    expect(await easel.json(['whoami'])).toMatchObject({ server: service.baseUrl, user: { id: made.user.id }, tier: 'free' });
  });

  it('takes a token, and refuses one that the server does not know without saving it', async () => {
    const { token, userId } = await service.newUser();
    const refused = await easel.run(['login', '--token', `so_${'0'.repeat(64)}`]);
    expect(refused.code).toBe(3);
    expect((await easel.run(['whoami'])).code).toBe(3);
    expect(await easel.json(['login', '--token', token])).toMatchObject({ created: false, user: { id: userId } });
  });

  it('keeps the token that a new sign-in replaces', async () => {
    await easel.json(['login']);
    const first = JSON.parse(await readFile(join(easel.home, '.config/easel/credentials.json'), 'utf8'));
    expect((await easel.json(['login', '--new'])).created).toBe(true);
    expect(JSON.parse(await readFile(join(easel.home, '.config/easel/credentials.previous.json'), 'utf8'))).toEqual(first);
  });

  it('is asked for, with exit code 3, by a command that needs it', async () => {
    const { code, err } = await easel.run(['ls']);
    expect(code).toBe(3);
    expect(err).toContain('Run "easel login"');
  });
});

const SITE = {
  'site/index.html': '<!doctype html><title>one</title><link rel="stylesheet" href="css/site.css">',
  'site/css/site.css': 'body{margin:0}',
  'site/css/copy.css': 'body{margin:0}',
  'site/empty.txt': '',
  'site/.env': 'SECRET=1',
  'site/.easelignore': 'drafts/\n*.psd\n!keep.psd\n',
  'site/drafts/later.html': 'later',
  'site/logo.psd': 'big',
  'site/keep.psd': 'kept',
  'site/node_modules/x/index.js': 'x',
  'site/old.easel.zip': 'data',
};

describe('publish', () => {
  beforeEach(async () => {
    easel = await newUser();
    await easel.write(SITE);
    return () => easel.close();
  });

  it('sends each content once, leaves out what is hidden or ignored, and serves the rest', async () => {
    const done = await easel.json(['publish', 'site', '--slug', 'first-site', '--visibility', 'public']);
    expect(done).toEqual({
      artifact_id: expect.stringMatching(/^art_/),
      slug: 'first-site',
      url: expect.stringContaining('first-site.'),
      version_id: expect.stringMatching(/^ver_/),
      version_no: 1,
      live: true,
      visibility: 'public',
      files: 5,
      bytes: SITE['site/index.html'].length + 14 + 14 + 0 + 4,
      sent: 4,
      sent_bytes: SITE['site/index.html'].length + 14 + 0 + 4,
    });
    expect(await pageText('first-site')).toContain('<title>one</title>');
    expect(await pageText('first-site', '/css/copy.css')).toBe('body{margin:0}');
    const hidden = await Promise.all(
      ['/.env', '/.easelignore', '/drafts/later.html', '/logo.psd', '/old.easel.zip'].map((path) => page('first-site', path)),
    );
    expect(hidden.map((response) => response.status)).toEqual([404, 404, 404, 404, 404]);
  });

  it('pushes a new version of the same artifact and sends only the changed file', async () => {
    const first = await easel.json(['publish', 'site', '--visibility', 'public']);
    await easel.write({ 'site/index.html': '<title>two</title>' });
    const second = await easel.json(['publish'], { cwd: join(easel.home, 'site') });
    expect(second).toMatchObject({ artifact_id: first.artifact_id, slug: first.slug, version_no: 2, sent: 1, sent_bytes: 18, files: 5 });
    expect(await pageText(first.slug)).toContain('<title>two</title>');
    const third = await easel.json(['publish', 'site']);
    expect(third).toMatchObject({ version_no: 3, sent: 0 });
    const other = await easel.json(['publish', 'site', '--new']);
    expect(other).toMatchObject({ version_no: 1, sent: 0 });
    expect(other.artifact_id).not.toBe(first.artifact_id);
  });

  it('with another slug makes another artifact; with --artifact pushes to the named one', async () => {
    const first = await easel.json(['publish', 'site', '--slug', 'slug-a']);
    const second = await easel.json(['publish', 'site', '--slug', 'slug-b']);
    expect(second.artifact_id).not.toBe(first.artifact_id);
    expect(await easel.json(['publish', 'site', '--artifact', 'slug-a'])).toMatchObject({ artifact_id: first.artifact_id, version_no: 2 });
  });

  it('gives a preview link for a private page, and says so in words', async () => {
    const { code, out } = await easel.run(['publish', 'site', '--slug', 'secret-site']);
    expect(code).toBe(0);
    expect(out).toContain('The page is private. Whoever has this link sees it');
    expect((await page('secret-site')).status).toBe(404);
    const link = out.trim().split('\n').at(-1)?.trim() ?? '';
    const opened = await getPage(service.port, link);
    const cookie = opened.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    const shown = await getPage(service.port, new URL(opened.headers.location ?? '/', link).href, { cookie });
    expect(shown.text).toContain('<title>one</title>');
  });

  it('publishes a single page, beside others in the same folder', async () => {
    await easel.write({ 'report.html': '<title>report</title>', 'other.html': '<title>other</title>' });
    const report = await easel.json(['publish', 'report.html', '--visibility', 'public']);
    const other = await easel.json(['publish', 'other.html']);
    expect(other.artifact_id).not.toBe(report.artifact_id);
    expect(await easel.json(['publish', 'report.html'])).toMatchObject({ artifact_id: report.artifact_id, version_no: 2, sent: 0 });
    expect(await pageText(report.slug)).toContain('<title>report</title>');
  });

  it('opens with the page that was chosen, also in later versions', async () => {
    await easel.write({ 'site/start.html': '<title>start</title>' });
    const { slug } = await easel.json(['publish', 'site', '--visibility', 'public', '--entry', 'start.html']);
    await easel.json(['publish', 'site']);
    expect(await pageText(slug)).toContain('<title>start</title>');
  });

  it('keeps a draft from being live', async () => {
    const first = await easel.json(['publish', 'site', '--visibility', 'public']);
    await easel.write({ 'site/index.html': '<title>draft</title>' });
    const draft = await easel.json(['publish', 'site', '--draft', '--label', 'beta']);
    expect(draft).toMatchObject({ version_no: 2, live: false, preview_url: expect.stringContaining('http') });
    expect(await pageText(first.slug)).toContain('<title>one</title>');
    const { versions } = await easel.json(['versions', 'site']);
    expect(versions[0]).toMatchObject({ version_no: 2, is_draft: true, is_live: false, label: 'beta' });
  });

  it('says what became of the visibility on a plan that may not publish publicly', async () => {
    const free = await newUser('free');
    await free.write(SITE);
    const done = await free.json(['publish', 'site', '--visibility', 'public']);
    expect(done).toMatchObject({ code: 'VISIBILITY_HELD', visibility: 'private', requested_visibility: 'public', version_no: 1 });
    const refused = await free.run(['visibility', 'public', 'site', '--json']);
    expect(refused.code).toBe(3);
    expect(JSON.parse(refused.err)).toMatchObject({ success: false, code: 'VISIBILITY_HELD' });
    await free.close();
  });

  it('lets visitors write a page’s data, and takes that back', async () => {
    const { slug } = await easel.json(['publish', 'site', '--visibility', 'public']);
    const opened = await easel.run(['visibility', 'public', 'site', '--visitors', 'write']);
    expect(opened.out).toContain('visitors may write its data');
    // Who sees the page can change without what visitors may do.
    expect(await easel.json(['visibility', 'public', 'site'])).toMatchObject({ slug, allow_anon_write: true });
    const joined = await easel.run(['visibility', 'public', 'site', '--visitors', 'collab']);
    expect(joined.out).toContain('visitors may write its data and join in its documents and presence');
    const none = { allow_anon_write: false, allow_anon_collab: false };
    expect(await easel.json(['visibility', 'public', 'site', '--visitors', 'read'])).toMatchObject(none);
    expect((await easel.run(['visibility', 'public', 'site', '--visitors', 'all'])).code).toBe(2);
  });

  it('exits with 5 on a slug of somebody else, and with 4 where the remembered artifact is gone', async () => {
    await easel.json(['publish', 'site', '--slug', 'mine-alone']);
    const other = await newUser();
    await other.write(SITE);
    const taken = await other.run(['publish', 'site', '--slug', 'mine-alone', '--json']);
    expect(taken.code).toBe(5);
    expect(JSON.parse(taken.err)).toMatchObject({ code: 'SLUG_TAKEN', exit_code: 5 });
    await easel.json(['delete', 'mine-alone']);
    const gone = await easel.run(['publish', 'site']);
    expect(gone.code).toBe(4);
    expect(gone.err).toContain('--new');
    await other.close();
  });
});

describe('versions', () => {
  beforeEach(async () => {
    easel = await newUser();
    await easel.write(SITE);
    return () => easel.close();
  });

  it('are listed and rolled back', async () => {
    const { slug } = await easel.json(['publish', 'site', '--visibility', 'public', '--note', 'begin']);
    await easel.write({ 'site/index.html': '<title>two</title>' });
    await easel.json(['publish', 'site']);
    const listed = await easel.json(['versions', slug]);
    expect(
      listed.versions
        .map((item: unknown) => versionSchema.parse(item))
        .map((item: { version_no: number; is_live: boolean; note: string | null }) => [item.version_no, item.is_live, item.note]),
    ).toEqual([
      [2, true, null],
      [1, false, 'begin'],
    ]);
    expect(await easel.json(['rollback', '1', slug])).toMatchObject({ live_version_no: 1 });
    expect(await pageText(slug)).toContain('<title>one</title>');
    expect((await easel.run(['rollback', '9', slug])).code).toBe(4);
  });

  it('stay live when pinned, until they are followed again', async () => {
    const { slug } = await easel.json(['publish', 'site', '--visibility', 'public']);
    await easel.write({ 'site/index.html': '<title>two</title>' });
    expect(await easel.json(['pin', '1', slug])).toMatchObject({ live_version_no: 1, pinned_version_id: expect.stringMatching(/^ver_/) });
    expect(await easel.json(['publish', 'site'])).toMatchObject({ version_no: 2, live: false });
    expect(await pageText(slug)).toContain('<title>one</title>');
    expect(await easel.json(['unpin', slug])).toMatchObject({ live_version_no: 2, pinned_version_id: null });
    expect(await pageText(slug)).toContain('<title>two</title>');
  });
});

describe('keep and move', () => {
  beforeEach(async () => {
    easel = await newUser();
    await easel.write(SITE);
    return () => easel.close();
  });

  it('lists, deletes and restores by slug', async () => {
    const { artifact_id: id } = await easel.json(['publish', 'site', '--slug', 'come-and-go']);
    const { artifacts } = await easel.json(['ls']);
    expect(artifacts.map((item: unknown) => artifactSchema.parse(item).slug)).toEqual(['come-and-go']);
    expect(await easel.json(['delete', 'come-and-go'])).toMatchObject({ success: true, deleted: id });
    expect(await easel.json(['ls'])).toEqual({ artifacts: [], has_more: false });
    expect((await easel.json(['ls', '--trash'])).artifacts).toHaveLength(1);
    expect((await easel.run(['open', 'come-and-go'])).code).toBe(4);
    expect(await easel.json(['restore', 'come-and-go'])).toMatchObject({ id, slug: 'come-and-go' });
    const opened = await easel.json(['open', 'come-and-go']);
    expect(opened).toMatchObject({ artifact_id: id, visibility: 'private', preview_url: expect.stringContaining('http') });
  });

  it('finds a slug on a later page of the list', async () => {
    await easel.json(['publish', 'site', '--slug', 'oldest']);
    const inserted = await service.sql`
      insert into artifact (id, owner_id, name, slug, visibility, created_at_ms, updated_at_ms)
      select 'art_' || lpad(n::text, 24, '0'), owner_id, name, 'filler-' || n, visibility, created_at_ms, updated_at_ms + n
      from artifact, generate_series(1, 120) as n where slug = 'oldest'`;
    expect(inserted.count).toBe(120);
    expect(await easel.json(['open', 'oldest'])).toMatchObject({ slug: 'oldest' });
    expect((await easel.json(['ls', '--limit', '110'])).artifacts).toHaveLength(110);
  });

  it('exports files and data, and imports them as another artifact of another user', async () => {
    await easel.json(['publish', 'site', '--slug', 'traveller']);
    await easel.json(['data', 'set', 'score', '{"best":7}', '-a', 'traveller']);
    const { file, bytes } = await easel.json(['export', 'traveller']);
    expect([file, (await stat(join(easel.home, file))).size]).toEqual(['traveller.easel.zip', bytes]);
    expect((await easel.run(['export', 'traveller'])).code).toBe(5);
    const other = await newUser();
    const imported = publishResponse.parse(await other.json(['import', join(easel.home, file), '--slug', 'arrived']));
    expect(imported.deployment.slug).toBe('arrived');
    expect(await other.json(['data', 'get', 'score', '-a', 'arrived'])).toMatchObject({ key: 'score', value: { best: 7 } });
    const again = await other.run(['import', join(easel.home, file), '--slug', 'traveller']);
    expect(again.code).toBe(5);
    await other.close();
  });
});
