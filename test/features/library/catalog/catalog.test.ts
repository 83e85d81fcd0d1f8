/** The catalog of a workspace: what data there is, for whom. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { wire } from '../../../support/page-requests.ts';
import { json, patch, post, published, refusal } from '../../../support/requests.ts';
import { seededWorkspace, type TestWorkspace } from '../../../support/seeded-workspace.ts';
import { agentOf, moveInto, newWorkspace } from '../../../support/workspaces.ts';

let easel: TestEasel;
let acme: TestWorkspace;
/** Of the member, open to all members. */
let open: string;
/** Of the owner, private. */
let hidden: string;
beforeAll(async () => {
  easel = await startTestEasel();
  acme = await seededWorkspace(easel, 'acme');
  await newWorkspace(easel, { [acme.owner.userId]: 'owner' }, { slug: 'other', tier: 'team' });
  open = (await published(easel, acme.member, { name: 'Shop' })).id;
  hidden = (await published(easel, acme.owner, { name: 'Payroll' })).id;
  await data(
    'PUT',
    open,
    '/tables/orders/_schema',
    {
      columns: [
        { name: 'city', type: 'string' },
        { name: 'paid', type: 'number' },
      ],
    },
    acme.member,
  );
  await data(
    'POST',
    open,
    '/tables/orders',
    {
      rows: [
        { city: 'Oslo', paid: 3 },
        { city: 'Rome', paid: 4 },
      ],
    },
    acme.member,
  );
  await data('PUT', open, '/datasets/totals', [{ city: 'Oslo', sum: 3 }], acme.member);
  await data('POST', hidden, '/tables/salaries', { rows: [{ person: 'Ada' }] }, acme.owner);
  await data('PUT', hidden, '/datasets/bonuses', [{ person: 'Ada' }], acme.owner);
  await moveInto(easel, acme.member, open, acme.id);
  await moveInto(easel, acme.owner, hidden, acme.id, { visibility: 'private' });
  await call('POST', '/connections', acme.owner, { name: 'Warehouse', type: 'http', config: { url: 'https://data.example.com' } });
});
afterAll(() => easel?.close());

