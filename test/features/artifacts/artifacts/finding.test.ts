/** Artifacts found by a part of their name, and the caller's role on one. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DatabaseKind, databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { clientOf } from '../../../support/publishing.ts';
import { moveInto, workspaceOf } from '../../../support/workspaces.ts';

describe.each(databaseKinds())('on %s', (database: DatabaseKind) => {
  let easel: TestEasel;
  let ada: TestUser;
  let grace: TestUser;
  let workspace: string;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    [ada, grace] = [await easel.newUser(), await easel.newUser()];
    workspace = await workspaceOf(easel, [
      [ada, 'owner'],
      [grace, 'member'],
    ]);
  });
  afterAll(() => easel?.close());

  async function publish(user: TestUser, name: string, slug?: string): Promise<string> {
    const files = [{ path: 'index.html', content: name }];
    const { body } = await clientOf(easel, user.token).publish.publish({ body: { name, slug, files } });
    if (!('artifact' in body)) throw new Error('the publish asked for more');
    return body.artifact.id;
  }

  async function found(user: TestUser, query: { q: string; workspace_id?: string; count?: boolean }) {
    const { body } = await clientOf(easel, user.token).artifacts.list({ query });
    return { names: body.artifacts.map(({ name }) => name).sort(), total: body.total };
  }

  test('a part of the name or of the slug finds it, in any case; marks of patterns mean themselves', async () => {
    await publish(ada, 'Quarterly Numbers', 'ledger-2026');
    await publish(ada, '100 % wool');
    await publish(ada, 'snake_case');
    expect(await found(ada, { q: 'NUMB' })).toEqual({ names: ['Quarterly Numbers'], total: undefined });
    expect((await found(ada, { q: 'ledger' })).names).toEqual(['Quarterly Numbers']);
    expect((await found(ada, { q: '0 %' })).names).toEqual(['100 % wool']);
    expect((await found(ada, { q: '_' })).names).toEqual(['snake_case']);
    expect((await found(ada, { q: '\\' })).names).toEqual([]);
    expect(await found(ada, { q: 'e', count: true })).toEqual({ names: ['Quarterly Numbers', 'snake_case'], total: 2 });
  });

  test('a name finds nothing for who does not see the artifact', async () => {
    const secret = await publish(ada, 'Merger plan');
    const open = await publish(ada, 'Merger party');
    await moveInto(easel, ada, secret, workspace, { visibility: 'private' });
    await moveInto(easel, ada, open, workspace, { visibility: 'workspace' });
    expect((await found(grace, { q: 'merger' })).names).toEqual([]);
    expect((await found(grace, { q: 'merger', workspace_id: workspace })).names).toEqual(['Merger party']);
    expect((await found(ada, { q: 'merger', workspace_id: workspace })).names).toEqual(['Merger party', 'Merger plan']);
  });

  test('an answer about one artifact says the role of the caller, and its ETag differs by it', async () => {
    const id = await publish(ada, 'Handbook');
    await moveInto(easel, ada, id, workspace, { visibility: 'workspace' });
    const read = async (user: TestUser) => clientOf(easel, user.token).artifacts.get({ params: { id } });
    const [owner, member] = [await read(ada), await read(grace)];
    expect([owner.body.role, member.body.role]).toEqual(['owner', 'viewer']);
    expect(owner.headers.get('etag')).not.toBe(member.headers.get('etag'));
    await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${id}, ${grace.userId}, 'editor', 1)`;
    // What is cached of an artifact is dropped by a change of it.
    await clientOf(easel, ada.token).artifacts.update({ params: { id }, body: { name: 'Team handbook' } });
    const editor = await read(grace);
    expect(editor.body.role).toBe('editor');
    const changed = await clientOf(easel, grace.token).artifacts.update({
      params: { id },
      body: { ...editor.body, name: 'Handbook of the team' },
      ifMatch: editor.headers.get('etag') ?? '',
    });
    expect([changed.body.name, changed.body.role]).toEqual(['Handbook of the team', 'editor']);
  });
});
