/** Search: what is found by which words, who finds it, and how the index follows what changes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { unpackedWhere } from '../../../../src/features/library/search/packing.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, published, refusal } from '../../../support/requests.ts';
import { agentOf, newWorkspace } from '../../../support/workspaces.ts';
import { found, indexed, page, titles } from './search-stage.ts';

const EVERYTHING = { byHeadings: false, mayBeIn: () => true, mayBeInBytes: () => true };

/** By what, what is looked for, and what comes first. */
const FOUND = [
  ['the name', 'quarterly report', 'Quarterly report'],
  ['words of the text in any order', 'costs revenue', 'Quarterly report'],
  ['other case and accents', 'ESTACION malaga', 'Informe de ventas'],
  ['accents that the page does not have', 'révenue', 'Quarterly report'],
  ['another form of an English word', 'region grow falls', 'Quarterly report'],
  ['another form of a Spanish word', 'canción escuchar', 'Informe de ventas'],
  ['the beginning of the last word', 'shipping co', 'Quarterly report'],
  ['the beginning of a name', 'quart', 'Quarterly report'],
  ['one letter', 'q', 'Quarterly report'],
  ['a letter left out', 'reveue', 'Quarterly report'],
  ['two letters swapped', 'hsipping', 'Quarterly report'],
  ['two mistakes in a long word', 'quarterley repport', 'Quarterly report'],
  ['a misspelt word of the text', 'vacaton polcy', 'Handbook'],
  ['parts joined', 'lrucache', 'lru-cache'],
  ['parts apart', 'lru cache', 'lru-cache'],
  ['a script without spaces', '売上高', '東京レポート'],
  ['a page that is not the first', 'standby database', 'Runbook'],
  ['some of the words', 'generous vacation of penguins', 'Handbook'],
  ['a letter that has two elsewhere', 'groesse grosse', 'Straßen'],
  ['the same in capital letters', 'GRÖSSE', 'Straßen'],
  ['letters without their strokes', 'orsted lodz', 'Straßen'],
  ['letters of one sign', 'aeon fish', 'Straßen'],
  ['letters of full width', 'ｓｔｒａｓｓｅｎ', 'Straßen'],
  ['a word that may be broken', 'donaudampfschiff', 'Straßen'],
] as const;

