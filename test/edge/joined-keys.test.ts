/** What is remembered of callers and subjects under keys of several parts: no two of them share an entry because their parts join to one text. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ANONYMOUS, type Principal } from '../../actors/access/access.ts';
import { newId, type UserId } from '../../protocol/core/ids.ts';
import { Idempotency, type IdempotentRequest } from '../../src/edge/idempotency.ts';
import { everyDatabaseKind, openTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { agentPrincipal, userPrincipal } from '../support/principals.ts';
import { json, post, refusal } from '../support/requests.ts';
import { newWorkspace } from '../support/workspaces.ts';

describe.each(everyDatabaseKind())('I8: idempotency keys on %s', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase(kind);
  });
  afterAll(() => database.close());

  /** The answer that a first call with these parts makes says which call made it. */
  async function made(by: string, parts: Partial<IdempotentRequest>): Promise<string> {
    const request = {
      principal: ANONYMOUS,
      address: 'a',
      method: 'POST',
      path: '/p',
      query: '',
      key: 'k'.repeat(16),
      body: Buffer.of(),
      nowMs: 1,
    };
    const answer = { status: 200, type: 'text/plain', payload: by, etag: undefined, lines: '' };
    const { answer: given, replayed } = await new Idempotency(database.sql).perform({ ...request, ...parts }, () => answer);
    expect([by, replayed]).toEqual([by, given.payload !== by]);
    return String(given.payload);
  }

  test('two callers whose parts join to the same text never share an answer', async () => {
    const id = `usr_${'a'.repeat(24)}` as UserId;
    const token = newId('token');
    const agent = agentPrincipal(newId('workspace'), [], token);
    const key = 'k'.repeat(20);
    const callers: [string, Partial<IdempotentRequest>][] = [
      ['user', { principal: userPrincipal(id) }],
      ['address spelled like a user', { address: id }],
      ['address spelled like the scope of a user', { address: `user:${id}` }],
      ['agent', { principal: agent }],
      ['user spelled like an agent', { principal: userPrincipal(token as unknown as UserId) }],
      ['address spelled like an agent', { address: `agent:${token}` }],
      ['guest spelled like an agent', { principal: { ...guest(), guestId: token } as unknown as Principal }],
      ['address and path', { address: 'a /p', path: '/q', key }],
      ['the same text, cut elsewhere', { address: 'a', path: '/p /q', key }],
      ['path and key', { path: '/p', key: `/q ${key}` }],
      ['the same text of path and key', { path: '/p /q', key: ` ${key}` }],
      ['method and path', { method: 'POST', path: '/x', key }],
      ['the same text of method and path', { method: 'POST/', path: 'x', key }],
    ];
    for (const [by, parts] of callers) expect(await made(by, parts)).toBe(by);
    for (const [by, parts] of callers) expect(await made(`${by}, again`, parts)).toBe(by);
  });
});

function guest(): Principal {
  return {
    kind: 'guest',
    guestId: newId('guest'),
    artifactId: newId('artifact'),
    name: 'G',
    email: 'g@example.com',
    tokenId: newId('token'),
    expiresAtMs: 9,
  };
}

describe('I8: over HTTP', () => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ settings: { TRUST_PROXY: 'true' } });
  });
  afterAll(() => easel.close());

  const left = (reply: Response) => /r=(\d+)/.exec(reply.headers.get('ratelimit') ?? '')?.[1];

  test('a visitor whose address is spelled like a person or a token spends none of their calls', async () => {
    const user = await easel.newUser();
    const [row] = await easel.sql<{ person_id: string }[]>`select person_id from account where id = ${user.userId}`;
    const claim = () => easel.fetch('/v1/invites/claim', { token: user.token, ...post({ code: 'none' }) });
    const before = Number(left(await claim()));
    for (const address of [row?.person_id ?? '', user.userId]) {
      const headers = { origin: easel.baseUrl, 'x-forwarded-for': address, 'content-type': 'application/x-www-form-urlencoded' };
      const form = await easel.fetch('/invite/none', { method: 'POST', body: '', headers, redirect: 'manual' });
      expect(form.headers.has('ratelimit')).toBe(true);
    }
    expect(Number(left(await claim()))).toBe(before - 1);
  });

  test('a workspace is remembered by id and by slug, and no slug can be the id of another', async () => {
    const [ada, ben] = [await easel.newUser(), await easel.newUser()];
    const ours = await newWorkspace(easel, { [ada.userId]: 'owner' }, { slug: 'ours' });
    const theirs = await newWorkspace(easel, { [ben.userId]: 'owner' }, { slug: 'theirs' });
    for (const slug of [ours, ours.toUpperCase(), `${ours} `]) {
      expect((await refusal(easel.fetch(`/v1/workspaces/${theirs}`, { ...post({ slug }), method: 'PATCH', token: ben.token })))[0]).toBe(
        400,
      );
      expect((await refusal(easel.fetch('/v1/workspaces', { token: ben.token, ...post({ name: 'X', slug }) })))[0]).toBe(400);
    }
    // What one caller's look-up has left there answers another by their own rights.
    for (const ref of ['ours', ours]) {
      expect((await json(await easel.fetch(`/v1/workspaces/${ref}`, { token: ada.token }))).id).toBe(ours);
      expect((await refusal(easel.fetch(`/v1/workspaces/${ref}`, { token: ben.token }))).slice(0, 2)).toEqual([404, 'WORKSPACE_NOT_FOUND']);
    }
  });

  test('a secret counts as the kind of credential that it is, with the same digits after another prefix as nothing', async () => {
    const { token } = await easel.newUser();
    const digits = token.slice(3);
    const me = async (bearer: string) => (await easel.fetch('/v1/me', { token: bearer })).status;
    expect(await me(token)).toBe(200);
    for (const other of [`sot_${digits}`, `sog_${digits}`, digits, `personal:${digits}`, `so_${digits} `.trim().toUpperCase()]) {
      expect([other, await me(other)]).toEqual([other, 401]);
    }
    const asCookie = await easel.fetch('/v1/me', { headers: { cookie: `service_session=${token}` } });
    expect(asCookie.status).toBe(401);
  });
});
