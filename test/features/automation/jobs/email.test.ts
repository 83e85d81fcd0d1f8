/** Jobs that send mail: with texts of their own or of a template, and what they say when the template is gone. */
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Job, Run } from '../../../../protocol/automation/jobs.ts';
import { json, patch, post } from '../../../support/requests.ts';
import { type Person, person } from '../../workspaces/workspace-stage.ts';
import { type MailStage, mailStage, publishPage } from '../email/mail-stage.ts';

let stage: MailStage;
let owner: Person;
let artifactId: string;
beforeAll(async () => {
  stage = await mailStage();
});
afterAll(() => stage.close());
beforeEach(async () => {
  owner = await person(stage.easel, 'olive');
  await stage.easel.sql`update account set tier = 'pro' where id = ${owner.userId}`;
  artifactId = (await publishPage(stage.easel, owner)).id;
});

const call = async (path: string, init: RequestInit = {}, by = owner) => {
  const reply = await stage.easel.fetch(path, { token: by.token, ...init });
  return { status: reply.status, body: await json(reply) };
};
const makeTemplate = async (more: Record<string, unknown> = {}, by = owner): Promise<string> => {
  const variables = [
    { name: 'who', type: 'string', required: true },
    { name: 'orders', type: 'number', default: 0 },
  ];
  const template = { name: 'Report', subject: 'For {{data.who}}', html: '<p>{{data.who}}: {{data.orders}} orders</p>', variables, ...more };
  return (await call('/v1/templates', post(template), by)).body.data.template.id;
};
let sent = 0;
const jobWith = (config: Record<string, unknown>, more: Record<string, unknown> = {}) => {
  sent += 1;
  return {
    artifact_id: artifactId,
    title: 'Report',
    action: 'email',
    trigger_type: 'cron',
    schedule: '0 0 1 1 *',
    retry_config: { maxAttempts: 3 },
    config: { to: [`reader${sent}@example.com`], ...config },
    ...more,
  };
};
const create = async (config: Record<string, unknown>, more: Record<string, unknown> = {}): Promise<Job> => {
  const { status, body } = await call('/v1/jobs', post(jobWith(config, more)));
  expect([status, body.code]).toEqual([201, undefined]);
  return body;
};
const outcome = async (job: Job): Promise<Run> => {
  await expect
    .poll(async () => {
      stage.easel.clock.advance(1000);
      return (await call(`/v1/jobs/${job.id}`)).body.last_status;
    })
    .not.toBe(null);
  const runs: Run[] = (await call(`/v1/jobs/${job.id}/logs`)).body.runs;
  return runs.find(({ trigger }) => trigger !== 'rehearsal') as Run;
};
const run = async (job: Job): Promise<Run> => {
  expect((await call(`/v1/jobs/${job.id}/run`, post({}))).status).toBe(202);
  return outcome(job);
};
const mailTo = async (job: Job) => {
  const [to] = job.config.to as string[];
  const mails = () => stage.smtp.taken.filter((mail) => mail.to.includes(to ?? ''));
  await expect.poll(() => mails().length).toBe(1);
  return simpleParser(mails()[0]?.text ?? '');
};

it('a job sends its own text, with its title as the subject', async () => {
  const job = await create({ text: 'Three orders' });
  expect(await run(job)).toMatchObject({ status: 'succeeded', output: `To ${job.config.to}: Report` });
  const mail = await mailTo(job);
  expect(mail.subject).toBe('Report');
  expect(mail.text).toContain('Three orders');
  expect(mail.headers.has('list')).toBe(true);
});

it('a job sends a template of the account or of the artifact, with its data', async () => {
  const ofAccount = await create({ template_id: await makeTemplate(), data: { who: 'Ada & Co', orders: 3 } });
  expect((await run(ofAccount)).status).toBe('succeeded');
  const mail = await mailTo(ofAccount);
  expect(mail.subject).toBe('For Ada & Co');
  expect(mail.html).toContain('<p>Ada &amp; Co: 3 orders</p>');
  const template_id = await makeTemplate({ artifact_id: artifactId });
  const ofArtifact = await create({ template_id, subject: 'Mine', data: { who: 'Grace' } });
  expect((await run(ofArtifact)).status).toBe('succeeded');
  expect((await mailTo(ofArtifact)).subject).toBe('Mine');
});

it('after an event the template has what happened', async () => {
  const template_id = await makeTemplate({
    variables: [],
    subject: 'Changed',
    html: '<ul>{{#data.events.things}}<li>{{name}}</li>{{/data.events.things}}</ul>',
  });
  const event = { trigger_type: 'event', schedule: null, event_type: 'data.changed', event_filter: { key: 'orders' } };
  const job = await create({ template_id }, event);
  await call(`/v1/data/${artifactId}/json/orders`, { ...post(1), method: 'PUT' });
  expect((await outcome(job)).status).toBe('succeeded');
  expect((await mailTo(job)).html).toContain('<li>orders</li>');
});

