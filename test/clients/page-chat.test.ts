/** `easel.chat`: a visitor and the owner of a page, from the first message to the end. */
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chatOf } from '../../src/clients/page/chat.ts';
import { EaselError } from '../../src/clients/page/errors.ts';
import { Transport } from '../../src/clients/page/transport.ts';
import { type MailStage, publishPage } from '../features/automation/email/mail-stage.ts';
import { at, call, supportStage } from '../features/business/support/support-stage.ts';
import { type Person, person } from '../features/workspaces/workspace-stage.ts';

let stage: MailStage;
let owner: Person;
let pageId: string;
beforeAll(async () => {
  stage = await supportStage();
  owner = await person(stage.easel, 'olive');
  await stage.easel.sql`update account set tier = 'pro' where id = ${owner.userId}`;
  pageId = (await publishPage(stage.easel, owner)).id;
});
afterAll(() => stage.close());

const turn = (enabled: boolean) => call(stage, owner, `/v1/data/${pageId}/support/_config`, { enabled, greeting: 'Ask us.' }, 'PUT');

/** A visitor's browser, which keeps what it is given. */
function visitor(more: { readonly isSignedIn?: () => boolean } = {}) {
  const stored = new Map<string, string>();
  const asked: string[] = [];
  const around = {
    ...more,
    fetch: (input: string | URL | Request, init?: RequestInit) => {
      asked.push(new URL(String(input)).pathname.replace(/.*\/support/, ''));
      return fetch(input, init);
    },
    wait: async () => setImmediate(),
    random: () => 0,
    kept: (name: string) => stored.get(name) ?? null,
    keep: (name: string, text: string | undefined) => void (text === undefined ? stored.delete(name) : stored.set(name, text)),
  };
  const transport = new Transport({ artifactId: pageId, baseUrl: stage.easel.baseUrl }, around, () => undefined);
  return { chat: chatOf(pageId, transport, around), stored, asked };
}

it('works for the first message by itself, reads the answers, and finds them again', async () => {
  const { chat } = visitor();
  expect(await chat.settings()).toEqual({ enabled: false, greeting: '' });
  const off = await chat.write('Hello').catch((error: unknown) => error);
  expect(off).toBeInstanceOf(EaselError);
  expect(off).toMatchObject({ code: 'SUPPORT_CHAT_OFF' });
  await turn(true);
  expect(await chat.read()).toEqual({ status: 'open', messages: [], hasMore: false });
  const first = await chat.write('Open on Mondays?', { name: 'Grace' });
  expect(first).toMatchObject({ status: 'open', message: { author: 'visitor', name: 'Grace', text: 'Open on Mondays?' } });
  const { tickets } = (await call(stage, owner, '/v1/support/tickets?scope=pages')).body;
  await call(stage, owner, at(tickets[0].id, '/reply'), { body: 'It is.' });
  const seen = await chat.read({ after: first.message.id });
  expect([seen.status, seen.messages.map(({ author, text }) => [author, text])]).toEqual(['pending', [['maker', 'It is.']]]);
  expect((await chat.write('Thanks.')).status).toBe('open');
  expect((await call(stage, owner, '/v1/support/tickets?scope=pages&count=true')).body.total).toBe(1);
  expect((await visitor().chat.read()).messages).toEqual([]);
});

it('proves its work at once where nobody is signed in, and else only where it is asked to', async () => {
  await turn(true);
  const nobody = visitor({ isSignedIn: () => false });
  await nobody.chat.write('Hello');
  expect(nobody.asked).toEqual(['/challenge', '']);
  const somebody = visitor({ isSignedIn: () => true });
  await somebody.chat.write('Hello');
  expect(somebody.asked).toEqual(['', '/challenge', '']);
});

it('begins another chat where its own is gone', async () => {
  await turn(true);
  const { chat, stored } = visitor();
  await chat.write('One');
  const [[name = '', secret] = []] = [...stored];
  await stage.easel.sql`delete from ticket where artifact_id = ${pageId}`;
  expect(await chat.read()).toEqual({ status: 'open', messages: [], hasMore: false });
  expect(stored.size).toBe(0);
  stored.set(name, secret ?? '');
  expect((await chat.write('Two')).message.text).toBe('Two');
  expect((await chat.read()).messages.map(({ text }) => text)).toEqual(['Two']);
  expect(stored.get(name)).not.toBe(secret);
});
