/**
 * I12: over random worlds, explain, list and decision never disagree, and what a simulation says is exactly the difference of explain before and
 * after the real change. A world can be replayed by its seed.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, patch, post } from '../../../support/requests.ts';
import { type Person, person } from '../../workspaces/workspace-stage.ts';
import { made, pageIn, type SharingStage, sharingStage } from '../external-stage.ts';

const SEEDS = [20261123, 7, 41];
const RUNS = 6;
const ABILITIES = ['view', 'comment', 'edit'] as const;
type Can = Readonly<Record<(typeof ABILITIES)[number], boolean>>;

interface World {
  readonly stage: SharingStage;
  readonly folders: readonly { readonly id: string }[];
  readonly people: readonly Person[];
  readonly outside: readonly Person[];
  readonly org: { readonly id: string };
}

let easel: TestEasel;
let world: World;
beforeAll(async () => {
  const [database] = databaseKinds();
  easel = await startTestEasel(database === undefined ? {} : { database });
  world = await makeWorld();
});
afterAll(() => easel.close());

async function makeWorld(): Promise<World> {
  const stage = await sharingStage(easel, 'Worlds');
  const folder = (body: object) => made(easel, stage.owner, `${stage.path}/folders`, body);
  const top = await folder({ name: 'Top' });
  const folders = [
    top,
    await folder({ name: 'Below', parent_id: top.id }),
    await folder({ name: 'Closed', parent_id: top.id, visibility: 'private' }),
  ];
  const outside = [stage.client, await person(easel, 'olaf'), await person(easel, 'oona')];
  const twin = await person(easel, 'twin');
  // Somebody inside who is linked with somebody outside.
  await easel.sql`update account set person_id = (select person_id from account where id = ${stage.member.userId}) where id = ${twin.userId}`;
  const org = await made(easel, stage.admin, `${stage.path}/sharees`, { name: 'Outside Ltd' });
  for (const { email } of outside.slice(0, 2)) await made(easel, stage.admin, `${stage.path}/sharees/${org.id}/members`, { email });
  return { stage, folders, outside, org, people: [stage.owner, stage.admin, stage.member, stage.stranger, twin, ...outside] };
}

const plans = fc.record({
  visibility: fc.constantFrom('private', 'workspace', 'public'),
  folder: fc.constantFrom(null, 0, 1, 2),
  isOwned: fc.boolean(),
  collaborators: fc.array(fc.tuple(fc.nat(7), fc.constantFrom('editor', 'viewer')), { maxLength: 3 }),
  grants: fc.array(
    fc.record({
      to: fc.constantFrom('org', 0, 1, 2),
      on: fc.constantFrom('page', 0, 1, 2),
      capability: fc.constantFrom('view', 'comment', 'create', 'edit'),
    }),
    { maxLength: 4 },
  ),
  change: fc.oneof(
    fc.record({ visibility: fc.constantFrom('private', 'workspace', 'public') }),
    fc.record({ folder: fc.constantFrom(null, 0, 1, 2) }),
    fc.record({ to: fc.constantFrom('org', 0, 1, 2), capability: fc.constantFrom('view', 'comment', 'edit') }),
  ),
});
type Plan = typeof plans extends fc.Arbitrary<infer T> ? T : never;

async function arrange({ visibility, folder, isOwned, collaborators, grants }: Plan): Promise<string> {
  const { stage, folders, people } = world;
  const { grants: old } = await json(await easel.fetch(`${stage.path}/grants?limit=100`, { token: stage.admin.token }));
  for (const one of old) await easel.fetch(`${stage.path}/grants/${one.id}`, { method: 'DELETE', token: stage.admin.token });
  const { id } = await pageIn(easel, stage, { visibility, ...(folder !== null && { folder_id: folders[folder]?.id }) });
  if (isOwned) await easel.sql`update artifact set owner_id = null where id = ${id}`;
  for (const [index, role] of collaborators) {
    await easel.sql`
      insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${id}, ${people[index]?.userId ?? ''}, ${role}, 0)
      on conflict do nothing`;
  }
  for (const { to, on, capability } of grants) {
    const resource =
      on === 'page' ? { resource_type: 'artifact', resource_id: id } : { resource_type: 'folder', resource_id: folders[Number(on)]?.id };
    await share(to, { ...resource, capability });
  }
  return id;
}

function share(to: 'org' | 0 | 1 | 2 | string | number, body: object, condition?: string): Promise<Response> {
  const { stage, org, outside } = world;
  const headers = { 'content-type': 'application/json', ...(condition !== undefined && { 'if-match': condition }) };
  const call = (path: string, more: object) =>
    easel.fetch(`${stage.path}/${path}`, { ...post({ ...body, ...more }), headers, token: stage.admin.token });
  if (to === 'org') return call('grants', { subject_type: 'sharee', subject_id: org.id });
  return call('share-person', { email: outside[Number(to)]?.email });
}

async function canOf(id: string, email: string): Promise<Can> {
  const reply = await easel.fetch(`/v1/artifacts/${id}/access/explain?email=${email}`, { token: world.stage.admin.token });
  const { can, because } = await json(reply);
  for (const ability of ABILITIES) {
    const given = because.some(({ gives }: { gives: string[] }) => gives.includes(ability));
    expect([email, ability, given]).toEqual([email, ability, can[ability]]);
  }
  return can;
}

/** What the doors say: the page, a comment that is refused for its content only, and a change that is none. */
async function doorsOf(id: string, { token }: Person): Promise<Can> {
  const view = (await easel.fetch(`/v1/artifacts/${id}`, { token })).status === 200;
  const comment = (await easel.fetch(`/v1/data/${id}/comments`, { token, ...post({ content: ' ' }) })).status === 400;
  const edit = (await easel.fetch(`/v1/artifacts/${id}/rollback`, { token, ...post({ version_no: 999 }) })).status === 404;
  const { artifacts } = await json(await easel.fetch('/v1/artifacts?limit=100', { token }));
  const inside = await json(await easel.fetch(`/v1/artifacts?limit=100&workspace_id=${world.stage.id}`, { token }));
  const isListed = [...artifacts, ...(inside.artifacts ?? [])].some((one: { id: string }) => one.id === id);
  // A public page of others is in no list.
  if (!isListed && view) expect((await json(await easel.fetch(`/v1/artifacts/${id}`, { token }))).visibility).toBe('public');
  if (isListed) expect(view).toBe(true);
  return { view, comment, edit: view && edit };
}

