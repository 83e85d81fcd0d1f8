import { createHash } from 'node:crypto';
import { hash } from '@node-rs/argon2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANONYMOUS, type ArtifactHead } from '../../actors/access/access.ts';
import type { PreviewLinkId } from '../../protocol/core/ids.ts';
import type { Call } from '../../src/edge/call.ts';
import { previewLinkHandlers } from '../../src/features/artifacts/preview-links/handlers.ts';
import { type Answer, cookieOf, Stage } from './content-stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(() => stage.close());

const NO_PAGE = 'There is no page here';

describe('[SEE] who sees a page', () => {
  it('[SEE1] private, workspace, trashed, unpublished, unknown and impossible hosts all get one and the same 404', async () => {
    await stage.site('private', { 'index.html': 'secret' }, { visibility: 'private' });
    await stage.site('workspace', { 'index.html': 'secret' }, { visibility: 'workspace' });
    const trashed = await stage.site('trashed', { 'index.html': 'secret' });
    expect((await stage.ask('trashed', '/')).status).toBe(200);
    await stage.change(trashed.id, 'trashed', { deleted_at_ms: stage.clock.nowMs() });
    const draft = await stage.site('unpublished', { 'index.html': 'secret' });
    await stage.change(draft.id, 'unpublished', { live_version_id: null });
    const answers: Answer[] = [];
    for (const slug of ['private', 'workspace', 'trashed', 'unpublished', 'never-was', 'a.b', '-x', 'x', '..', '%00', 'é', '']) {
      for (const target of ['/', '/index.html', '/none', '/_easel/unlock', '/_easel/x']) answers.push(await stage.ask(slug, target));
    }
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([404]));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(answers[0]?.text).toContain(NO_PAGE);
    expect(answers[0]?.header('cache-control')).toBe('private, no-store');
  });

  it('[SEE2] the host is case-insensitive', async () => {
    await stage.site('upper', { 'index.html': 'hello' });
    expect((await stage.ask('UpPer', '/')).text).toBe('hello');
  });

  it('[SEE3] a new live version shows at once, and a rollback too', async () => {
    const { id, versionId: first } = await stage.site('moves', { 'index.html': 'one' });
    expect((await stage.ask('moves', '/')).text).toBe('one');
    const second = await stage.version(id, 'moves', { 'index.html': 'two' });
    expect((await stage.ask('moves', '/')).text).toBe('one');
    await stage.change(id, 'moves', { live_version_id: second });
    expect((await stage.ask('moves', '/')).text).toBe('two');
    await stage.change(id, 'moves', { live_version_id: first });
    expect((await stage.ask('moves', '/')).text).toBe('one');
  });

  it('[SEE4] only GET and HEAD, whatever the address', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']) {
      for (const slug of ['upper', 'private', 'never-was']) {
        const answer = await stage.ask(slug, '/', { method });
        expect([answer.status, answer.header('allow')]).toEqual([405, 'GET, HEAD']);
      }
    }
  });

  it('[SEE5] API credentials are nothing here', async () => {
    const headers = { authorization: `Bearer so_${'0'.repeat(64)}`, cookie: 'service_session=abc; service_access=def' };
    expect((await stage.ask('private', '/', { headers })).status).toBe(404);
  });

  it('[SEE6] a store that fails is a 503 page, not a crash', async () => {
    await stage.site('broken', { 'index.html': 'gone from the store' });
    await stage.objects.delete(createHash('sha256').update('gone from the store').digest('hex'));
    const answer = await stage.ask('broken', '/');
    expect([answer.status, answer.header('retry-after')]).toEqual([503, '5']);
  });
});