async function data(method: string, id: string, path: string, body: unknown, { token }: TestUser) {
  const reply = await easel.fetch(`/v1/data/${id}${path}`, { token, ...post(body), method });
  if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`);
}

const raw = (method: string, path: string, { token }: { token: string }, body?: unknown, headers = {}) =>
  easel.fetch(`/v1/workspaces/acme${path}`, {
    token,
    ...(body === undefined ? { method, headers } : { ...patch(body, headers), method }),
  });
const call = async (method: string, path: string, user: { token: string }, body?: unknown) => json(await raw(method, path, user, body));

interface Entry {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
}
const namesOf = ({ entries }: { entries: Entry[] }) => entries.map(({ kind, name }) => `${kind} ${name}`).sort();
const idOf = async (user: TestUser, name: string): Promise<string> => {
  const { entries } = (await call('GET', `/catalog?q=${name}`, user)) as { entries: Entry[] };
  return entries.find((entry) => entry.name === name)?.id ?? '';
};

it('is for workspaces whose plan has it, and made by those who run them', async () => {
  const nothing = { enabled: false, available: false, entries: [], facets: { kinds: [], domains: [], tags: [] } };
  expect(await call('GET', '/catalog', acme.member)).toMatchObject(nothing);
  expect(await refusal(raw('POST', '/catalog/enable', acme.owner))).toEqual([402, 'PLAN_REQUIRED', undefined]);
  await call('PATCH', '/features', { token: easel.adminToken }, { features: { catalog: true } });
  expect(await call('GET', '/catalog', acme.member)).toMatchObject({ ...nothing, available: true });
  expect(await refusal(raw('GET', `/catalog/entries/cat_${'a'.repeat(24)}`, acme.member))).toEqual([409, 'CATALOG_NOT_ENABLED', undefined]);
  expect((await raw('POST', '/catalog/enable', acme.member)).status).toBe(403);
  expect(await call('POST', '/catalog/enable', acme.admin)).toEqual({ enabled: true, entries: 5 });
  expect(await call('POST', '/catalog/enable', acme.admin)).toEqual({ enabled: true, entries: 5 });
});

describe('an enabled catalog', () => {
  beforeAll(() => call('POST', '/catalog/enable', acme.owner));

  it('has tables, datasets and connections with their fields, owner and freshness, true at once', async () => {
    const { entries } = await call('GET', '/catalog', acme.member);
    const of = (name: string) => entries.find((entry: Entry) => entry.name === name);
    expect(of('orders')).toMatchObject({
      kind: 'table',
      fields: [
        { name: 'city', type: 'string', description: '' },
        { name: 'paid', type: 'number', description: '' },
      ],
      owner: { id: acme.member.userId },
      source: { type: 'artifact', id: open, name: 'Shop' },
      freshness: { rows: 2 },
    });
    expect(of('totals')).toMatchObject({ kind: 'dataset', freshness: { rows: 1 }, fields_total: 2 });
    expect(of('Warehouse')).toMatchObject({ kind: 'connection', freshness: { changed_at: null, rows: null } });
    easel.clock.advance(60_000);
    await data('POST', open, '/tables/orders', { rows: [{ city: 'Bern', paid: 1 }] }, acme.member);
    await data('POST', open, '/tables/visits', { rows: [{ at: 1 }] }, acme.member);
    const { entries: now } = await call('GET', '/catalog', acme.member);
    expect(now.find((entry: Entry) => entry.name === 'orders').freshness).toMatchObject({ rows: 3 });
    expect(
      now
        .slice(0, 2)
        .map(({ name }: Entry) => name)
        .sort(),
    ).toEqual(['orders', 'visits']);
    await easel.fetch(`/v1/data/${open}/tables/visits?confirm=true`, { token: acme.member.token, method: 'DELETE' });
    expect(namesOf(await call('GET', '/catalog', acme.member))).toEqual(['connection Warehouse', 'dataset totals', 'table orders']);
  });

  it('tells a member nothing of what they may not see: not in lists, facets, totals or by id', async () => {
    const all = await call('GET', '/catalog?count=true', acme.admin);
    expect(namesOf(all)).toEqual(['connection Warehouse', 'dataset bonuses', 'dataset totals', 'table orders', 'table salaries']);
    const salaries = await idOf(acme.admin, 'salaries');
    await call('PATCH', `/catalog/entries/${salaries}`, acme.admin, { domain: 'People', tags: ['secret'] });
    const seen = await call('GET', '/catalog?count=true', acme.member);
    expect(seen).toMatchObject({ total: 3, facets: { domains: [], tags: [] } });
    expect(seen.facets.kinds).toEqual(
      expect.arrayContaining([
        { value: 'connection', count: 1 },
        { value: 'dataset', count: 1 },
        { value: 'table', count: 1 },
      ]),
    );
    expect(namesOf(await call('GET', '/catalog?tag=secret', acme.member))).toEqual([]);
    expect(await call('GET', '/catalog?q=salaries&count=true', acme.member)).toMatchObject({ total: 0, entries: [] });
    for (const path of [`/catalog/entries/${salaries}`, `/catalog/entries/${salaries}/lineage`])
      expect(await refusal(raw('GET', path, acme.member))).toEqual([404, 'CATALOG_ENTRY_NOT_FOUND', undefined]);
    expect((await raw('PATCH', `/catalog/entries/${salaries}`, acme.member, { tags: [] })).status).toBe(404);
    expect((await raw('GET', '/catalog', await easel.newUser())).status).toBe(404);
  });

  it('shows an agent what it sees, without connections, and lets it write nothing', async () => {
    const agent = { token: await agentOf(easel, acme.id as WorkspaceId, ['artifacts:read']) };
    expect(namesOf(await call('GET', '/catalog', agent))).toEqual(['dataset totals', 'table orders']);
    expect((await raw('POST', '/catalog/entries', agent, { name: 'x' })).status).toBe(403);
    const bare = { token: await agentOf(easel, acme.id as WorkspaceId, ['data:read']) };
    expect((await raw('GET', '/catalog', bare)).status).toBe(403);
  });

  it('keeps what people write about derived entries, and lets nobody change what they follow', async () => {
    const id = await idOf(acme.member, 'orders');
    const path = `/catalog/entries/${id}`;
    const first = await raw('GET', path, acme.member);
    const etag = first.headers.get('etag') ?? '';
    const entry = await json(first);
    const change = {
      domain: 'Sales',
      tags: ['Daily', 'daily'],
      description: 'All **orders**.',
      fields: [{ name: 'paid', description: 'in euros' }],
    };
    const changed = await json(await raw('PATCH', path, acme.member, { ...entry, ...change }, { 'if-match': etag }));
    expect(changed).toMatchObject({ name: 'orders', domain: 'Sales', tags: ['daily'] });
    expect(changed.fields).toMatchObject([{ description: '' }, { name: 'paid', type: 'number', description: 'in euros' }]);
    expect(await refusal(raw('PATCH', path, acme.member, { tags: [] }, { 'if-match': etag }))).toEqual([
      409,
      'VERSION_CONFLICT',
      undefined,
    ]);
    // New rows are no change that somebody who writes could miss.
    const before = (await raw('GET', path, acme.member)).headers.get('etag') ?? '';
    await data('POST', open, '/tables/orders', { rows: [{ city: 'Graz' }] }, acme.member);
    expect((await raw('PATCH', path, acme.member, { domain: 'Shop' }, { 'if-match': before })).status).toBe(200);
    expect(await refusal(raw('PATCH', path, acme.member, { name: 'other' }))).toEqual([400, 'INVALID_REQUEST', 'name']);
    expect(await refusal(raw('PATCH', path, acme.member, { fields: [{ name: 'nope' }] }))).toEqual([400, 'INVALID_REQUEST', 'fields']);
    expect((await raw('DELETE', path, acme.owner)).status).toBe(403);
    expect(await call('GET', '/catalog?domain=Shop&tag=daily', acme.admin)).toMatchObject({ entries: [{ id, domain: 'Shop' }] });
    await easel.sweep();
    expect(await call('GET', path, acme.admin)).toMatchObject({ domain: 'Shop', description: 'All **orders**.' });
  });

  it('has notes, which their authors and those who run the workspace delete', async () => {
    const note = await call('POST', '/catalog/entries', acme.member, {
      name: 'Ledger',
      tags: ['finance'],
      fields: [{ name: 'account', type: 'text' }],
    });
    expect(note).toMatchObject({ kind: 'note', owner: { id: acme.member.userId }, source: { type: 'note', id: note.id } });
    const path = `/catalog/entries/${note.id}`;
    expect(await call('PATCH', path, acme.admin, { name: 'General ledger' })).toMatchObject({ name: 'General ledger', tags: ['finance'] });
    const others = await call('POST', '/catalog/entries', acme.owner, { name: 'Of the owner' });
    expect((await raw('DELETE', `/catalog/entries/${others.id}`, acme.member)).status).toBe(403);
    expect((await raw('DELETE', `/catalog/entries/${others.id}`, acme.admin)).status).toBe(200);
    expect((await raw('DELETE', path, acme.member)).status).toBe(200);
    expect((await raw('GET', path, acme.member)).status).toBe(404);
    const { entries } = await call('GET', '/audit?action=catalog.delete', acme.owner);
    expect(entries).toHaveLength(2);
  });

  it('has notes that their owners, and those who run the workspace, give to other members; what is derived follows its page', async () => {
    const other = await easel.newUser();
    await easel.sql`
      insert into workspace_member (workspace_id, user_id, role, joined_at_ms) values (${acme.id}, ${other.userId}, 'member', ${easel.clock.nowMs()})`;
    const note = await call('POST', '/catalog/entries', acme.member, { name: 'Glossary' });
    const path = `/catalog/entries/${note.id}`;
    const give = (user: TestUser, owner: unknown, headers = {}) => {
      easel.clock.advance(1);
      return raw('PATCH', path, user, { owner }, headers);
    };
    // Only the owner and who runs the workspace may; everybody may send back what is there.
    expect(await refusal(give(other, { id: other.userId }))).toEqual([403, 'FORBIDDEN', undefined]);
    expect(await refusal(give(other, null))).toEqual([403, 'FORBIDDEN', undefined]);
    expect((await raw('PATCH', path, other, { ...note, domain: 'Words' })).status).toBe(200);
    expect(await call('GET', path, other)).toMatchObject({ domain: 'Words', owner: { id: acme.member.userId } });
    // To members alone, of whom nobody else learns anything.
    const stranger = await easel.newUser();
    expect(await refusal(give(acme.member, { id: stranger.userId }))).toEqual([404, 'USER_NOT_FOUND', undefined]);
    expect(await refusal(give(acme.member, { id: newId('user') }))).toEqual([404, 'USER_NOT_FOUND', undefined]);
    expect((await give(acme.member, { id: acme.admin.userId, role: 'owner' })).status).toBe(400);
    const etag = (await raw('GET', path, acme.member)).headers.get('etag') ?? '';
    expect(await json(await give(acme.member, { id: other.userId }, { 'if-match': etag }))).toMatchObject({ owner: { id: other.userId } });
    expect((await give(acme.member, { id: other.userId }, { 'if-match': etag })).status).toBe(409);
    // With it goes the right to delete it and to give it away.
    expect(await refusal(give(acme.member, { id: acme.member.userId }))).toEqual([403, 'FORBIDDEN', undefined]);
    expect((await raw('DELETE', path, acme.member)).status).toBe(403);
    const { notifications } = await json(await easel.fetch('/v1/notifications', { token: other.token }));
    expect(notifications).toMatchObject([{ kind: 'catalog.owner', title: 'The note "Glossary" is yours now' }]);
    expect(notifications[0].url).toContain(`/catalog/${note.id}`);
    expect(await json(await give(acme.admin, null))).toMatchObject({ owner: null });
    expect(await json(await give(acme.admin, { id: acme.admin.userId }))).toMatchObject({ owner: { id: acme.admin.userId } });
    expect((await json(await easel.fetch('/v1/notifications', { token: acme.admin.token }))).notifications).toEqual([]);
    const { entries } = await call('GET', '/audit?action=catalog.transfer', acme.owner);
    expect(entries.map(({ detail }: { detail: unknown }) => detail)).toEqual([
      { kind: 'note', from: null, to: acme.admin.userId },
      { kind: 'note', from: other.userId, to: null },
      { kind: 'note', from: acme.member.userId, to: other.userId },
    ]);
    // What is written besides is a change of its own, and who writes it does not become the owner.
    expect(await call('PATCH', path, acme.member, { description: 'Of all words.' })).toMatchObject({ owner: { id: acme.admin.userId } });
    const orders = `/catalog/entries/${await idOf(acme.member, 'orders')}`;
    expect(await refusal(raw('PATCH', orders, acme.owner, { owner: { id: other.userId } }))).toEqual([400, 'INVALID_REQUEST', 'owner']);
    expect((await raw('PATCH', orders, acme.owner, await call('GET', orders, acme.owner))).status).toBe(200);
    expect((await raw('DELETE', path, acme.admin)).status).toBe(200);
    await easel.sql`delete from workspace_member where workspace_id = ${acme.id} and user_id = ${other.userId}`;
  });

  it('is searched by all words, in names, fields, tags and descriptions, and counts what else there is to choose', async () => {
    await call('POST', '/catalog/entries', acme.member, {
      name: 'Budget',
      domain: 'Comptabilité',
      tags: ['yearly'],
      description: 'of 100% of teams',
    });
    expect(namesOf(await call('GET', '/catalog?q=PAID+shop', acme.member))).toEqual(['table orders']);
    expect(namesOf(await call('GET', '/catalog?q=100%25', acme.member))).toEqual(['note Budget']);
    for (const q of ['comptabilite', 'COMPTABILIT%C3%89', 'comptabilite%CC%81'])
      expect(namesOf(await call('GET', `/catalog?q=${q}`, acme.member))).toEqual(['note Budget']);
    expect(namesOf(await call('GET', '/catalog?q=orders+nothing', acme.member))).toEqual([]);
    const { facets, entries } = await call('GET', '/catalog?kind=note', acme.member);
    expect(namesOf({ entries })).toEqual(['note Budget']);
    expect(facets.domains).toEqual([{ value: 'Comptabilité', count: 1 }]);
    expect(facets.kinds).toContainEqual({ value: 'table', count: 1 });
    for (const by of ['domain=comptabilite', 'domain=COMPTABILIT%C3%89', 'tag=YEARLY'])
      expect(namesOf(await call('GET', `/catalog?count=true&${by}`, acme.member)), by).toEqual(['note Budget']);
    expect(await call('GET', '/catalog?count=true&tag=Yearly&domain=COMPTABILITÉ', acme.member)).toMatchObject({
      total: 1,
      facets: {
        kinds: [{ value: 'note', count: 1 }],
        domains: [{ value: 'Comptabilité', count: 1 }],
        tags: [{ value: 'yearly', count: 1 }],
      },
    });
    const other = await call('POST', '/catalog/entries', acme.member, { name: 'Ledger', domain: 'comptabilité' });
    expect((await call('GET', '/catalog?kind=note', acme.member)).facets.domains).toEqual([{ value: expect.any(String), count: 2 }]);
    await raw('DELETE', `/catalog/entries/${other.id}`, acme.member);
    const page = await call('GET', '/catalog?limit=2', acme.member);
    const rest = await call('GET', `/catalog?limit=50&cursor=${page.next_cursor}`, acme.member);
    expect(new Set([...page.entries, ...rest.entries].map(({ id }: Entry) => id)).size).toBe(4);
  });
});

it('is hidden by those who run the workspace, with what was written kept for when it is made again', async () => {
  const id = await idOf(acme.admin, 'orders');
  expect((await raw('POST', '/catalog/disable', acme.member)).status).toBe(403);
  for (let time = 0; time < 2; time += 1) expect(await call('POST', '/catalog/disable', acme.admin)).toEqual({ enabled: false });
  expect(await call('GET', '/catalog', acme.admin)).toMatchObject({ enabled: false, available: true, entries: [] });
  expect(await refusal(raw('GET', `/catalog/entries/${id}`, acme.admin))).toEqual([409, 'CATALOG_NOT_ENABLED', undefined]);
  expect((await call('GET', '/audit?action=catalog.disable', acme.owner)).entries).toHaveLength(1);
  await call('POST', '/catalog/enable', acme.admin);
  expect(await call('GET', `/catalog/entries/${id}`, acme.admin)).toMatchObject({ domain: 'Shop', description: 'All **orders**.' });
});

describe('lineage', () => {
  let connectionId: string;
  beforeEach(async () => {
    await call('POST', '/catalog/enable', acme.owner);
    const { connections } = await call('GET', '/connections', acme.owner);
    connectionId = connections[0].id;
  });

  const job = (artifactId: string, config: object, user: TestUser) =>
    easel.fetch('/v1/jobs', {
      token: user.token,
      ...post({ artifact_id: artifactId, title: 'Copy', action: 'materialize', trigger_type: 'cron', schedule: '0 0 1 1 *', config }),
    });

  it('leads from what a job reads to what it writes, both ways, and to nothing hidden', async () => {
    await data('PUT', open, '/datasets/outside', [{ n: 1 }], acme.member);
    for (const made of [
      await job(open, { table: 'orders', dataset: 'totals' }, acme.member),
      await job(open, { connection_id: connectionId, path: 'x', dataset: 'outside' }, acme.member),
      await job(hidden, { connection_id: connectionId, path: 'y', dataset: 'bonuses' }, acme.owner),
    ])
      expect(made.status).toBe(201);
    const [orders, totals] = [await idOf(acme.member, 'orders'), await idOf(acme.member, 'totals')];
    const expected = { nodes: expect.any(Array), edges: [{ from: orders, to: totals, kind: 'materialize' }], truncated: false };
    expect(await call('GET', `/catalog/entries/${orders}/lineage`, acme.member)).toEqual(expected);
    expect(await call('GET', `/catalog/entries/${totals}/lineage`, acme.member)).toEqual(expected);
    const warehouse = await idOf(acme.member, 'Warehouse');
    const seen = await call('GET', `/catalog/entries/${warehouse}/lineage`, acme.member);
    expect(seen.nodes.map(({ name }: Entry) => name).sort()).toEqual(['Warehouse', 'outside']);
    const all = await call('GET', `/catalog/entries/${warehouse}/lineage`, acme.owner);
    expect(all.nodes.map(({ name }: Entry) => name).sort()).toEqual(['Warehouse', 'bonuses', 'outside']);
  });

  it('leads from an import to the dataset and the page that its runs have made, for people who may see the source', async () => {
    await call('PATCH', '/features', { token: easel.adminToken }, { features: { file_imports: true } });
    await data('PUT', open, '/datasets/rows', [{ n: 1 }], acme.member);
    const sourceId = newId('importSource');
    const folder = await call('POST', '/folders', acme.owner, { name: 'Plans of the owner', visibility: 'private' });
    await easel.sql`
      insert into import_source (
        id, workspace_id, user_id, provider, remote, remote_name, target_folder_id, convert, daily_sync, created_at_ms, updated_at_ms)
      values (${sourceId}, ${acme.id}, ${acme.owner.userId}, 'cloud_drive', '{}', 'Plans', ${folder.id}, true, false, 0, 0)`;
    await easel.sql`
      insert into import_item (source_id, remote_id, path, artifact_id, stored_by, outcome, seen_by)
      values (${sourceId}, 'f1', 'Numbers.csv', ${open}, 'imr_x', 'converted', 'imr_x')`;
    const rows = await idOf(acme.member, 'rows');
    const path = `/catalog/entries/${rows}/lineage`;
    expect(await call('GET', path, acme.admin)).toEqual({
      nodes: [
        { id: rows, kind: 'dataset', name: 'rows', source_name: 'Shop', artifact_id: open },
        { id: sourceId, kind: 'import', name: 'Plans', source_name: 'cloud_drive', artifact_id: null },
        { id: open, kind: 'page', name: 'Shop', source_name: '', artifact_id: open },
      ],
      edges: [
        { from: sourceId, to: rows, kind: 'import' },
        { from: sourceId, to: open, kind: 'import' },
      ],
      truncated: false,
    });
    // The files go where the member may not look; an agent sees no imports at all. A dataset of the page that no run has made is none of it.
    const agent = { token: await agentOf(easel, acme.id as WorkspaceId, ['artifacts:read']) };
    for (const other of [acme.member, agent]) expect((await call('GET', path, other)).edges).toEqual([]);
    expect((await call('GET', `/catalog/entries/${await idOf(acme.admin, 'outside')}/lineage`, acme.admin)).nodes).not.toContainEqual(
      expect.objectContaining({ kind: 'import' }),
    );
  });

  it('leads to the page whose scripts read a table or a dataset, and to no page that only has it', async () => {
    const slug = (await json(await easel.fetch(`/v1/artifacts/${open}`, { token: acme.member.token }))).slug;
    await data('PUT', open, '/datasets/unread', [{ n: 1 }], acme.member);
    for (const table of ['shown', 'unshown']) await data('POST', open, `/tables/${table}`, { rows: [{ n: 1 }] }, acme.member);
    const read = (name: string, fetchSite: string, host: string, kind = 'datasets') =>
      wire(easel.port, host, `/v1/data/${open}/${kind}/${name}/rows`, {
        headers: { 'sec-fetch-site': fetchSite, authorization: `Bearer ${acme.member.token}` },
      });
    const pageHost = `${slug}.localhost:${easel.port}`;
    // The app shows rows of it, and somebody opens their address: no script of the page does.
    await read('unread', 'same-origin', `localhost:${easel.port}`);
    await read('unread', 'none', pageHost);
    expect((await read('totals', 'same-origin', pageHost)).status).toBe(200);
    const totals = await idOf(acme.member, 'totals');
    const edge = { from: totals, to: open, kind: 'read' };
    const edgesOf = async (id: string) => (await call('GET', `/catalog/entries/${id}/lineage`, acme.member)).edges;
    await expect.poll(() => edgesOf(totals)).toContainEqual(edge);
    expect(await edgesOf(await idOf(acme.member, 'unread'))).toEqual([]);
    await read('unshown', 'same-origin', `localhost:${easel.port}`, 'tables');
    for (const table of ['shown', 'nowhere']) expect((await read(table, 'same-origin', pageHost, 'tables')).status).toBe(200);
    const shown = await idOf(acme.member, 'shown');
    const tableEdge = { from: shown, to: open, kind: 'read' };
    await expect.poll(() => edgesOf(shown)).toEqual([tableEdge]);
    expect(await edgesOf(await idOf(acme.member, 'unshown'))).toEqual([]);
    expect(await easel.sql`select kind, name from page_read where artifact_id = ${open} order by kind`).toEqual([
      { kind: 'dataset', name: 'totals' },
      { kind: 'table', name: 'shown' },
    ]);
    await easel.sql`update page_read set read_at_ms = read_at_ms - ${LIMITS.pageReadsKeptMs + 1000}`;
    await easel.sweep();
    expect(await edgesOf(totals)).not.toContainEqual(edge);
    expect(await edgesOf(shown)).toEqual([]);
  });

  it('is bounded, and says so', async () => {
    const made = await json(await job(open, { connection_id: connectionId, path: 'x', dataset: 'many_0' }, acme.member));
    await data('PUT', open, '/datasets/many_0', [{ n: 1 }], acme.member);
    await easel.sql`
      insert into dataset_version
      select (jsonb_populate_record(d, jsonb_build_object('name', 'many_' || n, 'seq', d.seq + n))).*
      from dataset_version d, generate_series(1, ${LIMITS.catalogLineageNodesMax}) n where d.artifact_id = ${open} and d.name = 'many_0'`;
    await easel.sql`
      insert into job
      select (jsonb_populate_record(j, jsonb_build_object('id', 'job_' || n, 'config', j.config || jsonb_build_object('dataset', 'many_' || n)))).*
      from job j, generate_series(1, ${LIMITS.catalogLineageNodesMax}) n where j.id = ${made.id}`;
    const warehouse = await idOf(acme.member, 'Warehouse');
    const { nodes, edges, truncated } = await call('GET', `/catalog/entries/${warehouse}/lineage`, acme.owner);
    expect([nodes.length, edges.length, truncated]).toEqual([LIMITS.catalogLineageNodesMax, LIMITS.catalogLineageNodesMax - 1, true]);
    const many = await idOf(acme.member, 'many_7');
    const one = await call('GET', `/catalog/entries/${many}/lineage`, acme.owner);
    expect([one.nodes.length, one.truncated]).toEqual([2, false]);
  });

  it('looks at no other pages than those of the entry: its id leads to it', async () => {
    const orders = await idOf(acme.member, 'orders');
    const plan = await easel.sql.begin(async (tx) => {
      await tx`set local enable_seqscan = off`;
      return tx`
        explain select artifact_id from data_table where catalog_id('table', artifact_id, name) = ${orders}
        union select artifact_id from dataset_version where catalog_id('dataset', artifact_id, name) = ${orders}`;
    });
    const text = plan.map((line) => Object.values(line)[0]).join('\n');
    expect(text).toContain('data_table_catalog');
    expect(text).toContain('dataset_version_catalog');
  });

  it('stays in its workspace', async () => {
    const { token } = acme.owner;
    expect(await json(await easel.fetch('/v1/workspaces/other/catalog/enable', { token, method: 'POST' }))).toEqual({
      enabled: true,
      entries: 0,
    });
    const reply = await easel.fetch(`/v1/workspaces/other/catalog/entries/${await idOf(acme.owner, 'orders')}`, { token });
    expect((await json(reply)).code).toBe('CATALOG_ENTRY_NOT_FOUND');
  });
});