describe.each(databaseKinds())('over %s', (database) => {
  let easel: TestEasel;
  let owner: TestUser;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    // May have very many artifacts.
    owner = await easel.newUser('team');
    await page(easel, owner, 'Quarterly report', 'Revenue of the northern regions grew while shipping costs were falling.');
    await page(easel, owner, 'Informe de ventas', 'Las previsiones de las canciones más escuchadas en la estación de Málaga.');
    await page(easel, owner, 'lru-cache', 'Evicts the least recently used entry.');
    await page(easel, owner, 'Handbook', `${'Filler sentence about nothing in particular. '.repeat(60)}Our vacation policy is generous.`);
    await page(easel, owner, '東京レポート', '売上高は増加しました。');
    await page(easel, owner, 'Straßen', 'Die Größe von Ørsted und Łódź, ein ﬁsh seit einem Æon, ½ Donau&shy;dampf&shy;schiff.');
    easel.clock.advance(1);
    await published(easel, owner, {
      name: 'Runbook',
      entrypoint: 'index.html',
      files: [
        { path: 'index.html', content: '<h1>Start</h1>' },
        { path: 'guides/failover.md', content: '# Failover\n\nPromote the **standby** [database](https://example.com/secretlink) first.' },
      ],
    });
    await indexed(easel);
  });
  afterAll(() => easel.close());

  const first = async (q: string) => (await titles(easel, owner, q))[0];

  test.each(FOUND)('finds by %s: %s', async (_, q, name) => {
    expect(await first(q)).toBe(name);
  });

  test('who has very many artifacts finds the same', async () => {
    // Without turns: only their number counts.
    await easel.sql`
      insert into artifact (id, owner_id, name, slug, visibility, created_at_ms, updated_at_ms)
      select 'art_of_many_' || n, ${owner.userId}, 'One of many', 'one-of-many-' || n, 'private', 0, 0 from generate_series(1, 2001) n`;
    await easel.sql`delete from search_turn where artifact_id like 'art_of_many_%'`;
    for (const [by, q, name] of FOUND) expect(await first(q), by).toBe(name);
    await easel.sql`delete from artifact where id like 'art_of_many_%'`;
  });

  test.each(['zanzibar', 'cyanotype', 'secretlink', '!?.', 'doctype'])('finds nothing by what a page does not say: %s', async (q) => {
    expect(await titles(easel, owner, q)).toEqual([]);
  });

  test('who says the words as they are written comes before who says one like it, however new', async () => {
    const person = await easel.newUser('pro');
    await page(easel, person, 'Older', 'A stable keeps a horse.');
    await page(easel, person, 'Older, like it', 'A staple keeps a horse.');
    easel.clock.advance(1000);
    await page(easel, person, 'Newer', 'A staple keeps a horse.');
    await indexed(easel);
    expect(await titles(easel, person, 'stable horse')).toEqual(['Older', 'Newer', 'Older, like it']);
    expect((await titles(easel, person, 'staple horse')).at(-1)).toBe('Older');
  });

  test('a hit says where the words are', async () => {
    const [hit] = (await found(easel, owner, 'vacations policies')).artifacts;
    expect(hit).toMatchObject({ type: 'artifact', title: 'Handbook', url: expect.stringContaining('http'), score: expect.any(Number) });
    const { text, marks } = hit?.snippet ?? { text: '', marks: [] };
    expect(marks.map(([start, end]) => text.slice(start, end))).toEqual(['vacation', 'policy']);
    expect(text.length).toBeLessThan(260);
    expect(hit?.score).toBeGreaterThan(0);
    expect(hit?.score).toBeLessThanOrEqual(1);
  });

  test('an empty q answers what has changed last, as many as are asked for', async () => {
    const answer = await found(easel, owner, '', '&limit=2');
    expect(answer.artifacts.map(({ title, score, snippet }) => [title, score, snippet])).toEqual([
      ['Runbook', 0, null],
      [expect.any(String), 0, null],
    ]);
    expect(answer.query).toBe('');
  });

  test('what is refused', async () => {
    const ask = (query: string) => refusal(easel.fetch(`/v1/search?${query}`, { token: owner.token }));
    expect(await ask('')).toEqual([400, 'INVALID_REQUEST', 'q']);
    expect(await ask('q=a&limit=26')).toEqual([400, 'INVALID_REQUEST', 'limit']);
    expect(await ask('q=a&groups=pages')).toEqual([400, 'INVALID_REQUEST', 'groups']);
    expect(await ask(`q=${'a'.repeat(LIMITS.searchCharsMax + 1)}`)).toEqual([400, 'INVALID_REQUEST', 'q']);
    expect(await ask('q=a&workspace=elsewhere')).toEqual([403, 'FORBIDDEN', 'workspace']);
    expect((await easel.fetch('/v1/search?q=a')).status).toBe(401);
  });

  test('the index follows a publish, a rollback, a new name, the trash and the way back', async () => {
    const { id } = await page(easel, owner, 'Moving', 'alpacas');
    await indexed(easel);
    expect(await titles(easel, owner, 'alpacas')).toEqual(['Moving']);
    await page(easel, owner, 'Moving', 'llamas', { artifact_id: id });
    await indexed(easel);
    expect([await titles(easel, owner, 'alpacas'), await titles(easel, owner, 'llamas')]).toEqual([[], ['Moving']]);
    const rolled = await easel.fetch(`/v1/artifacts/${id}/rollback`, { token: owner.token, ...post({ version_no: 1 }) });
    expect(rolled.status).toBeLessThan(300);
    await indexed(easel);
    expect([await titles(easel, owner, 'alpacas'), await titles(easel, owner, 'llamas')]).toEqual([['Moving'], []]);
    await easel.fetch(`/v1/artifacts/${id}`, { token: owner.token, ...patch({ name: 'Wandering' }) });
    await indexed(easel);
    expect(await titles(easel, owner, 'wandering')).toEqual(['Wandering']);
    await easel.fetch(`/v1/artifacts/${id}`, { method: 'DELETE', token: owner.token });
    expect(await titles(easel, owner, 'alpacas')).toEqual([]);
    expect((await easel.fetch(`/v1/artifacts/${id}/restore`, { method: 'POST', token: owner.token })).status).toBe(200);
    expect(await titles(easel, owner, 'alpacas')).toEqual(['Wandering']);
    await easel.sql`delete from artifact where id = ${id}`;
    expect(await easel.sql`select 1 from search_document where artifact_id = ${id}`).toHaveLength(0);
  });

  test('whom it is open to is followed, by whatever way it becomes so; what is not open any more is gone at once', async () => {
    const stranger = await easel.newUser('team');
    const member = await easel.newUser('team');
    const workspaceId = await newWorkspace(easel, { [owner.userId]: 'owner', [member.userId]: 'member' }, { tier: 'team' });
    const { id } = await page(easel, owner, 'Guarded', 'pangolins', { visibility: 'private' });
    await indexed(easel);
    const finders = async () => Promise.all([owner, member, stranger].map(async (who) => (await titles(easel, who, 'pangolins')).length));
    expect(await finders()).toEqual([1, 0, 0]);
    const change = (body: object) => easel.fetch(`/v1/artifacts/${id}`, { token: owner.token, ...patch(body) });
    expect((await change({ visibility: 'public' })).status).toBe(200);
    await indexed(easel);
    expect(await finders()).toEqual([1, 1, 1]);
    expect((await change({ visibility: 'private' })).status).toBe(200);
    expect(await finders()).toEqual([1, 0, 0]);
    // As moves and transfers do it; nobody is told.
    const found = async () => {
      await easel.clock.advance(60_000);
      await indexed(easel);
      return finders();
    };
    await easel.sql`update artifact set workspace_id = ${workspaceId}, visibility = 'workspace' where id = ${id}`;
    expect(await found()).toEqual([1, 1, 0]);
    await easel.sql`update artifact set workspace_id = null, visibility = 'private', owner_id = ${stranger.userId} where id = ${id}`;
    expect(await finders()).toEqual([0, 0, 0]);
    expect(await found()).toEqual([0, 0, 1]);
    await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${id}, ${member.userId}, 'viewer', 0)`;
    expect(await finders()).toEqual([0, 1, 1]);
  });

  test('a change that its process did not index is found later, also where another process died while it had it', async () => {
    const { id } = await page(easel, owner, 'Left behind', 'ocelots');
    await indexed(easel);
    // As a process leaves it that dies: the change is committed, and the lease has run out.
    await easel.sql`update artifact set name = 'Picked up' where id = ${id}`;
    await easel.sql`update search_turn set lease_ends_at = now() - interval '1 second', attempts = 1 where artifact_id = ${id}`;
    expect(await titles(easel, owner, 'picked')).toEqual([]);
    await easel.clock.advance(60_000);
    await indexed(easel);
    expect(await titles(easel, owner, 'picked')).toEqual(['Picked up']);
  });

  test('a version in UTF-16 takes the place of the former one', async () => {
    const { id } = await page(easel, owner, 'Widely encoded', 'umbrellas');
    await indexed(easel);
    const content = Buffer.from('\ufeff<p>parasols</p>', 'utf16le').toString('base64');
    const files = [{ path: 'index.html', content, encoding: 'base64' }];
    await published(easel, owner, { name: 'Widely encoded', artifact_id: id, files });
    await indexed(easel);
    expect(await titles(easel, owner, 'umbrellas')).toEqual([]);
    expect(await first('widely')).toBe('Widely encoded');
  });

  test('what a former version says finds nothing, even where the published one is not indexed', async () => {
    const { id } = await page(easel, owner, 'Half a page', 'parsnips');
    await indexed(easel);
    expect(await first('parsnips')).toBe('Half a page');
    await easel.sql`update search_document set version_id = 'former' where artifact_id = ${id}`;
    for (const q of ['parsnips', 'pasnips', 'parsnips penguin', 'parsnips h']) expect(await titles(easel, owner, q), q).toEqual([]);
    for (const q of ['half', 'half p', 'hallf page']) expect(await first(q), q).toBe('Half a page');
    const scoreOf = async (q: string) => (await found(easel, owner, q)).artifacts.find(({ title }) => title === 'Half a page')?.score;
    expect(await scoreOf('half parsnips')).toBe(await scoreOf('half cassowaries'));
  });

  test('a page of 25 MB is indexed as far as its limit', async () => {
    const content = `<p>beginning</p>${'<p>ballast of the page</p>'.repeat(900_000)}<p>unreachable</p>`;
    await published(easel, owner, { name: 'Heavy', files: [{ path: 'index.html', content }] });
    await indexed(easel);
    expect(await titles(easel, owner, 'ballast')).toEqual(['Heavy']);
    expect(await titles(easel, owner, 'unreachable')).toEqual([]);
    const [row] = await easel.sql<{ passages: Buffer }[]>`select passages from search_document order by length(passages) desc limit 1`;
    const pieces = await unpackedWhere(row?.passages ?? Buffer.alloc(0), EVERYTHING, Infinity);
    expect(pieces.reduce((chars, { text }) => chars + text.length, 0)).toBeLessThan(2 * LIMITS.searchedCharsMax);
  });

  test('the index can be made anew', async () => {
    await easel.sql`delete from search_document`;
    expect(await titles(easel, owner, 'quarterly')).toEqual([]);
    const reply = await easel.fetch('/v1/admin/search/rebuild', { method: 'POST', token: easel.adminToken });
    expect([reply.status, (await json(reply)).queued]).toEqual([200, expect.any(Number)]);
    await indexed(easel);
    expect(await first('quarterly')).toBe('Quarterly report');
    expect((await easel.fetch('/v1/admin/search/rebuild', { method: 'POST', token: owner.token })).status).toBe(403);
  });

  test('each group finds what it is about, with the last word begun or misspelt', async () => {
    const [boss, member] = [await easel.newUser('pro'), await easel.newUser()];
    await easel.sql`update account set name = 'Grace Hópper', email = 'grace@example.com' where id = ${member.userId}`;
    const w = await newWorkspace(easel, { [boss.userId]: 'owner', [member.userId]: 'member' }, { tier: 'team' });
    const { id } = await page(easel, boss, 'Tidal board', 'Moon', { workspace_id: w, visibility: 'workspace' });
    const send = async (path: string, body: object, method = 'POST') => {
      const reply = await easel.fetch(path, { token: boss.token, ...post(body), method });
      if (reply.status >= 300) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`);
      return json(reply);
    };
    await send(`/v1/workspaces/${w}/folders`, { name: 'Tidal folder' });
    await send(`/v1/workspaces/${w}/connections`, { name: 'Tidal warehouse', type: 'http', config: { url: 'https://api.example.com' } });
    await send(`/v1/data/${id}/tables/tidal_levels`, { rows: [{ height: 1 }] });
    await easel.fetch(`/v1/data/${id}/datasets/tidal-history`, {
      method: 'PUT',
      token: boss.token,
      headers: { 'content-type': 'text/csv' },
      body: 'a\n1\n',
    });
    await agentOf(easel, w, ['artifacts:read']);
    const job = { artifact_id: id, title: 'Tidal digest', action: 'http_get', trigger_type: 'cron', schedule: '0 9 * * *' };
    await send('/v1/jobs', { ...job, config: { url: 'https://example.com' } });
    await send('/v1/metric-watch', { artifact_id: id, table: 'tidal_levels', kind: 'count', threshold_pct: 10 });
    await indexed(easel);
    const { artifacts, folders, datasets, connectors, schedules, alerts } = await found(easel, boss, 'tidel');
    expect([artifacts, folders, datasets, connectors, schedules, alerts].map((hits) => hits.map(({ title }) => title))).toEqual([
      ['Tidal board'],
      ['Tidal folder'],
      expect.arrayContaining(['tidal_levels', 'tidal-history']),
      ['Tidal warehouse'],
      ['Tidal digest'],
      ['tidal_levels'],
    ]);
    expect(await titles(easel, boss, 'hopp', 'people')).toEqual(['Grace Hópper']);
    expect(await titles(easel, boss, 'buil', 'crew')).toEqual(['Builder']);
    // A member sees what members see: no jobs of others, no agents, no watches.
    const ofMember = await found(easel, member, 'tidal');
    expect(ofMember.artifacts.map(({ title }) => title)).toEqual(['Tidal board']);
    expect(ofMember.datasets).toHaveLength(2);
    expect(ofMember.connectors).toHaveLength(1);
    expect(ofMember.connectors[0]?.url).toMatch(/\/w\/[^/]+\/connections$/);
    expect([ofMember.schedules, ofMember.alerts, (await found(easel, member, 'builder')).crew]).toEqual([[], [], []]);
    const recent = await found(easel, boss, '', '&groups=folders,people');
    expect([recent.folders.length, recent.people.length, recent.artifacts.length]).toEqual([1, 2, 0]);
  });
});
