/** Who finds what: only what they may open, and nothing tells of the rest. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ANONYMOUS, letIn } from '../../../../actors/access/access.ts';
import type { ArtifactId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { findPassages } from '../../../../src/features/library/search/passages.ts';
import { readerOf } from '../../../../src/features/library/search/reader.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { userPrincipal } from '../../../support/principals.ts';
import { json, patch, refusal } from '../../../support/requests.ts';
import { agentOf } from '../../../support/workspaces.ts';
import { made, type SharingStage, sharePerson, sharingStage } from '../../sharing/external-stage.ts';
import { person } from '../../workspaces/workspace-stage.ts';
import { found, indexed, page, titles } from './search-stage.ts';

let easel: TestEasel;
let stage: SharingStage;
let other: SharingStage;
let linked: TestUser;
let helper: TestUser;
const ids: Record<string, string> = {};

/** Each page says `saffron`, and a word of its own that is its name. */
beforeAll(async () => {
  easel = await startTestEasel();
  [stage, other] = [await sharingStage(easel, 'Spice House'), await sharingStage(easel, 'Elsewhere')];
  linked = await person(easel, 'linda');
  helper = await person(easel, 'hugo');
  await easel.sql`update account set person_id = (select person_id from account where id = ${stage.owner.userId}) where id = ${linked.userId}`;
  await easel.sql`update account set tier = 'team'`;
  const put = async (name: string, by: TestUser, more: object) => {
    ids[name] = (await page(easel, by, name, `saffron ${name}`, more)).id;
  };
  const inside = { workspace_id: stage.id };
  const folder = await made(easel, stage.owner, `${stage.path}/folders`, { name: 'Closed', visibility: 'private' });
  await put('own', stage.owner, { visibility: 'private' });
  await put('inprivate', stage.owner, { ...inside, visibility: 'private' });
  await put('forteam', stage.owner, { ...inside, visibility: 'workspace' });
  await put('closedfolder', stage.owner, { ...inside, visibility: 'workspace', folder_id: folder.id });
  await put('locked', stage.owner, { ...inside, visibility: 'password', password: 'open sesame 1' });
  await put('forall', stage.owner, { ...inside, visibility: 'public' });
  await put('shared', stage.owner, { visibility: 'private' });
  await put('trashed', stage.owner, { visibility: 'private' });
  await put('granted', stage.owner, { ...inside, visibility: 'private' });
  await put('strange', other.owner, { workspace_id: other.id, visibility: 'workspace' });
  await made(easel, stage.owner, `/v1/artifacts/${ids.shared}/collaborators`, { emails: [await emailOf(helper)], role: 'viewer' });
  await sharePerson(easel, stage, stage.client.email, { resource_type: 'artifact', resource_id: ids.granted, capability: 'view' });
  await easel.fetch(`/v1/artifacts/${ids.trashed}`, { method: 'DELETE', token: stage.owner.token });
  await indexed(easel);
}, 60_000);
afterAll(() => easel.close());

async function emailOf({ userId }: TestUser): Promise<string> {
  const [row] = await easel.sql<{ email: string }[]>`select email from account where id = ${userId}`;
  return row?.email ?? '';
}

const ALL = ['closedfolder', 'forall', 'forteam', 'granted', 'inprivate', 'locked', 'own', 'shared'];
const WHO: Readonly<Record<string, readonly [() => { readonly token: string }, readonly string[]]>> = {
  'the owner': [() => stage.owner, ALL],
  'a linked account of the owner': [() => linked, ALL],
  'an admin of the workspace': [() => stage.admin, ALL.filter((name) => name !== 'own' && name !== 'shared')],
  'a member': [() => stage.member, ['forall', 'forteam', 'locked']],
  'a collaborator': [() => helper, ['forall', 'shared']],
  'somebody outside with a grant': [() => stage.client, ['forall', 'granted']],
  'a stranger': [() => stage.stranger, ['forall']],
  'the owner of another workspace': [() => other.owner, ['forall', 'strange']],
};

