/** Views and visitors, over the whole service. Which requests count as a view is in test/content/page-views.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser, testStorage } from '../../../support/easel.ts';
import { wire } from '../../../support/page-requests.ts';
import { json, published, refusal } from '../../../support/requests.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const SAFARI = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15';
const BOTS = [
  '',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'curl/8.5.0',
  'python-requests/2.32.0',
];

interface Visit {
  readonly from?: string;
  readonly userAgent?: string;
}

async function open(easel: TestEasel, slug: string, { from = '127.0.0.1', userAgent = FIREFOX }: Visit = {}): Promise<void> {
  const headers = { 'user-agent': userAgent, 'sec-fetch-dest': 'document', accept: 'text/html' };
  expect((await wire(easel.port, new URL(easel.contentUrl(slug)).host, '/', { headers, from })).status).toBe(200);
}

function ask(easel: TestEasel, user: Pick<TestUser, 'token'>, id: string, query = ''): Promise<Response> {
  return easel.fetch(`/v1/artifacts/${id}/analytics${query}`, { token: user.token });
}

async function today(easel: TestEasel, user: TestUser, id: string): Promise<[views: number, visitors: number]> {
  const { views } = await json(await ask(easel, user, id, '?range=7'));
  return [views.at(-1).views, views.at(-1).visitors];
}

const onePublic = (easel: TestEasel, user: TestUser) => published(easel, user, { visibility: 'public' });

describe.each(databaseKinds())('over %s', (database) => {
  let easel: TestEasel;
  let owner: TestUser;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    owner = await easel.newUser('pro');
  });
  afterAll(() => easel.close());

  test('a view is counted each time, a visitor once a day: by network and browser', async () => {
    const { id, slug } = await onePublic(easel, owner);
    for (const visit of [{}, {}, { userAgent: SAFARI }, { from: '127.0.0.2' }, { from: '127.0.0.2' }]) await open(easel, slug, visit);
    expect(await today(easel, owner, id)).toEqual([5, 3]);
    const other = await onePublic(easel, owner);
    expect(await today(easel, owner, other.id)).toEqual([0, 0]);
  });

  test('bots and programs without a name are left out', async () => {
    const { id, slug } = await onePublic(easel, owner);
    for (const userAgent of BOTS) await open(easel, slug, { userAgent });
    expect(await today(easel, owner, id)).toEqual([0, 0]);
  });

  test('every day of the range is answered, oldest first and today last', async () => {
    const { id, slug } = await onePublic(easel, owner);
    await open(easel, slug);
    easel.clock.advance(2 * DAY_MS);
    await open(easel, slug);
    await open(easel, slug, { from: '127.0.0.2' });
    const answer = await json(await ask(easel, owner, id, '?range=7'));
    expect(answer).toMatchObject({ range: 7, total: { views: 3, visitors: 3 } });
    expect(answer.views.map(({ views }: { views: number }) => views)).toEqual([0, 0, 0, 0, 1, 0, 2]);
    const dates = answer.views.map(({ date }: { date: string }) => date);
    expect(dates).toEqual(Array.from({ length: 7 }, (_, at) => dayText(easel.clock.nowMs() - (6 - at) * DAY_MS)));
    expect((await json(await ask(easel, owner, id))).views).toHaveLength(30);
    expect((await json(await ask(easel, owner, id, '?range=90'))).views).toHaveLength(90);
    expect(await refusal(ask(easel, owner, id, '?range=8'))).toEqual([400, 'INVALID_REQUEST', 'range']);
  });

  test('nobody is known again on another day, and the salt of a day is deleted after it', async () => {
    const { id, slug } = await onePublic(easel, owner);
    const sketches = () => easel.sql<{ day: number; sketch: Buffer }[]>`
      select day, sketch from page_view where artifact_id = ${id} order by day`;
    const salts = async () => (await easel.sql<{ day: number }[]>`select day from page_view_salt order by day`).map(({ day }) => day);
    const day = Math.floor(easel.clock.nowMs() / DAY_MS);
    await open(easel, slug);
    expect(await today(easel, owner, id)).toEqual([1, 1]);
    expect(await salts()).toEqual([day]);
    easel.clock.advance((day + 1) * DAY_MS - easel.clock.nowMs() + HOUR_MS);
    await open(easel, slug);
    expect(await today(easel, owner, id)).toEqual([1, 1]);
    await expect.poll(salts).toEqual([day + 1]);
    const [first, second] = await sketches();
    expect(first?.sketch).toHaveLength(8);
    expect(second?.sketch).toHaveLength(8);
    expect(first?.sketch).not.toEqual(second?.sketch);
    easel.clock.advance(3 * DAY_MS);
    await expect.poll(salts).toEqual([]);
  });

  test('the sweep removes what is older than the longest answer, and empties the sketches of days that are over', async () => {
    const { id, slug } = await onePublic(easel, owner);
    const rows = () => easel.sql<{ views: number; visitors: number; bytes: number }[]>`
      select views, visitors, length(sketch) as bytes from page_view where artifact_id = ${id}`;
    await open(easel, slug);
    expect(await today(easel, owner, id)).toEqual([1, 1]);
    easel.clock.advance(2 * DAY_MS);
    await easel.sweep();
    expect(await rows()).toEqual([{ views: 1, visitors: 1, bytes: 0 }]);
    easel.clock.advance((LIMITS.viewsKeptDays - 3) * DAY_MS);
    await easel.sweep();
    expect(await rows()).toHaveLength(1);
    easel.clock.advance(DAY_MS);
    expect((await easel.sweep()).pageViews).toBeGreaterThanOrEqual(1);
    expect(await rows()).toHaveLength(0);
  });

  test('a purge removes them', async () => {
    const { id, slug } = await onePublic(easel, owner);
    await open(easel, slug);
    expect(await today(easel, owner, id)).toEqual([1, 1]);
    // It is written when the page is in the trash already.
    await open(easel, slug);
    expect((await easel.fetch(`/v1/artifacts/${id}`, { method: 'DELETE', token: owner.token })).status).toBe(200);
    easel.clock.advance((LIMITS.trashRetentionDays + 1) * DAY_MS);
    expect((await easel.sweep()).artifacts).toBe(1);
    expect(await easel.sql`select from page_view where artifact_id = ${id}`).toHaveLength(0);
  });

  test('owner and editors see them; a viewer is refused, nobody else learns of a private page', async () => {
    const [editor, viewer, stranger] = [await easel.newUser(), await easel.newUser(), await easel.newUser()];
    const { id } = await published(easel, owner, { visibility: 'private' });
    await easel.sql`
      insert into collaborator (artifact_id, user_id, role, added_at_ms)
      values (${id}, ${editor.userId}, 'editor', 0), (${id}, ${viewer.userId}, 'viewer', 0)`;
    expect((await ask(easel, owner, id)).status).toBe(200);
    expect((await ask(easel, editor, id)).status).toBe(200);
    expect(await refusal(ask(easel, viewer, id))).toEqual([403, 'FORBIDDEN', undefined]);
    expect((await refusal(ask(easel, stranger, id)))[0]).toBe(404);
    const open = await onePublic(easel, owner);
    expect((await refusal(ask(easel, stranger, open.id)))[0]).toBe(403);
    expect((await easel.fetch(`/v1/artifacts/${open.id}/analytics`)).status).toBe(401);
    const ended = await easel.fetch(`/v1/artifacts/${id}`, { method: 'DELETE', token: owner.token });
    expect(ended.status).toBe(200);
    expect((await refusal(ask(easel, owner, id)))[0]).toBe(404);
  });

  test('a page that only its people see counts their views, the owner included', async () => {
    const { id, slug } = await published(easel, owner, { visibility: 'password', password: 'open sesame' });
    const host = new URL(easel.contentUrl(slug)).host;
    const headers = { 'user-agent': FIREFOX, 'sec-fetch-dest': 'document', 'content-type': 'application/x-www-form-urlencoded' };
    const unlocked = await wire(easel.port, host, '/_easel/unlock', { method: 'POST', headers, body: 'password=open+sesame&to=/' });
    const cookie = String([unlocked.headers['set-cookie']].flat()[0]).split(';')[0] ?? '';
    expect(await today(easel, owner, id)).toEqual([0, 0]);
    const page = await wire(easel.port, host, '/', { headers: { ...headers, cookie } });
    expect(page.status).toBe(200);
    expect(await today(easel, owner, id)).toEqual([1, 1]);
  });
});

test('a restart on the same day counts nobody twice, and loses nothing that was noted', async () => {
  const storage = await testStorage();
  try {
    const first = await startTestEasel({ storage });
    const owner = await first.newUser('pro');
    const { id, slug } = await onePublic(first, owner);
    await open(first, slug);
    await first.close();
    const second = await startTestEasel({ storage });
    await open(second, slug);
    await open(second, slug, { from: '127.0.0.2' });
    expect(await today(second, owner, id)).toEqual([3, 2]);
    await second.close();
  } finally {
    await storage.remove();
  }
});

function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
