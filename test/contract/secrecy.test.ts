/**
 * Nobody learns of a private thing by asking for it: to callers without a right every endpoint of the table answers about it as about a thing
 * that does not exist, and no answer holds a word of it.
 */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Endpoint, SCOPES } from '../../protocol/core/endpoint.ts';
import { newId } from '../../protocol/core/ids.ts';
import type { EndpointId } from '../../protocol/table.ts';
import { tokenSha256 } from '../../src/features/people/tokens/secret.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { wire } from '../support/page-requests.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { send, table } from './calls.ts';
import { type ExampleCall, exampleCall, makeWorld, type World } from './examples.ts';

/** What only those who may see the artifact may read: its name, slug, contents and people. */
const SECRETS = ['a-telltale-name', 'a-telltale-file', 'a-telltale-value', 'a-telltale-row', 'a-telltale-comment', 'telltale@example.com'];
const ID = /\b[a-z]{3,4}_[0-9a-z]{24}\b/g;
/** Say something about the connection or the moment, not about the thing. */
const IGNORED_HEADERS = new Set(['date', 'x-request-id', 'connection', 'keep-alive']);

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

let easel: TestEasel;
let s3: TestS3;
let outsiders: Readonly<Record<string, string | undefined>>;
beforeAll(async () => {
  s3 = await startS3();
  easel = await startTestEasel({ settings: s3.settings });
  outsiders = {
    anonymous: undefined,
    stranger: (await easel.newUser('team')).token,
    'agent of another workspace': await foreignAgent(),
  };
});
afterAll(async () => {
  await easel.close();
  await s3.close();
});

async function foreignAgent(): Promise<string> {
  const token = `sot_${randomBytes(32).toString('hex')}`;
  const [workspaceId, principalId] = [newId('workspace'), newId('agent')];
  await easel.sql.begin(async (tx) => {
    await tx`insert into workspace (id, slug, name, created_at_ms, updated_at_ms) values (${workspaceId}, 'elsewhere', 'Elsewhere', 0, 0)`;
    await tx`insert into service_principal (id, workspace_id, name, created_at_ms) values (${principalId}, ${workspaceId}, 'Agent', 0)`;
    await tx`
      insert into agent_token (id, principal_id, scopes, token_sha256, created_at_ms)
      values (${newId('token')}, ${principalId}, ${[...SCOPES]}, ${tokenSha256(token)}, 0)`;
  });
  return token;
}

