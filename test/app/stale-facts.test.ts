/** After each change of a fact, a service with warm caches gives the same answers as one that has just started on the same data. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { FactKind } from '../../src/platform/bus.ts';
import { type DatabaseKind, databaseKinds } from '../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser, testStorage } from '../support/easel.ts';
import { wire } from '../support/page-requests.ts';
import { json, patch, post, published } from '../support/requests.ts';
import { codeFor, ok, Visitor } from '../support/visitor.ts';

const HOUR_MS = 3_600_000;

interface World {
  readonly easel: TestEasel;
  readonly owner: TestUser;
  readonly second: { readonly id: string; readonly token: string };
  readonly id: string;
  /** The slug now, one to change it to, and one to import a copy under. */
  readonly slugs: { readonly first: string; readonly other: string; readonly imported: string };
  readonly versions: readonly string[];
  readonly link: { readonly id: string; readonly secret: string };
  readonly archive: Uint8Array<ArrayBuffer>;
  /** Of the owner, with a member; a second one that the member has not joined. */
  readonly workspace: {
    readonly id: string;
    readonly slug: string;
    readonly member: TestUser;
    readonly open: string;
    /** A folder with an artifact that members see, and a private one. */
    readonly folder: { readonly id: string; readonly artifact: string; readonly slug: string; readonly secret: string };
  };
  readonly linking: Linking;
}

/** Somebody with a session, and an account without a sign-in whose page only it sees. */
interface Linking {
  readonly visitor: Visitor;
  /** The session as it was at first, also after it has ended. */
  readonly cookie: string;
  readonly email: string;
  readonly headless: TestUser;
  readonly page: string;
}

async function makeWorld(easel: TestEasel, name: string): Promise<World> {
  const slugs = { first: `first-${name}`, other: `other-${name}`, imported: `imported-${name}` };
  const owner = await easel.newUser('team');
  const first = await published(easel, owner, { slug: slugs.first, visibility: 'public' });
  const next = await published(easel, owner, { slug: slugs.first, files: [{ path: 'index.html', content: '<title>Two</title>two' }] });
  const call = async (path: string, body: object) => json(await easel.fetch(path, { token: owner.token, ...post(body) }));
  const link = await call(`/v1/artifacts/${first.id}/preview-links`, { version_id: first.versionId });
  const second = await call('/v1/me/tokens', { name: 'second' });
  const workspace = await makeWorkspace(easel, owner, name);
  const zip = await easel.fetch(`/v1/artifacts/${first.id}/export`, { token: owner.token });
  return {
    easel,
    owner,
    second,
    id: first.id,
    slugs,
    versions: [first.versionId, next.versionId],
    link: { id: link.id, secret: new URL(link.url).searchParams.get('_preview') ?? '' },
    archive: new Uint8Array(await zip.arrayBuffer()),
    workspace,
    linking: await makeLinking(easel, name),
  };
}

async function makeLinking(easel: TestEasel, name: string): Promise<Linking> {
  const visitor = new Visitor(easel, { address: `198.51.100.${name}` });
  const email = `visitor-${name}@example.com`;
  await visitor.signInByCode(email);
  const headless = await easel.newUser();
  const { id } = await published(easel, headless);
  return { visitor, cookie: visitor.cookieHeader, email, headless, page: id };
}

/** Proves the visitor's address from the account without a sign-in, which makes both one person. */
async function link({ easel, linking: { headless, email } }: World): Promise<Response> {
  easel.clock.advance(1);
  await ok(easel.fetch('/v1/auth/link-email/start', { token: headless.token, ...post({ email }) }));
  const code = await codeFor(easel, email);
  return ok(easel.fetch('/v1/auth/link-email/verify', { token: headless.token, ...post({ email, code }) }));
}

