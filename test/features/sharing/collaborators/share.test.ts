/** Sharing by mail: whom it reaches, in which words, and how much of it. Source: contract.md §3. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, patch, post, refusal } from '../../../support/requests.ts';
import { ok } from '../../../support/visitor.ts';
import { person } from '../../workspaces/workspace-stage.ts';
import { type Page, pageOf, Sharing } from '../sharing-stage.ts';

let easel: TestEasel;
let sharing: Sharing;
beforeAll(async () => {
  easel = await startTestEasel();
  sharing = new Sharing(easel);
});
afterAll(() => easel.close());
beforeEach(() => easel.clock.advance(25 * 3_600_000));

const share = ({ owner, id }: Page, body: object) => sharing.call(owner, `/v1/artifacts/${id}/share`, post(body));

test('each address becomes a collaborator and gets a mail in its language, the owner none', async () => {
  const page = await pageOf(easel);
  const vera = await person(easel, 'vera');
  await ok(sharing.call(vera, '/v1/auth/profile', patch({ metadata: { locale: 'es-MX' } })));
  const recipients = [vera.email, 'new@example.com', page.owner.email, 'NEW@example.com'];
  const done = await json(await ok(share(page, { recipients, role: 'editor', message: 'Have a look.\nThanks' })));
  expect(done).toEqual({
    results: [
      { email: vera.email, status: 'added', role: 'editor' },
      { email: 'new@example.com', status: 'pending', role: 'editor' },
      { email: page.owner.email, status: 'owner', role: 'owner' },
    ],
    sent: 2,
  });
  const [spanish] = await sharing.mails(vera.email, 'share');
  expect([spanish?.subject, spanish?.html.includes('lang="es"')]).toEqual([
    expect.stringMatching(/^olive ha compartido «The map \d+» contigo$/),
    true,
  ]);
  const [english, ...others] = await sharing.mails('new@example.com', 'share');
  expect(others).toEqual([]);
  expect(english?.text).toContain('> Have a look.\n> Thanks');
  expect(english?.text).toContain(`http://${page.slug}.`);
  expect(await sharing.mails(page.owner.email, 'share')).toEqual([]);
});

test('names and words of the sender become no markup and no link', async () => {
  const page = await pageOf(easel, undefined, { name: '<b>Free</b> at https://evil.example' });
  await ok(sharing.call(page.owner, '/v1/auth/profile', patch({ name: '"><img src=x onerror=alert(1)>' })));
  await ok(share(page, { recipients: ['html@example.com'], message: '<script>alert(1)</script>' }));
  const [mail] = await sharing.mails('html@example.com', 'share');
  expect(mail?.html).not.toMatch(/<img|<script|<b>/);
  expect(mail?.subject).not.toContain('https://evil.example');
});

test('at most ten in one call, and so many in a day; what is refused mails nobody', async () => {
  const page = await pageOf(easel);
  const many = (count: number, name: string) => Array.from({ length: count }, (_, at) => `${name}${at}@example.com`);
  expect(await refusal(share(page, { recipients: many(LIMITS.shareRecipientsMax + 1, 'a') }))).toEqual([
    400,
    'INVALID_REQUEST',
    'recipients',
  ]);
  expect(await refusal(share(page, { recipients: ['x@example.com'], message: 'x'.repeat(LIMITS.shareMessageCharsMax + 1) }))).toEqual([
    400,
    'INVALID_REQUEST',
    'message',
  ]);
  easel.clock.advance(25 * 3_600_000);
  for (let sent = 0; sent < LIMITS.shareMailsPerDay; sent += LIMITS.shareRecipientsMax) {
    await ok(share(page, { recipients: many(LIMITS.shareRecipientsMax, `b${sent}-`) }));
  }
  expect((await refusal(share(page, { recipients: ['late@example.com'] }))).slice(0, 2)).toEqual([429, 'RATE_LIMITED']);
  expect(await sharing.mails('late@example.com', 'share')).toEqual([]);
});
