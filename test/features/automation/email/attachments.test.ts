/** Files of libraries that go with mail on behalf of pages: which, of whom, which bytes, and when they do not. */
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { json, patch, post } from '../../../support/requests.ts';
import { delivered, link, MINE, upload } from '../../library/assets/asset-stage.ts';
import { type Person, person, stageOf } from '../../workspaces/workspace-stage.ts';
import { headersOf, type MailStage, mailStage, publishPage } from './mail-stage.ts';

const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
/** Longer than the pause before the second attempt. */
const RETRY_MS = 60_000;

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

let readers = 0;
const reader = () => {
  readers += 1;
  return `reader${readers}@example.com`;
};
const send = (attachments: readonly object[], more: Record<string, unknown> = {}, by: Person = owner) =>
  stage.easel.fetch('/v1/email/send', {
    token: by.token,
    ...post({ artifact_id: artifactId, to: [reader()], subject: 'Plans', html: '<p>Here they are</p>', attachments, ...more }),
  });
const statusOf = async (id: string, by: Person = owner) => json(await stage.easel.fetch(`/v1/email/${id}`, { token: by.token }));
const settled = (id: string) => expect.poll(async () => (await statusOf(id)).status, { timeout: 60_000 });
const rawTo = (address: string) => stage.smtp.taken.filter(({ to }) => to.includes(address)).map(({ text }) => text);
const refusalOf = async (reply: Response | Promise<Response>) => {
  const answer = await reply;
  const { code, param } = await json(answer);
  return [answer.status, code, param];
};
async function newVersion(fileId: string, content: string, by: Person = owner, base = MINE): Promise<void> {
  const { id: blobId } = await json(await upload(stage.easel, by, content, { base, name: 'plan.txt' }));
  const made = await stage.easel.fetch(`${base}/${fileId}/version`, { token: by.token, ...post({ blobId }) });
  expect(made.status).toBe(201);
}

/** A mail whose first attempt the server puts off, so that something can happen before the second. */
async function putOff(attachments: readonly object[], by: Person = owner) {
  const to = reader();
  stage.smtp.refuse('451 later', 1, to);
  const { id } = await json(await send(attachments, { to: [to] }, by));
  await expect.poll(async () => (await statusOf(id)).recipients[0].error).toContain('later');
  return { id, to };
}