async function makeWorkspace(easel: TestEasel, owner: TestUser, name: string): Promise<World['workspace']> {
  const member = await easel.newUser();
  const email = `member-${name}@example.com`;
  await easel.sql`update account set email = ${email} where id = ${member.userId}`;
  const make = async (path: string, body: object, method = 'POST') =>
    json(await easel.fetch(path, { token: owner.token, ...post(body), method }));
  const { id, slug } = await make('/v1/workspaces', { name: `Team ${name}` });
  await make(`/v1/workspaces/${id}/members`, { email, role: 'member' });
  const open = await make('/v1/workspaces', { name: `Open ${name}` });
  await make(`/v1/workspaces/${open.id}/access-policy`, { allowed_domains: ['example.com'], auto_join: true }, 'PUT');
  const folder = await make(`/v1/workspaces/${id}/folders`, { name: 'Shown' });
  const secret = await make(`/v1/workspaces/${id}/folders`, { name: 'Secret', visibility: 'private' });
  const filed = await published(easel, owner, {
    slug: `filed-${name}`,
    workspace_id: id,
    folder_id: folder.id,
    visibility: 'workspace',
  });
  const inFolder = { id: folder.id, artifact: filed.id, slug: `filed-${name}`, secret: secret.id };
  return { id, slug, member, open: open.slug, folder: inFolder };
}

/** Asks everything that is answered from a cache. Each question is asked twice, so that the second answer comes from the cache. */
async function observe(easel: TestEasel, world: World): Promise<Readonly<Record<string, unknown>>> {
  const { owner, second, id, slugs, link: preview, workspace, linking } = world;
  const ask = async (path: string, init: { token?: string; headers?: Record<string, string> }) => {
    const reply = await easel.fetch(path, init);
    return [reply.status, reply.status < 300 ? await json(reply) : null] as const;
  };
  const api = (path: string, token?: string) => ask(path, token === undefined ? {} : { token });
  const inSession = (path: string) => ask(path, { headers: { cookie: linking.cookie } });
  const page = async (slug: string, path = '/') => {
    const answer = await wire(easel.port, new URL(easel.contentUrl(slug)).host, path);
    return [answer.status, answer.body.toString().replace(/localhost:\d+/g, 'localhost')];
  };
  const nameOf = (people: { data: { you: { name: string } } } | null) => people?.data.you.name;
  const questions: Readonly<Record<string, () => Promise<unknown>>> = {
    'token revoked': async () => (await api('/v1/me', second.token))[0],
    'head, as anybody': async () => (await api(`/v1/data/${id}/json`))[0],
    'head, as the owner': async () => (await api(`/v1/data/${id}/json`, owner.token))[0],
    name: async () => nameOf((await api(`/v1/data/${id}/comments/_people`, owner.token))[1]),
    page: () => page(slugs.first),
    'page at another slug': () => page(slugs.other),
    'page of an import': () => page(slugs.imported),
    'workspace by slug, as its member': async () => (await api(`/v1/workspaces/${workspace.slug}`, workspace.member.token))[0],
    'role in a workspace': async () => (await api(`/v1/workspaces/${workspace.id}/invites`, workspace.member.token))[0],
    'features of a workspace': async () => (await api(`/v1/workspaces/${workspace.id}/features`, owner.token))[1],
    'another workspace': async () => (await api(`/v1/workspaces/${workspace.open}`, workspace.member.token))[0],
    'filed artifact, as a member': async () => (await api(`/v1/data/${workspace.folder.artifact}/json`, workspace.member.token))[0],
    'guests in a folder': async () => (await api(`/v1/data/${workspace.folder.artifact}/comments/_config`, owner.token))[1],
    session: async () => (await inSession('/v1/me'))[0],
    'what belongs to a linked account': async () => (await inSession(`/v1/data/${linking.page}/json`))[0],
    preview: async () => (await page(slugs.first, `/?_preview=${preview.secret}`))[0],
  };
  const answers: Record<string, unknown> = {};
  for (const [name, question] of Object.entries(questions)) {
    await question();
    answers[name] = await question();
  }
  return answers;
}

type Cause = (world: World) => Promise<Response | unknown>;

/** For every kind of fact, the calls that change it; what is of the whole installation has a test of its own. The bell, jobs and datasets are read from the database each time: no cache can keep the old fact. */
const CAUSES: Readonly<
  Record<Exclude<FactKind, 'notices.changed' | 'jobs.changed' | 'instance.changed'>, Readonly<Record<string, Cause>>>
