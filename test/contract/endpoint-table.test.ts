/** The types of the endpoint table refuse wrong names, and every answer states the limit that was spent. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endpoint } from '../../protocol/core/endpoint.ts';
import { RATE_LIMITS } from '../../protocol/core/rate-limits.ts';
import { SharedLimiter } from '../../src/storage/shared-limiter.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { send } from './calls.ts';
import { exampleCall, makeWorld } from './examples.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

const thing = {
  method: 'GET',
  path: '/v1/things/{id}/{rest*}',
  group: 'things',
  summary: 'A thing.',
  limit: 'none',
  replies: {},
  errors: [],
} as const;
const byArtifact = { who: 'artifact', need: 'view', scope: 'data:read' } as const;

test('an endpoint names parameters of its own path only', () => {
  expect(endpoint({ ...thing, access: { who: 'anyone' }, actor: 'id' }).actor).toBe('id');
  expect(endpoint({ ...thing, access: { ...byArtifact, param: 'rest' } }).access.param).toBe('rest');
  // @ts-expect-error The path has no such parameter.
  endpoint({ ...thing, access: { who: 'anyone' }, actor: 'artifactId' });
  // @ts-expect-error Nor this one.
  endpoint({ ...thing, access: { ...byArtifact, param: 'artifactId' } });
  // @ts-expect-error No limit has this name.
  endpoint({ ...thing, access: { who: 'anyone' }, limit: 'everything' });
});

test('sign-ups from one address are counted across processes, and each answer states what is left', async () => {
  const signUp = () => easel.fetch('/v1/auth/create-account', { method: 'POST' });
  const rate = (reply: Response) => [reply.status, reply.headers.get('ratelimit-policy'), reply.headers.get('ratelimit')];
  const policy = '"signup";q=30;w=3600';
  expect(rate(await signUp())).toEqual([201, policy, '"signup";r=29;t=3600']);
  const [window] = await easel.sql<{ subject: string }[]>`select subject from rate_window where limit_name = 'signup'`;
  const another = new SharedLimiter({ sql: easel.sql, clock: easel.clock });
  await another.spend(RATE_LIMITS.signup, window?.subject ?? '', 28);
  expect(rate(await signUp())).toEqual([201, policy, '"signup";r=0;t=3600']);
  const refused = await signUp();
  expect([...rate(refused), refused.headers.get('retry-after')]).toEqual([429, policy, '"signup";r=0;t=3600', '3600']);
  easel.clock.advance(3_600_000);
  expect((await signUp()).status).toBe(201);
});

test('publishes are counted across processes, and the first phase of a publish by digest spends none', async () => {
  const world = await makeWorld(easel);
  const { token, userId } = world.owner;
  const publish = async () => send(easel, 'publish.publish', await exampleCall('publish.publish', world), { token });
  const begin = async () =>
    send(easel, 'publish.publish', { body: { name: 'Big', files_digest: [{ path: 'index.html', sha256: 'a'.repeat(64) }] } }, { token });
  expect([(await begin()).headers.get('ratelimit'), (await begin()).headers.get('ratelimit')]).toEqual([
    '"publish";r=58;t=3600',
    '"publish";r=58;t=3600',
  ]);
  const [person] = await easel.sql<{ id: string }[]>`select person_id as id from account where id = ${userId}`;
  await new SharedLimiter({ sql: easel.sql, clock: easel.clock }).spend(RATE_LIMITS.publish, person?.id ?? '', 57);
  // A failed publish is rolled back together with the call it spent.
  const taken = await send(
    easel,
    'publish.publish',
    { body: { artifact_id: `art_${'n'.repeat(24)}`, files: [{ path: 'index.html', content: 'x' }] } },
    { token },
  );
  expect(taken.status).toBe(404);
  expect((await publish()).headers.get('ratelimit')).toBe('"publish";r=0;t=3600');
  for (const refused of [await publish(), await begin()]) {
    expect([refused.status, refused.headers.get('ratelimit')]).toEqual([429, '"publish";r=0;t=3600']);
  }
});

test('a refusal by a second limit, which the handler spends, names that limit', async () => {
  const world = await makeWorld(easel);
  const example = await exampleCall('comments.guestStart', world);
  const ask = (email: string) => send(easel, 'comments.guestStart', { ...example, body: { email, name: 'Gail' } }, {});
  await easel.sql`update artifact set visibility = 'public' where id = ${world.artifactId}`;
  await easel.fetch(`/v1/artifacts/${world.artifactId}`, {
    method: 'PATCH',
    token: world.owner.token,
    headers: { 'content-type': 'application/json' },
    body: '{"visibility":"public"}',
  });
  const replies = await Promise.all(Array.from({ length: 21 }, (_, index) => ask(`gail${index}@example.com`)));
  const refused = replies.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(1);
  expect(refused[0]?.headers.get('ratelimit')).toMatch(/^"guestCode";r=0;t=3600, "data";r=\d+;t=\d+$/);
});
