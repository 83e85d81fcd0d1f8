/** Trying a connection: through the guarded way to the outside, with its credentials and nobody else's. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, refusal } from '../../../support/requests.ts';
import { startS3 } from '../../../support/s3.ts';
import { seededWorkspace, type TestWorkspace } from '../../../support/seeded-workspace.ts';
import { describeWith, services } from '../../../support/services.ts';

let easel: TestEasel;
let acme: TestWorkspace;
let host: Server;
let url: string;
let asked: IncomingMessage[] = [];
let answers: (request: IncomingMessage, response: ServerResponse) => void;

beforeAll(async () => {
  easel = await startTestEasel();
  acme = await seededWorkspace(easel, 'acme');
  host = createServer((request, response) => {
    asked.push(request);
    answers(request, response);
  });
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
  url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/v2`;
});
afterAll(async () => {
  await easel?.close();
  host?.close();
});
beforeEach(() => {
  asked = [];
  answers = (_, response) => response.end('ok');
});

const path = '/v1/workspaces/acme/connections';
const test = (body: object, user: TestUser = acme.member) => easel.fetch(`${path}/test`, { token: user.token, ...post(body) });
const NOT_PUBLIC =
  'This host is not on the public internet. Use a public host; whoever runs this installation can allow others with EGRESS_PRIVATE_NETWORKS.';
const tested = async (body: object, user?: TestUser) => json(await test(body, user));

describe('testing a connection', () => {
  it('calls its URL with the credentials in the way that it says', async () => {
    const ways: [object, object][] = [
      [{}, {}],
      [{ authType: 'bearer', credentials: { token: 't0ken' } }, { authorization: 'Bearer t0ken' }],
      [{ authType: 'basic', credentials: { username: 'a', password: 'b' } }, { authorization: `Basic ${btoa('a:b')}` }],
      [{ authType: 'header', credentials: { header: 'X-Key', value: 'v' } }, { 'x-key': 'v' }],
    ];
    for (const [more, headers] of ways) {
      expect(await tested({ type: 'http', config: { url }, ...more })).toEqual({
        ok: true,
        detail: 'The host answered with the status 200.',
      });
      expect(asked.at(-1)).toMatchObject({ method: 'GET', url: '/v2', headers });
    }
  });

  it('tells what is wrong: refused credentials, a failing host, an address that is not public, a redirect that is not followed', async () => {
    const given = { type: 'http', config: { url } };
    answers = (_, response) => response.writeHead(401).end();
    expect(await tested(given)).toMatchObject({ ok: false, error: 'The host does not accept the credentials.' });
    answers = (_, response) => response.writeHead(502).end();
    expect(await tested(given)).toMatchObject({ ok: false, error: 'The host is failing.' });
    answers = (_, response) => response.writeHead(302, { location: '/elsewhere?token=of-somebody' }).end();
    expect(await tested(given)).toEqual({
      ok: false,
      error: `The host redirects to ${new URL('/elsewhere', url).href} (302), and redirects are not followed: use the URL to which it leads.`,
      detail: 'The host answered with the status 302.',
    });
    answers = (_, response) => response.writeHead(308).end();
    expect(await tested(given)).toMatchObject({ ok: false, error: 'The host answered 308, and redirects are not followed.' });
    expect(asked.map(({ url: at }) => at)).toEqual(['/v2', '/v2', '/v2', '/v2']);
    const metadata = await tested({ type: 'http', config: { url: 'http://169.254.169.254/latest' } });
    expect(metadata).toEqual({ ok: false, error: NOT_PUBLIC });
    const bare = await tested({ ...given, authType: 'bearer' });
    expect(bare).toEqual({ ok: false, error: 'There are no credentials to connect with.' });
  });

  it('uses what is stored, and notes when and what went wrong; a member has only their own credentials', async () => {
    const body = { name: 'API', type: 'http', authType: 'bearer', config: { url }, credentials: { token: 'stored' } };
    const shared = await json(await easel.fetch(path, { token: acme.owner.token, ...post(body) }));
    answers = (_, response) => response.writeHead(500).end();
    expect(await tested({ connection_id: shared.id })).toMatchObject({ ok: false });
    expect(asked[0]?.headers.authorization).toBe('Bearer stored');
    const after = await json(await easel.fetch(`${path}/${shared.id}`, { token: acme.member.token }));
    expect(after).toMatchObject({ last_error: 'The host is failing.', last_used_at: expect.any(String) });
    const own = { ...body, name: 'Own', credentialScope: 'person', credentials: { token: 'of the owner' } };
    const personal = await json(await easel.fetch(path, { token: acme.owner.token, ...post(own) }));
    expect(await tested({ connection_id: personal.id })).toEqual({ ok: false, error: 'There are no credentials to connect with.' });
    const unused = await json(await easel.fetch(`${path}/${personal.id}`, { token: acme.owner.token }));
    expect(unused).toMatchObject({ last_used_at: null, last_error: null });
    await tested({ connection_id: personal.id }, acme.owner);
    expect(asked.at(-1)?.headers.authorization).toBe('Bearer of the owner');
    // Every member sees it, and it was said to one person.
    const seen = await json(await easel.fetch(`${path}/${personal.id}`, { token: acme.member.token }));
    expect(seen).toMatchObject({ last_error: 'The last use failed; its run says why.' });
  });

  it('does not follow to where the instance may not call, whatever the type', async () => {
    const metadata = '169.254.169.254';
    for (const target of [
      { type: 'postgres', authType: 'none', config: { host: metadata, database: 'sales' } },
      { type: 'postgres', authType: 'none', config: { host: '0xa9fea9fe', database: 'sales' } },
      { type: 's3', authType: 'none', config: { endpoint: `http://${metadata}`, bucket: 'sales' } },
    ])
      expect(await tested(target)).toEqual({ ok: false, error: NOT_PUBLIC });
    const nowhere = { type: 'postgres', authType: 'none', config: { host: 'nowhere.invalid', database: 'sales' } };
    expect(await tested(nowhere)).toEqual({ ok: false, error: 'There is no address for the host nowhere.invalid.' });
    const silent = { type: 'postgres', authType: 'none', config: { host: '127.0.0.1', port: 1, database: 'sales', ssl: 'disable' } };
    expect(await tested(silent)).toEqual({ ok: false, error: 'The host refuses the connection.' });
  });

  it('says what is wrong with a bucket: the credentials, its name', async () => {
    const s3 = await startS3();
    try {
      const { S3_ENDPOINT: endpoint, S3_ACCESS_KEY: access_key_id, S3_SECRET_KEY: secret_access_key } = s3.settings;
      const given = { type: 's3', credentials: { access_key_id, secret_access_key } };
      const missing = await tested({ ...given, config: { endpoint, bucket: 'missing' } });
      expect(missing).toEqual({ ok: false, error: 'There is no bucket "missing".' });
      const misnamed = await tested({ ...given, config: { endpoint, bucket: 'Sales_2026' } }, acme.owner);
      expect(misnamed.error).toMatch(/^The name of the bucket, "Sales_2026", is not valid: it has 3 to 63 lowercase letters/);
      const placed = await tested({ ...given, config: { endpoint: 'http://-a', bucket: 'sales' } }, acme.owner);
      expect(placed.error).toMatch(/^The endpoint is not valid: /);
      await s3.makeBucket('sales');
      expect(await tested({ ...given, config: { endpoint, bucket: 'sales' } })).toEqual({
        ok: true,
        detail: 'The bucket "sales" can be listed.',
      });
      const wrong = { ...given, credentials: { access_key_id: 'nobody', secret_access_key } };
      const refused = await tested({ ...wrong, config: { endpoint, bucket: 'sales' } });
      expect(refused).toEqual({ ok: false, error: 'The host does not accept the credentials.' });
    } finally {
      await s3.close();
    }
  });

  it('takes TLS at its word: none is offered, none is spoken, none is trusted', async () => {
    const answersWith = async (answer: string) => {
      const database = createTcpServer((socket) => socket.on('error', () => undefined).once('data', () => socket.write(answer)));
      database.listen(0, '127.0.0.1');
      await once(database, 'listening');
      const { port } = database.address() as AddressInfo;
      const config = { host: '127.0.0.1', port, database: 'sales', ssl: 'require' };
      const answer_ = await tested({ type: 'postgres', authType: 'none', config });
      database.close();
      return answer_.error;
    };
    expect(await answersWith('N')).toBe('The database does not offer TLS.');
    // What follows the answer was sent before TLS began, by whoever.
    expect(await answersWith('Sextra')).toBe('The database does not offer TLS.');
  });

  it('hides what is not of the workspace, and needs what belongs to a type', async () => {
    expect((await test({ type: 'http' })).status).toBe(400);
    expect((await test({ connection_id: `con_${'a'.repeat(24)}`, type: 'http' })).status).toBe(400);
    expect(await refusal(test({ connection_id: `con_${'a'.repeat(24)}` }))).toEqual([404, 'CONNECTION_NOT_FOUND', undefined]);
    const stranger = await easel.newUser();
    expect((await test({ type: 'http', config: { url } }, stranger)).status).toBe(404);
  });

  it('of a stored one is in the record of the workspace, and is no change of it', async () => {
    const body = { name: 'Recorded', type: 'http', config: { url } };
    const made = await json(await easel.fetch(path, { token: acme.owner.token, ...post(body) }));
    const read = await easel.fetch(`${path}/${made.id}`, { token: acme.owner.token });
    await tested({ connection_id: made.id });
    const entries = await json(await easel.fetch('/v1/workspaces/acme/audit?action=connection.use', { token: acme.owner.token }));
    const used = entries.entries.filter(({ target }: { target: { id: string } }) => target.id === made.id);
    expect(used).toMatchObject([{ target: { name: 'Recorded' }, detail: { by: 'test' } }]);
    const change = patch({ name: 'Renamed' }, { 'if-match': read.headers.get('etag') ?? '' });
    expect((await easel.fetch(`${path}/${made.id}`, { token: acme.owner.token, ...change })).status).toBe(200);
  });
});

describe('a test of what is not stored', () => {
  it('is in the record with its type and host, and with no more of what was sent', async () => {
    const { host: http } = new URL(url);
    const bearer = { type: 'http', authType: 'bearer', config: { url: `${url}/se-cret` }, credentials: { token: 'se-cret' } };
    const store = { type: 's3', authType: 'none', config: { endpoint: 'http://169.254.169.254:81', bucket: 'se-cret' } };
    const config = { host: '169.254.169.254', database: 'se-cret' };
    const database = { type: 'postgres', config, credentials: { username: 'me', password: 'se-cret' } };
    for (const given of [bearer, store, database]) await tested(given, acme.admin);
    const reply = await easel.fetch('/v1/workspaces/acme/audit?action=connection.test', { token: acme.owner.token });
    type Entry = { actor: { id: string }; target: object; detail: { host: string } };
    const entries = ((await json(reply)).entries as Entry[]).filter(({ actor }) => actor.id === acme.admin.userId);
    expect(entries.map(({ detail }) => detail).sort((a, b) => (a.host < b.host ? -1 : 1))).toEqual([
      { type: 'http', host: http },
      { type: 'postgres', host: '169.254.169.254:5432' },
      { type: 's3', host: '169.254.169.254:81' },
    ]);
    expect(entries[0]?.target).toEqual({ type: 'connection', id: null, name: null });
    expect(JSON.stringify(entries)).not.toContain('se-cret');
  });
});

describeWith('postgresUrl')('testing a connection to Postgres', () => {
  it('signs in, and says what is wrong: no such database, no such user, no TLS', async () => {
    const { hostname: host, port, username, password, pathname } = new URL(services().postgresUrl ?? '');
    const config = { host, port: Number(port || 5432), database: pathname.slice(1), ssl: 'disable' };
    const credentials = { username: username || 'root', password: password || 'unused' };
    const given = { type: 'postgres', config, credentials };
    expect(await tested(given)).toEqual({ ok: true, detail: expect.stringMatching(/^Postgres \d.* answered\.$/) });
    const missing = await tested({ ...given, config: { ...config, database: 'not_there' } });
    expect(missing).toEqual({ ok: false, error: 'There is no database "not_there".' });
    const nobody = await tested({ ...given, credentials: { ...credentials, username: 'nobody_knows' } });
    expect(nobody).toEqual({ ok: false, error: 'The database does not accept the credentials.' });
  });
});