async function checked(plan: Plan): Promise<void> {
  const { stage, folders, people, org, outside } = world;
  const id = await arrange(plan);
  await easel.fetch(`/v1/data/${id}/comments/_config`, { token: stage.owner.token, ...post({ enabled: true }), method: 'PUT' });
  const before = new Map<string, Can>();
  for (const one of people) {
    before.set(one.email, await canOf(id, one.email));
    expect([one.email, await doorsOf(id, one)]).toEqual([one.email, before.get(one.email)]);
  }
  const { change } = plan;
  const grant =
    'to' in change
      ? {
          ...(change.to === 'org' ? { subject_type: 'sharee', subject_id: org.id } : { email: outside[Number(change.to)]?.email }),
          capability: change.capability,
        }
      : undefined;
  const folder_id = 'folder' in change ? (change.folder === null ? null : folders[change.folder]?.id) : undefined;
  const body = 'visibility' in change ? { visibility: change.visibility } : grant === undefined ? { folder_id } : { grant };
  const simulated = await json(await easel.fetch(`/v1/artifacts/${id}/access/simulate`, { token: stage.admin.token, ...post(body) }));
  const headers = { 'content-type': 'application/json', 'if-match': simulated.revision };
  const by = plan.isOwned ? stage.admin : stage.owner;
  const done =
    'visibility' in change
      ? await easel.fetch(`/v1/artifacts/${id}`, { ...patch(body, headers), token: by.token })
      : grant !== undefined && 'to' in change
        ? await share(change.to, { resource_type: 'artifact', resource_id: id, capability: change.capability }, simulated.revision)
        : await easel.fetch(`${stage.path}/artifacts/${id}/move`, { ...post(body), headers, token: by.token });
  expect([done.status < 300, await done.clone().text()]).toEqual([true, expect.any(String)]);
  for (const one of people) {
    const [had, has] = [before.get(one.email), await canOf(id, one.email)];
    // Linked accounts are one person, who is told once.
    if (one.email.startsWith('twin') || one === stage.member) continue;
    const change = {
      gained: ABILITIES.filter((ability) => has[ability] && had?.[ability] !== true),
      lost: ABILITIES.filter((ability) => !has[ability] && had?.[ability] === true),
    };
    expect([one.email, toldOf(simulated, one.email, change)]).toEqual([one.email, change]);
  }
}

interface Change {
  readonly gained: readonly string[];
  readonly lost: readonly string[];
}

/** What a simulation says of one person. Who is concerned in no other way than anybody is told with everybody. */
function toldOf(simulated: { readonly opens: Entry[]; readonly closes: Entry[] }, email: string, real: Change): Change {
  const { opens, closes } = simulated;
  const of = (isMeant: (who: Entry['who']) => boolean): Change => ({
    gained: opens.find(({ who }) => isMeant(who))?.can ?? [],
    lost: closes.find(({ who }) => isMeant(who))?.can ?? [],
  });
  const own = of((who) => who.email === email);
  const isUntold = own.gained.length + own.lost.length === 0 && real.gained.length + real.lost.length > 0;
  return isUntold ? of(({ type }) => type === 'everybody') : own;
}

interface Entry {
  readonly who: { readonly type: string; readonly email?: string };
  readonly can: readonly string[];
}

test.each(SEEDS)('explain, list, doors and simulation agree in worlds of seed %i', async (seed) => {
  await fc.assert(fc.asyncProperty(plans, checked), { seed, numRuns: RUNS, endOnFailure: true });
});
