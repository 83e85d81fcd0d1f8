/** Idempotency-Key on POST, on the real table. Source: contract.md §0. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Failure } from '../../protocol/core/errors.ts';
import { everyDatabaseKind, openTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FakeEdge, OTHER_TOKEN, OWNER_TOKEN, PUBLIC_ID, startFakeEdge } from './fake-edge.ts';

const FAVORITE = `/v1/artifacts/${PUBLIC_ID}/favorite`;
const TOKENS = '/v1/me/tokens';
const KEY = 'a-key-of-enough-characters';

describe.each(everyDatabaseKind())('on %s', (kind) => {
  let database: TestDatabase;
  let fake: FakeEdge;
  let made = 0;
  /** Set by a test to decide what the handler does next. */
  let outcome: () => unknown = () => undefined;

  beforeAll(async () => {
    database = await openTestDatabase(kind);
    fake = await startFakeEdge({
      sql: database.sql,
      handlers: {
        'tokens.create': async () => {
          await outcome();
          made += 1;
          return { reply: 'created', body: { ok: true, token: `so_secret_${made}`, shown_once: true } };
        },
        'accounts.create': () => ({ reply: 'created', body: { token: `so_account_${++made}` } }),
      },
    });
  });
  afterAll(async () => {
    fake.close();
    await database.close();
  });
  beforeEach(async () => {
    await database.sql`delete from idempotency_record`;
    outcome = () => undefined;
    fake.handled.length = 0;
  });

  function post(path: string, options: { key?: string; token?: string; body?: string } = {}): Promise<Response> {
    const headers: Record<string, string> = { 'content-type': 'application/json', 'idempotency-key': options.key ?? KEY };
    if (options.token !== '') headers.authorization = `Bearer ${options.token ?? OWNER_TOKEN}`;
    return fetch(fake.url(path), { method: 'POST', headers, body: options.body ?? '{}' });
  }

  async function codeOf(answer: Promise<Response>): Promise<[number, unknown]> {
    const reply = await answer;
    return [reply.status, ((await reply.json()) as { code?: unknown }).code];
  }

  test('the same key and body gives the first answer again, and nothing is done twice', async () => {
    const first = await post(TOKENS);
    const second = await post(TOKENS);
    expect([second.status, await second.text()]).toEqual([first.status, await first.text()]);
    expect([first.headers.get('idempotent-replayed'), second.headers.get('idempotent-replayed')]).toEqual([null, 'true']);
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(fake.handled).toEqual(['tokens.create']);
  });

  test('a POST without a body has it too', async () => {
    await post(FAVORITE, { body: '' });
    expect((await post(FAVORITE, { body: '' })).headers.get('idempotent-replayed')).toBe('true');
    expect(fake.handled).toEqual(['artifacts.favorite']);
  });

  test('another body is refused', async () => {
    await post(TOKENS);
    expect(await codeOf(post(TOKENS, { body: '{"name":"other"}' }))).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  });

  test('another caller, path or key is another request', async () => {
    await post(TOKENS);
    await post(TOKENS, { token: OTHER_TOKEN });
    await post(FAVORITE);
    await post(TOKENS, { key: `${KEY}2` });
    expect(fake.handled).toHaveLength(4);
  });

  test('a repetition during the first request gets IDEMPOTENCY_IN_PROGRESS', async () => {
    let release: (() => void) | undefined;
    outcome = () => new Promise<void>((resolve) => (release = resolve));
    const first = post(TOKENS);
    await expect.poll(() => fake.handled).toEqual(['tokens.create']);
    const second = await post(TOKENS);
    expect([second.status, second.headers.get('retry-after')]).toEqual([409, '1']);
    expect(((await second.json()) as { code: string }).code).toBe('IDEMPOTENCY_IN_PROGRESS');
    release?.();
    expect((await first).status).toBe(201);
    expect((await post(TOKENS)).headers.get('idempotent-replayed')).toBe('true');
  });

  test('a call whose process died frees its key after ten minutes', async () => {
    await post(TOKENS);
    await database.sql`update idempotency_record set status = null, body = null`;
    fake.clock.advance(9 * 60_000);
    expect(await codeOf(post(TOKENS))).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
    fake.clock.advance(60_000);
    expect((await post(TOKENS)).status).toBe(201);
    expect(fake.handled).toHaveLength(2);
  });

  test.each(['INTERNAL', 'UNAVAILABLE', 'INVALID_REQUEST', 'RATE_LIMITED'] as const)('an answer of %s is not kept', async (code) => {
    outcome = () => {
      throw code === 'INTERNAL' ? new Error('a bug') : new Failure(code);
    };
    expect((await post(TOKENS)).status).toBeGreaterThanOrEqual(400);
    outcome = () => undefined;
    expect((await post(TOKENS)).status).toBe(201);
  });

  test('a decided refusal is kept', async () => {
    outcome = () => {
      throw new Failure('SLUG_TAKEN');
    };
    expect(await codeOf(post(TOKENS))).toEqual([409, 'SLUG_TAKEN']);
    const again = await post(TOKENS);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([409, 'true']);
    const body = (await again.json()) as { request_id: string };
    expect(body.request_id).toBe(again.headers.get('x-request-id'));
    expect(fake.handled).toHaveLength(1);
  });

  test('an invalid body takes no key', async () => {
    expect(await codeOf(post(TOKENS, { body: '{"name":7}' }))).toEqual([400, 'INVALID_REQUEST']);
    expect((await post(TOKENS)).status).toBe(201);
  });

  test('it is forgotten after a day', async () => {
    await post(TOKENS);
    fake.clock.advance(24 * 3_600_000);
    expect((await post(TOKENS)).headers.get('idempotent-replayed')).toBeNull();
  });

  test('the table shows neither the answer nor the key', async () => {
    await post(TOKENS);
    const rows = await database.sql`select *, encode(body, 'escape') as sealed from idempotency_record`;
    expect(rows).toHaveLength(1);
    const shown = JSON.stringify(rows);
    expect(shown).not.toContain('so_secret');
    expect(shown).not.toContain(KEY);
  });

  test.each(['', 'x'.repeat(256)])('a key of %s is refused or no key at all', async (key) => {
    const reply = await post(TOKENS, { key });
    expect(reply.status).toBe(key === '' ? 201 : 400);
  });

  test('without a token a key must not be guessable', async () => {
    expect(await codeOf(post('/v1/auth/create-account', { token: '', key: 'short' }))).toEqual([400, 'INVALID_REQUEST']);
    const first = await post('/v1/auth/create-account', { token: '' });
    const second = await post('/v1/auth/create-account', { token: '' });
    expect(await second.text()).toBe(await first.text());
  });
});
