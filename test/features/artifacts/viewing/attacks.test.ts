/** What must not work on the way onto a page, and with its cookie. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { startTestEasel } from '../../../support/easel.ts';
import { goesTo, locationOf, PageVisitor, pathOf, type SignedInVisitor } from '../../../support/page-visitor.ts';
import { ownPage, patchPage, privatePage, share, somebody, type ViewStage, visited } from './view-stage.ts';

let stage: ViewStage;
beforeAll(async () => {
  const easel = await startTestEasel();
  stage = { easel, owner: await easel.newUser('pro') };
});
afterAll(() => stage.easel.close());

const signedIn = (visitor: PageVisitor, slug: string) => visitor.cookiesOf(slug).has('easel_viewer');

async function sharedWith(visitor: SignedInVisitor) {
  const page = await privatePage(stage);
  await share(stage, page, visitor.userId, 'viewer');
  return page;
}

describe('a ticket', () => {
  test('works once, however it comes: of two at once one gets in', async () => {
    const visitor = await somebody(stage.easel);
    const page = await sharedWith(visitor);
    const path = await visitor.ticketPath(page.slug);
    const both = await Promise.all([visitor.on(page.slug, path), visitor.on(page.slug, path)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([302, 400]);
    expect((await visitor.on(page.slug, path)).status).toBe(400);
  });

  test('ends after 30 s', async () => {
    const visitor = await somebody(stage.easel);
    const page = await sharedWith(visitor);
    const [first, second] = [await visitor.ticketPath(page.slug), await visitor.ticketPath(page.slug)];
    stage.easel.clock.advance(LIMITS.pageTicketTtlMs - 1);
    expect((await visitor.on(page.slug, first)).status).toBe(302);
    stage.easel.clock.advance(1);
    expect((await visitor.on(page.slug, second)).status).toBe(400);
  });

  test('is for one page: on the host of another it is worth nothing, and still counts where it belongs', async () => {
    const visitor = await somebody(stage.easel);
    const [page, other] = [await sharedWith(visitor), await sharedWith(visitor)];
    const path = await visitor.ticketPath(page.slug);
    // Even with the mark of the right browser.
    for (const [name, value] of visitor.cookiesOf(page.slug)) visitor.cookiesOf(other.slug).set(name, value);
    expect((await visitor.on(other.slug, path)).status).toBe(400);
    expect((await visitor.on('never-was', path)).status).toBe(400);
    expect(signedIn(visitor, other.slug)).toBe(false);
    expect((await visitor.on(page.slug, path)).status).toBe(302);
  });

  test('is for one browser: nobody is signed in as somebody else by a link', async () => {
    const attacker = await somebody(stage.easel);
    const page = await sharedWith(attacker);
    const path = await attacker.ticketPath(page.slug);
    const victim = new PageVisitor(stage.easel);
    expect((await victim.on(page.slug, path)).status).toBe(400);
    // Also where the victim has begun a sign-in of their own.
    await victim.on(page.slug, '/_easel/view?to=/');
    expect((await victim.on(page.slug, path)).status).toBe(400);
    expect(signedIn(victim, page.slug)).toBe(false);
    // A link that leads the victim's own session to the attacker's mark gives the attacker nothing: the ticket is in the victim's browser.
    const begun = new URL(locationOf(await attacker.on(page.slug, '/_easel/view?to=/')));
    const other = await somebody(stage.easel);
    await share(stage, page, other.userId, 'viewer');
    const stray = pathOf(goesTo(await other.app.open(pathOf(begun.href))));
    expect((await other.on(page.slug, stray)).status).toBe(400);
  });

  test('does not outlive its session', async () => {
    const visitor = await somebody(stage.easel);
    const page = await sharedWith(visitor);
    const path = await visitor.ticketPath(page.slug);
    expect((await visitor.app.submit('/sign-out', {})).status).toBe(200);
    expect((await visitor.on(page.slug, path)).status).toBe(400);
  });

  test('is not spent by a HEAD, by a form, or without the mark', async () => {
    const visitor = await somebody(stage.easel);
    const page = await sharedWith(visitor);
    const path = await visitor.ticketPath(page.slug);
    expect((await visitor.on(page.slug, path, { method: 'HEAD' })).status).toBe(404);
    expect((await visitor.on(page.slug, path, { method: 'POST', body: {} })).status).toBe(405);
    expect((await new PageVisitor(stage.easel).on(page.slug, path)).status).toBe(400);
    expect((await visitor.on(page.slug, path)).status).toBe(302);
  });

  test('is kept as a digest, as the cookie is', async () => {
    const { page, visitor } = await visited(stage);
    const ticket = new URLSearchParams((await visitor.ticketPath(page.slug)).split('?')[1]).get('ticket') ?? '';
    const secret = visitor.cookiesOf(page.slug).get('easel_viewer') ?? '';
    const rows = await stage.easel.sql`select row_to_json(p)::text as row from page_sign_in p where artifact_id = ${page.id}`;
    const stored = rows.map(({ row }) => row).join();
    for (const text of [ticket, secret]) {
      expect(text).toMatch(/^[\w-]{43}$/);
      expect(stored).not.toContain(text);
      expect(stored).not.toContain(Buffer.from(text).toString('hex'));
    }
  });

  test('is refused to a network that brings too many, before the database is asked', async () => {
    const visitor = await somebody(stage.easel);
    const page = await sharedWith(visitor);
    await visitor.on(page.slug, '/_easel/view?to=/');
    const path = `/_easel/enter?ticket=${'A'.repeat(43)}&to=/`;
    for (let tried = 0; tried < LIMITS.pageEntriesPerMinutePerNetwork; tried += 1) await visitor.on(page.slug, path);
    const refused = await visitor.on(page.slug, path);
    expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
    stage.easel.clock.advance(60_000);
    expect((await visitor.on(page.slug, path)).status).toBe(400);
  });
});

describe('the way', () => {
  const ELSEWHERE = [
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/%2fevil.example',
    '/%5cevil.example',
    '/\tevil.example',
    '\t//evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '@evil.example',
    '/.//evil.example',
    '/%2e%2e//evil.example',
    '/\r\nSet-Cookie: x=y',
    '',
    // Addresses of the service itself on this host.
    '/_easel/view?to=/',
    '/_easel/enter?ticket=x',
    '/v1/data/x',
  ];

  test.each(ELSEWHERE)('leads to no other place than the page: %j', async (to) => {
    const nobody = new PageVisitor(stage.easel);
    const begun = new URL(locationOf(await nobody.on('some-page', `/_easel/view?${new URLSearchParams({ to })}`)));
    expect(begun.origin).toBe(`http://localhost:${stage.easel.port}`);
    expect(begun.searchParams.get('return')).toBe('/');
    const asked = await nobody.app.open(`/open?${new URLSearchParams({ slug: 'some-page', return: to })}`);
    const returnTo = new URL(new URLSearchParams(asked.location?.split('?')[1]).get('return_to') ?? '', stage.easel.baseUrl);
    expect([returnTo.origin, returnTo.pathname, returnTo.searchParams.get('return')]).toEqual([stage.easel.baseUrl, '/open', '/']);
  });

  test('is checked again where it ends', async () => {
    const visitor = await somebody(stage.easel);
    const page = await sharedWith(visitor);
    for (const to of ELSEWHERE) {
      const { pathname, searchParams } = new URL(await visitor.ticketPath(page.slug), stage.easel.baseUrl);
      searchParams.set('to', to);
      const entered = await visitor.on(page.slug, `${pathname}?${searchParams}`);
      expect([to, entered.status, entered.headers.location]).toEqual([to, 302, '/']);
      const { body } = await visitor.on(page.slug, `${pathname}?ticket=x&${new URLSearchParams({ to })}`);
      expect(body.toString()).toContain('href="/_easel/view?to=%2F"');
    }
    const byId = await visitor.app.open(`/v1/artifacts/${page.id}/view?${new URLSearchParams({ return: '//evil.example' })}`);
    expect(byId.location).toBe(`${stage.easel.contentUrl(page.slug)}/_easel/view?to=%2F`);
  });

  test('a foreign Referer is not where it leads', async () => {
    const begin = async (referer: string) => {
      const begun = await new PageVisitor(stage.easel).on('some-page', '/_easel/view', { headers: { referer } });
      return new URL(locationOf(begun)).searchParams.get('return');
    };
    expect(await begin(`${stage.easel.contentUrl('some-page')}/a?b=c`)).toBe('/a?b=c');
    expect(await begin(`${stage.easel.contentUrl('other-page')}/a?b=c`)).toBe('/');
    expect(await begin('nonsense')).toBe('/');
  });

  test('a form of another origin signs nobody in on a page', async () => {
    const { page } = await ownPage(stage);
    const visitor = await somebody(stage.easel);
    const fields = { slug: page.slug, return: '/' };
    for (const origin of [undefined, 'null', stage.easel.contentUrl(page.slug), 'https://evil.example']) {
      expect([origin, (await visitor.app.submit('/open', fields, { origin })).status]).toEqual([origin, 403]);
    }
    const asked = await visitor.app.open(`/open?slug=${page.slug}&agreed=1`);
    expect([200, 400]).toContain(asked.status);
    expect(asked.text).not.toContain('http-equiv="refresh"');
    // Nor does a frame: nobody else's page can put ours in one.
    expect((await visitor.begin(page.slug)).headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  test('names in slugs and paths stay text', async () => {
    const visitor = await somebody(stage.easel);
    const nasty = '"><script>alert(1)</script>';
    const shown = await visitor.app.open(`/open?${new URLSearchParams({ slug: nasty, challenge: nasty, return: `/${nasty}` })}`);
    expect(shown.text).not.toContain('<script>alert');
    const { page } = await ownPage(stage);
    const asked = await visitor.app.open(`/open?${new URLSearchParams({ slug: page.slug, challenge: nasty, return: `/?${nasty}` })}`);
    expect(asked.text).not.toContain('<script>alert');
    const failed = await visitor.on(page.slug, `/_easel/enter?ticket=x&${new URLSearchParams({ to: `/?${nasty}` })}`);
    expect(failed.text).not.toContain('<script>alert');
  });
});

describe('the cookie of a page', () => {
  test('counts on that page only', async () => {
    const { page, visitor } = await visited(stage);
    const other = await sharedWith(visitor);
    visitor.cookiesOf(other.slug).set('easel_viewer', visitor.cookiesOf(page.slug).get('easel_viewer') ?? '');
    expect((await visitor.data(other, 'GET', '/json/shown')).status).toBe(404);
    expect([302, 404]).toContain((await visitor.on(other.slug, '/')).status);
    // A page's host serves no other artifact, whoever asks.
    const elsewhere = await visitor.on(page.slug, `/v1/data/${other.id}/json/shown`, { headers: { 'sec-fetch-site': 'same-origin' } });
    expect(elsewhere.status).toBe(404);
    for (const path of ['/v1/me', '/v1/artifacts', `/v1/artifacts/${page.id}`, '/v1/auth/sessions', `/v1/artifacts/${page.id}/export`]) {
      expect([path, (await visitor.on(page.slug, path)).status]).toEqual([path, 404]);
    }
  });

  test('is nothing on the API’s host, and the API’s is nothing here', async () => {
    const { page, visitor } = await visited(stage);
    const secret = visitor.cookiesOf(page.slug).get('easel_viewer') ?? '';
    for (const cookie of [`easel_viewer=${secret}`, `service_session=${secret}`, `service_access=${secret}`]) {
      const me = await stage.easel.fetch('/v1/me', { headers: { cookie } });
      const data = await stage.easel.fetch(`/v1/data/${page.id}/json/shown`, { headers: { cookie } });
      expect([cookie, me.status, data.status]).toEqual([cookie, 401, 404]);
      const view = await stage.easel.fetch(`/v1/artifacts/${page.id}/view`, { headers: { cookie }, redirect: 'manual' });
      expect(view.status).toBe(404);
    }
    expect((await stage.easel.fetch('/v1/me', { headers: { authorization: `Bearer ${secret}` } })).status).toBe(401);
    const [[name, session] = []] = visitor.app.cookies;
    const stranger = new PageVisitor(stage.easel);
    for (const cookie of [`${name}=${session}`, `easel_viewer=${session}`, `easel_unlock=${secret}`, `easel_preview=${secret}`]) {
      const headers = { cookie, 'sec-fetch-site': 'same-origin' };
      expect((await stranger.on(page.slug, `/v1/data/${page.id}/json/shown`, { headers })).status).toBe(404);
    }
  });

  test('is not inherited by another artifact that gets the slug', async () => {
    const { page, visitor } = await visited(stage);
    const heir = await sharedWith(visitor);
    const slug = page.slug;
    await patchPage(stage, page, { slug: `${slug}-old` });
    await patchPage(stage, heir, { slug });
    expect((await visitor.data({ slug, id: heir.id }, 'GET', '/json/shown')).status).toBe(404);
    expect((await visitor.on(slug, '/')).status).not.toBe(200);
    // Nor does the page under its new name take a ticket for the old one away.
    await visitor.enter(`${slug}-old`);
    expect((await visitor.on(`${slug}-old`, '/')).status).toBe(200);
  });

  test('writes, and opens sockets, from that page only', async () => {
    const { page, visitor } = await visited(stage, 'editor');
    const neighbour = await privatePage(stage);
    const put = (headers: Readonly<Record<string, string>>) =>
      visitor.on(page.slug, `/v1/data/${page.id}/json/shown`, { method: 'PUT', headers, body: 2 });
    expect((await put({ origin: stage.easel.contentUrl(page.slug) })).status).toBe(200);
    const foreign: readonly Readonly<Record<string, string>>[] = [
      {},
      { 'sec-fetch-site': 'same-site' },
      { origin: stage.easel.contentUrl(neighbour.slug) },
      { origin: stage.easel.contentUrl(neighbour.slug), 'sec-fetch-site': 'same-origin' },
      { origin: 'null' },
      { origin: 'https://evil.example' },
      { origin: stage.easel.baseUrl },
    ];
    for (const headers of foreign) expect([headers, (await put(headers)).status]).toEqual([headers, 403]);
  });

  test('reads for the page itself and for who opens it, not for what a neighbour embeds', async () => {
    const { page, visitor } = await visited(stage);
    const get = async (path: string, headers: Readonly<Record<string, string>>) => (await visitor.on(page.slug, path, { headers })).status;
    const opened = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    const counts: readonly Readonly<Record<string, string>>[] = [
      {},
      { 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
      opened,
    ];
    const embeds: readonly Readonly<Record<string, string>>[] = [
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' },
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors', origin: stage.easel.contentUrl('neighbour') },
    ];
    for (const path of ['/index.html', `/v1/data/${page.id}/json/shown`]) {
      for (const headers of counts) expect([path, headers, await get(path, headers)]).toEqual([path, headers, 200]);
      for (const headers of embeds) expect([path, headers, await get(path, headers)]).toEqual([path, headers, 404]);
    }
  });

  test('cannot be fixed: every entry makes a new one', async () => {
    const { page, visitor } = await visited(stage);
    const first = visitor.cookiesOf(page.slug).get('easel_viewer');
    const planted = 'B'.repeat(43);
    visitor.cookiesOf(page.slug).set('easel_viewer', planted);
    await visitor.enter(page.slug);
    const second = visitor.cookiesOf(page.slug).get('easel_viewer');
    expect(second).not.toBe(planted);
    expect(second).not.toBe(first);
  });
});

test('behind TLS the cookies belong to the host', async () => {
  const easel = await startTestEasel({ settings: { BASE_URL: 'https://easel.example', CONTENT_HOST: 'pages.example' } });
  try {
    const nobody = new PageVisitor(easel);
    const begun = await nobody.on('some-page', '/_easel/view?to=/');
    expect(new URL(locationOf(begun)).origin).toBe('https://easel.example');
    for (const line of [begun.headers['set-cookie'] ?? []].flat()) expect(line).toMatch(/^__Host-easel_\w+=[^;]*; Path=\/; .*; Secure$/);
  } finally {
    await easel.close();
  }
});
