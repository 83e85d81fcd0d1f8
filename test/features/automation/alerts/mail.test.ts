/** What mails of alerts say: the template of the service, in the language of who made the rule, or that of the page's workspace. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { post } from '../../../support/requests.ts';
import { type AlertPage, AlertStage } from './alert-stage.ts';

let easel: TestEasel;
let stage: AlertStage;
beforeAll(async () => {
  easel = await startTestEasel();
  stage = new AlertStage(easel);
});
afterAll(() => easel.close());

async function pageOf(locale: string): Promise<AlertPage> {
  const page = await stage.page();
  const { userId } = page.owner;
  await easel.sql`update account set email = ${`${userId}@example.com`}, metadata = ${easel.sql.json({ locale })} where id = ${userId}`;
  await stage.define(page);
  return page;
}

async function mailOf(page: AlertPage, ruleId: string) {
  await stage.evaluated(page, ruleId, 11);
  await stage.passing(async () => (await stage.events(page, ruleId)).find(({ fired }) => fired)?.delivered, true);
  const [mail] = await easel.sql<{ subject: string; text_body: string; html_body: string }[]>`
    select m.subject, m.text_body, m.html_body from mail_outbox m join mail_batch b on b.id = m.batch_id where b.artifact_id = ${page.id}`;
  return mail;
}

const toCarla = { destination: { kind: 'email', config: { to: ['carla@example.com'] } } };

test('the usual one says what was seen and leads to the alerts of the page', async () => {
  const page = await pageOf('en');
  const { id } = await stage.rule(page, toCarla);
  const mail = await mailOf(page, id);
  expect(mail?.subject).toMatch(/^Alert: Too much on "/);
  expect(mail?.text_body).toMatch(/is 11: above 10[.]/);
  for (const text of [mail?.text_body, mail?.html_body]) expect(text).toContain(`/p/${page.id}/alerts`);
});

test('a long message of the rule is not cut', async () => {
  const page = await pageOf('en');
  const { id } = await stage.rule(page, { ...toCarla, message: `${'Very '.repeat(300)}long: {{data.value}}` });
  expect((await mailOf(page, id))?.text_body.replace(/\s+/g, ' ')).toContain('Very Very long: 11');
});

test('it is in the language of who made the rule, and the own one of the workspace; a rehearsal shows it', async () => {
  const page = await pageOf('es');
  const workspace = await stage.ok(page, '/v1/workspaces', post({ name: 'Alertas', slug: 'alertas' }));
  await easel.sql`update artifact set workspace_id = ${workspace.id} where id = ${page.id}`;
  const { id } = await stage.rule(page, toCarla);
  await stage.setValue(page, 11);
  const rehearsed = async () => (await stage.ok(page, `/v1/metric-alerts/${id}/rehearse`, { method: 'POST' })).would.send;
  expect(await rehearsed()).toMatchObject([
    { subject: expect.stringMatching(/^Alerta: Too much en «/), text: expect.stringContaining('es 11: por encima de 10.') },
  ]);
  const own = { subject: 'Ojo: {{data.rule}}', html: '<p>{{data.what}} <a href="{{data.url}}">ver</a></p>' };
  await stage.ok(page, `/v1/workspaces/${workspace.id}/mails/alert/es`, { ...post(own), method: 'PUT' });
  expect(await rehearsed()).toMatchObject([{ subject: 'Ojo: Too much' }]);
  const mail = await mailOf(page, id);
  expect(mail?.subject).toBe('Ojo: Too much');
  expect(mail?.html_body).toContain('es 11: por encima de 10.');
});

test('the bell speaks that language too', async () => {
  const page = await pageOf('es');
  const { id } = await stage.rule(page);
  await stage.evaluated(page, id, 11);
  const { notifications } = await stage.ok(page, '/v1/notifications');
  expect(notifications).toMatchObject([{ kind: 'alert.fired', body: expect.stringContaining('por encima de 10') }]);
});
