/** The endpoints of templates: whose they are, what they become, and what a workspace sends instead of the built-in mails. */
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { TestUser } from '../../../support/easel.ts';
import { json } from '../../../support/requests.ts';
import { auditOf, type Person, person, type Stage, stageOf } from '../../workspaces/workspace-stage.ts';
import { type MailStage, mailStage, publishPage } from '../email/mail-stage.ts';

let stage: MailStage;
let owner: Person;
let team: Stage;
beforeAll(async () => {
  stage = await mailStage();
  owner = await person(stage.easel, 'olive');
  await stage.easel.sql`update account set tier = 'pro' where id = ${owner.userId}`;
  team = await stageOf(stage.easel, 'Team of templates');
});
afterAll(() => stage.close());

const call = (method: string, path: string, by: TestUser, body?: unknown, headers: Record<string, string> = {}) =>
  stage.easel.fetch(path, {
    method,
    token: by.token,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const SOURCES = { name: 'News', subject: 'News for {{data.who}}', html: '<p>Hello {{data.who}}</p>', text_body: 'Hello {{data.who}}' };
const make = async (by: TestUser, more: Record<string, unknown> = {}) =>
  (await json(await call('POST', '/v1/templates', by, { ...SOURCES, ...more }))).data.template;
const codeOf = async (reply: Response) => [reply.status, (await json(reply)).code];

describe('a template', () => {
  it('of an account is stored, listed, changed under its ETag and deleted, and nobody else knows of it', async () => {
    const variables = [{ name: 'who', type: 'string', required: true }];
    const made = await make(owner, { variables });
    expect(made).toMatchObject({ ...SOURCES, artifact_id: null, owner_id: owner.userId, variables, is_system: false });
    expect([made.created_at, made.updated_at]).toEqual([stage.easel.clock.nowMs(), stage.easel.clock.nowMs()]);
    const path = `/v1/templates/${made.id}`;
    const read = await call('GET', path, owner);
    const etag = read.headers.get('etag') ?? '';
    expect((await call('PATCH', path, owner, { subject: 'New' }, { 'if-match': etag })).status).toBe(200);
    expect(await codeOf(await call('PATCH', path, owner, { subject: 'Newer' }, { 'if-match': etag }))).toEqual([409, 'VERSION_CONFLICT']);
    const listed = (await json(await call('GET', '/v1/templates?scope=account&count=true', owner))).data;
    expect([listed.total, listed.templates[0].subject]).toEqual([1, 'New']);
    expect(await codeOf(await call('GET', path, team.owner))).toEqual([404, 'TEMPLATE_NOT_FOUND']);
    expect(await codeOf(await call('DELETE', path, team.owner))).toEqual([404, 'TEMPLATE_NOT_FOUND']);
    expect((await call('DELETE', path, owner)).status).toBe(200);
    expect(await codeOf(await call('GET', path, owner))).toEqual([404, 'TEMPLATE_NOT_FOUND']);
  });

  it('of an artifact is of its editors, and goes with it', async () => {
    const page = await publishPage(stage.easel, owner);
    const made = await make(owner, { artifact_id: page.id });
    const path = `/v1/templates/${made.id}`;
    expect(await codeOf(await call('GET', path, team.owner))).toEqual([404, 'TEMPLATE_NOT_FOUND']);
    expect(await codeOf(await call('POST', '/v1/templates', team.owner, { ...SOURCES, artifact_id: page.id }))).toEqual([403, 'FORBIDDEN']);
    expect(await codeOf(await call('GET', `/v1/templates?artifact_id=${page.id}`, team.owner))).toEqual([403, 'FORBIDDEN']);
    await call('POST', `/v1/artifacts/${page.id}/collaborators`, owner, { emails: [team.owner.email], role: 'editor' });
    expect((await call('PATCH', path, team.owner, { name: 'Ours' })).status).toBe(200);
    const ofArtifact = (await json(await call('GET', `/v1/templates?scope=artifact&artifact_id=${page.id}`, team.owner))).data.templates;
    expect(ofArtifact.map(({ name }: { name: string }) => name)).toEqual(['Ours']);
    const ids = async (query: string) =>
      (await json(await call('GET', `/v1/templates?${query}`, owner))).data.templates.map(({ id }: { id: string }) => id);
    expect(await ids('scope=all')).toContain(made.id);
    expect(await ids('scope=account')).not.toContain(made.id);
    await stage.easel.sql`delete from artifact where id = ${page.id}`;
    expect((await call('GET', path, owner)).status).toBe(404);
  });

  it('with a mistake is refused where it is, and there are only so many', async () => {
    for (const [more, param] of [
      [{ html: '<p>{{{data.x}}}</p>' }, 'html'],
      [{ subject: '{{name}}' }, 'subject'],
      [{ text_body: '{{#data.x}}' }, 'text_body'],
      [{ variables: [{ name: 'n', type: 'number', default: 'seven' }] }, 'variables.0.default'],
      [{ variables: [{ name: '__proto__', type: 'string' }] }, 'variables.0.name'],
    ] as const) {
      const reply = await call('POST', '/v1/templates', owner, { ...SOURCES, ...more });
      expect([reply.status, (await json(reply)).param]).toEqual([400, param]);
    }
    const many = await person(stage.easel, 'max');
    await stage.easel.sql`
      insert into template (id, owner_id, name, subject, html, text_body, variables, created_at_ms, updated_at_ms)
      select 'tpl_' || lpad(n::text, 24, '0'), ${many.userId}, 'n', 's', 'h', '', '[]', 0, 0 from generate_series(1, ${LIMITS.templatesMax - 1}) n`;
    expect((await call('POST', '/v1/templates', many, SOURCES)).status).toBe(201);
    expect(await codeOf(await call('POST', '/v1/templates', many, SOURCES))).toEqual([409, 'TEMPLATE_LIMIT_EXCEEDED']);
  });

  it('is previewed as stored and as typed, with the same result', async () => {
    const made = await make(owner, { variables: [{ name: 'n', type: 'number', default: 3 }], text_body: '{{data.n}}{{data.gone}}' });
    const data = { who: '<Ada>' };
    const expected = {
      subject: 'News for <Ada>',
      html: '<p>Hello &lt;Ada&gt;</p>',
      text: '3',
      warnings: [expect.stringContaining('data.gone')],
    };
    const stored = await json(await call('POST', `/v1/templates/${made.id}/preview`, owner, { data }));
    expect(stored).toEqual({ success: true, data: expected });
    const { name: _, ...sources } = SOURCES;
    const typed = { ...sources, variables: made.variables, text_body: made.text_body, data };
    expect(await json(await call('POST', '/v1/templates/preview', owner, typed))).toEqual(stored);
    const wrong = await call('POST', `/v1/templates/${made.id}/preview`, owner, { data: { n: 'x' } });
    expect([wrong.status, (await json(wrong)).param]).toEqual([400, 'data.n']);
  });

  it('is rehearsed: to whom it would go and what stands in the way, while nothing is sent or spent', async () => {
    const page = await publishPage(stage.easel, owner);
    const made = await make(owner, { artifact_id: page.id });
    await stage.easel.sql`insert into mail_opt_out (artifact_id, address, opted_out_at_ms) values (${page.id}, 'out@example.com', 0)`;
    const rehearse = async (by: TestUser, body: Record<string, unknown>) =>
      call('POST', `/v1/templates/${made.id}/rehearse`, by, { data: { who: 'Ada' }, ...body });
    const { data } = await json(await rehearse(owner, { to: ['in@example.com', 'out@example.com'] }));
    expect(data).toMatchObject({ refused: null, subject: 'News for Ada', html: '<p>Hello Ada</p>', warnings: [] });
    expect(data.would.send).toEqual([
      { to: 'in@example.com', subject: 'News for Ada', status: 'queued' },
      { to: 'out@example.com', subject: 'News for Ada', status: 'suppressed' },
    ]);
    const [rows] = await stage.easel.sql<{ n: number }[]>`select count(*)::int as n from mail_outbox where artifact_id = ${page.id}`;
    expect(rows?.n).toBe(0);
    const all = { artifact_id: page.id, template_id: made.id, data: { who: 'Ada' } };
    const ten = Array.from({ length: 10 }, (_, n) => `n${n}@example.com`);
    expect((await call('POST', '/v1/email/send', owner, { ...all, to: ten })).status).toBe(202);
    const full = (await json(await rehearse(owner, { to: ['in@example.com'] }))).data;
    expect([full.would.send, full.refused.code]).toEqual([[], 'RATE_LIMITED']);
    expect((await rehearse(team.member, { to: ['in@example.com'] })).status).toBe(404);
  });

  it('makes a mail, of its own artifact or of the sender’s account, and of no other', async () => {
    const [page, other] = [await publishPage(stage.easel, owner), await publishPage(stage.easel, owner)];
    const ofPage = await make(owner, { artifact_id: page.id });
    const ofAccount = await make(owner, { text_body: '' });
    const send = (artifactId: string, id: string, more: Record<string, unknown> = {}) =>
      call('POST', '/v1/email/send', owner, {
        artifact_id: artifactId,
        to: ['reader@example.com'],
        template_id: id,
        data: { who: 'Ada' },
        ...more,
      });
    expect(await codeOf(await send(other.id, ofPage.id))).toEqual([404, 'TEMPLATE_NOT_FOUND']);
    expect((await send(page.id, ofPage.id, { html: '<p>both</p>' })).status).toBe(400);
    expect((await send(other.id, ofAccount.id, { subject: 'Mine' })).status).toBe(202);
    await expect.poll(() => stage.smtp.taken.filter(({ to }) => to.includes('reader@example.com')).length).toBe(1);
    const parsed = await simpleParser(stage.smtp.taken.find(({ to }) => to.includes('reader@example.com'))?.text ?? '');
    expect([parsed.subject, parsed.text?.split('\n')[0]]).toEqual(['Mine', 'Hello Ada']);
  });
});

describe('the mails of the service', () => {
  const path = () => `/v1/workspaces/${team.id}/mails/invite/en`;
  const own = {
    subject: 'Join us at {{data.workspace}}',
    html: '<p>{{data.by}}: <a href="{{data.url}}">join as {{data.role}}</a></p>',
    text_body: '{{data.by}}: {{data.url}} ({{data.code}})',
  };
  const invite = async (email: string) => {
    await call('POST', `/v1/workspaces/${team.id}/members/invite`, team.owner, { emails: [email] });
    const [mail] = await stage.easel.sql<{ subject: string; text_body: string; html_body: string }[]>`
      select subject, text_body, html_body from mail_outbox where recipient = ${email} order by created_at_ms desc limit 1`;
    return mail;
  };

  it('are shown as templates that become what is sent', async () => {
    const { mails } = (await json(await call('GET', `/v1/workspaces/${team.id}/mails`, team.member))).data;
    expect(mails.map((mail: { kind: string; locale: string; is_system: boolean }) => [mail.kind, mail.locale, mail.is_system])).toEqual(
      ['invite', 'alert', 'notice'].flatMap((kind) => ['en', 'es'].map((locale) => [kind, locale, true])),
    );
    const builtIn = mails[0];
    const sent = await invite('built-in@example.com');
    const url = /http\S+[/]invite[/]([a-z0-9-]+)/.exec(sent?.text_body ?? '') ?? [];
    const data = { by: 'olive', workspace: 'Team of templates', role: 'a member', code: url[1], url: url[0], days: '14' };
    const { subject, html, text_body } = builtIn;
    const typed = (await json(await call('POST', '/v1/templates/preview', owner, { subject, html, text_body, data }))).data;
    expect([typed.subject, typed.text, typed.warnings]).toEqual([sent?.subject, sent?.text_body, []]);
    for (const mail of mails) for (const text of [mail.subject, mail.html, mail.text_body]) expect(text).not.toMatch(/qq|987654/);
  });

  it('are replaced by admins for their workspace and language, and taken back', async () => {
    expect((await call('PUT', path(), team.member, own)).status).toBe(403);
    expect((await call('GET', path(), owner)).status).toBe(404);
    const before = await call('GET', path(), team.admin);
    const etag = before.headers.get('etag') ?? '';
    for (const lacking of [{ html: '<p>no link</p>' }, { text_body: 'no link' }])
      expect((await call('PUT', path(), team.admin, { ...own, ...lacking })).status).toBe(400);
    const unknown = await call('PUT', path(), team.admin, { ...own, subject: 'Hello {{data.workspac}}' });
    const { error, param, hint } = await json(unknown);
    expect([unknown.status, param, error]).toEqual([400, 'subject', 'subject: data.workspac has no value, so nothing is shown for it.']);
    expect(hint).toContain('data.workspace');
    expect((await call('PUT', path(), team.admin, own, { 'if-match': etag })).status).toBe(200);
    expect(await codeOf(await call('PUT', path(), team.admin, own, { 'if-match': etag }))).toEqual([409, 'VERSION_CONFLICT']);
    const sent = await invite('own@example.com');
    expect(sent?.subject).toBe('Join us at Team of templates');
    expect(sent?.text_body).toMatch(/^olive: http\S+[/]invite[/]\S+ \(\S+\)$/);
    expect(sent?.html_body).toContain('join as a member');
    const { text_body: _, ...withoutText } = own;
    expect((await call('PUT', path(), team.admin, withoutText)).status).toBe(200);
    expect((await invite('plain@example.com'))?.text_body).toMatch(/join as a member[\s\S]*[/]invite[/]/);
    expect((await call('DELETE', path(), team.admin)).status).toBe(200);
    expect((await invite('again@example.com'))?.subject).toBe('olive invited you to Team of templates');
    expect((await auditOf(stage.easel, team.id)).map(([action]) => action).filter((action) => action.startsWith('mail.'))).toEqual([
      'mail.replace',
      'mail.replace',
      'mail.reset',
    ]);
  });
});