describe('[LOCK] password pages', () => {
  const unlock = (slug: string, password: string, to = '/', address?: string) =>
    stage.ask(slug, '/_easel/unlock', { method: 'POST', form: { password, to }, ...(address ? { address } : {}) });

  beforeAll(async () => {
    const passwordHash = await hash('open sesame');
    await stage.site('locked', { 'index.html': 'treasure', 'a/b.html': 'more' }, { visibility: 'password', passwordHash });
    await stage.site('locked-too', { 'index.html': 'other treasure' }, { visibility: 'password', passwordHash });
  });

  it('[LOCK1] asks with a form that leads on to where the visitor was going', async () => {
    const answer = await stage.ask('locked', '/a/b.html?x="><script>');
    expect(answer.status).toBe(401);
    expect(answer.text).toContain('value="/a/b.html?x=&#34;&#62;&#60;script&#62;"');
    expect(answer.text).not.toContain('treasure');
    expect(answer.header('cache-control')).toBe('private, no-store');
  });

  it('[LOCK2] the right password opens this page only, and is not kept by caches', async () => {
    const opened = await unlock('locked', 'open sesame', '/a/b.html?q=1');
    expect([opened.status, opened.header('location')]).toEqual([303, '/a/b.html?q=1']);
    expect(opened.header('set-cookie')).toMatch(/; Path=\/; Max-Age=86400; HttpOnly; SameSite=Lax$/);
    const cookie = cookieOf(opened);
    const page = await stage.ask('locked', '/a/b.html', { headers: { cookie: `theme=dark; ${cookie}` } });
    expect([page.status, page.text, page.header('cache-control')]).toEqual([200, 'more', 'private, no-store']);
    expect((await stage.ask('locked-too', '/', { headers: { cookie } })).status).toBe(401);
    expect((await stage.ask('locked', '/', { headers: { cookie: `${cookie}x` } })).status).toBe(401);
  });

  it('[LOCK3] the wrong one does not', async () => {
    const answer = await unlock('locked', 'open says me', '/', '198.51.100.1');
    expect([answer.status, answer.header('set-cookie')]).toEqual([401, undefined]);
    expect(answer.text).toContain('That was not the password');
  });

  it.each(['//evil.test', '/\\evil.test', 'https://evil.test', '', '/\r\nX: y', 'javascript:alert(1)'])(
    '[LOCK4] leads nowhere else: %j',
    async (to) => {
      const answer = await unlock('locked', 'open sesame', to);
      expect(answer.header('location')).toBe('/');
    },
  );

  it('[LOCK5] an address has ten attempts in a quarter of an hour, even all at once; another has its own', async () => {
    const attempts = await Promise.all(Array.from({ length: 14 }, (_, n) => unlock('locked', `guess ${n}`, '/', '198.51.100.2')));
    expect(attempts.filter((answer) => answer.status === 401).length).toBeLessThanOrEqual(10);
    for (let n = 0; n < 10; n++) await unlock('locked', 'guess', '/', '198.51.100.2');
    const refused = await unlock('locked', 'open sesame', '/', '198.51.100.2');
    expect([refused.status, refused.header('retry-after')]).toEqual([429, '900']);
    expect((await unlock('locked', 'open sesame', '/', '198.51.100.3')).status).toBe(303);
    stage.clock.advance(15 * 60 * 1000);
    expect((await unlock('locked', 'open sesame', '/', '198.51.100.2')).status).toBe(303);
  });

  it('[LOCK6] a /64 of IPv6 counts as one address', async () => {
    for (let n = 0; n < 10; n++) await unlock('locked', 'guess', '/', `2001:db8:1:2::${n.toString(16)}`);
    expect((await unlock('locked', 'open sesame', '/', '2001:db8:1:2:ffff:0:0:1')).status).toBe(429);
    expect((await unlock('locked', 'open sesame', '/', '2001:db8:1:3::1')).status).toBe(303);
  });

  it('[LOCK7] what was opened closes after a day, and when the password changes', async () => {
    const cookie = cookieOf(await unlock('locked', 'open sesame'));
    const sees = async () => (await stage.ask('locked', '/', { headers: { cookie } })).status;
    expect(await sees()).toBe(200);
    stage.clock.advance(24 * 60 * 60 * 1000);
    expect(await sees()).toBe(401);
    const { id } = await stage.site('changing', { 'index.html': 'x' }, { visibility: 'password', passwordHash: await hash('first one') });
    const opened = { headers: { cookie: cookieOf(await unlock('changing', 'first one')) } };
    expect((await stage.ask('changing', '/', opened)).status).toBe(200);
    await stage.change(id, 'changing', { password_hash: await hash('second one') });
    expect((await stage.ask('changing', '/', opened)).status).toBe(401);
  });

  it('[LOCK8] the form exists on password pages only', async () => {
    expect((await unlock('upper', 'x')).status).toBe(404);
    expect((await unlock('private', 'x')).status).toBe(404);
    expect((await stage.ask('locked', '/_easel/unlock')).status).toBe(401);
  });
});

