/** The orders of lists of artifacts, page by page, and what is shared by name. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ArtifactSort } from '../../../../protocol/artifacts/artifacts.ts';
import { type DatabaseKind, everyDatabaseKind } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { clientOf } from '../../../support/publishing.ts';
import { refusal } from '../../../support/requests.ts';
import { moveInto, workspaceOf } from '../../../support/workspaces.ts';

/** Made in this order; two have the same name, and one differs in case and accents alone. */
const NAMES = ['zoo', 'Álamo', 'beta', 'alamo', 'Ñandú', 'Zebra', 'beta', 'oak', '10 %', 'ÉCLAIR'];
const BY_NAME = ['10 %', 'alamo', 'beta', 'beta', 'eclair', 'nandu', 'oak', 'zebra', 'zoo'];

describe.each(everyDatabaseKind())('on %s', (database: DatabaseKind) => {
  let easel: TestEasel;
  let ada: TestUser;
  let grace: TestUser;
  let workspace: string;
  const made: string[] = [];
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    [ada, grace] = [await easel.newUser('pro'), await easel.newUser()];
    workspace = await workspaceOf(easel, [
      [ada, 'owner'],
      [grace, 'member'],
    ]);
    for (const [at, name] of NAMES.entries()) {
      const id = await publish(ada, name);
      made.push(id);
      // Every third one is hidden from members.
      await moveInto(easel, ada, id, workspace, { visibility: at % 3 === 2 ? 'private' : 'workspace' });
      await easel.sql`update artifact set created_at_ms = ${1000 + at}, updated_at_ms = ${9000 - at} where id = ${id}`;
    }
  });
  afterAll(() => easel?.close());

  async function publish(user: TestUser, name: string): Promise<string> {
    const files = [{ path: 'index.html', content: name }];
    const { body } = await clientOf(easel, user.token).publish.publish({ body: { name, files } });
    if (!('artifact' in body)) throw new Error('the publish asked for more');
    return body.artifact.id;
  }

  /** All pages of a list, three items each. */
  async function listed(user: TestUser, sort: ArtifactSort, workspace_id?: string) {
    const all: { id: string; name: string }[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await clientOf(easel, user.token).artifacts.list({ query: { sort, workspace_id, cursor, limit: 3 } });
      all.push(...body.artifacts);
      cursor = body.next_cursor ?? undefined;
      expect(body.has_more).toBe(cursor !== undefined);
    } while (cursor !== undefined);
    return all;
  }

  const plain = ({ name }: { name: string }) => name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

  test.each(['name', '-name'] as const)(
    'by %s: without case and accents, each one once, for who sees all and for who sees a part',
    async (sort) => {
      const turned = <T>(list: readonly T[]) => (sort === 'name' ? [...list] : [...list].reverse());
      for (const where of [undefined, workspace]) {
        const all = await listed(ada, sort, where);
        expect([...new Set(all.map(({ id }) => id))].sort()).toEqual([...made].sort());
        expect([...new Set(all.map(plain))]).toEqual(turned([...new Set(BY_NAME)]));
      }
      const seen = await listed(grace, sort, workspace);
      const open = NAMES.filter((_, at) => at % 3 !== 2).map((name) => plain({ name }));
      expect(seen.map(plain)).toEqual(turned([...open].sort()));
    },
  );

  test.each([
    ['created_at', 1],
    ['-created_at', -1],
    ['updated_at', -1],
    ['-updated_at', 1],
  ] as const)('by %s', async (sort, direction) => {
    const expected = direction === 1 ? made : [...made].reverse();
    expect((await listed(ada, sort, workspace)).map(({ id }) => id)).toEqual(expected);
    expect((await listed(ada, sort)).map(({ id }) => id)).toEqual(expected);
    const open = expected.filter((id) => made.indexOf(id) % 3 !== 2);
    expect((await listed(grace, sort, workspace)).map(({ id }) => id)).toEqual(open);
  });

  test('a cursor of another order, and one that is none, are refused', async () => {
    const first = async (sort: string) =>
      (await (await easel.fetch(`/v1/artifacts?limit=2&sort=${sort}`, { token: ada.token })).json()) as { next_cursor: string };
    const get = (query: string) => refusal(easel.fetch(`/v1/artifacts?${query}`, { token: ada.token }));
    expect(await get(`sort=name&cursor=${(await first('-updated_at')).next_cursor}`)).toEqual([400, 'INVALID_REQUEST', 'cursor']);
    expect(await get(`cursor=${(await first('name')).next_cursor}`)).toEqual([400, 'INVALID_REQUEST', 'cursor']);
    expect(await get(`sort=name&cursor=${Buffer.from('n.art_a.\u0000').toString('base64url')}`)).toEqual([
      400,
      'INVALID_REQUEST',
      'cursor',
    ]);
    expect(await get('sort=size')).toEqual([400, 'INVALID_REQUEST', 'sort']);
  });

  test('a name of the greatest length is in its place, and its cursor leads on', async () => {
    const long = await easel.newUser();
    const names = ['é'.repeat(200), `${'é'.repeat(199)}z`, '\u{1F600}'.repeat(200)];
    for (const name of names) await publish(long, name);
    expect((await listed(long, 'name')).map(({ name }) => name)).toEqual(names);
    const one = clientOf(easel, long.token).artifacts;
    const { body } = await one.list({ query: { sort: '-name', limit: 1 } });
    const { body: next } = await one.list({ query: { sort: '-name', limit: 1, cursor: body.next_cursor ?? '' } });
    expect([body, next].map(({ artifacts }) => artifacts[0]?.name)).toEqual([names[2], names[1]]);
  });

  test('shared: what others share by name, and nothing of one’s own', async () => {
    const [hers, his] = [await publish(grace, 'Her notes'), await publish(ada, 'His map')];
    await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${hers}, ${ada.userId}, 'viewer', 1)`;
    const { body } = await clientOf(easel, ada.token).artifacts.list({ query: { shared: true, count: true } });
    expect([body.artifacts.map(({ id }) => id), body.total]).toEqual([[hers], 1]);
    expect(body.artifacts.some(({ id }) => id === his)).toBe(false);
    const both = easel.fetch(`/v1/artifacts?shared=true&favorites=true`, { token: ada.token });
    expect(await refusal(both)).toEqual([400, 'INVALID_REQUEST', 'shared']);
  });

  test('[W8] no order and no filter tells of a private title: neither in the list, nor in the total, nor in a cursor', async () => {
    const hidden = await publish(ada, 'Aardvark merger');
    await moveInto(easel, ada, hidden, workspace, { visibility: 'private' });
    const stranger = await easel.newUser();
    for (const sort of ['name', '-name', '-updated_at', 'created_at'] as const) {
      for (const who of [grace, stranger]) {
        for (const query of [{ sort }, { sort, q: 'merger' }, ...(who === grace ? [{ sort, q: 'merger', workspace_id: workspace }] : [])]) {
          const { body } = await clientOf(easel, who.token).artifacts.list({ query: { ...query, count: true, limit: 1 } });
          const told = `${JSON.stringify(body)}${Buffer.from(body.next_cursor ?? '', 'base64url').toString('utf8')}`;
          expect(told.toLowerCase()).not.toContain('aardvark');
          if ('q' in query) expect([body.total, body.has_more]).toEqual([0, false]);
        }
      }
    }
    const { body } = await clientOf(easel, ada.token).artifacts.list({ query: { q: 'aardvark' } });
    expect(body.artifacts.map(({ id }) => id)).toEqual([hidden]);
  });
});
