import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { ConnectionId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { placeOf } from '../../../../src/features/library/connections/rules.ts';
import { Sealer } from '../../../../src/storage/sealing/sealer.ts';
import { startTestEasel, TEST_SECRET_KEY, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, refusal } from '../../../support/requests.ts';
import { seededWorkspace, type TestWorkspace } from '../../../support/seeded-workspace.ts';

const sealer = new Sealer([Buffer.from(TEST_SECRET_KEY, 'hex')]);
const SECRET = 'correct-horse-battery-staple';
const POSTGRES = { type: 'postgres', config: { host: 'db.example.com', database: 'sales' } };
const CREDENTIALS = { username: 'reader', password: SECRET };

let easel: TestEasel;
let acme: TestWorkspace;
let other: TestWorkspace;
let twin: TestUser;
beforeAll(async () => {
  easel = await startTestEasel();
  acme = await seededWorkspace(easel, 'acme');
  other = await seededWorkspace(easel, 'other');
  twin = await easel.newUser();
  const [person] = await easel.sql<{ person_id: string }[]>`select person_id from account where id = ${acme.member.userId}`;
  await easel.sql`update account set person_id = ${person?.person_id ?? ''} where id = ${twin.userId}`;
});
afterAll(() => easel.close());

let made = 0;
async function make(body: object = {}, user: TestUser = acme.owner, workspace = 'acme') {
  made += 1;
  const init = post({ name: `Connection ${made}`, ...POSTGRES, ...body });
  const reply = await easel.fetch(`/v1/workspaces/${workspace}/connections`, { token: user.token, ...init });
  return { status: reply.status, body: await json(reply) };
}
const at = (id: string) => `/v1/workspaces/acme/connections/${id}`;
async function change(id: string, body: object, user: TestUser = acme.admin) {
  const reply = await easel.fetch(at(id), { token: user.token, ...patch(body) });
  return { status: reply.status, body: await json(reply) };
}
async function get(id: string, user: TestUser = acme.owner) {
  return json(await easel.fetch(at(id), { token: user.token }));
}
async function stored(id: ConnectionId) {
  const [row] = await easel.sql<{ credentials: Buffer | null }[]>`select credentials from connection where id = ${id}`;
  return row?.credentials ?? null;
}

describe('a connection', () => {
  it.each([
    ['postgres', { host: 'db.example.com', database: 'x' }, { port: 5432, ssl: 'require' }, 'password', CREDENTIALS],
    ['http', { url: 'https://api.example.com/v2' }, {}, 'none', undefined],
    [
      's3',
      { endpoint: 'https://s3.example.com', bucket: 'files' },
      { region: 'us-east-1', prefix: '' },
      'access_key',
      { access_key_id: 'a', secret_access_key: SECRET },
    ],
  ])('of the type %s has its settings with defaults, and never its credentials', async (type, config, defaults, authType, credentials) => {
    const { status, body } = await make({ type, config, ...(credentials && { credentials }) });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^con_/),
      name: `Connection ${made}`,
      type,
      credentialScope: 'workspace',
      authType,
      config: { ...config, ...defaults },
      has_credentials: credentials !== undefined,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      last_used_at: null,
      last_error: null,
    });
    expect(await get(body.id, acme.member)).toEqual(body);
  });

  it('keeps its credentials sealed and bound to their row', async () => {
    const { body } = await make({ credentials: CREDENTIALS });
    const sealed = await stored(body.id);
    expect(sealed?.includes(SECRET)).toBe(false);
    expect(JSON.parse(sealer.open(placeOf(body.id, null), sealed ?? Buffer.of()))).toEqual(CREDENTIALS);
    const second = (await make()).body.id;
    expect(() => sealer.open(placeOf(second, null), sealed ?? Buffer.of())).toThrow(/belongs elsewhere/);
  });

  it.each([
    [{ config: { database: 'x' } }, 'config.host'],
    [{ config: { host: `u:${SECRET}@db`, database: 'x' } }, 'config.host'],
    [{ config: { host: 'db', database: 'x', port: 0 } }, 'config.port'],
    [{ config: { host: 'db', database: 'x', password: SECRET } }, 'config'],
    [{ config: { host: 'db', database: 'x', [SECRET]: 1 } }, 'config'],
    [{ config: { host: 'db', database: 'x', ssl: SECRET } }, 'config.ssl'],
    [{ type: 'http', config: { url: `https://u:${SECRET}@example.com` } }, 'config.url'],
    [{ type: 'http', config: { url: `https://example.com/?key=${SECRET}` } }, 'config.url'],
    [{ type: 'http', config: { url: 'ftp://example.com' } }, 'config.url'],
    [{ type: 's3', config: { endpoint: 'https://s3', bucket: '' } }, 'config.bucket'],
    [{ authType: 'bearer' }, 'authType'],
    [{ credentials: { username: 'x' } }, 'credentials.password'],
    [{ credentials: { username: 'x', password: 12345678 } }, 'credentials.password'],
    [{ credentials: { username: 'x', password: '' } }, 'credentials.password'],
    [{ credentials: { username: 'x', password: 'y', [SECRET]: 'z' } }, 'credentials'],
    [{ credentials: { username: 'x', password: SECRET.repeat(1000) } }, 'credentials.password'],
    [{ credentials: SECRET }, 'credentials'],
    [{ type: 'http', config: { url: 'https://example.com' }, credentials: { token: SECRET } }, 'credentials'],
    [
      { type: 'http', authType: 'header', config: { url: 'https://example.com' }, credentials: { header: 'A B', value: SECRET } },
      'credentials.header',
    ],
    [
      {
        type: 'http',
        authType: 'header',
        config: { url: 'https://example.com' },
        credentials: { header: 'A', value: `${SECRET}\r\nB: c` },
      },
      'credentials.value',
    ],
  ])('is refused with the field at fault, and what was sent is not repeated: %j', async (body, param) => {
    const refused = await make(body);
    expect([refused.status, refused.body.code, refused.body.param]).toEqual([400, 'INVALID_REQUEST', param]);
    expect(JSON.stringify(refused.body)).not.toMatch(new RegExp(`${SECRET.slice(0, 8)}|12345678`));
  });

  it('has a name of its own in its workspace, whatever its capital letters', async () => {
    expect((await make({ name: 'Warehouse' })).status).toBe(201);
    const taken = await make({ name: 'wareHOUSE' });
    expect([taken.status, taken.body.code, taken.body.param]).toEqual([409, 'CONNECTION_NAME_TAKEN', 'name']);
    expect((await make({ name: 'Warehouse' }, other.owner, 'other')).status).toBe(201);
    const second = (await make()).body.id;
    expect((await change(second, { name: 'WAREHOUSE' })).body.code).toBe('CONNECTION_NAME_TAKEN');
    expect((await change(second, { name: 'Stock' })).body.name).toBe('Stock');
    expect((await change(second, { name: 'STOCK' })).body.name).toBe('STOCK');
  });

  it.each(['Host', 'content-length', 'Transfer-Encoding', 'Connection'])('takes no credentials in the header %s', async (header) => {
    const given = { type: 'http', authType: 'header', config: { url: 'https://api.example.com/v2' } };
    const refused = await make({ ...given, credentials: { header, value: SECRET } });
    expect([refused.status, refused.body.param]).toEqual([400, 'credentials.header']);
    expect(refused.body.error).toContain('credentials.header: must be a header that carries credentials, such as X-API-Key');
    expect((await make({ ...given, credentials: { header: 'X-API-Key', value: SECRET } })).status).toBe(201);
  });

  it('is one of two that are made together under one name', async () => {
    const both = await Promise.all([make({ name: 'Race' }), make({ name: 'race' })]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  it('is found, changed and deleted only in its own workspace', async () => {
    const { id } = (await make({}, other.owner, 'other')).body;
    expect(await refusal(easel.fetch(at(id), { token: acme.owner.token }))).toEqual([404, 'CONNECTION_NOT_FOUND', undefined]);
    expect((await change(id, { name: 'x' })).body.code).toBe('CONNECTION_NOT_FOUND');
    expect((await easel.fetch(at(id), { token: acme.owner.token, method: 'DELETE' })).status).toBe(404);
  });

  it('is deleted with its credentials', async () => {
    const { id } = (await make({ credentials: CREDENTIALS })).body;
    expect((await easel.fetch(at(id), { token: acme.admin.token, method: 'DELETE' })).status).toBe(200);
    expect(await easel.sql`select 1 from connection where id = ${id}`).toEqual([]);
    expect((await easel.fetch(at(id), { token: acme.admin.token, method: 'DELETE' })).status).toBe(404);
  });

  it('is changed only where nobody changed it since', async () => {
    const { id } = (await make()).body;
    const etag = (await easel.fetch(at(id), { token: acme.owner.token })).headers.get('etag') ?? '';
    easel.clock.advance(1000);
    expect((await change(id, { name: 'Meanwhile' })).status).toBe(200);
    const late = await easel.fetch(at(id), { token: acme.owner.token, ...patch({ name: 'Late' }, { 'if-match': etag }) });
    expect(late.status).toBe(409);
  });
});

describe('stored credentials', () => {
  it('stay when nothing changes where they are sent, and can be replaced and removed', async () => {
    const { id } = (await make({ credentials: CREDENTIALS })).body;
    const before = await stored(id);
    expect((await change(id, { config: { host: 'db.example.com', database: 'stock' } })).body).toMatchObject({
      has_credentials: true,
      config: { database: 'stock' },
    });
    expect((await stored(id))?.equals(before ?? Buffer.of())).toBe(true);
    await change(id, { credentials: { username: 'writer', password: 'b' } });
    expect(JSON.parse(sealer.open(placeOf(id, null), (await stored(id)) ?? Buffer.of()))).toEqual({ username: 'writer', password: 'b' });
    expect((await change(id, { credentials: null })).body.has_credentials).toBe(false);
    expect(await stored(id)).toBeNull();
  });

  it.each([
    [{ config: { host: 'evil.example.com', database: 'sales' } }],
    [{ config: { host: 'db.example.com', database: 'sales', port: 5433 } }],
    [{ config: { host: 'db.example.com', database: 'sales', ssl: 'disable' } }],
    [{ authType: 'none' }],
  ])('are never sent to a place that was not known when they were stored: %j', async (moved) => {
    const { id } = (await make({ credentials: CREDENTIALS })).body;
    const refused = await change(id, moved);
    expect([refused.status, refused.body.param]).toEqual([400, 'credentials']);
    expect(await get(id)).toMatchObject({ config: { host: 'db.example.com', port: 5432, ssl: 'require' }, authType: 'password' });
    expect((await change(id, { ...moved, credentials: null })).body.has_credentials).toBe(false);
  });
});

describe('with the scope person', () => {
  it('each member stores their own, which goes with a changed destination', async () => {
    const { id } = (await make({ credentialScope: 'person', credentials: CREDENTIALS })).body;
    const seen = async () => [
      (await get(id)).has_credentials,
      (await get(id, acme.member)).has_credentials,
      (await get(id, twin)).has_credentials,
    ];
    expect(await seen()).toEqual([true, false, false]);
    expect((await change(id, { credentials: { username: 'me', password: 'mine' } }, acme.member)).status).toBe(200);
    // A linked account is the same person.
    expect(await seen()).toEqual([true, true, true]);
    expect((await change(id, { credentials: { username: 'me', password: 'again' } }, twin)).status).toBe(200);
    const rows = await easel.sql<{ user_id: string; credentials: Buffer }[]>`
      select user_id, credentials from connection_credential where connection_id = ${id} and user_id = ${acme.member.userId}`;
    expect(rows).toHaveLength(1);
    expect(sealer.open(placeOf(id, acme.member.userId), rows[0]?.credentials ?? Buffer.of())).toContain('again');
    expect(() => sealer.open(placeOf(id, acme.owner.userId), rows[0]?.credentials ?? Buffer.of())).toThrow(/belongs elsewhere/);
    expect((await change(id, { credentials: null }, acme.member)).body.has_credentials).toBe(false);
    expect(await seen()).toEqual([true, false, false]);
    expect((await change(id, { config: { host: 'elsewhere.example.com', database: 'sales' } })).status).toBe(200);
    expect(await seen()).toEqual([false, false, false]);
  });

  it('a member changes nothing but their own credentials', async () => {
    const shared = (await make()).body.id;
    const own = (await make({ credentialScope: 'person' })).body.id;
    expect((await change(shared, { credentials: CREDENTIALS }, acme.member)).status).toBe(403);
    expect((await change(own, { credentials: CREDENTIALS, name: 'Mine' }, acme.member)).status).toBe(403);
    expect((await change(own, { credentials: CREDENTIALS }, acme.member)).status).toBe(200);
  });

  it('they end with the membership', async () => {
    const leaving = await seededWorkspace(easel, 'leaving');
    const { id } = (await make({ credentialScope: 'person' }, leaving.owner, 'leaving')).body;
    const path = `/v1/workspaces/leaving/connections/${id}`;
    expect((await easel.fetch(path, { token: leaving.member.token, ...patch({ credentials: CREDENTIALS }) })).status).toBe(200);
    await easel.sql`delete from workspace_member where user_id = ${leaving.member.userId}`;
    expect(await easel.sql`select 1 from connection_credential where connection_id = ${id}`).toEqual([]);
  });
});

describe('who may', () => {
  it('members read, owners and admins write, nobody else knows', async () => {
    const { id } = (await make()).body;
    const stranger = await easel.newUser();
    const status = async (user: TestUser, init: RequestInit = {}, path = at(id)) =>
      (await easel.fetch(path, { token: user.token, ...init })).status;
    expect([
      await status(acme.owner),
      await status(acme.admin),
      await status(acme.member),
      await status(stranger),
      await status(other.owner),
    ]).toEqual([200, 200, 200, 404, 404]);
    const list = '/v1/workspaces/acme/connections';
    const body = post({ name: 'By a member', ...POSTGRES });
    expect([
      await status(acme.member, body, list),
      await status(stranger, body, list),
      await status(acme.member, { method: 'DELETE' }),
    ]).toEqual([403, 404, 403]);
  });
});

test('the list is paged, newest first, and a workspace has at most so many', async () => {
  const full = await seededWorkspace(easel, 'full');
  const nowMs = easel.clock.nowMs();
  const { id } = (await make({ name: 'First' }, full.owner, 'full')).body;
  await easel.sql`
    insert into connection (id, workspace_id, name, type, credential_scope, auth_type, config, created_at_ms, updated_at_ms)
    select 'con_' || lpad(n::text, 24, '0'), workspace_id, 'n' || n, type, credential_scope, auth_type, config, ${nowMs}::bigint + n, ${nowMs}
    from connection, generate_series(1, ${LIMITS.workspaceConnectionsMax - 1}::int) n where id = ${id}`;
  const refused = await make({ name: 'One more' }, full.owner, 'full');
  expect([refused.status, refused.body.code]).toEqual([409, 'CONNECTION_LIMIT_EXCEEDED']);
  const names: string[] = [];
  let query = '?limit=40&count=true';
  for (;;) {
    const page = await json(await easel.fetch(`/v1/workspaces/full/connections${query}`, { token: full.member.token }));
    names.push(...page.connections.map((each: { name: string }) => each.name));
    if (query.includes('count')) expect(page.total).toBe(LIMITS.workspaceConnectionsMax);
    if (!page.has_more) break;
    query = `?limit=40&cursor=${page.next_cursor}`;
  }
  expect([names.length, new Set(names).size, names[0], names.at(-1)]).toEqual([100, 100, 'n99', 'First']);
});

test('every change is audited, without a credential', async () => {
  const { id } = (await make({ name: 'Audited', credentials: CREDENTIALS })).body;
  await change(id, { name: 'Renamed', credentials: { username: 'u', password: SECRET } });
  await easel.fetch(at(id), { token: acme.owner.token, method: 'DELETE' });
  const entries = await easel.sql<{ action: string; target_name: string; detail: unknown; actor_id: string }[]>`
    select action, target_name, detail, actor_id from audit_entry where target_id = ${id} order by id`;
  expect(entries.map(({ action, target_name }) => [action, target_name]).sort()).toEqual([
    ['connection.create', 'Audited'],
    ['connection.delete', 'Renamed'],
    ['connection.update', 'Renamed'],
  ]);
  expect(JSON.stringify(entries)).not.toContain(SECRET);
  expect(entries.find(({ action }) => action === 'connection.update')?.detail).toEqual({ changed: ['name', 'credentials'] });
});
