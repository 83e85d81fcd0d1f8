/** What takes several steps works when each of them reaches another node: nothing of it is in the memory of one. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEasel, type TestEasel, type TestStorage, testStorage } from '../../support/easel.ts';
import { describeWith } from '../../support/services.ts';
import { codeFor, ok, Visitor } from '../../support/visitor.ts';
import { WebPerson } from '../../support/web-person.ts';

describeWith('postgresUrl')('three nodes on one database', () => {
  let storage: TestStorage;
  let nodes: readonly [TestEasel, TestEasel, TestEasel];
  beforeAll(async () => {
    storage = await testStorage('postgres');
    const start = () => startTestEasel({ storage });
    nodes = [await start(), await start(), await start()];
  });
  afterAll(async () => {
    for (const node of nodes) await node.close();
    await storage.remove();
  });

  /** The same browser, whose next request goes elsewhere. */
  function at(node: TestEasel, before: { readonly cookies: ReadonlyMap<string, string> }): Visitor {
    const visitor = new Visitor(node);
    for (const [name, value] of before.cookies) visitor.cookies.set(name, value);
    return visitor;
  }

  test('a code by mail is asked for on one, given on another, and its session counts on the third', async () => {
    const [one, other, third] = nodes;
    const email = 'ada@example.com';
    const asking = new Visitor(one);
    await ok(asking.post('/v1/auth/email/start', { email }), 202);
    const giving = at(other, asking);
    await ok(giving.post('/v1/auth/email/verify', { email, code: await codeFor(one, email) }));
    const signedIn = at(third, giving);
    expect((await signedIn.fetch('/v1/me')).status).toBe(200);
    await ok(at(one, giving).post('/v1/auth/sign-out'));
  });

  test('wrong codes count together, whichever node they reach', async () => {
    const email = 'guessed@example.com';
    await ok(new Visitor(nodes[0]).post('/v1/auth/email/start', { email }), 202);
    const code = await codeFor(nodes[0], email);
    const wrong = code === '000000' ? '111111' : '000000';
    for (let guess = 0; guess < 5; guess += 1) {
      const node = nodes[guess % nodes.length] as TestEasel;
      expect((await new Visitor(node).post('/v1/auth/email/verify', { email, code: wrong })).status).toBe(400);
    }
    expect((await new Visitor(nodes[2]).post('/v1/auth/email/verify', { email, code })).status).toBe(400);
  });

  test('a device login is started on one, approved on another, and fetched from the third', async () => {
    const [one, other, third] = nodes;
    const started = await (await ok(new Visitor(one).post('/v1/auth/device/start'), 201)).json();
    const { device_code, user_code } = started as { device_code: string; user_code: string };
    const person = await WebPerson.signedIn(other, 'grace@example.com');
    await person.submit('/device', { do: 'approve', user_code });
    const fetched = await (await ok(new Visitor(third).post('/v1/auth/device/token', { device_code }))).json();
    const { token } = fetched as { token: string };
    expect((await one.fetch('/v1/me', { token })).status).toBe(200);
  });
});