> = {
  'artifact.changed': {
    publish: ({ easel, owner, slugs }) => published(easel, owner, { slug: slugs.first, files: [{ path: 'index.html', content: 'three' }] }),
    rollback: (world) => call(world, `/rollback`, post({ version_id: world.versions[0] })),
    'a new slug': (world) => call(world, '', patch({ slug: world.slugs.other })),
    'less visibility': (world) => call(world, '', patch({ visibility: 'private' })),
    'a link preview': (world) => call(world, '', patch({ social_title: 'A card' })),
    'a preview link that ends': (world) => call(world, `/preview-links/${world.link.id}`, { method: 'DELETE' }),
    'comment settings': ({ easel, owner, id }) =>
      easel.fetch(`/v1/data/${id}/comments/_config`, {
        token: owner.token,
        ...post({ enabled: true, overlayEnabled: true }),
        method: 'PUT',
      }),
    'another folder': (world) =>
      inWorkspace(world, `/artifacts/${world.workspace.folder.artifact}/move`, post({ folder_id: world.workspace.folder.secret })),
    'a collaborator': (world) => ofHeadless(world, '/collaborators', post({ emails: [world.linking.email] })),
    'a collaborator who proves an address': async (world) => {
      const email = `late-${world.linking.email}`;
      await ofHeadless(world, '/collaborators', post({ emails: [email] }));
      await observe(world.easel, world);
      world.easel.clock.advance(1);
      await ok(world.linking.visitor.post('/v1/auth/link-email/start', { email }));
      return ok(world.linking.visitor.post('/v1/auth/link-email/verify', { email, code: await codeFor(world.easel, email) }));
    },
    'a request that is approved': async (world) => {
      const { id } = await json(await ok(world.linking.visitor.post('/v1/access-requests', { artifact_id: world.linking.page })));
      await observe(world.easel, world);
      const { token } = world.linking.headless;
      return ok(world.easel.fetch(`/v1/access-requests/${id}`, { token, ...post({ action: 'approve' }) }));
    },
    'another owner': (world) =>
      ofHeadless(world, '/transfer-ownership', post({ email: world.linking.email, confirm: true, keep_as: 'none' })),
    'a suspension': ({ easel, id }) =>
      ok(easel.fetch(`/v1/admin/artifacts/${id}`, { token: easel.adminToken, ...patch({ suspended: { reason: 'Spam' } }) })),
    'a restore': async (world) => {
      await call(world, '', { method: 'DELETE' });
      await observe(world.easel, world);
      await call(world, '/restore', post({}));
      // A restore alone gives the answers of before the trash; this change makes them differ.
      return call(world, '', patch({ social_title: 'Restored' }));
    },
  },
  'artifact.gone': {
    trash: (world) => call(world, '', { method: 'DELETE' }),
  },
  'artifact.replaced': {
    import: ({ easel, owner, slugs, archive }) =>
      easel.fetch(`/v1/artifacts/import?slug=${slugs.imported}`, {
        method: 'POST',
        token: owner.token,
        headers: { 'content-type': 'application/zip' },
        body: archive,
      }),
  },
  // No cache holds datasets: their followers read them again.
  'dataset.changed': {},
  'token.revoked': {
    'a session that ends': ({ linking }) => ok(linking.visitor.post('/v1/auth/sign-out')),
    revocation: ({ easel, owner, second }) => easel.fetch(`/v1/me/tokens/${second.id}`, { method: 'DELETE', token: owner.token }),
  },
  'person.changed': {
    'a link between accounts': (world) => link(world),
    'an account that is unlinked': async (world) => {
      const { visitor, headless } = world.linking;
      await link(world);
      await observe(world.easel, world);
      await ok(visitor.fetch(`/v1/auth/linked-accounts/${headless.userId}`, { method: 'DELETE' }));
      // Unlinked, everything answers as before the link; this makes it differ.
      return world.easel.fetch('/v1/auth/profile', { token: world.owner.token, ...patch({ name: 'Grace' }) });
    },
    'a suspension': ({ easel, owner }) =>
      ok(easel.fetch(`/v1/admin/people/${owner.userId}`, { token: easel.adminToken, ...patch({ suspended: { reason: 'Spam' } }) })),
    'a membership that ends': (world) => inWorkspace(world, `/members/${world.workspace.member.userId}`, { method: 'DELETE' }),
    'another role': (world) => inWorkspace(world, `/members/${world.workspace.member.userId}`, patch({ role: 'admin' })),
    'joining by oneself': ({ easel, workspace }) =>
      easel.fetch(`/v1/workspaces/${workspace.open}/join`, { method: 'POST', token: workspace.member.token }),
    'a deleted workspace': (world) => inWorkspace(world, `?confirm=${world.workspace.slug}`, { method: 'DELETE' }),
  },
  'workspace.changed': {
    'a new slug': (world) => inWorkspace(world, '', patch({ slug: `renamed-${world.workspace.slug}` })),
    'a suspension': ({ easel, workspace }) =>
      ok(easel.fetch(`/v1/admin/workspaces/${workspace.id}`, { token: easel.adminToken, ...patch({ suspended: { reason: 'Spam' } }) })),
    features: ({ easel, workspace }) =>
      easel.fetch(`/v1/workspaces/${workspace.id}/features`, { token: easel.adminToken, ...patch({ features: { catalog: true } }) }),
  },
  'folder.changed': {
    'less visibility': (world) => inWorkspace(world, `/folders/${world.workspace.folder.id}`, patch({ visibility: 'private' })),
    'guest comments': (world) => inWorkspace(world, `/folders/${world.workspace.folder.id}`, patch({ guest_comments: true })),
    'another place': (world) =>
      inWorkspace(world, `/folders/${world.workspace.folder.id}`, patch({ parent_id: world.workspace.folder.secret })),
    'a deletion': async (world) => {
      const { folder } = world.workspace;
      await inWorkspace(world, `/folders/${folder.id}`, patch({ guest_comments: true }));
      await observe(world.easel, world);
      await inWorkspace(world, `/folders/${folder.id}`, { method: 'DELETE' });
      // A deletion alone gives the answers of before the change; this makes them differ.
      return inWorkspace(world, `/artifacts/${folder.artifact}/move`, post({ folder_id: folder.secret }));
    },
  },
  'account.changed': {
    'a new name': ({ easel, owner }) => easel.fetch('/v1/auth/profile', { token: owner.token, ...patch({ name: 'Grace' }) }),
  },
};

