/** Workspaces: made, renamed, read by id and slug, and deleted with all that ends with them. Source: spec.md "Workspaces", contract.md §14. */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TIERS } from '../../../../protocol/business/tiers.ts';
import { newId } from '../../../../protocol/core/ids.ts';
import { type DatabaseKind, databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, patch, post, published, refusal } from '../../../support/requests.ts';
import { auditOf, type Person, person, stageOf, workspaceOf } from '../workspace-stage.ts';

describe.each<DatabaseKind>(databaseKinds())('%s', (database) => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());

  const call = (user: Pick<Person, 'token'>, path: string, init: RequestInit = {}) => easel.fetch(path, { token: user.token, ...init });

  test('who makes one owns it, and reads it by its id and by its slug', async () => {
    const ada = await person(easel, 'ada');
    const made = await call(ada, '/v1/workspaces', post({ name: 'Map Makers!', description: 'Maps', locale: 'es' }));
    const body = await json(made);
    expect([made.status, body]).toEqual([
      201,
      expect.objectContaining({
        slug: 'map-makers',
        name: 'Map Makers!',
        description: 'Maps',
        locale: 'es',
        owner_id: ada.userId,
        role: 'owner',
        member_count: 1,
        branding: { accent_color: null, hide_footer: false, logo: null },
        plan: { tier: 'free', status: 'active' },
      }),
    ]);
    for (const ref of [body.id, body.slug]) expect(await json(await call(ada, `/v1/workspaces/${ref}`))).toEqual(body);
    expect((await json(await call(ada, '/v1/workspaces?count=true'))).workspaces).toEqual([body]);
    expect((await json(await call(ada, '/v1/me'))).workspaces).toEqual([
      { id: body.id, name: body.name, slug: body.slug, role: 'owner', billing_manager: false },
    ]);
    const second = await json(await call(ada, '/v1/workspaces', post({ name: 'Map Makers!' })));
    expect(second.slug).toMatch(/^map-makers-[a-z2-7]{4}$/);
    expect(await refusal(call(ada, '/v1/workspaces', post({ name: 'Other', slug: 'map-makers' })))).toEqual([409, 'SLUG_TAKEN', 'slug']);
    expect(await refusal(call(ada, '/v1/workspaces', post({ name: 'Other', slug: 'admin' })))).toEqual([400, 'INVALID_SLUG', 'slug']);
    expect(await refusal(call(ada, '/v1/workspaces', post({ name: 'x'.repeat(101) })))).toEqual([400, 'INVALID_REQUEST', 'name']);
  });

  test('a person may own only so many, however they are made', async () => {
    const ada = await person(easel, 'ada');
    await workspaceOf(easel, ada, 'First');
    await easel.sql`
      with made as (
        insert into workspace (id, slug, name, created_at_ms, updated_at_ms)
        select 'wsp_' || lpad(n::text, 20, '0') || ${database.slice(0, 4)}, ${database} || '-full-' || n, 'Full', 0, 0
        from generate_series(1, ${TIERS.free.workspacesOwnedMax - 2}) n returning id
      )
      insert into workspace_member (workspace_id, user_id, role, joined_at_ms) select id, ${ada.userId}, 'owner', 0 from made`;
    const made = await Promise.all(Array.from({ length: 4 }, (_, n) => call(ada, '/v1/workspaces', post({ name: `Last ${n}` }))));
    expect(made.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  test('admins change it; a renamed slug is free at once, and branding beyond the plan is not had', async () => {
    const { id, slug, admin, member, stranger } = await stageOf(easel, `Renamed ${database}`);
    const path = `/v1/workspaces/${id}`;
    expect(await refusal(call(member, path, patch({ name: 'Mine' })))).toEqual([403, 'FORBIDDEN', undefined]);
    expect(await refusal(call(stranger, path, patch({ name: 'Mine' })))).toEqual([404, 'WORKSPACE_NOT_FOUND', undefined]);
    const next = `next-${database}`;
    const changed = await json(await call(admin, path, patch({ slug: next, branding: { accent_color: '#0b5fff' } })));
    expect([changed.slug, changed.branding.accent_color, changed.name]).toEqual([next, '#0b5fff', `Renamed ${database}`]);
    expect((await call(member, `/v1/workspaces/${next}`)).status).toBe(200);
    expect((await call(member, `/v1/workspaces/${slug}`)).status).toBe(404);
    expect((await call(stranger, '/v1/workspaces', post({ name: 'Quick', slug }))).status).toBe(201);
    expect(await refusal(call(admin, path, patch({ slug })))).toEqual([409, 'SLUG_TAKEN', 'slug']);
    expect(await refusal(call(admin, path, patch({ branding: { hide_footer: true } })))).toEqual([402, 'PLAN_REQUIRED', 'branding']);
    await call({ token: easel.adminToken }, `${path}/features`, patch({ features: { custom_branding: true } }));
    expect((await json(await call(admin, path, patch({ branding: { hide_footer: true } })))).branding).toEqual({
      accent_color: '#0b5fff',
      hide_footer: true,
      logo: null,
    });
    expect((await auditOf(easel, id)).map(([action]) => action)).toEqual([
      ...['workspace.create', 'member.add', 'member.add'],
      ...['workspace.update', 'features.update', 'workspace.update'],
    ]);
  });

  test('an ETag changes with the workspace and with how its caller sees it', async () => {
    const { id, owner, member } = await stageOf(easel, `Seen ${database}`);
    const etagFor = async (who: Person) => (await call(who, `/v1/workspaces/${id}`)).headers.get('etag') ?? '';
    const before = await etagFor(member);
    expect((await call(member, `/v1/workspaces/${id}`, { headers: { 'if-none-match': before } })).status).toBe(304);
    await call(owner, `/v1/workspaces/${id}/members/${member.userId}`, patch({ role: 'admin' }));
    expect(await etagFor(member)).not.toBe(before);
    expect((await call(owner, `/v1/workspaces/${id}`, patch({ name: 'Later' }, { 'if-match': before }))).status).toBe(200);
    expect((await call(owner, `/v1/workspaces/${id}`, patch({ name: 'Too late' }, { 'if-match': before }))).status).toBe(409);
  });

  test('its end: artifacts go to the trash of people who can restore them, everything else is over at once', async () => {
    const { id, slug, owner, admin, member } = await stageOf(easel, `Ends ${database}`);
    const [theirs, ours] = [await published(easel, member), await published(easel, admin)];
    const secret = `sot_${randomBytes(32).toString('hex')}`;
    const agentId = newId('agent');
    await easel.sql`insert into service_principal (id, workspace_id, name, created_at_ms) values (${agentId}, ${id}, 'Nightly', 0)`;
    await easel.sql`
      insert into agent_token (id, principal_id, scopes, token_sha256, created_at_ms)
      values (${newId('token')}, ${agentId}, array['artifacts:read'], ${createHash('sha256').update(secret).digest()}, 0)`;
    await easel.sql`
      update artifact set workspace_id = ${id}, visibility = 'workspace', owner_id = case when id = ${ours.id} then null else owner_id end
      where id in (${theirs.id}, ${ours.id})`;
    for (const artifact of [theirs, ours]) {
      expect((await call(owner, `/v1/artifacts/${artifact.id}`)).status).toBe(200);
      expect((await easel.fetch(`/v1/artifacts/${artifact.id}`, { token: secret })).status).toBe(200);
    }
    const path = `/v1/workspaces/${id}`;
    expect(await refusal(call(admin, `${path}?confirm=${slug}`, { method: 'DELETE' }))).toEqual([403, 'FORBIDDEN', undefined]);
    expect(await refusal(call(owner, path, { method: 'DELETE' }))).toEqual([400, 'INVALID_REQUEST', 'confirm']);
    expect(await refusal(call(owner, `${path}?confirm=${id}`, { method: 'DELETE' }))).toEqual([400, 'INVALID_REQUEST', 'confirm']);
    const gone = await call(owner, `${path}?confirm=${slug}`, { method: 'DELETE' });
    expect([gone.status, await json(gone)]).toEqual([200, expect.objectContaining({ success: true, deleted: id, artifacts_trashed: 2 })]);
    for (const who of [owner, admin, member]) {
      expect((await call(who, path)).status).toBe(404);
      expect((await json(await call(who, '/v1/me'))).workspaces).toEqual([]);
      for (const artifact of [theirs, ours]) expect((await call(who, `/v1/artifacts/${artifact.id}`)).status).toBe(404);
    }
    const dead = await easel.fetch('/v1/me', { token: secret });
    expect([dead.status, (await json(dead)).reason]).toEqual([401, 'revoked']);
    expect((await call(admin, `/v1/artifacts/${ours.id}/restore`, { method: 'POST' })).status).toBe(404);
    const inherited = await json(await call(owner, `/v1/artifacts/${ours.id}/restore`, { method: 'POST' }));
    const own = await json(await call(member, `/v1/artifacts/${theirs.id}/restore`, { method: 'POST' }));
    expect([inherited, own].map(({ owner_id, workspace_id, visibility }) => [owner_id, workspace_id, visibility])).toEqual([
      [owner.userId, null, 'private'],
      [member.userId, null, 'private'],
    ]);
    expect((await json(await call(owner, '/v1/account'))).usage.artifacts).toBe(1);
    expect((await call(member, '/v1/workspaces', post({ name: 'Again', slug }))).status).toBe(201);
    expect((await auditOf(easel, id)).at(-1)).toEqual(['workspace.delete', 'olive', `Ends ${database}`]);
  });
});