describe('files of a library', () => {
  it('go along under their names, and pictures where the HTML shows them', async () => {
    const plan = await delivered(stage.easel, owner, 'Über alles: a plan', { name: 'Plan für März (1).txt' });
    const logo = await delivered(stage.easel, owner, PIXEL, { name: 'logo.png', type: 'image/png' });
    const to = reader();
    const attachments = [{ file_id: plan.id }, { file_id: logo.id, cid: 'logo' }];
    const reply = await send(attachments, { to: [to], html: '<p>Here</p><img src="cid:logo" alt="Us">' });
    expect(reply.status).toBe(202);
    const { id } = await json(reply);
    await settled(id).toBe('sent');
    const [raw = ''] = rawTo(to);
    expect(headersOf(raw).get('content-type')?.[0]).toMatch(/^multipart\/mixed;/);
    expect(raw).toMatch(/Content-Type: multipart\/related;/);
    expect(raw).toMatch(/Content-ID: <logo>\n/i);
    const mail = await simpleParser(raw, { keepCidLinks: true });
    expect(mail.html).toContain('<img src="cid:logo"');
    expect(mail.html).toContain('/unsubscribe/');
    expect(
      mail.attachments.map(({ filename, contentType, contentDisposition, cid }) => [filename, contentType, contentDisposition, cid]),
    ).toEqual(
      expect.arrayContaining([
        ['Plan für März (1).txt', 'text/plain', 'attachment', undefined],
        ['logo.png', 'image/png', 'inline', 'logo'],
      ]),
    );
    const bytesOf = (type: string) => mail.attachments.find(({ contentType }) => contentType === type)?.content;
    expect(bytesOf('text/plain')?.toString('utf8')).toBe('Über alles: a plan');
    expect(bytesOf('image/png')).toEqual(PIXEL);
    expect((await statusOf(id)).attachments).toEqual([
      { file_id: plan.id, filename: 'Plan für März (1).txt', size_bytes: plan.sizeBytes, cid: null },
      { file_id: logo.id, filename: 'logo.png', size_bytes: PIXEL.length, cid: 'logo' },
    ]);
  });

  it('a template shows one by its cid, and by the address of its share link', async () => {
    const logo = await delivered(stage.easel, owner, PIXEL, { name: 'logo.png', type: 'image/png' });
    const { secret } = await link(stage.easel, owner, logo.id);
    const address = `${stage.easel.baseUrl}/v1/files/${logo.id}/content?link=${secret}`;
    const template = { name: 'Logo', subject: 'Logo', html: '<img src="cid:logo"><img src="{{data.picture}}">' };
    const variables = [{ name: 'picture', type: 'string' }];
    const made = await json(await stage.easel.fetch('/v1/templates', { token: owner.token, ...post({ ...template, variables }) }));
    const to = reader();
    const body = { to: [to], html: undefined, subject: undefined, template_id: made.data.template.id, data: { picture: address } };
    const { id } = await json(await send([{ file_id: logo.id, cid: 'logo' }], body));
    await settled(id).toBe('sent');
    const mail = await simpleParser(rawTo(to)[0] ?? '', { keepCidLinks: true });
    expect(mail.html).toContain('<img src="cid:logo">');
    const shown = /src="(http[^"]+)"/.exec(String(mail.html))?.[1]?.replaceAll('&#x3D;', '=').replaceAll('&#x2F;', '/') ?? '';
    expect(Buffer.from(await (await fetch(shown)).arrayBuffer())).toEqual(PIXEL);
  });

  it('each reader and each attempt gets the version that was the newest one when the mail was sent', async () => {
    const plan = await delivered(stage.easel, owner, 'zero', { name: 'plan.txt' });
    await newVersion(plan.id, 'first');
    const { id, to } = await putOff([{ file_id: plan.id }]);
    await newVersion(plan.id, 'second');
    stage.easel.clock.advance(RETRY_MS);
    await settled(id).toBe('sent');
    const contentOf = async (address: string) => (await simpleParser(rawTo(address)[0] ?? '')).attachments[0]?.content.toString();
    expect(await contentOf(to)).toBe('first');
    const next = reader();
    const { id: later } = await json(await send([{ file_id: plan.id }], { to: [next] }));
    await settled(later).toBe('sent');
    expect(await contentOf(next)).toBe('second');
  });

  it('what the sender may not open, or is too much, is refused and spends no mail', async () => {
    const stranger = await person(stage.easel, 'sam');
    const mine = await delivered(stage.easel, owner, 'mine');
    const theirs = await delivered(stage.easel, stranger, 'theirs');
    const missing = [404, 'FILE_NOT_FOUND', 'attachments.1.file_id'];
    expect(await refusalOf(send([{ file_id: mine.id }, { file_id: theirs.id }]))).toEqual(missing);
    expect(await refusalOf(send([{ file_id: mine.id }, { file_id: `dlv_${'a'.repeat(24)}` }]))).toEqual(missing);
    const { id: loose } = await json(await upload(stage.easel, owner, 'loose'));
    expect(await refusalOf(send([{ file_id: mine.id }, { file_id: loose }]))).toEqual([400, 'INVALID_REQUEST', 'attachments.1.file_id']);
    const invalid = (param: string) => [400, 'INVALID_REQUEST', param];
    expect(await refusalOf(send([{ file_id: mine.id }, { file_id: mine.id }]))).toEqual(invalid('attachments'));
    const many = Array.from({ length: LIMITS.mailAttachmentsMax + 1 }, (_, n) => ({ file_id: `dlv_${String(n).padStart(24, 'a')}` }));
    expect(await refusalOf(send(many))).toEqual(invalid('attachments'));
    expect(await refusalOf(send([{ file_id: mine.id, cid: 'a"><x' }]))).toEqual(invalid('attachments.0.cid'));
    expect(await refusalOf(send([{ file_id: mine.id, cid: 'logo' }], { html: undefined, text: 'Hello' }))).toEqual(invalid('attachments'));
    const half = Buffer.alloc(LIMITS.mailAttachmentsBytesMax / 2 + 1, 'a');
    const large = [await delivered(stage.easel, owner, half), await delivered(stage.easel, owner, half)];
    expect(await refusalOf(send(large.map(({ id }) => ({ file_id: id }))))).toEqual([413, 'ATTACHMENTS_TOO_LARGE', 'attachments']);
    const sent = await send([{ file_id: large[0].id }]);
    expect([sent.status, sent.headers.get('ratelimit')]).toEqual([202, '"email";r=49;t=86400']);
  });
});

