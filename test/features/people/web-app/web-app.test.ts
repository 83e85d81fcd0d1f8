/** What the server gives of the web app: to whom, under which policy, and how long browsers keep it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { type Answer, WebPerson } from '../../../support/web-person.ts';

let easel: TestEasel;
let ada: WebPerson;
let nobody: WebPerson;
beforeAll(async () => {
  easel = await startTestEasel();
  ada = await WebPerson.signedIn(easel, 'ada@example.com');
  nobody = new WebPerson(easel);
});
afterAll(() => easel?.close());

const SCREENS = [
  '/my/trash',
  '/p/art_k3vq7m2xw5tz4ndh6b2crpyf/versions',
  '/w/acme/people',
  '/instance',
  '/instance/people',
  '/ask',
  '/ask?q=How+much%3F&workspace=acme',
];

function filesOf({ text }: Answer): string[] {
  return [...text.matchAll(/"(\/_app\/[^"]+-[A-Z0-9]{8}\.(?:js|css))"/g)].map(([, path]) => path ?? '');
}

test('a session gets the app at /, a visitor the start page, and neither is kept by anybody', async () => {
  const [app, start] = [await ada.open('/'), await nobody.open('/')];
  expect(filesOf(app).length).toBeGreaterThan(1);
  expect(filesOf(start)).toEqual([]);
  expect(start.text).toContain('/sign-in?return_to=%2F');
  for (const { headers } of [app, start]) expect(headers.get('cache-control')).toBe('no-store');
});

test('a token is for programs: it opens no app', async () => {
  const { token } = await easel.newUser();
  const reply = await easel.fetch('/', { token });
  expect(await reply.text()).toContain('npx easel login');
});

test.each(SCREENS)('%s is the app for a session, and for everybody else the way to sign in and back', async (path) => {
  expect(filesOf(await ada.open(path)).length).toBeGreaterThan(1);
  const sent = await nobody.open(path);
  expect([sent.status, sent.location]).toEqual([303, `/sign-in?return_to=${encodeURIComponent(path)}`]);
});

test('a question that the way through the sign-in cannot carry is left out of it', async () => {
  const { status, location } = await nobody.open(`/ask?q=${'%C3%A9'.repeat(400)}`);
  expect([status, location]).toEqual([303, '/sign-in?return_to=%2Fask']);
});

test('an address with the marks of another host is no screen and leads nowhere', async () => {
  for (const path of ['/my/%2F%2Fevil.example', '/p/%5Cevil', '/w/a%3Fb', '/my/..%2Fx']) {
    const { status, location } = await nobody.open(path);
    expect([path, status, location]).toEqual([path, 404, null]);
  }
});

test('the policy allows nothing inline, nothing of other hosts, no frames around it, and no HTML made from text', async () => {
  for (const path of ['/', '/design']) {
    const { headers, text } = await ada.open(path);
    const policy = headers.get('content-security-policy') ?? '';
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "require-trusted-types-for 'script'",
    ])
      expect(policy.split('; ')).toContain(part);
    expect(policy).not.toContain('unsafe');
    expect(text).not.toMatch(/<script(?![^>]* src="\/)|\son\w+=|style=|<style/i);
  }
});

test('files are kept for ever by their names, come compressed as the build has made them, and are not there under any other name', async () => {
  const paths = filesOf(await ada.open('/'));
  for (const path of paths) {
    for (const encoding of ['br', 'gzip']) {
      const reply = await easel.fetch(path, { headers: { 'accept-encoding': encoding } });
      expect([reply.status, reply.headers.get('content-encoding'), reply.headers.get('vary')]).toEqual([200, encoding, 'Accept-Encoding']);
      expect(reply.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(reply.headers.get('cross-origin-resource-policy')).toBe('same-origin');
      await reply.arrayBuffer();
    }
  }
  const icon = await easel.fetch('/_app/icon.svg');
  expect([icon.status, icon.headers.get('cache-control'), icon.headers.get('content-type')]).toEqual([
    200,
    'public, no-cache',
    'image/svg+xml',
  ]);
  for (const name of ['manifest.json', 'app-AAAAAAAA.js', '..%2Fmain.js', `${paths[0]?.split('/').at(-1)}.br`])
    expect((await easel.fetch(`/_app/${name}`)).status).toBe(404);
});

test('the pages without a script have the same colours: one sheet of tokens, and the chosen theme before the first paint', async () => {
  const sheet = await (await easel.fetch('/_pages/pages.css')).text();
  const appSheet = filesOf(await ada.open('/')).find((path) => path.endsWith('.css')) ?? '';
  const app = await (await easel.fetch(appSheet)).text();
  for (const token of ['--accent', '--paper', '--text-m', '--gap-4', '--round-m', '--calm']) {
    expect(sheet).toContain(`${token}:`);
    expect(app).toContain(`${token}:`);
  }
  expect((await nobody.open('/sign-in')).text).toContain('<script src="/_pages/theme.js"></script>');
});
