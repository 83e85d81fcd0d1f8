import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCOPES } from '../../../../protocol/core/endpoint.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, post } from '../../../support/requests.ts';
import { seededWorkspace } from '../../../support/seeded-workspace.ts';
import { WebPerson } from '../../../support/web-person.ts';
import { agentOf } from '../../../support/workspaces.ts';

const SECRET = 'correct-horse-battery-staple';
const CONNECTORS = [
  {
    name: 'Warehouse',
    type: 'postgres',
    config: { host: 'db.example.com', database: 'x' },
    credentials: { username: 'u', password: SECRET },
  },
  { name: 'API', type: 'http', config: { url: 'https://api.example.com' } },
];
const FULL = {
  name: 'Acme',
  locale: 'es',
  description: 'A customer',
  branding: { accent_color: '#0b5fff', hide_footer: true, logo: { url: 'https://example.com/logo.png' } },
  policy: { external_sharing: true, guest_comments: true, knowledge: false, features: { catalog: true } },
  folders: ['Reports', 'Plans'],
  connectors: CONNECTORS,
  templates: 'basic',
  custom_domain: 'acme.example.com',
};

describe.each(databaseKinds())('provisioning on %s', (database) => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());

  async function provision(body: object, token = easel.adminToken) {
    const reply = await easel.fetch('/v1/admin/workspaces/provision', { token, ...post(body) });
    return { status: reply.status, body: await json(reply) };
  }
  const statuses = (body: { steps: { step: string; status: string }[] }) =>
    Object.fromEntries(body.steps.map(({ step, status }) => [step, status]));
  async function counts(slug: string) {
    const [row] = await easel.sql`
      select count(*)::int as workspaces,
        (select count(*)::int from folder f where f.workspace_id = min(w.id)) as folders,
        (select count(*)::int from workspace_member m where m.workspace_id = min(w.id)) as members,
        (select count(*)::int from workspace_invite i where i.workspace_id = min(w.id)) as invites,
        (select count(*)::int from connection c where c.workspace_id = min(w.id)) as connections
      from workspace w where w.slug = ${slug}`;
    return row;
  }

  it('makes everything, and a second run leaves all of it as it is', async () => {
    const known = await easel.newUser();
    await easel.sql`update account set email = 'known@example.com' where id = ${known.userId}`;
    const body = { ...FULL, slug: 'acme', admins: ['owner@example.com', 'known@example.com'], subdomain: true };
    const first = await provision(body);
    expect([first.status, first.body.ok, first.body.created]).toEqual([201, true, true]);
    expect(first.body.workspace).toEqual({ id: expect.stringMatching(/^wsp_/), name: 'Acme', slug: 'acme', locale: 'es' });
    expect(statuses(first.body)).toEqual({
      workspace: 'created',
      branding: 'updated',
      policy: 'updated',
      folders: 'created',
      admins: 'created',
      'connector:Warehouse': 'created',
      'connector:API': 'created',
      templates: 'pending',
      custom_domain: 'pending',
    });
    // Without a mail server no mail reaches anybody, so there is a link, and it works.
    expect(first.body.admins).toEqual([
      {
        email: 'owner@example.com',
        role: 'owner',
        status: 'invited',
        email_sent: false,
        invite_url: expect.stringMatching(/\/invite\/[a-z0-9-]+$/),
      },
      { email: 'known@example.com', role: 'admin', status: 'added', email_sent: false },
    ]);
    expect(first.body.links.subdomain).toBeNull();
    const invited = await easel.newUser();
    await easel.sql`update account set email = 'owner@example.com' where id = ${invited.userId}`;
    const before = await counts('acme');
    const second = await provision(body);
    expect([second.status, second.body.created]).toEqual([200, false]);
    expect(statuses(second.body)).toMatchObject({
      workspace: 'unchanged',
      branding: 'unchanged',
      policy: 'unchanged',
      folders: 'unchanged',
      'connector:Warehouse': 'unchanged',
    });
    expect(second.body.admins[1].status).toBe('active');
    expect((await counts('acme'))?.connections).toBe(before?.connections);
    expect(await easel.sql`select distinct guest_comments from folder where workspace_id = ${first.body.workspace.id}`).toEqual([
      { guest_comments: true },
    ]);
    const seen = await json(await easel.fetch('/v1/workspaces/acme/features', { token: known.token }));
    expect(seen.features['collab.external_sharing']).toEqual({ enabled: true, source: 'instance' });
    const audited = await easel.sql<
      { action: string }[]
    >`select action from audit_entry where workspace_id = ${first.body.workspace.id} and action like 'workspace.provision.%'`;
    expect(new Set(audited.map(({ action }) => action)).size).toBe(9);
  });

  it('sends no live invitation again unless asked, and a new link voids the old one', async () => {
    const body = { name: 'Mail', slug: 'mail-co', admins: ['ada@example.com'] };
    const first = await provision(body);
    const again = await provision(body);
    expect(again.body.admins).toEqual([{ email: 'ada@example.com', role: 'owner', status: 'already_invited', email_sent: false }]);
    const resent = await provision({ ...body, resend_invites: true });
    expect(resent.body.admins[0].status).toBe('invited');
    expect(resent.body.admins[0].invite_url).not.toBe(first.body.admins[0].invite_url);
    expect((await counts('mail-co'))?.invites).toBe(1);
  });

  it.each([
    [{ if_exists: 'fail' }, 409],
    [{ if_exists: 'match', name: 'Another' }, 409],
    [{ if_exists: 'update', name: 'Another' }, 200],
  ])('adopts a workspace only as if_exists says: %j', async (more, status) => {
    const slug = `adopt-${JSON.stringify(more)
      .replace(/[^a-z]/g, '')
      .slice(-12)}`;
    const body = { name: 'Adopt', slug, admins: ['ada@example.com'] };
    await provision(body);
    const second = await provision({ ...body, ...more });
    expect(second.status).toBe(status);
    if (status === 409) expect(second.body.code).toBe('SLUG_TAKEN');
    else expect(second.body.workspace.name).toBe('Another');
  });

  it.each(['www', 'api', 'admin', 'a', 'Upper', '-x', 'xn--a'])('refuses the slug %s', async (slug) => {
    const refused = await provision({ name: 'X', slug, admins: ['ada@example.com'] });
    expect([refused.status, refused.body.code]).toEqual([400, 'INVALID_SLUG']);
  });

  it('is for administrators of the installation alone', async () => {
    const seeded = await seededWorkspace(easel, `owned-${database}`);
    const body = { name: 'X', slug: 'x-y', admins: ['ada@example.com'] };
    const agent = await agentOf(easel, seeded.id, SCOPES);
    for (const token of [seeded.owner.token, agent]) {
      const refused = await provision(body, token);
      expect([refused.status, refused.body.code]).toEqual([403, 'ADMIN_REQUIRED']);
    }
    expect((await provision(body, `sot_${'0'.repeat(64)}`)).status).toBe(401);
    expect(await counts('x-y')).toMatchObject({ workspaces: 0 });
  });

  it('takes the session of an administrator from a page of its own host, and from no other', async () => {
    const path = '/v1/admin/workspaces/provision';
    const slug = `by-session-${database}`;
    const body = { name: 'By session', slug, admins: ['ada@example.com'] };
    const admin = await WebPerson.signedIn(easel, `root.${database}@example.com`);
    await easel.sql`update account set is_admin = true where id = ${admin.userId}`;
    const plain = await WebPerson.signedIn(easel, `plain.${database}@example.com`);
    const refused = await plain.call('POST', path, body);
    expect([refused.status, JSON.parse(refused.text).code]).toEqual([403, 'ADMIN_REQUIRED']);
    const cookie = [...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    for (const origin of [{ origin: easel.contentUrl('some-page') }, { origin: 'https://elsewhere.example' }, {}] as Record<
      string,
      string
    >[]) {
      const foreign = await easel.fetch(path, { ...post(body), headers: { 'content-type': 'application/json', cookie, ...origin } });
      expect([origin, foreign.status, (await json(foreign)).code]).toEqual([origin, 403, 'ORIGIN_REFUSED']);
    }
    expect(await counts(slug)).toMatchObject({ workspaces: 0 });
    const made = await admin.call('POST', path, body);
    expect([made.status, JSON.parse(made.text).ok]).toEqual([201, true]);
    const audited = await easel.sql`
      select distinct actor_id from audit_entry where workspace_id = ${JSON.parse(made.text).workspace.id} and action like 'workspace.provision.%'`;
    expect(audited).toEqual([{ actor_id: admin.userId }]);
    expect((await admin.call('POST', path, body)).status).toBe(200);
  });

  /** Runs `work` while this trigger makes the database fail. */
  async function whileBroken<T>(trigger: string, work: () => Promise<T>): Promise<T> {
    await easel.sql.unsafe(`create function break_it() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$`);
    await easel.sql.unsafe(`create trigger broken before ${trigger} execute function break_it()`);
    try {
      return await work();
    } finally {
      await easel.sql.unsafe('drop function break_it() cascade');
    }
  }

  it.each([
    ['branding', 'update on workspace for each row when (new.accent_color is not null)', 'updated'],
    ['policy', 'insert on workspace_feature for each row', 'updated'],
    ['folders', 'insert on folder for each row', 'created'],
    ['admins', 'insert on workspace_invite for each row', 'created'],
    ['connector:API', `insert on connection for each row when (new.name = 'API')`, 'created'],
  ])(
    'reports the step %s that fails, does the others, and a second run completes exactly what was missing',
    async (step, trigger, done) => {
      const slug = `fails-${step.replace(/[^a-z]/gi, '').toLowerCase()}`;
      const policy = { ...FULL.policy, allowed_domains: ['example.com'] };
      const body = { ...FULL, policy, slug, admins: ['ada@example.com'] };
      const settings = () => easel.sql`
      select w.accent_color, w.allowed_domains,
        (select count(*)::int from workspace_feature f where f.workspace_id = w.id) as features
      from workspace w where w.slug = ${slug}`;
      const whole = { accent_color: '#0b5fff', allowed_domains: ['example.com'], features: 3 };
      const broken = await whileBroken(trigger, () => provision(body));
      expect([broken.status, broken.body.ok, statuses(broken.body)[step]]).toEqual([207, false, 'failed']);
      const rest = Object.entries(statuses(broken.body)).filter(([name]) => name !== step);
      expect(rest.filter(([, status]) => status === 'failed')).toEqual([]);
      // Of the step that failed nothing is left, not its first half either.
      const without = { branding: { accent_color: null }, policy: { allowed_domains: [], features: 0 } };
      expect(await settings()).toEqual([{ ...whole, ...without[step as keyof typeof without] }]);
      const repaired = await provision(body);
      expect([repaired.status, statuses(repaired.body)[step]]).toEqual([200, done]);
      for (const [name, status] of Object.entries(statuses(repaired.body))) {
        if (name !== step && name !== 'templates' && name !== 'custom_domain')
          expect([step, name, status]).toEqual([step, name, 'unchanged']);
      }
      expect(await counts(slug)).toEqual({ workspaces: 1, folders: 2, members: 0, invites: 1, connections: 2 });
      expect(await settings()).toEqual([whole]);
    },
  );

  it.each([
    ['itself', 'insert on workspace for each row'],
    ['in its record', `insert on audit_entry for each row when (new.action = 'workspace.provision.workspace')`],
  ])('makes nothing where the step workspace fails %s, and a second run makes everything', async (_where, trigger) => {
    const slug = `nothing-${trigger.split(' ')[2]?.replace('_', '-')}`;
    const body = { ...FULL, slug, admins: ['ada@example.com'] };
    const broken = await whileBroken(trigger, () => provision(body));
    expect([broken.status, broken.body.code]).toEqual([500, 'INTERNAL_ERROR']);
    expect(JSON.stringify(broken)).not.toContain(SECRET);
    expect(await counts(slug)).toEqual({ workspaces: 0, folders: 0, members: 0, invites: 0, connections: 0 });
    const repaired = await provision(body);
    expect([repaired.status, repaired.body.ok, repaired.body.created]).toEqual([201, true, true]);
    expect(await counts(slug)).toEqual({ workspaces: 1, folders: 2, members: 0, invites: 1, connections: 2 });
  });

  it('leaves an adopted workspace as it is where the step workspace fails, and a second run changes only that', async () => {
    const body = { ...FULL, slug: 'renamed', admins: ['ada@example.com'] };
    await provision(body);
    const renamed = { ...body, name: 'Acme and Sons', if_exists: 'update' };
    const broken = await whileBroken('update on workspace for each row', () => provision(renamed));
    expect(broken.status).toBe(500);
    expect(await easel.sql`select name from workspace where slug = 'renamed'`).toEqual([{ name: 'Acme' }]);
    const { status, body: repaired } = await provision(renamed);
    expect([status, repaired.workspace.name, statuses(repaired)]).toEqual([
      200,
      'Acme and Sons',
      {
        workspace: 'updated',
        branding: 'unchanged',
        policy: 'unchanged',
        folders: 'unchanged',
        admins: 'unchanged',
        'connector:Warehouse': 'unchanged',
        'connector:API': 'unchanged',
        templates: 'pending',
        custom_domain: 'pending',
      },
    ]);
  });

  it('twenty runs at once make one of everything', async () => {
    const body = { ...FULL, slug: 'crowd', admins: ['ada@example.com', 'bea@example.com'] };
    const runs = await Promise.all(Array.from({ length: 20 }, () => provision(body)));
    expect(runs.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201]);
    expect(await counts('crowd')).toEqual({ workspaces: 1, folders: 2, members: 0, invites: 2, connections: 2 });
  });

  it('shows credentials nowhere', async () => {
    const answer = await provision({ ...FULL, slug: 'quiet', admins: ['ada@example.com'] });
    expect(JSON.stringify(answer)).not.toContain(SECRET);
    const tables = await easel.sql<{ name: string }[]>`select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`;
    for (const { name } of tables) {
      const rows = await easel.sql.unsafe(
        `select 1 from ${name} t where t::text like '%${SECRET}%' or t::text like '%${Buffer.from(SECRET).toString('hex')}%'`,
      );
      expect([name, rows.length]).toEqual([name, 0]);
    }
    const refused = await provision({
      ...FULL,
      slug: 'quiet',
      admins: ['ada@example.com'],
      connectors: [{ ...CONNECTORS[0], name: 'Bad', config: { host: 'db', database: 'x', password: SECRET } }],
    });
    expect(refused.status).toBe(207);
    expect(JSON.stringify(refused)).not.toContain(SECRET);
  });
});