async function asOwner({ owner }: World, method: string, path: string, body?: unknown): Promise<void> {
  const init = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const reply = await easel.fetch(path, { method, token: owner.token, ...init });
  if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${await reply.text()}`);
}

/** Fills the artifact of a world with words that no stranger may read. */
async function fill(world: World): Promise<void> {
  const { artifactId } = world;
  const call = (method: string, path: string, body: unknown) => asOwner(world, method, path, body);
  const files = [{ path: 'index.html', content: '<!doctype html><title>a-telltale-file</title>' }];
  await call('PATCH', `/v1/artifacts/${artifactId}`, { name: 'a-telltale-name' });
  await call('POST', '/v1/publish', { artifact_id: artifactId, files });
  await call('PUT', `/v1/data/${artifactId}/json/score`, { of: 'a-telltale-value' });
  await call('POST', `/v1/data/${artifactId}/tables/guests`, { name: 'a-telltale-row' });
  await call('POST', `/v1/data/${artifactId}/comments`, { content: 'a-telltale-comment' });
}

/** Gives each id in a call another one, of nothing. The same id gets the same one. */
class Ghosts {
  readonly #ghosts = new Map<string, string>();

  of(call: ExampleCall, slug: string): ExampleCall {
    const text = JSON.stringify(call, (_key, value) => (value instanceof Uint8Array ? undefined : value));
    const ghostly = text.replace(ID, (id) => this.#of(id)).replaceAll(slug, this.#of(slug));
    const ghost = JSON.parse(ghostly) as ExampleCall;
    return call.body instanceof Uint8Array || Buffer.isBuffer(call.body) ? { ...ghost, body: call.body } : ghost;
  }

  /** An answer about ghosts, as it would be about what they stand for. */
  lifted(text: string): string {
    let lifted = text;
    for (const [real, ghost] of this.#ghosts) lifted = lifted.replaceAll(ghost, real);
    return lifted;
  }

  #of(real: string): string {
    const known = this.#ghosts.get(real);
    if (known !== undefined) return known;
    const at = real.indexOf('_');
    const end = newId('artifact').slice(4);
    const ghost = at === -1 ? end.slice(0, real.length).padEnd(real.length, 'x') : real.slice(0, at + 1) + end;
    this.#ghosts.set(real, ghost);
    return ghost;
  }
}

async function answerTo(id: EndpointId, call: ExampleCall, token: string | undefined): Promise<Answer> {
  const reply = await send(easel, id, call, { token });
  const headers = Object.fromEntries([...reply.headers].filter(([name]) => !IGNORED_HEADERS.has(name)));
  const body = (await reply.text()).replaceAll(reply.headers.get('x-request-id') ?? '\0', 'REQUEST');
  return { status: reply.status, headers, body };
}

const isAbout = ({ access }: Endpoint) => 'param' in access;

describe.each(table.filter(([, endpoint]) => isAbout(endpoint)))('%s', (id) => {
  test('answers about what is private as about what does not exist', async () => {
    const world = await makeWorld(easel);
    const call = await exampleCall(id, world);
    await fill(world).catch((error) => {
      // The examples of the trash have put it there.
      if (!/answered 404/.test(String(error))) throw error;
    });
    for (const [caller, token] of Object.entries(outsiders)) {
      const ghosts = new Ghosts();
      const ghost = ghosts.of(call, world.slug);
      // The first of the two calls may be the one that fills a cache.
      const [absent, hidden] = [await answerTo(id, ghost, token), await answerTo(id, call, token)];
      const lifted = JSON.parse(ghosts.lifted(JSON.stringify(absent))) as Answer;
      expect({ caller, ...hidden }).toEqual({ caller, ...lifted });
      expect(hidden.status).toBeGreaterThanOrEqual(400);
      for (const secret of SECRETS) expect(JSON.stringify(hidden)).not.toContain(secret);
    }
  });
});

test('the address of a private page answers as one that nobody has', async () => {
  const world = await makeWorld(easel);
  await fill(world);
  const host = (slug: string) => new URL(easel.contentUrl(slug)).host;
  const data = `/v1/data/${world.artifactId}`;
  const asked = ['/', '/index.html', '/sdk.js', '/v1/data/x/json/score', `${data}/json/score`, `${data}/nothing`, `${data}/json?limit=x`];
  for (const [path, method] of [...asked.map((path) => [path, 'GET'] as const), [`${data}/json/score`, 'PUT'] as const]) {
    const ghost = 'x'.repeat(world.slug.length);
    const ask = (slug: string) =>
      wire(easel.port, host(slug), path, { method, headers: { origin: easel.contentUrl(slug), cookie: 'a=b' } });
    const [absent, hidden] = [await ask(ghost), await ask(world.slug)];
    const shown = ({ status, headers, body }: typeof absent, slug: string) => {
      const kept = Object.entries(headers).filter(([name]) => !IGNORED_HEADERS.has(name));
      const text = body.toString().replaceAll(String(headers['x-request-id']), 'REQUEST');
      return JSON.stringify({ status, headers: Object.fromEntries(kept), text }).replaceAll(slug, 'SLUG');
    };
    expect(shown(hidden, world.slug)).toBe(shown(absent, ghost));
  }
});

/** What the owner may do to an artifact that never becomes public. */
const CHANGES = {
  private: (world: World) => asOwner(world, 'PATCH', `/v1/artifacts/${world.artifactId}`, { visibility: 'private' }),
  password: (world: World) =>
    asOwner(world, 'PATCH', `/v1/artifacts/${world.artifactId}`, { visibility: 'password', password: 'open sesame' }),
  opened: (world: World) =>
    asOwner(world, 'PATCH', `/v1/artifacts/${world.artifactId}`, { allow_anon_write: true, allow_anon_collab: true }),
  guests: (world: World) =>
    asOwner(world, 'PUT', `/v1/data/${world.artifactId}/comments/_config`, { guestComments: true, overlayEnabled: true }),
  described: (world: World) => asOwner(world, 'PATCH', `/v1/artifacts/${world.artifactId}`, { social_title: 'a-telltale-name' }),
  published: (world: World) => fill(world),
  rolledBack: (world: World) => asOwner(world, 'POST', `/v1/artifacts/${world.artifactId}/rollback`, { version_no: 1 }),
  trashedAndRestored: async (world: World) => {
    await asOwner(world, 'DELETE', `/v1/artifacts/${world.artifactId}`);
    await spy(world);
    await asOwner(world, 'POST', `/v1/artifacts/${world.artifactId}/restore`);
  },
} as const;

/** Reads, as every outsider, all that a GET without further ids can reach. */
async function spy({ artifactId, slug }: World): Promise<void> {
  const about = [
    '',
    '/json',
    '/json/score',
    '/tables',
    '/tables/guests/rows',
    '/comments',
    '/comments/_people',
    '/blobs',
    '/documents',
    '/changes',
  ];
  const paths = [
    ...about.map((rest) => (rest === '' ? `/v1/artifacts/${artifactId}` : `/v1/data/${artifactId}${rest}`)),
    ...['versions', 'files', 'presence', 'export'].map((rest) => `/v1/artifacts/${artifactId}/${rest}`),
    '/v1/artifacts',
    '/v1/artifacts/deleted',
  ];
  const host = new URL(easel.contentUrl(slug)).host;
  for (const token of Object.values(outsiders)) {
    const headers = { accept: 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    for (const path of paths) {
      const reply = await easel.fetch(path, { headers });
      const text = JSON.stringify([...reply.headers]) + (await reply.text());
      for (const secret of SECRETS) expect([path, text]).toEqual([path, expect.not.stringContaining(secret)]);
    }
    for (const path of ['/', '/index.html', '/?password=x', '/missing']) {
      const { headers: told, body } = await wire(easel.port, host, path, { headers });
      const text = JSON.stringify(told) + body.toString();
      for (const secret of SECRETS) expect([path, text]).toEqual([path, expect.not.stringContaining(secret)]);
    }
  }
}

test('no sequence of changes that keeps an artifact from the public tells an outsider a word of it', { timeout: 600_000 }, async () => {
  const names = Object.keys(CHANGES) as (keyof typeof CHANGES)[];
  const sequence = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 5 });
  const property = fc.asyncProperty(sequence, async (changes) => {
    const world = await makeWorld(easel);
    await fill(world);
    for (const change of changes) {
      await CHANGES[change](world);
      await spy(world);
    }
  });
  await fc.assert(property, { numRuns: 8 });
});