test.each(Object.keys(WHO))('%s finds what they may open, and nothing else', async (who) => {
  const [caller, expected] = WHO[who] ?? [() => stage.owner, []];
  const mine = (list: readonly string[]) => [...list].sort();
  expect(mine(await titles(easel, caller(), 'saffron', 'artifacts', '&limit=25'))).toEqual(mine(expected));
  // By name, misspelt, by some of the words, and where nothing is looked for: what strangers have made public is not among the recent ones.
  for (const name of Object.keys(ids)) expect((await titles(easel, caller(), name)).includes(name), name).toBe(expected.includes(name));
  expect(mine(await titles(easel, caller(), 'safron', 'artifacts', '&limit=25'))).toEqual(mine(expected));
  expect(mine(await titles(easel, caller(), 'saffron penguin', 'artifacts', '&limit=25'))).toEqual(mine(expected));
  const recent = await titles(easel, caller(), '', 'artifacts', '&limit=25');
  expect(recent.filter((name) => !expected.includes(name))).toEqual([]);
});

test('an agent finds what is in its workspace, needs its scope, and names no workspace', async () => {
  const reads = { token: await agentOf(easel, stage.id, ['artifacts:read']) };
  expect((await titles(easel, reads, 'saffron', 'artifacts', '&limit=25')).sort()).toEqual(['forall', 'forteam', 'locked']);
  const answer = await found(easel, reads, 'spice');
  expect([answer.datasets, answer.connectors, answer.schedules, answer.crew, answer.alerts]).toEqual([[], [], [], [], []]);
  expect((await found(easel, reads, 'mia')).people).toHaveLength(1);
  const publishes = await agentOf(easel, stage.id, ['artifacts:publish', 'data:read']);
  expect(await refusal(easel.fetch('/v1/search?q=saffron', { token: publishes }))).toEqual([403, 'INSUFFICIENT_SCOPE', undefined]);
  const narrowed = easel.fetch(`/v1/search?q=saffron&workspace=${stage.id}`, { token: reads.token });
  expect(await refusal(narrowed)).toEqual([403, 'FORBIDDEN', 'workspace']);
});

test('a workspace narrows the search of its members, and of nobody else', async () => {
  const inOne = (who: { readonly token: string }) => titles(easel, who, 'saffron', 'artifacts', `&limit=25&workspace=${stage.slug}`);
  expect((await inOne(stage.owner)).sort()).toEqual(ALL.filter((name) => name !== 'own' && name !== 'shared'));
  const refused = (token: string) => refusal(easel.fetch(`/v1/search?q=saffron&workspace=${stage.slug}`, { token }));
  for (const who of [stage.client, stage.stranger]) expect(await refused(who.token)).toEqual([403, 'FORBIDDEN', 'workspace']);
  expect((await easel.fetch('/v1/search?q=saffron')).status).toBe(401);
});

test('people, folders and workspaces are told to members alone', async () => {
  for (const who of [stage.stranger, stage.client]) {
    const { people, folders, crew } = await found(easel, who, 'closed');
    expect([people, folders, crew]).toEqual([[], [], []]);
    expect((await found(easel, who, 'olive')).people).toEqual([]);
    expect(JSON.stringify(await found(easel, who, ''))).not.toContain('Spice House');
  }
  expect((await found(easel, stage.admin, 'closed')).folders).toHaveLength(1);
  expect((await found(easel, stage.member, 'closed')).folders).toEqual([]);
});

test('access that is taken away counts at once', async () => {
  expect(await titles(easel, helper, 'shared')).toContain('shared');
  await easel.fetch(`/v1/artifacts/${ids.shared}/collaborators/${helper.userId}`, { method: 'DELETE', token: stage.owner.token });
  expect(await titles(easel, helper, 'shared')).not.toContain('shared');
  await easel.fetch(`/v1/artifacts/${ids.forall}`, { token: stage.owner.token, ...patch({ visibility: 'private' }) });
  expect(await titles(easel, stage.stranger, 'saffron')).toEqual([]);
});

// A lock holds up everything on the embedded database.
if (databaseKinds().includes('postgres'))
  test('a search under way is over when its caller leaves the workspace', async () => {
    const leaver = await person(easel, 'lea');
    await made(easel, stage.owner, `${stage.path}/members`, { email: await emailOf(leaver), role: 'member' });
    expect(await titles(easel, leaver, 'saffron')).toContain('forteam');
    const lookers = async () => easel.sql`select 1 from pg_locks where not granted and relation = 'search_document'::regclass`;
    const reply = await easel.sql.begin(async (tx) => {
      await tx`lock table search_document in access exclusive mode`;
      const search = easel.fetch('/v1/search?q=saffron', { token: leaver.token });
      await vi.waitFor(async () => expect(await lookers()).not.toHaveLength(0), { timeout: 60_000, interval: 20 });
      await easel.fetch(`${stage.path}/members/${leaver.userId}`, { method: 'DELETE', token: stage.owner.token });
      return search;
    });
    expect(await refusal(Promise.resolve(reply))).toEqual([503, 'UNAVAILABLE', undefined]);
  });

