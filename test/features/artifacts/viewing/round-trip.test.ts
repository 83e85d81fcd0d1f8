/** A signed-in person opens a page that is not public, on its own origin, as themselves. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel } from '../../../support/easel.ts';
import { goesTo, locationOf, PageVisitor, pathOf } from '../../../support/page-visitor.ts';
import { ownPage, patchPage, privatePage, share, somebody, type ViewStage, visited } from './view-stage.ts';

describe.each(databaseKinds())('over %s', (database) => {
  let stage: ViewStage;
  beforeAll(async () => {
    const easel = await startTestEasel({ database });
    stage = { easel, owner: await easel.newUser('pro') };
  });
  afterAll(() => stage.easel.close());

  test('the page of strangers offers the sign-in, which leads back to the path that was opened', async () => {
    const page = await privatePage(stage);
    const visitor = await somebody(stage.easel);
    await share(stage, page, visitor.userId, 'viewer');
    const stranger = await visitor.on(page.slug, '/index.html?chapter=2');
    expect([stranger.status, stranger.text.includes('href="/_easel/view"')]).toEqual([404, true]);
    const referer = `${stage.easel.contentUrl(page.slug)}/index.html?chapter=2`;
    const begun = await visitor.on(page.slug, '/_easel/view', { headers: { referer } });
    expect(begun.status).toBe(302);
    const toApp = new URL(locationOf(begun));
    expect([toApp.origin, toApp.pathname]).toEqual([`http://localhost:${stage.easel.port}`, '/open']);
    expect(toApp.searchParams.get('slug')).toBe(page.slug);
    const toPage = new URL(goesTo(await visitor.app.open(pathOf(toApp.href))));
    expect(toPage.origin).toBe(stage.easel.contentUrl(page.slug));
    const entered = await visitor.on(page.slug, pathOf(toPage.href));
    expect([entered.status, entered.headers.location, entered.headers['cache-control']]).toEqual([
      302,
      '/index.html?chapter=2',
      'private, no-store',
    ]);
    const cookie = [entered.headers['set-cookie']].flat().find((line) => line?.startsWith('easel_viewer='));
    expect(cookie).toMatch(/^easel_viewer=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/);
    const shown = await visitor.on(page.slug, '/index.html?chapter=2');
    expect([shown.status, shown.text, shown.headers['cache-control']]).toEqual([200, '<p>data</p>', 'private, no-store']);
  });

  test('who is not signed in signs in on the way', async () => {
    const page = await privatePage(stage);
    const nobody = new PageVisitor(stage.easel);
    const asked = await nobody.begin(page.slug, '/index.html');
    expect(asked.status).toBe(303);
    expect(asked.location).toMatch(/^\/sign-in\?return_to=%2Fopen%3Fslug%3D/);
    const returnTo = new URLSearchParams(asked.location?.split('?')[1]).get('return_to') ?? '';
    const person = await somebody(stage.easel);
    await share(stage, page, person.userId, 'viewer');
    for (const [name, value] of person.app.cookies) nobody.app.cookies.set(name, value);
    const toPage = goesTo(await nobody.app.open(returnTo));
    expect((await nobody.on(page.slug, pathOf(toPage))).headers.location).toBe('/index.html');
    expect((await nobody.on(page.slug, '/index.html')).status).toBe(200);
  });

  test('the data act as the viewer with their role', async () => {
    const { page, visitor } = await visited(stage, 'viewer');
    expect((await visitor.data(page, 'GET', '/json/shown')).status).toBe(200);
    expect((await visitor.data(page, 'PUT', '/json/shown', 2)).status).toBe(403);
    const me = async () => JSON.parse((await visitor.data(page, 'GET', '/viewer')).text).data;
    expect(await me()).toMatchObject({ person: { id: visitor.userId, kind: 'human' }, role: 'viewer', canWrite: false, canEdit: false });
    await share(stage, page, visitor.userId, 'editor');
    expect((await visitor.data(page, 'PUT', '/json/shown', 2)).status).toBe(200);
    expect(await me()).toMatchObject({ role: 'editor', canWrite: true, canCollaborate: true, canEdit: true });
    expect(JSON.parse((await new PageVisitor(stage.easel).data(page, 'GET', '/viewer')).text).code).toBe('ARTIFACT_NOT_FOUND');
  });

  test('an owner moderates on the page', async () => {
    const { owner, page } = await ownPage(stage);
    await owner.enter(page.slug);
    const settings = await owner.data(page, 'PUT', '/comments/_config', { identityMode: 'anonymous' });
    expect([settings.status, JSON.parse(settings.text).data.identityMode]).toEqual([200, 'anonymous']);
    const guest = new PageVisitor(stage.easel);
    const said = await guest.data(page, 'POST', '/comments', { content: 'Spam', authorName: 'Mallory' });
    expect(said.status).toBe(201);
    const { id } = JSON.parse(said.text).data;
    expect((await guest.data(page, 'DELETE', `/comments/${id}`)).status).toBe(403);
    expect((await owner.data(page, 'DELETE', `/comments/${id}`)).status).toBe(200);
  });

  test('members see workspace pages; a page without a live version, or in the trash, is nobody’s', async () => {
    const { page, visitor } = await visited(stage);
    await patchPage(stage, page, { name: 'Still here' });
    expect((await visitor.on(page.slug, '/')).status).toBe(200);
    expect((await stage.easel.fetch(`/v1/artifacts/${page.id}`, { method: 'DELETE', token: stage.owner.token })).status).toBe(200);
    expect([302, 404]).toContain((await visitor.on(page.slug, '/')).status);
    expect((await visitor.data(page, 'GET', '/json/shown')).status).toBe(404);
  });

  test('without access the app says so, with the same words for what does not exist', async () => {
    const page = await privatePage(stage);
    const visitor = await somebody(stage.easel);
    const refused = await visitor.begin(page.slug);
    const missing = await visitor.begin('never-was');
    expect([refused.status, missing.status]).toEqual([404, 404]);
    expect(refused.text).toContain('You have no access to this page');
    const plain = (text: string, slug: string) => text.replaceAll(slug, '…').replace(/challenge[^"&]*(?:value=")?[\w-]*/g, '');
    expect(plain(refused.text, page.slug).replace(/[\w-]{43}/g, '')).toBe(plain(missing.text, 'never-was').replace(/[\w-]{43}/g, ''));
  });

  test('GET /v1/artifacts/{id}/view leads a session there, a token to the app’s page, and others nowhere', async () => {
    const { page, visitor } = await visited(stage);
    const path = `/v1/artifacts/${page.id}/view?return=/index.html`;
    const first = await visitor.app.open(path);
    expect([first.status, first.location]).toEqual([302, `${stage.easel.contentUrl(page.slug)}/_easel/view?to=%2Findex.html`]);
    const begun = new URL(locationOf(await visitor.on(page.slug, pathOf(first.location ?? ''))));
    const second = await visitor.app.open(`${path}&challenge=${begun.searchParams.get('challenge')}`);
    expect((await visitor.on(page.slug, pathOf(second.location ?? ''))).headers.location).toBe('/index.html');
    const byToken = await stage.easel.fetch(path, { token: stage.owner.token, redirect: 'manual' });
    expect([byToken.status, new URL(byToken.headers.get('location') ?? '').pathname]).toEqual([302, '/open']);
    expect((await stage.easel.fetch(path, { redirect: 'manual' })).status).toBe(404);
    expect((await (await somebody(stage.easel)).app.open(path)).status).toBe(404);
  });

  test('a sign-in on a page that has ended is renewed by itself where the session still counts', async () => {
    const { page, visitor } = await visited(stage);
    stage.easel.clock.advance(LIMITS.pageSignInTtlMs);
    const back = await visitor.on(page.slug, '/index.html', { headers: { 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' } });
    expect(back.status).toBe(302);
    expect(locationOf(back)).toContain('return=%2Findex.html');
    const toPage = goesTo(await visitor.app.open(pathOf(locationOf(back))));
    expect((await visitor.on(page.slug, pathOf(toPage))).headers.location).toBe('/index.html');
    expect((await visitor.on(page.slug, '/index.html')).status).toBe(200);
    // The same for a host without a page: a cookie tells nobody whether there is one.
    visitor.cookiesOf('never-was').set('easel_viewer', 'x');
    expect((await visitor.on('never-was', '/')).status).toBe(302);
    expect((await visitor.on('never-was', '/')).status).toBe(404);
  });

  test('strangers’ public pages learn a name only from who agrees', async () => {
    const page = await privatePage(stage);
    await patchPage(stage, page, { visibility: 'public' });
    const visitor = await somebody(stage.easel);
    const asked = await visitor.begin(page.slug, '/index.html');
    expect([asked.status, asked.text.includes('Show your name on this page?')]).toEqual([200, true]);
    expect((await visitor.app.open(`/v1/artifacts/${page.id}/view`)).location).toContain('/open?slug=');
    const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(asked.text)?.[1] ?? '';
    const fields = { slug: field('slug'), challenge: field('challenge'), return: field('return') };
    const agreed = await visitor.app.submit('/open', fields);
    const entered = await visitor.on(page.slug, pathOf(goesTo(agreed)));
    expect(entered.headers.location).toBe('/index.html');
    expect(JSON.parse((await visitor.data(page, 'GET', '/viewer')).text).data).toMatchObject({
      person: { id: visitor.userId },
      role: 'none',
    });
    const nobody = new PageVisitor(stage.easel);
    expect(JSON.parse((await nobody.data(page, 'GET', '/viewer')).text).data).toMatchObject({ person: null, role: 'none' });
  });

  test('the sweep removes what has ended, and a session has a bounded number', async () => {
    const { sql, clock } = stage.easel;
    const { page, visitor } = await visited(stage);
    const count = async () => Number((await sql`select count(*) as n from page_sign_in where artifact_id = ${page.id}`)[0]?.n);
    await visitor.begin(page.slug);
    expect(await count()).toBe(2);
    clock.advance(LIMITS.pageTicketTtlMs);
    await stage.easel.sweep();
    expect(await count()).toBe(1);
    await sql`
      insert into page_sign_in (id, session_id, artifact_id, challenge, ticket_ends_at_ms, secret_sha256, created_at_ms, ends_at_ms)
      select 'pgs_' || n, session_id, artifact_id, challenge, 0, int4send(n), created_at_ms - n, ends_at_ms
      from page_sign_in, generate_series(1, ${LIMITS.pageSignInsPerSessionMax + 20}) n where artifact_id = ${page.id}`;
    await visitor.begin(page.slug);
    expect(await count()).toBe(LIMITS.pageSignInsPerSessionMax);
    clock.advance(LIMITS.pageSignInTtlMs);
    await stage.easel.sweep();
    expect(await count()).toBe(0);
  });
});
