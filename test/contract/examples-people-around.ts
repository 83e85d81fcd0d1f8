/** Prepares what the examples of collaborators and of requests for access need. */

import type { TestEasel, TestUser } from '../support/easel.ts';
import { post } from '../support/requests.ts';

/** What these examples need of the world of `examples.ts`. */
interface World {
  readonly easel: TestEasel;
  readonly owner: TestUser;
  readonly stranger: TestUser;
  readonly artifactId: string;
}

interface Arranged {
  readonly params?: Readonly<Record<string, string>>;
  readonly ids?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

async function send({ easel }: World, token: string, path: string, body: unknown): Promise<Response> {
  const reply = await easel.fetch(path, { token, ...post(body) });
  if (!reply.ok) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`);
  return reply;
}

/** The address of the example becomes a collaborator. */
async function collaborator(world: World): Promise<Arranged> {
  await send(world, world.owner.token, `/v1/artifacts/${world.artifactId}/collaborators`, { emails: ['grace@example.com'] });
  return {};
}

/** An address that a stranger has proved. */
async function provedAddress({ easel, stranger }: World): Promise<string> {
  const email = `${stranger.userId}@example.com`;
  await easel.sql`update account set email = ${email} where id = ${stranger.userId}`;
  return email;
}

/** A page of somebody else, so that there is something to ask for. */
async function foreignPage(world: World): Promise<string> {
  const files = [{ path: 'index.html', content: '<!doctype html><title>Theirs</title>' }];
  const reply = await send(world, world.stranger.token, '/v1/publish', { name: 'Theirs', files });
  return ((await reply.json()) as { deployment: { slug: string } }).deployment.slug;
}

/** The stranger asks for the owner's artifact. */
async function request(world: World): Promise<Arranged> {
  const reply = await send(world, world.stranger.token, '/v1/access-requests', { artifact_id: world.artifactId });
  return { ids: { accessRequest: ((await reply.json()) as { id: string }).id } };
}

export const aroundArrangements = {
  'collaborators.list': collaborator,
  'collaborators.update': collaborator,
  'collaborators.remove': collaborator,
  'collaborators.transfer': async (world: World): Promise<Arranged> => ({
    body: { email: await provedAddress(world), confirm: true, keep_as: 'editor' },
  }),
  'accessRequests.create': async (world: World): Promise<Arranged> => ({ body: { slug: await foreignPage(world) } }),
  'accessRequests.incoming': request,
  'accessRequests.outgoing': async (world: World): Promise<Arranged> => {
    await send(world, world.owner.token, '/v1/access-requests', { slug: await foreignPage(world) });
    return {};
  },
  'accessRequests.get': request,
  'accessRequests.decide': request,
  'pages.accessRequest': request,
  'pages.accessRequestForm': request,
} as const;
