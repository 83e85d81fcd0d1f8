import { unzipSync, zipSync } from 'fflate';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { FakeDrives } from '../../../support/fake-drives.ts';
import { connect, consent, type ImportHome, importHome, importsPath, sourceOf } from '../../../support/import-home.ts';
import { json, patch, post, refusal } from '../../../support/requests.ts';
import { Visitor } from '../../../support/visitor.ts';
import { documentOf, workbookOf } from './office-files.ts';

const PROVIDERS = ['cloud_drive', 'office_suite'] as const;
const MANY = Number(process.env.IMPORT_FILES ?? 120);

let easel: TestEasel;
let drives: FakeDrives;
let home: ImportHome;
beforeAll(async () => {
  drives = await FakeDrives.start();
  easel = await startTestEasel({ settings: drives.settings });
  home = await importHome(easel);
  await connect(easel, home, 'cloud_drive');
  await connect(easel, home, 'office_suite');
});
afterAll(async () => {
  await easel.close();
  await drives.close();
});
beforeEach(() => {
  drives.fault = () => undefined;
  drives.pageFiles = 100;
});

const get = async (path: string, user: TestUser = home.member) => json(await easel.fetch(importsPath(home, path), { token: user.token }));
const send = (path: string, init: RequestInit = { method: 'POST' }, user: TestUser = home.member) =>
  easel.fetch(importsPath(home, path), { token: user.token, ...init });

/** A folder `Plans` of its own at the root of the drive, and a source of it. */
async function fresh(provider: (typeof PROVIDERS)[number], body: object = {}) {
  drives.clear();
  drives.folder('plans', 'root', 'Plans');
  return sourceOf(easel, home, provider, body);
}

async function begin(sourceId: string): Promise<string> {
  const reply = await send(`/sources/${sourceId}/sync`);
  expect(reply.status).toBe(201);
  return (await json(reply)).run.id;
}