async function call({ easel, owner, id }: World, path: string, init: RequestInit): Promise<Response> {
  const reply = await easel.fetch(`/v1/artifacts/${id}${path}`, { token: owner.token, ...init });
  if (reply.status >= 300) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`);
  return reply;
}

/** The page of the account without a sign-in. */
function ofHeadless({ easel, linking: { headless, page } }: World, path: string, init: RequestInit): Promise<Response> {
  return ok(easel.fetch(`/v1/artifacts/${page}${path}`, { token: headless.token, ...init }));
}

async function inWorkspace({ easel, owner, workspace }: World, path: string, init: RequestInit): Promise<Response> {
  const reply = await easel.fetch(`/v1/workspaces/${workspace.id}${path}`, { token: owner.token, ...init });
  if (reply.status >= 300) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`);
  return reply;
}

const cases = Object.entries(CAUSES).flatMap(([kind, causes]) =>
  Object.entries(causes).map(([name, cause]) => [kind, name, cause] as const),
);

type Answers = Readonly<Record<'before' | 'warm' | 'fresh', Readonly<Record<string, unknown>>>>;

/** Applies each cause to an artifact of its own, all of them on one service, and observes all of them on a second one. */
async function answersOf(database: DatabaseKind): Promise<ReadonlyMap<Cause, Answers>> {
  const storage = await testStorage(database);
  const easel = await startTestEasel({ storage, settings: { TRUST_PROXY: 'true' } });
  const worlds = new Map<Cause, World>();
  for (const [, , cause] of cases) worlds.set(cause, await makeWorld(easel, `${worlds.size}`));
  easel.clock.advance(HOUR_MS);
  const seen = new Map<Cause, Omit<Answers, 'fresh'>>();
  for (const [cause, world] of worlds) {
    const before = await observe(easel, world);
    await cause(world);
    seen.set(cause, { before, warm: await observe(easel, world) });
  }
  await easel.close();
  const cold = await startTestEasel({ storage });
  const answers = new Map<Cause, Answers>();
  for (const [cause, world] of worlds) {
    const { before = {}, warm = {} } = seen.get(cause) ?? {};
    answers.set(cause, { before, warm, fresh: await observe(cold, world) });
  }
  await cold.close();
  await storage.remove();
  return answers;
}

describe.each<DatabaseKind>(databaseKinds().slice(0, 1))('%s', (database) => {
  let answers: ReadonlyMap<Cause, Answers>;
  beforeAll(async () => {
    answers = await answersOf(database);
  });

  test.each(cases)('%s by %s: no cache keeps the old fact', (_kind, _name, cause) => {
    const { before, warm, fresh } = answers.get(cause) ?? {};
    expect(warm).toEqual(fresh);
    expect(warm).not.toEqual(before);
    expect(Object.keys(warm ?? {}).length).toBeGreaterThan(0);
  });
});