describe('[PREVIEW] preview links', () => {
  const handlers = () =>
    previewLinkHandlers({
      sql: stage.database.sql,
      bus: stage.bus,
      config: { baseUrl: 'http://api.test', contentHost: 'pages.test' },
    });
  const head = (id: string, slug: string) => ({ id, slug }) as unknown as ArtifactHead;

  async function link(site: { id: string }, slug: string, versionId: string, expiresInS = 3600) {
    const call = {
      params: { id: site.id },
      body: { version_id: versionId, expires_in: expiresInS },
      head: head(site.id, slug),
      principal: ANONYMOUS,
      nowMs: stage.clock.nowMs(),
    } as unknown as Call;
    const reply = await handlers()['previewLinks.create'](call as never);
    if (reply.reply !== 'created') throw new Error('not created');
    return { ...reply.body, target: reply.body.url.replace(`http://${slug}.pages.test`, '') };
  }

  async function remove(site: { id: string }, slug: string, linkId: string) {
    const call = { params: { id: site.id, link: linkId as PreviewLinkId }, head: head(site.id, slug) } as unknown as Call;
    return handlers()['previewLinks.delete'](call as never);
  }

  it('[PREVIEW1] show a draft of a private page, redirect the secret away, and forbid caching', async () => {
    const site = await stage.site('drafty', { 'index.html': 'live' }, { visibility: 'private' });
    const draft = await stage.version(site.id, 'drafty', { 'index.html': 'draft' });
    const made = await link(site, 'drafty', draft);
    const entered = await stage.ask('drafty', `${made.target}&a=1`);
    expect([entered.status, entered.header('location'), entered.header('referrer-policy')]).toEqual([302, '/?a=1', 'no-referrer']);
    expect(entered.header('set-cookie')).toMatch(/^easel_preview=.*; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax$/);
    const page = await stage.ask('drafty', '/', { headers: { cookie: cookieOf(entered) } });
    expect([page.status, page.text, page.header('cache-control'), page.header('x-robots-tag')]).toEqual([
      200,
      'draft',
      'private, no-store',
      'noindex',
    ]);
    expect((await stage.ask('drafty', '/')).status).toBe(404);
  });

  it('[PREVIEW2] on a public page show the draft to those who entered and the live version to others, and end with ?_preview=', async () => {
    const site = await stage.site('half', { 'index.html': 'live' });
    const draft = await stage.version(site.id, 'half', { 'index.html': 'draft' });
    const cookie = cookieOf(await stage.ask('half', (await link(site, 'half', draft)).target));
    expect((await stage.ask('half', '/', { headers: { cookie } })).text).toBe('draft');
    expect((await stage.ask('half', '/')).text).toBe('live');
    const left = await stage.ask('half', '/?_preview=', { headers: { cookie } });
    expect([left.status, left.header('location')]).toEqual([302, '/']);
    expect(left.header('set-cookie')).toContain('easel_preview=; Path=/; Max-Age=0');
  });

  it('[PREVIEW3] end at once when deleted, with the artifact, and with time', async () => {
    const site = await stage.site('ending', { 'index.html': 'seen' }, { visibility: 'private' });
    const enter = async (made: { target: string }) => ({ headers: { cookie: cookieOf(await stage.ask('ending', made.target)) } });
    const sees = async (options: { headers: { cookie: string } }) => (await stage.ask('ending', '/', options)).status;

    const deleted = await link(site, 'ending', site.versionId);
    const byDeleted = await enter(deleted);
    expect(await sees(byDeleted)).toBe(200);
    await remove(site, 'ending', deleted.id);
    expect(await sees(byDeleted)).toBe(404);
    expect((await stage.ask('ending', deleted.target)).status).toBe(404);
    await expect(remove(site, 'ending', deleted.id)).rejects.toMatchObject({ code: 'PREVIEW_LINK_NOT_FOUND' });

    const short = await link(site, 'ending', site.versionId, 60);
    const byShort = await enter(short);
    expect(await sees(byShort)).toBe(200);
    stage.clock.advance(60_000);
    expect(await sees(byShort)).toBe(404);
    expect((await stage.ask('ending', short.target)).text).toContain(NO_PAGE);

    const last = await link(site, 'ending', site.versionId);
    const byLast = await enter(last);
    expect(await sees(byLast)).toBe(200);
    await stage.change(site.id, 'ending', { deleted_at_ms: stage.clock.nowMs() });
    expect(await sees(byLast)).toBe(404);
  });

  it('[PREVIEW4] open their own artifact only, and versions of their own artifact only', async () => {
    const mine = await stage.site('mine', { 'index.html': 'mine' }, { visibility: 'private' });
    const other = await stage.site('other', { 'index.html': 'other' }, { visibility: 'private' });
    const made = await link(mine, 'mine', mine.versionId);
    expect((await stage.ask('other', made.target)).status).toBe(404);
    const cookie = cookieOf(await stage.ask('mine', made.target));
    expect((await stage.ask('other', '/', { headers: { cookie } })).status).toBe(404);
    await expect(link(mine, 'mine', other.versionId)).rejects.toMatchObject({ code: 'VERSION_NOT_FOUND' });
  });

  it('[PREVIEW5] lead to no other host', async () => {
    const answer = await stage.ask('half', '//evil.test/?_preview=');
    expect(answer.header('location')).toBe('/evil.test/');
  });

  it('[PREVIEW6] keep no secret in the database', async () => {
    const site = await stage.site('hashed-secret', { 'index.html': 'x' });
    const made = await link(site, 'hashed-secret', site.versionId);
    const secret = made.target.split('=')[1] ?? '';
    const rows = await stage.database.sql`select row_to_json(p)::text as row from preview_link p where id = ${made.id}`;
    expect(secret.length).toBeGreaterThanOrEqual(43);
    expect(rows[0]?.row).not.toContain(secret);
    expect(rows[0]?.row).not.toContain(Buffer.from(secret).toString('hex'));
  });
});

describe('[TLS] behind TLS', () => {
  it('the cookies are bound to the host and sent over TLS only', async () => {
    const secure = await Stage.open('https://api.test');
    try {
      await secure.site('locked', { 'index.html': 'x' }, { visibility: 'password', passwordHash: await hash('open sesame') });
      const opened = await secure.ask('locked', '/_easel/unlock', { method: 'POST', form: { password: 'open sesame', to: '/' } });
      expect(opened.header('set-cookie')).toMatch(/^__Host-easel_unlock=.*; Path=\/; .*; Secure$/);
      expect((await secure.ask('locked', '/', { headers: { cookie: cookieOf(opened) } })).status).toBe(200);
    } finally {
      await secure.close();
    }
  });
});
