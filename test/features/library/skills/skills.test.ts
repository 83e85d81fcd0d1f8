/** Skills over HTTP: who makes, changes, approves and attaches them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, publish, published, refusal } from '../../../support/requests.ts';
import { seededWorkspace, type TestWorkspace } from '../../../support/seeded-workspace.ts';
import { agentOf } from '../../../support/workspaces.ts';

let easel: TestEasel;
let acme: TestWorkspace;
let other: TestUser;
let colleague: TestUser;
beforeAll(async () => {
  easel = await startTestEasel();
  acme = await seededWorkspace(easel, 'acme');
  [other, colleague] = await Promise.all([easel.newUser(), easel.newUser()]);
  await easel.sql`
    insert into workspace_member (workspace_id, user_id, role, joined_at_ms) values (${acme.id}, ${colleague.userId}, 'member', 0)`;
});
afterAll(() => easel.close());

const source = (text = 'One.\n\nTwo.\n\nThree.\n', name = 'Notes') => `---\nname: ${name}\ndescription: How we write.\n---\n${text}`;
type By = Pick<TestUser, 'token'>;

async function make(by: By = acme.member, markdown = source()) {
  const reply = await easel.fetch('/v1/workspaces/acme/skills', { token: by.token, ...post({ markdown }) });
  const body = await json(reply);
  if (reply.status !== 201) throw new Error(JSON.stringify(body));
  return body as { id: string; artifact_id: string };
}
const put = (id: string, by: By, markdown: string, headers: Record<string, string> = {}) =>
  easel.fetch(`/v1/skills/${id}/markdown`, {
    method: 'PUT',
    token: by.token,
    body: markdown,
    headers: { 'content-type': 'text/markdown', ...headers },
  });
const read = (path: string, by: By = acme.member) => easel.fetch(path, { token: by.token });
const markdownOf = async (id: string) => (await read(`/v1/skills/${id}/markdown`)).text();
const proposing = (id: string, by: By, markdown: string, more: object = {}) =>
  easel.fetch(`/v1/skills/${id}/changes`, { token: by.token, ...post({ markdown, ...more }) });
async function propose(id: string, by: By, markdown: string, more: object = {}) {
  return (await json(await proposing(id, by, markdown, more))).id as string;
}
const decide = (id: string, change: string, by: By, action: string) =>
  easel.fetch(`/v1/skills/${id}/changes/${change}`, { token: by.token, ...post({ action }) });
const namesIn = async (query = '', by: By = acme.member) =>
  (await json(await read(`/v1/workspaces/acme/skills${query}`, by))).skills.map(({ id }: { id: string }) => id) as string[];

describe('a skill', () => {
  it('goes back to an older version, and loses one, by its approvers only', async () => {
    const { id, artifact_id } = await make();
    const first = await json(await read(`/v1/artifacts/${artifact_id}`));
    expect((await put(id, acme.member, source('Four.\n'))).status).toBe(200);
    const editor = { email: 'editor@acme.example', ...(await easel.newUser()) };
    await easel.sql`update account set email = ${editor.email} where id = ${editor.userId}`;
    await easel.fetch(`/v1/artifacts/${artifact_id}/collaborators`, {
      token: acme.member.token,
      ...post({ emails: [editor.email], role: 'editor' }),
    });
    const agent = { token: await agentOf(easel, acme.id, ['artifacts:read', 'artifacts:publish']) };
    const of = (path: string) => `/v1/artifacts/${artifact_id}/${path}`;
    for (const { token } of [editor, agent]) {
      const calls = [
        await easel.fetch(of('rollback'), { token, ...post({ version_no: 1 }) }),
        await easel.fetch(of('pin'), { token, ...post({ version_id: first.live_version_id }) }),
        await easel.fetch(of('versions/1'), { token, method: 'DELETE' }),
      ];
      for (const reply of calls) expect([reply.status, (await json(reply)).code]).toEqual([409, 'SKILL_REQUIRES_APPROVAL']);
    }
    expect((await easel.fetch(of('rollback'), { token: acme.member.token, ...post({ version_no: 1 }) })).status).toBe(200);
    expect(await markdownOf(id)).toBe(source());
  });

  it('is an artifact with a page and its Markdown, for members of the workspace and its agents', async () => {
    const { id, artifact_id } = await make();
    expect(await namesIn()).toContain(id);
    expect(await markdownOf(id)).toBe(source());
    expect(await json(await read(`/v1/skills/${id}`, acme.owner))).toMatchObject({ artifact_id, version_no: 1, may_approve: true });
    expect(await json(await read(`/v1/skills/${id}`, colleague))).toMatchObject({ name: 'Notes', may_approve: false });
    const files = await json(await read(`/v1/artifacts/${artifact_id}/files`));
    expect(files.files.map(({ path }: { path: string }) => path)).toEqual(['SKILL.md', 'index.html']);
    const agent = await agentOf(easel, acme.id, ['artifacts:read']);
    expect(await namesIn('', { token: agent })).toContain(id);
    expect((await read(`/v1/skills/${id}/markdown`, { token: agent })).headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    for (const path of ['', '/markdown', '/changes']) {
      expect(await refusal(read(`/v1/skills/${id}${path}`, other))).toEqual([404, 'SKILL_NOT_FOUND', undefined]);
    }
  });

  it('of somebody private is in no list of others, and in the trash in none', async () => {
    const { id, artifact_id } = await make();
    await easel.fetch(`/v1/artifacts/${artifact_id}`, { token: acme.member.token, ...patch({ visibility: 'private' }) });
    expect([await namesIn('', colleague), await namesIn('', acme.admin)].map((ids) => ids.includes(id))).toEqual([false, true]);
    expect(await refusal(read(`/v1/skills/${id}`, colleague))).toEqual([404, 'SKILL_NOT_FOUND', undefined]);
    await easel.fetch(`/v1/artifacts/${artifact_id}`, { method: 'DELETE', token: acme.member.token });
    expect(await namesIn()).not.toContain(id);
  });

  it('gets a version by its approvers only, and by no other way', async () => {
    const { id, artifact_id } = await make();
    const next = source('One.\n\nTwo.\n\nFour.\n', 'Better notes');
    expect(await refusal(put(id, colleague, next))).toEqual([409, 'SKILL_REQUIRES_APPROVAL', undefined]);
    expect(await refusal(put(id, acme.admin, next, { 'if-match': '"7"' }))).toEqual([409, 'VERSION_CONFLICT', undefined]);
    const reply = await put(id, acme.admin, next, { 'if-match': '"1"' });
    expect([reply.status, reply.headers.get('etag')]).toEqual([200, '"2"']);
    expect(await json(reply)).toMatchObject({ name: 'Better notes', version_no: 2 });
    expect(await json(await read(`/v1/artifacts/${artifact_id}`))).toMatchObject({ name: 'Better notes', live_version_no: 2 });
    expect(await refusal(publish(easel, acme.member, { artifact_id }))).toEqual([409, 'SKILL_REQUIRES_APPROVAL', undefined]);
    await easel.fetch(`/v1/artifacts/${artifact_id}/rollback`, { token: acme.member.token, ...post({ version_no: 1 }) });
    expect(await json(await read(`/v1/skills/${id}`))).toMatchObject({ name: 'Notes', version_no: 1 });
    expect(await markdownOf(id)).toBe(source());
  });

  it('does not go past the publish policy of its workspace', async () => {
    const { id } = await make();
    const policy = (value: string) => easel.sql`
      insert into publish_policy (workspace_id, policy, approvals_required) values (${acme.id}, ${value}, 1)
      on conflict (workspace_id) do update set policy = excluded.policy`;
    await policy('require_approval');
    try {
      expect(await refusal(put(id, acme.member, source('Other.\n')))).toEqual([409, 'SKILL_REQUIRES_APPROVAL', undefined]);
      const held = await easel.fetch('/v1/workspaces/acme/skills', { token: acme.member.token, ...post({ markdown: source() }) });
      expect([held.status, (await json(held)).held]).toEqual([201, 'REVIEW_REQUIRED']);
      expect((await put(id, acme.admin, source('Other.\n'))).status).toBe(200);
    } finally {
      await policy('allow');
    }
  });
});

describe('a proposed change', () => {
  it('changes nothing until an approver merges it with what was published meanwhile', async () => {
    const { id } = await make();
    const change = await propose(id, colleague, source('One.\n\nTwo.\n\nThird.\n'), { title: 'Third', note: 'Sounds better.' });
    expect(await markdownOf(id)).toBe(source());
    await put(id, acme.member, source('First.\n\nTwo.\n\nThree.\n'));
    const shown = await json(await read(`/v1/skills/${id}/changes/${change}`));
    expect(shown).toMatchObject({ title: 'Third', base_version_no: 1, status: 'open', author: { id: colleague.userId } });
    expect(shown.diff).toContain('-Three.\n+Third.\n');
    expect(await refusal(decide(id, change, colleague, 'merge'))).toEqual([409, 'SKILL_REQUIRES_APPROVAL', undefined]);
    const merged = await decide(id, change, acme.admin, 'merge');
    expect([merged.status, await json(merged)]).toMatchObject([200, { status: 'merged', version_no: 3 }]);
    expect(await markdownOf(id)).toBe(source('First.\n\nTwo.\n\nThird.\n'));
    expect(await refusal(decide(id, change, acme.admin, 'merge'))).toEqual([409, 'SKILL_CHANGE_CLOSED', undefined]);
    const log = await json(await read('/v1/workspaces/acme/audit?limit=100', acme.owner));
    const actions = log.entries.map(({ action }: { action: string }) => action);
    expect(actions).toEqual(expect.arrayContaining(['skill.create', 'skill.propose', 'skill.merge', 'artifact.publish']));
  });

  it('is merged once, however many approvers do it at once', async () => {
    const { id } = await make();
    const change = await propose(id, colleague, source('Once.\n'));
    const replies = await Promise.all([acme.owner, acme.admin, acme.member].map((by) => decide(id, change, by, 'merge')));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(await json(await read(`/v1/skills/${id}`))).toMatchObject({ version_no: 2 });
  });

  it('about the same lines is a conflict with both sides marked, and stays open', async () => {
    const { id } = await make();
    const change = await propose(id, colleague, source('Theirs.\n\nTwo.\n\nThree.\n'));
    await put(id, acme.member, source('Ours.\n\nTwo.\n\nThree.\n'));
    const reply = await decide(id, change, acme.admin, 'merge');
    const body = await json(reply);
    expect([reply.status, body.code]).toEqual([409, 'VERSION_CONFLICT']);
    expect(body.conflict).toContain('<<<<<<< live version\nOurs.\n=======\nTheirs.\n>>>>>>> proposed change\n');
    expect(await json(await read(`/v1/skills/${id}/changes?status=open`))).toMatchObject({ changes: [{ id: change }] });
  });

  it('is rejected by approvers, withdrawn by its author, and proposed by members only', async () => {
    const { id } = await make();
    const [first, second] = [await propose(id, colleague, source('A.\n')), await propose(id, colleague, source('B.\n'))];
    expect(await refusal(decide(id, first, acme.admin, 'withdraw'))).toEqual([403, 'FORBIDDEN', undefined]);
    expect(await refusal(decide(id, first, colleague, 'reject'))).toEqual([409, 'SKILL_REQUIRES_APPROVAL', undefined]);
    expect(await json(await decide(id, first, colleague, 'withdraw'))).toMatchObject({ status: 'withdrawn' });
    expect(await json(await decide(id, second, acme.member, 'reject'))).toMatchObject({ status: 'rejected' });
    expect(await refusal(proposing(id, colleague, source()))).toEqual([400, 'INVALID_REQUEST', 'markdown']);
    await easel.sql`update artifact set visibility = 'public' from skill s where s.artifact_id = artifact.id and s.id = ${id}`;
    expect(await refusal(proposing(id, other, source('C.\n')))).toEqual([403, 'FORBIDDEN', undefined]);
    expect(await refusal(put(id, other, source('C.\n')))).toEqual([403, 'FORBIDDEN', undefined]);
  });

  it('has a bound for each person', async () => {
    const { id } = await make();
    await easel.sql`
      insert into skill_change (id, skill_id, title, note, markdown, base_version_no, base_markdown, status, author_id, created_at_ms)
      select 'skc_' || lpad(n::text, 24, 'x'), ${id}, '', '', '', 1, '', 'open', ${colleague.userId}, n from generate_series(1, 20) n`;
    expect(await refusal(proposing(id, colleague, source('A.\n')))).toEqual([409, 'SKILL_LIMIT_EXCEEDED', undefined]);
    expect((await proposing(id, acme.admin, source('A.\n'))).status).toBe(201);
  });
});

describe('the bell', () => {
  const noticesOf = async (by: By, skill: string) =>
    (await json(await read('/v1/notifications?limit=100', by))).notifications.filter(({ url }: { url: string }) =>
      url?.endsWith(skill),
    ) as {
      kind: string;
      title: string;
      body: string;
      url: string;
    }[];
  const kindsOf = async (by: By, skill: string) => (await noticesOf(by, skill)).map(({ kind }) => kind);

  it('tells approvers of a change, and its author what became of it', async () => {
    const { id } = await make();
    const [first, second, third] = [
      await propose(id, colleague, source('One.\n\nTwo.\n\nThird.\n')),
      await propose(id, colleague, source('B.\n')),
      await propose(id, colleague, source('C.\n'), { title: 'Third' }),
    ];
    for (const approver of [acme.owner, acme.admin, acme.member]) {
      // The newest stands for those that they have not read.
      expect(await kindsOf(approver, id)).toEqual(['skill.proposed']);
    }
    expect(await kindsOf(colleague, id)).toEqual([]);
    expect((await noticesOf(acme.admin, id)).find(({ body }) => body.includes('Third'))).toMatchObject({
      title: 'A change of the skill "Notes" is proposed',
      url: `/w/${acme.id}/skills/${id}`,
    });
    await decide(id, first, acme.admin, 'merge');
    await decide(id, second, acme.owner, 'reject');
    await decide(id, third, colleague, 'withdraw');
    expect((await kindsOf(colleague, id)).sort()).toEqual(['skill.merged', 'skill.rejected']);
    expect(await kindsOf(acme.admin, id)).toHaveLength(1);
  });

  it('does not tell people of what they do themselves, nor the owner of a skill who may not approve', async () => {
    const { id } = await make();
    const own = await propose(id, acme.admin, source('Own.\n'));
    expect([await kindsOf(acme.admin, id), await kindsOf(acme.member, id)]).toEqual([[], ['skill.proposed']]);
    await decide(id, own, acme.admin, 'merge');
    expect(await kindsOf(acme.admin, id)).toEqual([]);
    await easel.sql`
      insert into publish_policy (workspace_id, policy, approvals_required) values (${acme.id}, 'prohibit', 1)
      on conflict (workspace_id) do update set policy = excluded.policy`;
    try {
      await propose(id, colleague, source('Other.\n'));
    } finally {
      await easel.sql`delete from publish_policy where workspace_id = ${acme.id}`;
    }
    expect([await kindsOf(acme.admin, id), await kindsOf(acme.member, id)]).toEqual([['skill.proposed'], ['skill.proposed']]);
  });

  it('tells each person once, in their language, and of many approvers the owner of the skill and the oldest members', async () => {
    const { id } = await make();
    const linked = await easel.newUser();
    await easel.sql`
      update account set metadata = metadata || '{"locale": "es"}', person_id = (select person_id from account where id = ${acme.admin.userId})
      where id in (${acme.admin.userId}, ${linked.userId})`;
    const crowd = Array.from({ length: LIMITS.skillApproversToldMax }, () => newId('user'));
    const members = [linked.userId, ...crowd].map((user_id) => ({ workspace_id: acme.id, user_id, role: 'admin', joined_at_ms: 9e15 }));
    await easel.sql`insert into account ${easel.sql(crowd.map((one) => ({ id: one, person_id: newId('person'), created_at_ms: 0 })))}`;
    await easel.sql`insert into workspace_member ${easel.sql(members)}`;
    try {
      await propose(id, colleague, source('Crowded.\n'));
    } finally {
      await easel.sql`delete from workspace_member where user_id in ${easel.sql(members.map(({ user_id }) => user_id))}`;
    }
    const told = await easel.sql<{ user_id: string; title: string }[]>`select user_id, title from notice where url like ${`%${id}`}`;
    expect(told).toHaveLength(LIMITS.skillApproversToldMax);
    const first = [acme.owner, acme.admin, acme.member].map(({ userId }) => told.filter(({ user_id }) => user_id === userId).length);
    expect([first, told.filter(({ user_id }) => user_id === linked.userId)]).toEqual([[1, 1, 1], []]);
    expect(told.find(({ user_id }) => user_id === acme.admin.userId)?.title).toBe('Hay un cambio propuesto para la habilidad «Notes»');
  });
});

describe('an attached skill', () => {
  it('is of an artifact of the same workspace, attached by its editors', async () => {
    const { id } = await make();
    const page = (await published(easel, acme.member, { workspace_id: 'acme', visibility: 'workspace' })).id;
    const elsewhere = (await published(easel, acme.member)).id;
    const at = (artifact: string, method: string, by: By) =>
      easel.fetch(`/v1/artifacts/${artifact}/skills/${id}`, { method, token: by.token });
    expect((await at(page, 'PUT', colleague)).status).toBe(403);
    expect((await at(page, 'PUT', acme.member)).status).toBe(200);
    expect(await refusal(at(elsewhere, 'PUT', acme.member))).toEqual([404, 'SKILL_NOT_FOUND', undefined]);
    expect(await json(await read(`/v1/artifacts/${page}/skills`, colleague))).toMatchObject({ skills: [{ id }] });
    expect((await at(page, 'DELETE', acme.member)).status).toBe(200);
    expect((await at(page, 'DELETE', acme.member)).status).toBe(404);
    expect(await json(await read(`/v1/artifacts/${page}/skills?count=true`))).toMatchObject({ skills: [], total: 0 });
  });

  it('says what it is attached to, to members, as far as they see it, and who may detach it there', async () => {
    const { id } = await make();
    const shared = (await published(easel, acme.member, { workspace_id: 'acme', visibility: 'workspace', name: 'Shared' })).id;
    const hidden = (await published(easel, acme.member, { workspace_id: 'acme', visibility: 'private', name: 'Hidden' })).id;
    for (const artifact of [shared, hidden]) {
      easel.clock.advance(1);
      const reply = await easel.fetch(`/v1/artifacts/${artifact}/skills/${id}`, { method: 'PUT', token: acme.member.token });
      expect(reply.status).toBe(200);
    }
    const usesFor = async (by: By, query = '') => json(await read(`/v1/skills/${id}/artifacts${query}`, by));
    expect(await usesFor(acme.member, '?count=true')).toMatchObject({
      workspace: false,
      artifacts: [
        { id: hidden, name: 'Hidden', may_detach: true },
        { id: shared, name: 'Shared', may_detach: true },
      ],
      total: 2,
    });
    expect(await usesFor(colleague, '?count=true')).toMatchObject({ artifacts: [{ id: shared, may_detach: false }], total: 1 });
    const first = await usesFor(acme.member, '?limit=1');
    expect(await usesFor(acme.member, `?limit=1&cursor=${first.next_cursor}`)).toMatchObject({
      artifacts: [{ id: shared }],
      has_more: false,
    });
    await easel.fetch(`/v1/workspaces/acme/skills/${id}`, { method: 'PUT', token: acme.admin.token });
    expect(await usesFor(colleague)).toMatchObject({ workspace: true });
    await easel.fetch(`/v1/workspaces/acme/skills/${id}`, { method: 'DELETE', token: acme.admin.token });
    // A page that has left the workspace, or is in the trash, has it no longer.
    await easel.fetch(`/v1/artifacts/${hidden}`, { method: 'DELETE', token: acme.member.token });
    expect(await usesFor(acme.member)).toMatchObject({ workspace: false, artifacts: [{ id: shared }] });
    expect((await read(`/v1/skills/${id}/artifacts`, await easel.newUser())).status).toBe(404);
  });

  it('is of a workspace as a whole, attached by its admins', async () => {
    const { id } = await make();
    const at = (method: string, by: By) => easel.fetch(`/v1/workspaces/acme/skills/${id}`, { method, token: by.token });
    expect((await at('PUT', acme.member)).status).toBe(403);
    expect((await at('PUT', acme.admin)).status).toBe(200);
    expect(await namesIn('?attached=true')).toEqual([id]);
    expect(await namesIn('?attached=false')).not.toContain(id);
    expect((await at('DELETE', acme.admin)).status).toBe(200);
    expect(await namesIn('?attached=true')).toEqual([]);
  });
});