test('[W8] pages that a caller may not see change nothing of what they find: no correction, no rank, no score', async () => {
  const reader = await person(easel, 'rita');
  await page(easel, reader, 'Garden notes', 'Zephyrine roses and marigold beds, watered on mondays. Marigold again.');
  await page(easel, reader, 'Orchard notes', 'Apple trees, marigold borders and watering cans.');
  await indexed(easel);
  const queries = [
    'zephyrin',
    'zepyhrine',
    'marigld',
    'marigold wattering',
    'marigold monday',
    'notes',
    'xylophone marigold',
    'orchrd',
    'zephirime',
  ];
  const answers = async () => {
    const all = await Promise.all(queries.map((q) => found(easel, reader, q)));
    return all.map(({ artifacts, people, folders }) => ({ artifacts, people, folders }));
  };
  const before = await answers();
  expect(before[1]?.artifacts.map(({ title }) => title)).toEqual(['Garden notes']);
  // The very words that were misspelt, others that are closer to them, and very many of a word that was rare.
  for (const text of ['zephyrin zepyhrine zephirime zephirine', 'marigld wattering xylophone orchrd', 'zephyrine '.repeat(50)])
    await page(easel, other.owner, `Hidden ${text.slice(0, 20)}`, text, { visibility: 'private' });
  await indexed(easel);
  expect(await answers()).toEqual(before);
});

test('passages come from what the reader may open, by question, and from one artifact where it is named', async () => {
  const config = { baseUrl: easel.baseUrl, contentHost: 'localhost' } as Parameters<typeof findPassages>[0]['config'];
  const ask = (reader: ReturnType<typeof readerOf>, more: object = {}) =>
    findPassages({ sql: easel.sql, config, isEmbedded: false }, reader, {
      question: 'Where do we speak of saffron and forteam?',
      limit: 20,
      ...more,
    });
  const member = userPrincipal(stage.member.userId, { workspaces: { [stage.id as WorkspaceId]: 'member' } });
  const passages = await ask(readerOf(member));
  expect(passages[0]).toMatchObject({ title: 'forteam', path: 'index.html', text: 'saffron forteam', score: expect.any(Number) });
  expect(passages.map(({ title }) => title).sort()).toEqual(['forteam', 'locked']);
  expect(await ask(readerOf(userPrincipal(stage.stranger.userId)))).toEqual([]);
  // Whoever has given the password of a page reads that page.
  const locked = ids.locked as ArtifactId;
  const visitor = letIn(ANONYMOUS, { artifactId: locked, expiresAtMs: Infinity });
  expect((await ask(readerOf(visitor), { artifactId: locked })).map(({ title }) => title)).toEqual(['locked']);
  expect(await ask(readerOf(ANONYMOUS), { artifactId: locked })).toEqual([]);
  expect(await ask(readerOf(member), { artifactId: ids.own as ArtifactId })).toEqual([]);
  expect((await ask(readerOf(member), { question: 'safron' })).length).toBe(2);
  expect(await json(await easel.fetch('/v1/search?q=%20', { token: stage.member.token }))).toMatchObject({ query: ' ' });
});

test('[W8] no word of a hidden page, and no form of it, makes a page be found by a misspelt word', async () => {
  const reader = await person(easel, 'walt');
  const letters = (at: number) => [...String(at)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
  const words = Array.from({ length: 6000 }, (_, at) => `word${letters(at)}`);
  await page(easel, reader, 'Short', 'harlequinades');
  await page(easel, reader, 'Long', `${words.join(' ')} gallimaufry`);
  await indexed(easel);
  // Nearly another word with the stem of what the page says; nearly that stem; nearly a word behind very many others.
  const queries = ['harlequinadnig', 'harlequinda', 'galimaufry'];
  const answers = () => Promise.all(queries.map((q) => titles(easel, reader, q)));
  expect(await answers()).toEqual([[], ['Short'], ['Long']]);
  await page(easel, other.owner, 'Hidden', 'harlequinading harlequinad gallimaufry', { visibility: 'private' });
  await indexed(easel);
  expect(await answers()).toEqual([[], ['Short'], ['Long']]);
});