describe('files that their sender loses', () => {
  it('are not sent after they were deleted, and the mail says which', async () => {
    const plan = await delivered(stage.easel, owner, 'secret plan', { name: 'plan.txt' });
    const { id, to } = await putOff([{ file_id: plan.id }]);
    expect((await stage.easel.fetch(`${MINE}/${plan.id}`, { method: 'DELETE', token: owner.token })).status).toBe(200);
    stage.easel.clock.advance(RETRY_MS);
    await settled(id).toBe('failed');
    const { recipients } = await statusOf(id);
    expect(recipients[0].error).toMatch(/^attachments\.0\.file_id: plan\.txt is gone/);
    expect(rawTo(to)).toEqual([]);
    // The address itself is fine.
    expect(await json(await send([], { to: [to] }))).toMatchObject({ status: 'queued' });
  });

  it('are not sent once their sender has left the workspace that has them', async () => {
    const acme = await stageOf(stage.easel, 'Files');
    const base = `/v1/workspaces/${acme.id}/assets`;
    const plan = await delivered(stage.easel, acme.owner, 'our plan', { base, name: 'plan.txt' });
    const page = await publishPage(stage.easel, acme.member);
    artifactId = page.id;
    const to = reader();
    const ok = await json(await send([{ file_id: plan.id }], { to: [to] }, acme.member));
    await expect.poll(async () => (await statusOf(ok.id, acme.member)).status).toBe('sent');
    expect((await simpleParser(rawTo(to)[0] ?? '')).attachments[0]?.content.toString()).toBe('our plan');
    const late = reader();
    stage.smtp.refuse('451 later', 1, late);
    const { id } = await json(await send([{ file_id: plan.id }], { to: [late] }, acme.member));
    await expect.poll(async () => (await statusOf(id, acme.member)).recipients[0].error).toContain('later');
    await stage.easel.fetch(`/v1/workspaces/${acme.id}/members/${acme.member.userId}`, { method: 'DELETE', token: acme.owner.token });
    stage.easel.clock.advance(RETRY_MS);
    await expect.poll(async () => (await statusOf(id, acme.member)).status).toBe('failed');
    expect(rawTo(late)).toEqual([]);
    expect(await refusalOf(send([{ file_id: plan.id }], {}, acme.member))).toEqual([404, 'FILE_NOT_FOUND', 'attachments.0.file_id']);
  });
});

it('people outside send what a workspace shares with them, as long as it does', async () => {
  const acme = await stageOf(stage.easel, 'Sharing');
  const { token } = acme.owner;
  const features = patch({ features: { 'collab.external_sharing': true } });
  await stage.easel.fetch(`/v1/workspaces/${acme.id}/features`, { token: stage.easel.adminToken, ...features });
  const plan = await delivered(stage.easel, acme.owner, 'our plan', { base: `/v1/workspaces/${acme.id}/assets`, name: 'plan.txt' });
  expect(await refusalOf(send([{ file_id: plan.id }]))).toEqual([404, 'FILE_NOT_FOUND', 'attachments.0.file_id']);
  const share = post({ email: owner.email, resource_type: 'file', resource_id: plan.id, capability: 'view' });
  const shared = await stage.easel.fetch(`/v1/workspaces/${acme.id}/share-person`, { token, ...share });
  expect(shared.status).toBe(201);
  const grant = await json(shared);
  // The mail that says so has to be out of the way of the refusal.
  await expect.poll(() => rawTo(owner.email).length).toBe(1);
  const { id, to } = await putOff([{ file_id: plan.id }]);
  await stage.easel.fetch(`/v1/workspaces/${acme.id}/grants/${grant.id}`, { token, method: 'DELETE' });
  stage.easel.clock.advance(RETRY_MS);
  await settled(id).toBe('failed');
  expect(rawTo(to)).toEqual([]);
});

