/** The page on which a request for access is decided: opening it does nothing, and only its own form decides. Source: anchors.md I6, I7, I11. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { post, published } from '../../../support/requests.ts';
import { WebPerson } from '../../../support/web-person.ts';

let easel: TestEasel;
let count = 0;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());
beforeEach(() => easel.clock.advance(2 * 3_600_000));

interface Scene {
  readonly owner: WebPerson;
  readonly asker: WebPerson;
  readonly artifactId: string;
  readonly path: string;
  readonly names: { readonly owner: string; readonly asker: string };
}

/** An owner and somebody who has asked, each with a browser. */
async function scene(message = 'May I?', name = 'Ray'): Promise<Scene> {
  count += 1;
  const names = { owner: `owner${count}@example.com`, asker: `asker${count}@example.com` };
  const owner = await WebPerson.signedIn(easel, names.owner);
  const asker = await WebPerson.signedIn(easel, names.asker);
  await asker.call('PATCH', '/v1/auth/profile', { name });
  const { token } = JSON.parse((await owner.call('POST', '/v1/me/tokens', {})).text) as { token: string };
  const { id } = await published(easel, { token }, { name: `Plan ${count}` });
  const asked = await asker.call('POST', '/v1/access-requests', { artifact_id: id, message });
  const { id: request } = JSON.parse(asked.text) as { id: string };
  return { owner, asker, artifactId: id, path: `/access-requests/${request}`, names };
}

const sees = async ({ asker, artifactId }: Scene) => (await asker.call('GET', `/v1/artifacts/${artifactId}`)).status === 200;
const pending = async ({ owner }: Scene) =>
  (JSON.parse((await owner.call('GET', '/v1/access-requests/incoming')).text) as { requests: unknown[] }).requests.length;

test('says who asks for what, and gives access by its form', async () => {
  const one = await scene();
  const { status, text } = await one.owner.open(`${one.path}?action=approve`);
  expect(status).toBe(200);
  for (const part of ['Ray asks for access', one.names.asker, 'Plan ', 'May I?']) expect(text).toContain(part);
  // Opened as often as it may be, it decides nothing.
  await one.owner.open(`${one.path}?action=deny`);
  expect([await pending(one), await sees(one)]).toEqual([1, false]);
  const done = await one.owner.submit(one.path, { action: 'approve' });
  expect([done.status, done.text]).toEqual([200, expect.stringContaining('Ray can see')]);
  expect([await pending(one), await sees(one)]).toEqual([0, true]);
  expect((await one.owner.open(one.path)).text).toContain('was approved');
  const again = await one.owner.submit(one.path, { action: 'deny' });
  expect([again.status, again.text.includes('decided already'), await sees(one)]).toEqual([400, true, true]);
});

test('the button that was chosen in the mail comes first, and declining declines', async () => {
  const one = await scene();
  const order = async (action: string) =>
    [...(await one.owner.open(`${one.path}?action=${action}`)).text.matchAll(/name="action" value="(\w+)"/g)].map(([, value]) => value);
  expect([await order('approve'), await order('deny'), await order('anything')]).toEqual([
    ['approve', 'deny'],
    ['deny', 'approve'],
    ['approve', 'deny'],
  ]);
  expect((await one.owner.submit(one.path, { action: 'perhaps' })).status).toBe(400);
  expect(await pending(one)).toBe(1);
  expect((await one.owner.submit(one.path, { action: 'deny' })).text).toContain('The request was declined.');
  expect([await pending(one), await sees(one)]).toEqual([0, false]);
});

test('whoever is not signed in signs in first and comes back', async () => {
  const one = await scene();
  const stranger = new WebPerson(easel);
  const sent = await stranger.open(`${one.path}?action=deny`);
  expect([sent.status, sent.location]).toEqual([303, `/sign-in?return_to=${encodeURIComponent(`${one.path}?action=deny`)}`]);
  expect((await stranger.open(`${one.path}?action=//evil.example`)).location).not.toContain('evil');
  expect((await stranger.submit(one.path, { action: 'approve' })).location).toContain('/sign-in');
  expect(await sees(one)).toBe(false);
});

test('[I6] [I7] a forwarded mail opens nothing: the same page for who has asked, a stranger, and a request that does not exist', async () => {
  const one = await scene();
  const stranger = await WebPerson.signedIn(easel, `stranger${count}@example.com`);
  const ghost = '/access-requests/req_k3vq7m2xw5tz4ndh6b2crpyf';
  const shown = async (who: WebPerson, path: string) =>
    (await who.open(path)).text.replaceAll(path, 'PATH').replaceAll(encodeURIComponent(path), 'PATH');
  expect(await shown(stranger, one.path)).toBe(await shown(stranger, ghost));
  expect(await shown(stranger, one.path)).not.toContain('Plan');
  for (const who of [stranger, one.asker]) {
    expect((await who.open(one.path)).status).toBe(400);
    expect((await who.submit(one.path, { action: 'approve' })).status).toBe(400);
  }
  expect([await pending(one), await sees(one)]).toEqual([1, false]);
});

test('a form of another origin decides nothing, nor can the page be framed', async () => {
  const one = await scene();
  for (const origin of ['https://evil.example', easel.contentUrl('evil'), 'null', undefined]) {
    const { status } = await one.owner.submit(one.path, { action: 'approve' }, { origin });
    expect(status).toBe(403);
  }
  expect([await pending(one), await sees(one)]).toEqual([1, false]);
  const { headers } = await one.owner.open(one.path);
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(headers.get('cache-control')).toBe('no-store');
});

test('names and messages are text', async () => {
  const one = await scene('</blockquote><script>alert(1)</script>', '<img src=x onerror=alert(1)>');
  const { text } = await one.owner.open(one.path);
  expect(text).not.toMatch(/<img|<script>/);
  expect((await one.owner.submit(one.path, { action: 'approve' })).text).not.toContain('<img');
});

test('what is decided by the interface is decided for the page', async () => {
  const one = await scene();
  const id = one.path.slice('/access-requests/'.length);
  const { token } = JSON.parse((await one.owner.call('POST', '/v1/me/tokens', {})).text) as { token: string };
  await easel.fetch(`/v1/access-requests/${id}`, { token, ...post({ action: 'deny' }) });
  expect((await one.owner.open(one.path)).text).toContain('was declined');
});
