/** The command line against the real service: login, publish, versions, trash and export. */
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { artifact as artifactSchema } from '../../protocol/artifacts/artifacts.ts';
import { publishResponse } from '../../protocol/artifacts/publish.ts';
import { version as versionSchema } from '../../protocol/artifacts/versions.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { codeFor, Visitor } from '../support/visitor.ts';
import { type CommandLine, commandLine } from './command-line.ts';
import { getPage } from './served-page.ts';

// Every step starts a process, which is slow on a busy machine.
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

  it('creates an account with --headless, once, and saves the token in a file that only the user can read', async () => {
    const made = await easel.json(['login', '--headless']);
    const again = await easel.json(['login']);
    expect([made.created, again.created, again.user.id]).toEqual([true, false, made.user.id]);
    const file = join(easel.home, '.config/easel/credentials.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const saved = JSON.parse(await readFile(file, 'utf8'));
    expect(saved).toEqual({ token: expect.stringMatching(/^so_[0-9a-f]{64}$/) });
    expect(await easel.json(['whoami'])).toMatchObject({ server: service.baseUrl, user: { id: made.user.id }, tier: 'free' });
  });

  it('takes a token, and does not save one that the server rejects', async () => {
    const { token, userId } = await service.newUser();
    const refused = await easel.run(['login', '--token', `so_${'0'.repeat(64)}`]);
    expect(refused.code).toBe(3);
    expect((await easel.run(['whoami'])).code).toBe(3);
    expect(await easel.json(['login', '--token', token])).toMatchObject({ created: false, user: { id: userId } });
  });

  it('keeps the tokens of earlier accounts after a new sign-in', async () => {
    const anew = ['login', '--headless', '--new'];
    const made = [await easel.json(['login', '--headless']), await easel.json(anew), await easel.json(anew)];
    expect(made.map(({ created }) => created)).toEqual([true, true, true]);
    for (const { user } of made) expect(await easel.json(['whoami', '--account', user.id])).toMatchObject({ user: { id: user.id } });
    expect(await easel.json(['whoami'])).toMatchObject({ user: { id: made[2]?.user.id } });
  });

  it('signs out with --revoke, after which the token counts nowhere', async () => {
    const { token } = await service.newUser();
    await easel.json(['login', '--token', token]);
    expect(await easel.json(['logout', '--yes', '--revoke'])).toMatchObject({ success: true });
    expect((await service.fetch('/v1/me', { token })).status).toBe(401);
    expect((await easel.run(['logout', '--all', '--yes', '--revoke'])).code).toBe(2);
  });

  it('is required by other commands: exit code 3', async () => {
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

  it('uploads each content once, excludes hidden and ignored files, and serves the rest', async () => {
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

  it('publishes a new version of the same artifact and uploads only the changed file', async () => {
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

  it('makes another artifact with another slug, and publishes to the one that --artifact names', async () => {
    const first = await easel.json(['publish', 'site', '--slug', 'slug-a']);
    const second = await easel.json(['publish', 'site', '--slug', 'slug-b']);
    expect(second.artifact_id).not.toBe(first.artifact_id);
    expect(await easel.json(['publish', 'site', '--artifact', 'slug-a'])).toMatchObject({ artifact_id: first.artifact_id, version_no: 2 });
  });

  it('publishes to the artifact that --slug names, not to the one that the folder remembers', async () => {
    const first = await easel.json(['publish', 'site', '--slug', 'was-first']);
    const { token } = JSON.parse(await readFile(join(easel.home, '.config/easel/credentials.json'), 'utf8'));
    const renamed = await service.fetch(`/v1/artifacts/${first.artifact_id}`, {
      method: 'PATCH',
      token,
      body: JSON.stringify({ slug: 'now-first' }),
      headers: { 'content-type': 'application/json' },
    });
    expect(renamed.status).toBe(200);
    // The folder remembers a slug that its artifact no longer has.
    const { code, out, err } = await easel.run(['publish', 'site', '--slug', 'was-first']);
    expect([code, out, err]).toEqual([
      0,
      expect.stringContaining('Published was-first, version 1'),
      expect.stringContaining('This folder now belongs to was-first. Before, it belonged to was-first'),
    ]);
    const second = await easel.json(['open', 'site']);
    expect([second.slug, second.artifact_id === first.artifact_id]).toEqual(['was-first', false]);
    expect(await easel.json(['versions', 'now-first'])).toMatchObject({ artifact_id: first.artifact_id, versions: [{ version_no: 1 }] });
  });

  it('refuses a name that is both a slug and a folder published as another artifact', async () => {
    await easel.write({ 'two/index.html': 'the folder' });
    const folder = await easel.json(['publish', 'two', '--slug', 'of-the-folder']);
    const page = await easel.json(['publish', 'site', '--slug', 'two-things']);
    expect(await easel.json(['open', 'two'])).toMatchObject({ artifact_id: folder.artifact_id });
    await easel.write({ 'two-things/index.html': 'the folder' });
    const named = await easel.json(['publish', 'two-things', '--slug', 'another-one']);
    const refused = await easel.run(['delete', 'two-things', '--json']);
    expect([refused.code, JSON.parse(refused.err)]).toMatchObject([
      2,
      { code: 'AMBIGUOUS', hint: expect.stringContaining('./two-things') },
    ]);
    expect(await easel.json(['open', './two-things'])).toMatchObject({ artifact_id: named.artifact_id });
    expect(await easel.json(['open', page.artifact_id])).toMatchObject({ slug: 'two-things' });
  });

  it('continues after an interrupted publish without uploading the same files again', async () => {
    await easel.write(Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`big/${n}.txt`, `file ${n}`])));
    await easel.write({ 'big/index.html': '<title>big</title>' });
    // Accepts this many files; the upload of the next one is interrupted.
    let arrived = 0;
    let interrupt = () => expect.fail('asked before it started');
    const door = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      if (request.method === 'PUT' && arrived === 4) {
        // Files are sent side by side, and a second SIGINT would end the process without its exit code.
        interrupt();
        interrupt = () => undefined as never;
        return;
      }
      if (request.method === 'PUT') arrived += 1;
      const named = ['authorization', 'content-type', 'idempotency-key'].map((name) => [name, request.headers[name]]);
      const headers = Object.fromEntries(named.filter(([, value]) => value !== undefined));
      const body = request.method === 'GET' ? {} : { body: Buffer.concat(chunks) };
      const reply = await fetch(`${service.baseUrl}${request.url}`, { method: request.method ?? 'GET', headers, ...body });
      response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' }).end(await reply.text());
    });
    await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
    const { token } = JSON.parse(await readFile(join(easel.home, '.config/easel/credentials.json'), 'utf8'));
    const env = { EASEL_URL: `http://127.0.0.1:${(door.address() as AddressInfo).port}`, EASEL_TOKEN: token };
    const stopped = await easel.run(['publish', 'big'], {
      env,
      onStart: (press) => {
        interrupt = press as typeof interrupt;
      },
    });
    door.closeAllConnections();
    await new Promise((resolve) => door.close(resolve));
    expect(stopped.code).toBe(130);
    const done = await easel.json(['publish', 'big', '--visibility', 'public']);
    expect(done).toMatchObject({ files: 13, version_no: 1, sent: 13 - 4 });
    expect(await pageText(done.slug, '/11.txt')).toBe('file 11');
    expect(await pageText(done.slug, '/0.txt')).toBe('file 0');
  });

  it('prints a preview link for a private page', async () => {
    const { code, out } = await easel.run(['publish', 'site', '--slug', 'secret-site']);
    expect(code).toBe(0);
    expect(out).toContain('The page is private. Anyone with this link can see it');
    expect((await page('secret-site')).status).toBe(404);
    const link = out.trim().split('\n').at(-1)?.trim() ?? '';
    const opened = await getPage(service.port, link);
    const cookie = opened.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    const shown = await getPage(service.port, new URL(opened.headers.location ?? '/', link).href, { cookie });
    expect(shown.text).toContain('<title>one</title>');
  });

  it('publishes single pages of one folder as separate artifacts', async () => {
    await easel.write({ 'report.html': '<title>report</title>', 'other.html': '<title>other</title>' });
    const report = await easel.json(['publish', 'report.html', '--visibility', 'public']);
    const other = await easel.json(['publish', 'other.html']);
    expect(other.artifact_id).not.toBe(report.artifact_id);
    expect(await easel.json(['publish', 'report.html'])).toMatchObject({ artifact_id: report.artifact_id, version_no: 2, sent: 0 });
    expect(await pageText(report.slug)).toContain('<title>report</title>');
  });

  it('uses the entry page given with --entry, also in later versions', async () => {
    await easel.write({ 'site/start.html': '<title>start</title>' });
    const { slug } = await easel.json(['publish', 'site', '--visibility', 'public', '--entry', 'start.html']);
    await easel.json(['publish', 'site']);
    expect(await pageText(slug)).toContain('<title>start</title>');
  });

  it('does not make a draft live', async () => {
    const first = await easel.json(['publish', 'site', '--visibility', 'public']);
    await easel.write({ 'site/index.html': '<title>draft</title>' });
    const draft = await easel.json(['publish', 'site', '--draft', '--label', 'beta']);
    expect(draft).toMatchObject({ version_no: 2, live: false, preview_url: expect.stringContaining('http') });
    expect(await pageText(first.slug)).toContain('<title>one</title>');
    const { versions } = await easel.json(['versions', 'site']);
    expect(versions[0]).toMatchObject({ version_no: 2, is_draft: true, is_live: false, label: 'beta' });
  });

  it('reports a visibility that the plan does not allow', async () => {
    const free = await newUser('free');
    await free.write(SITE);
    const done = await free.run(['publish', 'site', '--visibility', 'public', '--json']);
    expect([done.code, JSON.parse(done.out), JSON.parse(done.err)]).toMatchObject([
      8,
      { code: 'VISIBILITY_HELD', visibility: 'private', requested_visibility: 'public', version_no: 1 },
      { success: false, code: 'VISIBILITY_HELD', exit_code: 8 },
    ]);
    const words = await free.run(['publish', 'site', '--visibility', 'public']);
    expect([words.code, words.out, words.err]).toEqual([
      8,
      expect.stringContaining('version 2'),
      expect.stringMatching(/^easel: Version 2 is published, but \S+ stays private and is not public\.\n {2}Fix: /),
    ]);
    const refused = await free.run(['visibility', 'public', 'site', '--json']);
    expect(refused.code).toBe(3);
    expect(JSON.parse(refused.err)).toMatchObject({ success: false, code: 'VISIBILITY_HELD' });
    await free.close();
  });

  it('allows visitors to write the data of a page, and revokes it', async () => {
    const { slug } = await easel.json(['publish', 'site', '--visibility', 'public']);
    const opened = await easel.run(['visibility', 'public', 'site', '--visitors', 'write']);
    expect(opened.out).toContain('visitors may write its data');
    // Changing the visibility keeps the permissions of visitors.
    expect(await easel.json(['visibility', 'public', 'site'])).toMatchObject({ slug, allow_anon_write: true });
    const joined = await easel.run(['visibility', 'public', 'site', '--visitors', 'collab']);
    expect(joined.out).toContain('visitors may write its data and join in its documents and presence');
    const none = { allow_anon_write: false, allow_anon_collab: false };
    expect(await easel.json(['visibility', 'public', 'site', '--visitors', 'read'])).toMatchObject(none);
    expect((await easel.run(['visibility', 'public', 'site', '--visitors', 'all'])).code).toBe(2);
  });

  it('exits with 5 if the slug is taken, and with 4 if the remembered artifact no longer exists', async () => {
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

  it('are deleted, and the account shows the room', async () => {
    const { slug } = await easel.json(['publish', 'site', '--visibility', 'public']);
    await easel.write({ 'site/index.html': `<title>two</title>${'x'.repeat(10_000)}` });
    await easel.json(['publish', 'site']);
    const used = async () => (await easel.json(['usage'])).usage;
    const before = await used();
    expect(before).toMatchObject({ bytes_max: 20 * 1024 ** 3, artifacts: 1, artifacts_max: 1000 });
    expect((await easel.run(['usage'])).out).toMatch(
      /^Stored: 1[0-9] KB of 20 GB \(under 1 %\)\nPages: {2}1 of 1000, the trash included\nTier: {3}/,
    );
    expect((await easel.run(['delete-version', '2', slug])).code).toBe(5);
    expect(await easel.json(['rollback', '1', slug])).toMatchObject({ live_version_no: 1 });
    expect(await easel.json(['delete-version', '2', slug])).toMatchObject({ success: true, version_no: 2 });
    expect(before.bytes - (await used()).bytes).toBeGreaterThan(10_000);
    expect((await easel.run(['delete-version', '2', slug])).code).toBe(4);
  });

  it('stay live while pinned', async () => {
    const { slug } = await easel.json(['publish', 'site', '--visibility', 'public']);
    await easel.write({ 'site/index.html': '<title>two</title>' });
    expect(await easel.json(['pin', '1', slug])).toMatchObject({ live_version_no: 1, pinned_version_id: expect.stringMatching(/^ver_/) });
    expect(await easel.json(['publish', 'site'])).toMatchObject({ version_no: 2, live: false });
    expect(await pageText(slug)).toContain('<title>one</title>');
    expect(await easel.json(['unpin', slug])).toMatchObject({ live_version_no: 2, pinned_version_id: null });
    expect(await pageText(slug)).toContain('<title>two</title>');
  });
});

describe('trash, export and import', () => {
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

describe('sign-ins of an account', () => {
  it('an account of a token gets an address, signs in with it in a browser, and ends that session', async () => {
    const user = await newUser();
    try {
      expect((await user.json(['link'])).accounts).toMatchObject([{ provider: null, primary: true }]);
      expect(await user.json(['link', 'ada@cli.example.com'])).toEqual({ ok: true });
      const code = await codeFor(service, 'ada@cli.example.com');
      expect(await user.json(['link', 'ada@cli.example.com', '--code', code])).toMatchObject({ email: 'ada@cli.example.com' });
      const browser = new Visitor(service);
      await browser.signInByCode('ada@cli.example.com');
      const { sessions } = await user.json(['sessions']);
      expect(sessions).toMatchObject([{ device: 'Firefox on Windows', current: false }]);
      await user.json(['end-session', sessions[0].id]);
      expect((await browser.fetch('/v1/me')).status).toBe(401);
      expect((await user.run(['end-session'])).code).toBe(2);
      await browser.signInByCode('ada@cli.example.com');
      await user.json(['end-session', '--all']);
      expect((await user.json(['sessions'])).sessions).toEqual([]);
    } finally {
      await user.close();
    }
  });
});
