/** Mail and templates by the command line against the real service. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MailStage, mailStage, publishPage } from '../features/automation/email/mail-stage.ts';
import { delivered } from '../features/library/assets/asset-stage.ts';
import { type Person, person, workspaceOf } from '../features/workspaces/workspace-stage.ts';
import { temporaryDir } from '../support/database.ts';
import { runInProcess } from './in-process.ts';

let stage: MailStage;
let owner: Person;
const folder = temporaryDir();
beforeAll(async () => {
  stage = await mailStage();
  owner = await person(stage.easel, 'olive');
  await stage.easel.sql`update account set tier = 'pro' where id = ${owner.userId}`;
});
afterAll(async () => {
  await stage.close();
  folder.remove();
});

const run = (...args: string[]) => runInProcess(args, { EASEL_URL: stage.easel.baseUrl, EASEL_TOKEN: owner.token });
const file = (name: string, content: unknown) => {
  const path = join(folder.path, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
};

it('mail is sent, listed and followed', async () => {
  const { slug } = await publishPage(stage.easel, owner);
  expect((await run('mail', 'list', slug)).out).toBe('No mail in the last 30 days.\n');
  expect((await run('mail', 'send', '-a', slug, '--subject', 'News', '--text', 'Hello')).code).toBe(2);
  const to = ['--to', 'ada@example.com', '--to', 'bob@example.com'];
  const sent = await run('mail', 'send', '-a', slug, ...to, '--subject', 'News', '--text', 'Hello');
  expect([sent.code, sent.out]).toEqual([0, expect.stringMatching(/^Queued for 2 recipients\. .* easel mail status mlb_\S+\n$/)]);
  const id = /mlb_\S+/.exec(sent.out)?.[0] ?? '';
  await expect
    .poll(async () => (await run('mail', 'status', id)).out)
    .toMatch(/^"News" of \S+ \S+: sent\.\n\nTO .*\nada@example\.com +sent +1 /);
  const listed = (await run('mail', 'list', slug)).out.split('\n');
  expect(listed[1]).toMatch(new RegExp(`sent +ada@example\\.com \\+1 +News +${id}$`));
  expect(JSON.parse((await run('mail', 'list', slug, '--json')).out).emails[0]).toMatchObject({ id, status: 'sent' });
});

it('files of a library go along, listed or where the HTML shows them', async () => {
  const { slug } = await publishPage(stage.easel, owner);
  const plan = await delivered(stage.easel, owner, 'a plan', { name: 'plan.txt' });
  const logo = await delivered(stage.easel, owner, '<svg xmlns="http://www.w3.org/2000/svg"/>', {
    name: 'logo.svg',
    type: 'image/svg+xml',
  });
  writeFileSync(join(folder.path, 'news.html'), '<img src="cid:logo">');
  const to = ['mail', 'send', '-a', slug, '--to', 'files@example.com', '--subject', 'Files', '--html', join(folder.path, 'news.html')];
  expect((await run(...to, '--inline', logo.id)).code).toBe(2);
  const sent = await run(...to, '--attach', plan.id, '--inline', `logo=${logo.id}`);
  expect([sent.code, sent.err]).toEqual([0, '']);
  const id = /mlb_\S+/.exec(sent.out)?.[0] ?? '';
  await expect
    .poll(async () => (await run('mail', 'status', id)).out)
    .toMatch(/^"Files" of \S+ \S+: sent\.\nWith plan\.txt, logo\.svg\.\n/);
});

it('templates are made, tried, rehearsed, used, changed and deleted', async () => {
  const { slug } = await publishPage(stage.easel, owner);
  expect((await run('templates', 'list')).out).toContain('No templates yet.');
  const news = { name: 'News', subject: 'News for {{data.who}}', html: '<p>Hello {{data.who}}</p>' };
  const made = await run('templates', 'create', file('news.json', news));
  expect([made.code, made.out]).toEqual([0, expect.stringMatching(/^Made the template News: tpl_/)]);
  expect((await run('templates', 'show', 'News')).out).toBe(`News\nSubject: ${news.subject}\n\n${news.html}\n`);
  const values = file('values.json', { who: 'Ada' });
  expect((await run('templates', 'preview', 'News', values)).out).toBe('Subject: News for Ada\n\nHello Ada\n');
  expect((await run('templates', 'preview', 'News')).err).toContain('data.who has no value');
  const rehearsed = await run('templates', 'rehearse', 'News', '-a', slug, '--to', 'ada@example.com', '--data', values);
  expect([rehearsed.code, rehearsed.out.split('\n')[1]]).toEqual([0, 'ada@example.com  gets it       News for Ada']);
  const id = /tpl_\S+/.exec(made.out)?.[0] ?? '';
  expect((await run('mail', 'send', '-a', slug, '--to', 'eve@example.com', '--template', id, '--data', values)).code).toBe(0);
  await expect
    .poll(() => stage.smtp.taken.some(({ to, text }) => to.includes('eve@example.com') && text.includes('News for Ada')))
    .toBe(true);
  expect((await run('templates', 'update', 'News', file('more.json', { name: 'Letter' }))).out).toBe('Changed Letter.\n');
  expect((await run('templates', 'delete', 'Letter')).out).toBe('Deleted Letter.\n');
  expect([(await run('templates', 'show', 'Letter')).code, (await run('templates', 'list')).out]).toEqual([
    4,
    expect.stringContaining('No templates'),
  ]);
});

it('a workspace has its own text for a mail of the service, until it takes the built-in again', async () => {
  const { slug } = await workspaceOf(stage.easel, owner, 'Map makers');
  const first = (await run('service-mails', 'list', slug)).out.split('\n');
  expect([first.length, first[1]]).toEqual([8, 'invite  en        built-in  {{data.by}} invited you to {{data.workspace}}']);
  const own = file('invite.json', { subject: 'Join us', html: '<a href="{{data.url}}">Join</a>', text_body: 'Join: {{data.url}}' });
  expect((await run('service-mails', 'set', slug, 'invite', 'en', own)).out).toBe('The workspace has its own text for invite (en).\n');
  expect((await run('service-mails', 'show', slug, 'invite', 'en')).out).toContain('Subject: Join us\n\nJoin: {{data.url}}\nValues:\n');
  expect((await run('service-mails', 'reset', slug, 'invite', 'en')).out).toBe('invite (en) is the built-in text again.\n');
  expect((await run('service-mails', 'list', slug)).out).not.toContain('own');
  expect((await run('service-mails', 'show', slug, 'sign_up', 'en')).code).toBe(2);
});