describe('jobs', () => {
  const jobWith = (config: Record<string, unknown>) =>
    post({
      artifact_id: artifactId,
      title: 'Report',
      action: 'email',
      trigger_type: 'cron',
      schedule: '0 0 1 1 *',
      retry_config: { maxAttempts: 3 },
      config: { to: [reader()], text: 'Hello', ...config },
    });
  const call = async (path: string, init: RequestInit = {}, by = owner) => {
    const reply = await stage.easel.fetch(path, { token: by.token, ...init });
    return { status: reply.status, body: await json(reply) };
  };
  const ran = async (id: string, times: number) => {
    expect((await call(`/v1/jobs/${id}/run`, post({}))).status).toBe(202);
    const runs = async () =>
      (await call(`/v1/jobs/${id}/logs?limit=50`)).body.runs.filter(
        (one: { status: string }) => one.status !== 'queued' && one.status !== 'running',
      );
    await expect.poll(async () => (await runs()).filter((one: { trigger: string }) => one.trigger === 'manual').length).toBe(times);
    return (await runs())[0];
  };

  it('send the version that is the newest one at each run; a rehearsal names the file and sends nothing', async () => {
    const plan = await delivered(stage.easel, owner, 'first', { name: 'plan.txt' });
    const { body: job } = await call('/v1/jobs', jobWith({ attachments: [{ file_id: plan.id }] }));
    expect(job.config.attachments).toEqual([{ file_id: plan.id }]);
    const [to] = job.config.to;
    const { body: rehearsed } = await call(`/v1/jobs/${job.id}/rehearse`, post({}));
    expect(rehearsed).toMatchObject({ error: null, would: { send: [{ to: [to], subject: 'Report', attachments: ['plan.txt'] }] } });
    expect(rawTo(to)).toEqual([]);
    for (const [times, content] of [
      [1, 'first'],
      [2, 'second'],
    ] as const) {
      if (times === 2) await newVersion(plan.id, content);
      expect((await ran(job.id, times)).status).toBe('succeeded');
      await expect.poll(() => rawTo(to).length).toBe(times);
      const mail = await simpleParser(rawTo(to)[times - 1] ?? '');
      expect(mail.attachments.map((file) => [file.filename, file.content.toString()])).toEqual([['plan.txt', content]]);
    }
  });

  it('fail at once where the file is gone, and are not made with files that their maker may not open', async () => {
    const editor = await person(stage.easel, 'ed');
    await call(`/v1/artifacts/${artifactId}/collaborators`, post({ emails: [editor.email], role: 'editor' }));
    const plan = await delivered(stage.easel, owner, 'plan', { name: 'plan.txt' });
    const config = { attachments: [{ file_id: plan.id }] };
    const refused = await call('/v1/jobs', jobWith(config), editor);
    expect([refused.status, refused.body.code, refused.body.param]).toEqual([404, 'FILE_NOT_FOUND', 'config.attachments.0.file_id']);
    const { body: job } = await call('/v1/jobs', jobWith(config));
    // Whoever changes what it does sends with their own files from then on.
    const taken = await call(`/v1/jobs/${job.id}`, patch({ config: { ...job.config, to: [editor.email] } }), editor);
    expect([taken.status, taken.body.param]).toEqual([404, 'config.attachments.0.file_id']);
    expect((await call(`/v1/jobs/${job.id}/rehearse`, post({}), editor)).body).toMatchObject({
      would: { send: [] },
      error: expect.stringContaining('attachments.0.file_id'),
    });
    await call(`${MINE}/${plan.id}`, { method: 'DELETE' });
    const failed = await ran(job.id, 1);
    expect(failed).toMatchObject({ status: 'failed', attempt: 1, error: expect.stringMatching(/^attachments\.0\.file_id: /) });
  });
});