it('is refused when it is made, where the template is not there, is not theirs, or lacks a value', async () => {
  const stranger = await person(stage.easel, 'sam');
  const refused = async (config: Record<string, unknown>) => {
    const { status, body } = await call('/v1/jobs', post(jobWith(config)));
    return [status, body.code, body.param, body.error];
  };
  const gone = ['TEMPLATE_NOT_FOUND', 'config.template_id', 'There is no such template.'];
  expect(await refused({ template_id: 'tpl_aaaaaaaaaaaaaaaaaaaaaaaa' })).toEqual([404, ...gone]);
  expect(await refused({ template_id: await makeTemplate({}, stranger), data: { who: 'a' } })).toEqual([404, ...gone]);
  const template_id = await makeTemplate();
  expect(await refused({ template_id })).toEqual([400, 'INVALID_REQUEST', 'config.data.who', 'config.data.who: is required.']);
  expect((await refused({ template_id, data: { who: 3 } })).slice(0, 3)).toEqual([400, 'INVALID_REQUEST', 'config.data.who']);
  expect((await refused({ template_id, text: 'too', data: { who: 'a' } })).slice(0, 3)).toEqual([400, 'INVALID_REQUEST', 'config.text']);
  expect((await refused({ text: 'a', data: {} })).slice(0, 3)).toEqual([400, 'INVALID_REQUEST', 'config.data']);
  const job = await create({ text: 'Hello' });
  const changed = await call(`/v1/jobs/${job.id}`, patch({ config: { to: ['a@example.com'], template_id } }));
  expect([changed.status, changed.body.param]).toEqual([400, 'config.data.who']);
});

it('a run whose template is gone fails at once and says so; a rehearsal says it before', async () => {
  const template_id = await makeTemplate();
  const job = await create({ template_id, data: { who: 'Ada' } });
  const rehearse = async () => (await call(`/v1/jobs/${job.id}/rehearse`, post({}))).body;
  expect(await rehearse()).toMatchObject({ error: null, would: { send: [{ to: job.config.to, subject: 'For Ada' }] } });
  await call(`/v1/templates/${template_id}`, { method: 'DELETE' });
  expect(await rehearse()).toMatchObject({ error: 'There is no such template.', would: { send: [] } });
  expect(await run(job)).toMatchObject({ status: 'failed', attempt: 1, error: 'There is no such template.' });
  // Its title can still be changed.
  expect((await call(`/v1/jobs/${job.id}`, patch({ title: 'Old' }))).status).toBe(200);
});

it('a job that is paused after failures tells its maker by mail too, in their language and as the workspace wants it', async () => {
  const metadata = stage.easel.sql.json({ locale: 'es' });
  await stage.easel.sql`update account set metadata = ${metadata} where id = ${owner.userId}`;
  const { body: workspace } = await call('/v1/workspaces', post({ name: 'Avisos', slug: 'avisos' }));
  await stage.easel.sql`update artifact set workspace_id = ${workspace.id} where id = ${artifactId}`;
  const own = { subject: 'Aviso: {{data.title}}', html: '<p>{{data.body}} <a href="{{data.url}}">ver</a></p>' };
  expect((await call(`/v1/workspaces/${workspace.id}/mails/notice/es`, { ...post(own), method: 'PUT' })).status).toBe(200);
  const job = await create({}, { title: 'Broken', action: 'script', config: { source: 'let =' } });
  await stage.easel.sql`update job set failures = 9 where id = ${job.id}`;
  expect(await run(job)).toMatchObject({ status: 'failed' });
  const [mail] = await stage.easel.sql<{ subject: string; html_body: string }[]>`
    select m.subject, m.html_body from mail_outbox m join account a on a.email = m.recipient
    where a.id = ${owner.userId} and m.kind = 'notice'`;
  expect(mail?.subject).toBe('Aviso: The job "Broken" was paused');
  expect(mail?.html_body.replaceAll('&#x2F;', '/')).toContain(`/p/${artifactId}/jobs/${job.id}`);
  expect((await call(`/v1/jobs/${job.id}`)).body.enabled).toBe(false);
});

it('a rehearsal says who would get no mail, and that the day has no mails left', async () => {
  const job = await create({ to: ['out@example.com', 'In@example.com'], text: 'Hello' });
  await stage.easel.sql`
    insert into mail_opt_out (artifact_id, address, opted_out_at_ms) values (${artifactId}, 'out@example.com', 1)`;
  const rehearse = async () => (await call(`/v1/jobs/${job.id}/rehearse`, post({}))).body;
  expect(await rehearse()).toMatchObject({
    error: null,
    output: 'No mail of this page goes to out@example.com.',
    would: { send: [{ to: ['in@example.com'], subject: 'Report' }] },
  });
  const many = Array.from({ length: 10 }, (_, n) => `many${n}@example.com`);
  expect((await call('/v1/email/send', post({ artifact_id: artifactId, to: many, subject: 'a', text: 'b' }))).status).toBe(202);
  expect(await rehearse()).toMatchObject({
    error: 'An artifact may send 10 mails in 24 hours; each recipient is one.',
    would: { send: [] },
  });
});
