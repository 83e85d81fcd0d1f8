/** The language of the pages around sharing: that of the account, else that of the browser. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { post, published } from '../../../support/requests.ts';
import { WebPerson } from '../../../support/web-person.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

const HTML = { accept: 'text/html' };
const cookie = ({ cookies }: WebPerson) => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');

async function opened(person: WebPerson, path: string, languages: string): Promise<string> {
  const headers = { ...HTML, cookie: cookie(person), 'accept-language': languages };
  return (await easel.fetch(path, { headers, redirect: 'manual' })).text();
}

test('/open and /open/ask speak the language of the browser, and that of the account where it has chosen one', async () => {
  const ana = await WebPerson.signedIn(easel, 'ana@example.com');
  const spanish = await opened(ana, '/open?slug=nothing-here', 'es-MX,es;q=0.9,en;q=0.8');
  expect(spanish).toContain('<html lang="es">');
  expect(spanish).toContain('No tienes acceso a esta página');
  expect(spanish).toContain('Pedir acceso');
  expect(spanish).toContain('Cerrar sesión');
  for (const languages of ['', 'fr', 'en-GB,en;q=0.9,es;q=0.8'])
    expect(await opened(ana, '/open?slug=nothing-here', languages)).toContain('You have no access to this page');
  const asked = await ana.submit(
    '/open/ask',
    { slug: 'nothing-here', message: 'Por favor', return: '/' },
    { origin: easel.baseUrl, headers: { 'accept-language': 'es' } },
  );
  expect(asked.text).toContain('Si hay una página en esta dirección, su dueño tiene tu petición.');
  await ana.call('PATCH', '/v1/auth/profile', { metadata: { locale: 'es' } });
  expect(await opened(ana, '/open?slug=nothing-here', 'en')).toContain('No tienes acceso a esta página');
});

test('a request for access is decided in Spanish, with names escaped as they are', async () => {
  const owner = await WebPerson.signedIn(easel, 'olmo@example.com');
  const token = JSON.parse((await owner.call('POST', '/v1/me/tokens', {})).text) as { token: string };
  const { id } = await published(easel, { token: token.token }, { name: 'Plano <b>1</b>', visibility: 'private' });
  const guest = await WebPerson.signedIn(easel, 'gil@example.com');
  await guest.call('PATCH', '/v1/auth/profile', { name: 'Gil & <i>Co</i>' });
  const asked = JSON.parse((await guest.call('POST', '/v1/access-requests', { artifact_id: id })).text) as { id: string };
  const page = await opened(owner, `/access-requests/${asked.id}`, 'es');
  expect(page).toContain('Dejar que la vea');
  expect(page).toContain('Gil &#38; &#60;i&#62;Co&#60;/i&#62; pide acceso');
  const done = await owner.submit(
    `/access-requests/${asked.id}`,
    { action: 'approve' },
    { origin: easel.baseUrl, headers: { 'accept-language': 'es' } },
  );
  expect(done.text).toContain('puede ver <strong>Plano &#60;b&#62;1&#60;/b&#62;</strong> ahora.');
  const again = await owner.submit(
    `/access-requests/${asked.id}`,
    { action: 'deny' },
    { origin: easel.baseUrl, headers: { 'accept-language': 'es' } },
  );
  expect(again.text).toContain('Esta petición ya está decidida.');
});

test('an invitation is shown in Spanish, and its role is a word of that language', async () => {
  const owner = await easel.newUser('pro');
  const made = await easel.fetch('/v1/workspaces', { token: owner.token, ...post({ name: 'Mapas' }) });
  const { id } = (await made.json()) as { id: string };
  const sent = { emails: ['luz@example.com'], role: 'admin' };
  await easel.fetch(`/v1/workspaces/${id}/members/invite`, { token: owner.token, ...post(sent) });
  const [mail] = await easel.sql<{ text_body: string }[]>`
    select text_body from mail_outbox where recipient = 'luz@example.com' and kind = 'invite'`;
  const [, code = ''] = /\/invite\/([\w-]+)/.exec(mail?.text_body ?? '') ?? [];
  const luz = await WebPerson.signedIn(easel, 'luz@example.com');
  const page = await opened(luz, `/invite/${code}`, 'es');
  expect(page).toContain('Unirse a Mapas');
  expect(page).toContain('<strong>administrador</strong>');
  expect(await opened(luz, '/invite/wrong-code', 'es')).toContain('Esta invitación no está abierta para ti.');
});
