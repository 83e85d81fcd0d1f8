/** The form that asks for access to a page, without the module that takes the requests. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Failure } from '../../../../protocol/core/errors.ts';
import { newId } from '../../../../protocol/core/ids.ts';
import type { Call } from '../../../../src/edge/call.ts';
import { type AskForAccess, openPages } from '../../../../src/features/people/pages/open-page.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { userPrincipal } from '../../../support/principals.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

async function submitted(ask: AskForAccess, fields: Readonly<Record<string, string>>, isSignedIn = true, acceptLanguage = '') {
  const { userId } = await easel.newUser();
  const principal = { ...userPrincipal(userId, { tokenId: newId('session') }), tokenKind: 'session' };
  const viewing = { headOf: async () => null, next: async () => ({ kind: 'refused' }) };
  const config = { baseUrl: easel.baseUrl, contentHost: 'pages.test' };
  const pages = openPages({ sql: easel.sql, config, viewing, ask } as never);
  const body_ = Buffer.from(new URLSearchParams(fields).toString());
  const call = { principal: isSignedIn ? principal : { kind: 'anonymous' }, body: body_, acceptLanguage };
  const { reply, body, headers } = await pages['pages.askForm'](call as unknown as Call as never);
  return { reply, text: String(body), headers: headers as Readonly<Record<string, string>> };
}

test('asks with the words of the person, and says the same whether or not there is such a page', async () => {
  const asked: unknown[] = [];
  const taken = await submitted(async (_call, wanted) => asked.push(wanted), { slug: 'Plans', message: ' Please ' });
  expect(asked).toEqual([{ slug: 'plans', message: 'Please' }]);
  expect([taken.reply, taken.text.includes('its owner has your request')]).toEqual(['page', true]);
  const missing = await submitted(() => Promise.reject(new Failure('ARTIFACT_NOT_FOUND')), { slug: 'plans' });
  const impossible = await submitted(() => Promise.reject(new Error('not asked for')), { slug: '"><b>' });
  const content = ({ text }: { readonly text: string }) => /<main.*<\/main>/s.exec(text)?.[0];
  expect(content(missing)).toBe(content(taken));
  expect(content(impossible)).toBe(content(taken));
});

test('shows the form again with what is wrong', async () => {
  const limited = await submitted(() => Promise.reject(new Failure('RATE_LIMITED', { retryAfterS: 60 })), { slug: 'plans', message: 'x' });
  expect(limited.reply).toBe('again');
  expect(limited.text).toContain('action="/open/ask"');
  await expect(submitted(() => Promise.reject(new Error('a bug')), { slug: 'plans' })).rejects.toThrow('a bug');
});

test('leads who is not signed in to the sign-in, and asks for nothing', async () => {
  const nobody = await submitted(() => Promise.reject(new Error('not asked for')), { slug: 'plans' }, false);
  expect([nobody.reply, nobody.headers.Location]).toEqual(['elsewhere', '/sign-in?return_to=%2Fopen%3Fslug%3Dplans%26return%3D%252F']);
});
