/** The credentials of connectors that a provisioning is given: sealed where they are stored, and nowhere else. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { unzipSync } from 'fflate';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEasel, type TestEasel, type TestStorage, testStorage } from '../../../support/easel.ts';
import { post, published } from '../../../support/requests.ts';

const USERNAME = 'svc-reporting-8c1f6e';
const PASSWORD = 'correct-horse-"battery"-staple/42';
const API_KEY = 'k3y-of-the-weather-service-77c0ffee';
/** No secret, and stored beside them: it shows that the search finds what is there. */
const MARK = 'A customer with the mark 5d41402abc4b2a76';

const CONNECTORS = [
  {
    ...{ name: 'Warehouse', type: 'postgres', config: { host: 'db.example.com', database: 'x' } },
    credentials: { username: USERNAME, password: PASSWORD },
  },
  { name: 'Weather', type: 'http', authType: 'bearer', config: { url: 'https://api.example.com' }, credentials: { token: API_KEY } },
];
const BODY = { name: 'Acme', slug: 'acme', description: MARK, admins: ['ada@example.com'], connectors: CONNECTORS };

/** The forms in which a secret could stand somewhere. */
function formsOf(secret: string): Buffer[] {
  const bytes = Buffer.from(secret);
  const texts = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify(secret)).slice(3, -3),
    encodeURIComponent(secret),
  ];
  const coded = [bytes.toString('hex'), bytes.toString('hex').toUpperCase(), bytes.toString('base64'), bytes.toString('base64url')];
  return [...new Set([...texts, ...coded])].map((text) => Buffer.from(text)).concat(Buffer.from(secret, 'utf16le'));
}

const SECRETS = [USERNAME, PASSWORD, API_KEY].flatMap(formsOf);

function hasSecret(content: Uint8Array | string): boolean {
  const bytes = Buffer.from(content);
  return SECRETS.some((form) => bytes.includes(form));
}

let storage: TestStorage;
let easel: TestEasel;
const lines: string[] = [];
const stream = new Writable({
  write: (chunk, _encoding, done) => {
    lines.push(String(chunk));
    done();
  },
});
beforeAll(async () => {
  storage = await testStorage('embedded');
  // Without what the service's own log removes, so that nothing rests on that.
  easel = await startTestEasel({ storage, log: pino({ level: 'trace' }, stream) });
});
afterAll(() => storage.remove());

async function provision(body: object, key: string) {
  const init = post(body);
  const headers = { ...init.headers, 'idempotency-key': key };
  const reply = await easel.fetch('/v1/admin/workspaces/provision', { token: easel.adminToken, ...init, headers });
  return { status: reply.status, text: await reply.text() };
}

test('they are found neither in answers nor in the log, the audit, an export, the database or its files', async () => {
  const answers = [await provision(BODY, 'first-run'), await provision(BODY, 'first-run'), await provision(BODY, 'second-run')];
  // The database quotes what it could not store, and a refusal may quote what was sent.
  await easel.sql.unsafe(`create function break_it() returns trigger language plpgsql as $$ begin raise exception '%', new; end $$`);
  await easel.sql.unsafe('create trigger broken before insert on connection for each row execute function break_it()');
  answers.push(await provision({ ...BODY, connectors: [{ ...CONNECTORS[0], name: 'Broken' }] }, 'broken'));
  await easel.sql.unsafe('drop function break_it() cascade');
  const misplaced = { ...CONNECTORS[0], name: 'Misplaced', config: { host: 'db.example.com', database: 'x', [PASSWORD]: USERNAME } };
  const wrong = { ...CONNECTORS[1], name: 'Wrong', credentials: { [API_KEY]: PASSWORD } };
  answers.push(await provision({ ...BODY, connectors: [misplaced, wrong] }, 'misplaced'));
  answers.push(await provision({ ...BODY, connectors: [{ ...CONNECTORS[0], credentials: PASSWORD }] }, 'malformed'));
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 200, 207, 207, 400]);
  for (const { text } of answers) expect([hasSecret(text), text]).toEqual([false, text]);

  const ada = await easel.newUser();
  await easel.sql`insert into workspace_member (workspace_id, user_id, role, joined_at_ms) select id, ${ada.userId}, 'owner', 0 from workspace`;
  const page = await published(easel, ada, { workspace_id: 'acme', visibility: 'workspace' });
  const shown = async (path: string, accept = 'application/json') => {
    const reply = await easel.fetch(path, { token: ada.token, headers: { accept } });
    expect([path, reply.status]).toEqual([path, 200]);
    return Buffer.from(await reply.arrayBuffer());
  };
  const audit = await shown('/v1/workspaces/acme/audit?limit=100');
  expect(JSON.parse(String(audit)).entries.map(({ action }: { action: string }) => action)).toContain(
    'workspace.provision.connector:Weather',
  );
  const csv = await shown('/v1/workspaces/acme/audit', 'text/csv');
  expect(String(csv)).toContain('connector:Weather');
  const connections = await shown('/v1/workspaces/acme/connections');
  expect(JSON.parse(String(connections)).connections).toHaveLength(2);
  const archive = unzipSync(await shown(`/v1/artifacts/${page.id}/export`));
  expect(Object.keys(archive).length).toBeGreaterThan(1);
  for (const content of [audit, csv, connections, ...Object.values(archive)])
    expect([hasSecret(content), String(content).slice(0, 80)]).toEqual([false, expect.any(String)]);

  const sealed = await easel.sql<{ name: string; credentials: Buffer | null }[]>`select name, credentials from connection order by name`;
  expect(sealed.map(({ name, credentials }) => [name, credentials !== null && credentials.length > PASSWORD.length])).toEqual([
    ['Warehouse', true],
    ['Weather', true],
  ]);
  const tables = await easel.sql<{ name: string }[]>`select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`;
  for (const { name } of tables) {
    const rows = await easel.sql.unsafe<{ text: string }[]>(`select t::text as text from ${name} t`);
    // As text a byte is `\\x` and two digits, so hex finds it there.
    expect([name, rows.filter(({ text }) => hasSecret(text)).length]).toEqual([name, 0]);
  }
  const kept = await easel.sql<{ body: Buffer | null }[]>`select body from idempotency_record`;
  expect([kept.length > 0, kept.some(({ body }) => body !== null && hasSecret(body))]).toEqual([true, false]);

  await easel.close();
  expect(lines.some((line) => line.includes('a step of a provisioning failed'))).toBe(true);
  for (const line of lines) expect([hasSecret(line), line]).toEqual([false, line]);
  const folder = storage.settings.DATA_DIR ?? '';
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  let marks = 0;
  for (const { parentPath, name } of files) {
    const content = readFileSync(join(parentPath, name));
    expect([name, hasSecret(content)]).toEqual([name, false]);
    if (content.includes(MARK)) marks += 1;
  }
  expect(marks).toBeGreaterThan(0);
});