/** The run when it is over. Where it waits for its provider, time passes. */
async function ended(runId: string, stepMs = 0) {
  for (;;) {
    const { run } = await get(`/runs/${runId}`);
    if (run.status !== 'queued' && run.status !== 'running') return run;
    if (stepMs > 0) easel.clock.advance(stepMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
const synced = async (sourceId: string, stepMs = 0) => ended(await begin(sourceId), stepMs);

async function imported() {
  const body = await json(await easel.fetch(`/v1/artifacts?folder_id=${home.folderId}&limit=100`, { token: home.member.token }));
  return body.artifacts as { id: string; name: string; slug: string; live_version_no: number; visibility: string }[];
}

describe('a connection', () => {
  it('belongs to who began it, in a browser that is signed in as them', async () => {
    const other = await importHome(easel);
    const begun = await json(await easel.fetch(importsPath(other, '/connect/cloud_drive'), { method: 'POST', token: other.member.token }));
    const url = new URL(begun.authorize_url);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      ...{ client_id: 'client', response_type: 'code', code_challenge_method: 'S256', access_type: 'offline', prompt: 'consent' },
      redirect_uri: `http://localhost:${easel.port}/v1/file-imports/callback/cloud_drive`,
    });
    const back = await consent(begun.authorize_url);
    expect(await refusal(home.browser.fetch(back))).toEqual([400, 'CONNECT_FAILED', undefined]);
    const nobody = await new Visitor(easel).fetch(back);
    expect([nobody.status, nobody.headers.get('location')]).toEqual([302, expect.stringContaining('/sign-in?return_to=')]);
    expect(await refusal(other.browser.fetch(back.replace(/code=\w+/, 'code=made-up')))).toEqual([400, 'CONNECT_FAILED', undefined]);
    expect(await refusal(other.browser.fetch(back))).toEqual([400, 'CONNECT_FAILED', undefined]);
    const screen = `http://localhost:${easel.port}/w/${other.slug}/imports`;
    const done = await connect(easel, other, 'cloud_drive');
    expect([done.status, done.headers.get('location')]).toEqual([302, `${screen}#drive=cloud_drive&outcome=connected`]);
    const seen = async (user: TestUser) => json(await easel.fetch(importsPath(other), { token: user.token }));
    expect((await seen(other.member)).providers).toEqual([
      { id: 'cloud_drive', connected: true, accountEmail: 'ada@drive.example' },
      { id: 'office_suite', connected: false, accountEmail: null },
    ]);
    expect((await seen(other.owner)).providers[0]).toEqual({ id: 'cloud_drive', connected: false, accountEmail: null });
    const [row] = await easel.sql<{ tokens: Buffer }[]>`select tokens from import_connection where user_id = ${other.member.userId}`;
    expect(row?.tokens.toString('latin1')).not.toContain('access');
    // A person who is sent back comes to the app, also where it was canceled.
    const again = await json(await easel.fetch(importsPath(other, '/connect/cloud_drive'), { method: 'POST', token: other.member.token }));
    const denied = `/v1/file-imports/callback/cloud_drive?error=access_denied&state=${new URL(again.authorize_url).searchParams.get('state')}`;
    const canceled = await other.browser.fetch(denied, { headers: { accept: 'text/html' } });
    expect([canceled.status, canceled.headers.get('location')]).toEqual([302, `${screen}#drive=cloud_drive&outcome=canceled`]);
    const gone = await easel.fetch(importsPath(other, '/connect/cloud_drive'), { method: 'DELETE', token: other.member.token });
    expect([gone.status, (await seen(other.member)).providers[0].connected]).toEqual([200, false]);
  });

  it('needs a plan with imports, and is for members', async () => {
    const other = await importHome(easel);
    await easel.fetch(`/v1/workspaces/${other.workspaceId}/features`, {
      token: easel.adminToken,
      ...patch({ features: { file_imports: false } }),
    });
    const begun = easel.fetch(importsPath(other, '/connect/cloud_drive'), { method: 'POST', token: other.member.token });
    expect(await refusal(begun)).toEqual([402, 'PLAN_REQUIRED', undefined]);
    expect((await json(await easel.fetch(importsPath(other), { token: other.member.token }))).providers).toEqual([]);
    expect((await easel.fetch(importsPath(other), { token: home.member.token })).status).toBe(404);
  });
});

describe('browsing', () => {
  it('goes by opaque refs of the caller alone', async () => {
    await fresh('cloud_drive');
    const root = await get('/browse/cloud_drive');
    expect(root).toEqual({
      searchable: false,
      entries: [
        { ref: expect.any(String), name: 'My Drive', kind: 'drive', selectable: true },
        { ref: expect.any(String), name: 'Shared', kind: 'drive', selectable: true },
      ],
    });
    const below = await get(`/browse/cloud_drive?ref=${root.entries[0].ref}`);
    expect(below.entries).toContainEqual({ ref: expect.any(String), name: 'Plans', kind: 'folder', selectable: true });
    const other = await importHome(easel);
    await connect(easel, other, 'cloud_drive');
    const foreign = easel.fetch(importsPath(other, `/browse/cloud_drive?ref=${root.entries[0].ref}`), { token: other.member.token });
    expect(await refusal(foreign)).toEqual([404, 'IMPORT_REF_NOT_FOUND', 'ref']);
    expect(await refusal(send('/browse/cloud_drive?q=x', {}))).toEqual([400, 'INVALID_REQUEST', 'q']);
    expect(await refusal(send('/browse/cloud_drive', {}, home.owner))).toEqual([409, 'IMPORT_NOT_CONNECTED', undefined]);
  });

  it('searches sites at the root of the office suite, which are no sources themselves', async () => {
    const root = await get('/browse/office_suite');
    expect(root.searchable).toBe(true);
    expect(root.entries.map(({ name, kind, selectable }: Record<string, unknown>) => [name, kind, selectable])).toEqual([
      ['OneDrive', 'drive', true],
      ['Sales', 'site', false],
    ]);
    const [site] = (await get('/browse/office_suite?q=maps')).entries;
    expect(site).toMatchObject({ name: 'Found maps', kind: 'site', selectable: false });
    const inSite = await get(`/browse/office_suite?ref=${site.ref}`);
    expect([inSite.searchable, inSite.entries[0].name, inSite.entries[0].kind]).toEqual([false, 'Documents', 'drive']);
    const made = send('/sources', post({ provider: 'office_suite', ref: site.ref, targetFolderId: home.folderId }));
    expect(await refusal(made)).toEqual([404, 'IMPORT_REF_NOT_FOUND', 'ref']);
    drives.fault = () => ({ status: 500 });
    expect(await refusal(send('/browse/office_suite', {}))).toEqual([502, 'DRIVE_UNAVAILABLE', undefined]);
  });
});

describe('a source', () => {
  it('is changed by its maker only, deleted by admins too, and seen where its folder is', async () => {
    const source = await fresh('cloud_drive', { dailySync: true });
    const nextSyncAt = new Date(easel.clock.nowMs() + 24 * 3600_000).toISOString();
    expect(source).toEqual({
      ...{ id: expect.stringMatching(/^ims_/), provider: 'cloud_drive', remoteName: 'Plans', convert: false, dailySync: true, nextSyncAt },
      ...{ targetFolderId: home.folderId, targetFolderName: 'Team plans', connected: true, mine: true, lastRun: null },
    });
    const path = `/sources/${source.id}`;
    expect((await get(path, home.owner)).mine).toBe(false);
    expect(await refusal(send(path, patch({ convert: true }), home.owner))).toEqual([403, 'FORBIDDEN', undefined]);
    expect(await refusal(send(`${path}/sync`, { method: 'POST' }, home.owner))).toEqual([403, 'FORBIDDEN', undefined]);
    // The caller is the owner of the workspace: whom to ask is the person who made it, who is not named.
    const refused = await json(await send(`${path}/sync`, { method: 'POST' }, home.owner));
    expect(refused).toMatchObject({ hint: 'Ask them to do it, or make a source of your own.' });
    const read = await send(path, {});
    const changed = await send(path, patch({ ...source, convert: true, dailySync: false }, { 'if-match': read.headers.get('etag') ?? '' }));
    expect([changed.status, await json(changed)]).toEqual([200, { ...source, convert: true, dailySync: false, nextSyncAt: null }]);
    expect(await refusal(send(path, patch({ convert: false }, { 'if-match': read.headers.get('etag') ?? '' })))).toEqual([
      409,
      'VERSION_CONFLICT',
      undefined,
    ]);
    await easel.sql`update folder set visibility = 'private' where id = ${home.folderId}`;
    const stranger = await easel.newUser();
    await easel.sql`
      insert into workspace_member (workspace_id, user_id, role, joined_at_ms) values (${home.workspaceId}, ${stranger.userId}, 'member', 0)`;
    expect(await refusal(send(path, {}, stranger))).toEqual([404, 'IMPORT_SOURCE_NOT_FOUND', undefined]);
    expect((await get('', stranger)).sources).toEqual([]);
    const elsewhere = await importHome(easel);
    const target = send(path, patch({ targetFolderId: elsewhere.folderId }));
    expect(await refusal(target)).toEqual([404, 'FOLDER_NOT_FOUND', 'targetFolderId']);
    await easel.sql`update folder set visibility = 'inherit' where id = ${home.folderId}`;
    expect(await refusal(send(path, { method: 'DELETE' }, stranger))).toEqual([403, 'FORBIDDEN', undefined]);
    expect((await send(path, { method: 'DELETE' }, home.owner)).status).toBe(200);
  });
});

describe.each(PROVIDERS)('a run of %s', (provider) => {
  it('imports each file once, then only what is new or has changed, and tells what is gone', async () => {
    const source = await fresh(provider);
    const before = (await imported()).length;
    drives.folder('sub', 'plans', 'Unterordner');
    drives.folder('loop', 'sub', 'loop');
    drives.alsoIn('plans', 'loop');
    drives.file('f1', 'plans', 'página <b>.txt', 'hola & adiós');
    drives.file('f2', 'sub', '報告書.md', '# 見出し');
    drives.file('f3', 'loop', 'مخطط.png', Buffer.from('89504e470d0a1a0a', 'hex'));
    drives.file('f4', 'loop', 'page.html', '<!doctype html><title>Own</title>');
    drives.file('f5', 'plans', 'program.exe', 'MZ');
    drives.file('f6', 'plans', 'letter.docx', 'PK');
    drives.alsoIn('f1', 'sub');
    const first = await synced(source.id);
    expect(first).toMatchObject({
      ...{ sourceId: source.id, status: 'completed', trigger: 'manual', stopCode: null, finishedAt: expect.any(String) },
      counts: { found: 6, imported: 4, converted: 0, skipped: 2, unchanged: 0, failed: 0 },
    });
    expect(first.errors.map(({ path, status, code }: Record<string, string>) => [path, status, code]).sort()).toEqual([
      ['letter.docx', 'skipped', 'CONVERSION_OFF'],
      ['program.exe', 'skipped', 'UNSUPPORTED_TYPE'],
    ]);
    const made = (await imported()).slice(0, 4);
    expect([(await imported()).length - before, made.map(({ name }) => name).sort()]).toEqual([
      4,
      ['page.html', 'página <b>.txt', 'مخطط.png', '報告書.md'].sort(),
    ]);
    // Of what is unchanged each says the same, and why something is skipped, also after a run that was canceled before it began.
    for (const _ of ['second', 'third']) {
      const repeated = await synced(source.id);
      expect(repeated.counts).toEqual({ ...first.counts, imported: 0, unchanged: 4 });
      expect(repeated.errors).toEqual(first.errors);
      await easel.sql`
        insert into import_run (id, source_id, user_id, trigger, status, counts, created_at_ms, finished_at_ms)
        select replace(id, 'imr_', 'imr_x'), source_id, user_id, trigger, 'stopped', '{}', created_at_ms + 1, created_at_ms + 1
        from import_run where id = ${repeated.id}`;
    }
    drives.file('f1', 'plans', 'página <b>.txt', 'cambiada');
    drives.file('f7', 'plans', 'new.txt');
    drives.remove('f2');
    const third = await synced(source.id);
    expect(third.counts).toMatchObject({ found: 6, imported: 2, unchanged: 2, skipped: 2 });
    expect(third.errors).toContainEqual({
      ...{ path: 'Unterordner/報告書.md', status: 'unchanged', code: 'REMOTE_DELETED', message: expect.any(String) },
    });
    const again = await imported();
    expect(again.length).toBe(before + 5);
    const changed = await json(
      await easel.fetch(`/v1/artifacts/${again.find(({ name }) => name.startsWith('página'))?.id}/versions`, { token: home.member.token }),
    );
    expect(changed.versions.map(({ version_no }: { version_no: number }) => version_no)).toEqual([2, 1]);
    expect((await synced(source.id)).errors.some(({ code }: { code: string }) => code === 'REMOTE_DELETED')).toBe(false);
  });

  it('waits as the provider asks, tries again after a failure, and stops where it is asked for too much', async () => {
    const source = await fresh(provider);
    drives.file('w1', 'plans', 'a.txt');
    let refusals = 0;
    const listing = provider === 'cloud_drive' ? 'plans%27+in+parents' : 'items/plans/children';
    drives.fault = (path) => {
      if (!path.includes(listing) || refusals >= 2) return undefined;
      refusals += 1;
      return refusals === 1 ? { status: 429, headers: { 'retry-after': '90' } } : { status: 500 };
    };
    expect(await synced(source.id, 1000)).toMatchObject({ status: 'completed', counts: { found: 1, imported: 1 } });
    drives.file('w2', 'plans', 'b.txt');
    drives.fault = (path) => (path.includes(listing) ? { status: 429, headers: { 'retry-after': '3600' } } : undefined);
    expect(await synced(source.id)).toMatchObject({ status: 'stopped', stopCode: 'RATE_LIMITED' });
  });

  it('goes on with a renewed access, and stops when it was withdrawn', async () => {
    const other = await importHome(easel);
    await connect(easel, other, provider);
    drives.clear();
    drives.folder('plans', 'root', 'Plans');
    drives.file('r1', 'plans', 'a.txt');
    const source = await sourceOf(easel, other, provider);
    const run = async () => {
      const { run: begun } = await json(
        await easel.fetch(importsPath(other, `/sources/${source.id}/sync`), { method: 'POST', token: other.member.token }),
      );
      for (;;) {
        const { run: now } = await json(await easel.fetch(importsPath(other, `/runs/${begun.id}`), { token: other.member.token }));
        if (now.finishedAt !== null) return now;
      }
    };
    drives.expireAccess();
    expect(await run()).toMatchObject({ status: 'completed', counts: { imported: 1 } });
    drives.revoke();
    expect(await run()).toMatchObject({ status: 'stopped', stopCode: 'CONNECTION_REVOKED' });
    const seen = await json(await easel.fetch(importsPath(other, `/sources/${source.id}`), { token: other.member.token }));
    expect([seen.connected, seen.lastRun.stopCode]).toEqual([false, 'CONNECTION_REVOKED']);
    const refused = easel.fetch(importsPath(other, `/sources/${source.id}/sync`), { method: 'POST', token: other.member.token });
    expect(await refusal(refused)).toEqual([409, 'IMPORT_NOT_CONNECTED', undefined]);
    drives.allow();
    for (const one of PROVIDERS) await connect(easel, home, one);
  });
});

describe('a conversion', () => {
  async function pageOf(id = ''): Promise<string> {
    const zip = await easel.fetch(`/v1/artifacts/${id}/export`, { token: home.member.token });
    const files = unzipSync(new Uint8Array(await zip.arrayBuffer()));
    const page = Object.entries(files).find(([path]) => path.endsWith('index.html'));
    return Buffer.from(page?.[1] ?? []).toString('utf8');
  }

  it('makes pages of documents and datasets of sheets, and keeps what it cannot convert as it is', async () => {
    const source = await fresh('cloud_drive', { convert: true });
    drives.file('c1', 'plans', 'letter.docx', documentOf('Très cher'));
    drives.file(
      'c2',
      'plans',
      'sales.xlsx',
      workbookOf([
        ['city', 'sold'],
        ['Łódź', 3],
        ['Wien', 4],
      ]),
    );
    drives.file('c3', 'plans', 'list.csv', 'name,n\nada,1\n');
    drives.file('c4', 'plans', 'broken.csv', 'name,n\n"ada');
    drives.file('c5', 'plans', 'bomb.xlsx', Buffer.from(zipSync({ 'xl/workbook.xml': new Uint8Array(80 * 1024 * 1024) })));
    drives.file('c6', 'plans', 'fake.docx', 'no zip at all');
    drives.file('c7', 'plans', 'Native', documentOf('Native'), 'application/vnd.google-apps.document');
    drives.file('c8', 'plans', 'Form', '', 'application/vnd.google-apps.form');
    const run = await synced(source.id);
    expect(run).toMatchObject({ status: 'completed', counts: { found: 8, imported: 3, converted: 4, skipped: 1, failed: 0 } });
    const told = Object.fromEntries(
      run.errors.map(({ path, ...rest }: { path: string; status: string; code: string; message: string }) => [path, rest]),
    );
    expect(told).toMatchObject({
      'bomb.xlsx': { status: 'imported', code: 'CONVERSION_FAILED', message: expect.stringContaining('unpacks to more') },
      'fake.docx': { status: 'imported', code: 'CONVERSION_FAILED' },
      'broken.csv': { status: 'imported', code: 'CONVERSION_FAILED' },
      Form: { status: 'skipped', code: 'UNSUPPORTED_TYPE' },
    });
    const made = new Map((await imported()).map((one) => [one.name, one]));
    const rows = await json(await easel.fetch(`/v1/data/${made.get('sales.xlsx')?.id}/datasets/rows/rows`, { token: home.member.token }));
    expect(rows.data.rows).toEqual([
      { city: 'Łódź', sold: 3 },
      { city: 'Wien', sold: 4 },
    ]);
    const csv = await json(await easel.fetch(`/v1/data/${made.get('list.csv')?.id}/datasets/rows/rows`, { token: home.member.token }));
    expect(csv.data.rows).toEqual([{ name: 'ada', n: 1 }]);
    const page = await pageOf(made.get('letter.docx')?.id);
    expect(page).toContain('<h1>Très cher</h1>');
    expect([page.includes('click'), page.includes('javascript:')]).toEqual([true, false]);
  });
});

describe('the end of a run', () => {
  it('of many files has all counts, and a bounded list of errors', { timeout: 600_000 }, async () => {
    const source = await fresh('cloud_drive');
    for (let n = 0; n < MANY; n += 1) drives.file(`m${n}`, 'plans', `file ${n}.txt`);
    for (let n = 0; n < 210; n += 1) drives.file(`x${n}`, 'plans', `file ${n}.exe`);
    const run = await synced(source.id);
    expect(run).toMatchObject({ status: 'completed', counts: { found: MANY + 210, imported: MANY, skipped: 210 } });
    expect(run.errors).toHaveLength(200);
    expect((await get(`/runs?sourceId=${source.id}`)).runs[0].errors).toHaveLength(20);
  });

  it('comes by cancelling; while it is active there is no other', async () => {
    const source = await fresh('cloud_drive');
    drives.file('k1', 'plans', 'a.txt');
    drives.fault = (path) => (path.includes('in+parents') ? { status: 429, headers: { 'retry-after': '60' } } : undefined);
    const asked = drives.next('in+parents');
    const id = await begin(source.id);
    await asked;
    expect(await refusal(send(`/sources/${source.id}/sync`))).toEqual([409, 'RUN_IN_PROGRESS', undefined]);
    expect((await send(`/runs/${id}/cancel`)).status).toBe(200);
    expect(await ended(id)).toMatchObject({ status: 'stopped', stopCode: null, stopMessage: 'The run was canceled.' });
    expect(await refusal(send(`/runs/${id}/cancel`))).toEqual([409, 'RUN_FINISHED', undefined]);
  });

  it('of a process that is gone is another one’s, which counts what is stored already; after three it is STALLED', async () => {
    const source = await fresh('cloud_drive');
    drives.file('p1', 'plans', 'a.txt');
    drives.file('p2', 'plans', 'b.txt');
    const artifacts = async () => (await easel.sql`select 1 from artifact where folder_id = ${home.folderId}`).length;
    const before = await artifacts();
    let isFirst = true;
    drives.fault = (path) => (path.includes('/files/p2') && isFirst ? { status: 503, headers: { 'retry-after': '100' } } : undefined);
    const asked = drives.next('/files/p2');
    const id = await begin(source.id);
    await asked;
    // As its process would leave it, if it had died.
    for (;;) {
      const stored = await easel.sql`select 1 from import_item where source_id = ${source.id}`;
      if (stored.length === 1) break;
    }
    isFirst = false;
    await easel.sql`update import_run set lease_ends_at = now() - interval '1 s', lease_token = 'of the dead' where id = ${id}`;
    easel.clock.advance(10_000);
    expect(await ended(id)).toMatchObject({ status: 'completed', counts: { found: 2, imported: 2, unchanged: 0 } });
    expect(await artifacts()).toBe(before + 2);
    await easel.sql`
      insert into import_run (id, source_id, user_id, trigger, status, counts, created_at_ms, started_at_ms, claims, lease_token, lease_ends_at)
      values ('imr_aaaaaaaaaaaaaaaaaaaaaaaa', ${source.id}, ${home.member.userId}, 'manual', 'running',
        ${easel.sql.json({ found: 0, imported: 0, converted: 0, skipped: 0, unchanged: 0, failed: 0 })}, ${easel.clock.nowMs()},
        ${easel.clock.nowMs()}, 3, 'x', now() - interval '1 s')`;
    easel.clock.advance(10_000);
    expect(await ended('imr_aaaaaaaaaaaaaaaaaaaaaaaa')).toMatchObject({ status: 'failed', stopCode: 'STALLED' });
  });

  it('is SOURCE_DELETED where the folder is gone, STORAGE_QUOTA_EXCEEDED where the maker’s storage is full', async () => {
    const source = await fresh('office_suite');
    drives.file('q1', 'plans', 'a.txt');
    await easel.sql`update account_usage set bytes = bytes + 1e15::bigint where account_id = ${home.member.userId}`;
    expect(await synced(source.id)).toMatchObject({ status: 'stopped', stopCode: 'STORAGE_QUOTA_EXCEEDED', counts: { imported: 0 } });
    await easel.sql`update account_usage set bytes = bytes - 1e15::bigint where account_id = ${home.member.userId}`;
    drives.remove('plans');
    expect(await synced(source.id)).toMatchObject({ status: 'stopped', stopCode: 'SOURCE_DELETED' });
  });

  it('is NOT_ALLOWED once its maker left the workspace; daily runs come by themselves', async () => {
    const source = await fresh('cloud_drive', { dailySync: true });
    drives.file('d1', 'plans', 'a.txt');
    const last = async () => {
      for (;;) {
        const { lastRun } = await get(`/sources/${source.id}`, home.owner);
        if (lastRun !== null && lastRun.finishedAt !== null) return lastRun;
        easel.clock.advance(10_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    easel.clock.advance(24 * 3600_000);
    expect(await last()).toMatchObject({ trigger: 'daily', status: 'completed', counts: { imported: 1 } });
    const run = await begin(source.id).then(ended);
    expect(run.counts).toMatchObject({ unchanged: 1, imported: 0 });
    await easel.sql`delete from workspace_member where user_id = ${home.member.userId} and workspace_id = ${home.workspaceId}`;
    await easel.sql`update import_source set next_sync_at_ms = ${easel.clock.nowMs()} where id = ${source.id}`;
    easel.clock.advance(10_000);
    for (;;) {
      const { lastRun } = await get(`/sources/${source.id}`, home.owner);
      if (lastRun.id !== run.id && lastRun.finishedAt !== null) {
        expect(lastRun).toMatchObject({ status: 'stopped', stopCode: 'NOT_ALLOWED' });
        break;
      }
      // A pass that was under way at the advance is followed by a pause of its own.
      easel.clock.advance(10_000);
    }
  });
});
