/** Who may comment: every identity mode with every kind of person, over HTTP. Source: spec.md "Comments", contract.md §7. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callData } from '../../../support/data-client.ts';
import { wire } from '../../../support/page-requests.ts';
import { ask, type Cast, cast, guest, must, openStage, outcome, type Stage } from './comment-stage.ts';

let stage: Stage;
let all: Cast;
let gail: string;
beforeAll(async () => {
  stage = await openStage();
  all = await cast(stage.easel);
  gail = await guest(stage, all);
});
afterAll(() => stage.close());

const PEOPLE = ['owner', 'editor', 'viewer', 'stranger', 'guest', 'visitor with a name', 'visitor'] as const;
type Person = (typeof PEOPLE)[number];

function tokenOf(person: Person): string | undefined {
  if (person === 'guest') return gail;
  return person === 'visitor' || person === 'visitor with a name' ? undefined : all[person].token;
}

function by(person: Person, method: string, path = '', body?: object) {
  const token = tokenOf(person);
  const named = person === 'visitor with a name' && method === 'POST' && path === '' ? { ...body, authorName: 'Vi' } : body;
  return ask(stage.easel, all.artifact, token === undefined ? undefined : { token }, method, path, named);
}

const owner = (method: string, path: string, body?: object) => must(by('owner', method, path, body));

const NOBODY = '401 AUTH_REQUIRED';
const NAME = '400 NAME_REQUIRED';
const OFF = '403 COMMENTS_DISABLED';

/** The outcome of writing a comment, in the order of PEOPLE. */
const WRITING: readonly (readonly [settings: object, outcomes: readonly string[]])[] = [
  [{ identityMode: 'anonymous', guestComments: false }, ['201', '201', '201', '201', '201', '201', '201']],
  [{ identityMode: 'named', guestComments: false }, ['201', '201', '201', '201', '201', '201', NAME]],
  [{ identityMode: 'authenticated', guestComments: null }, ['201', '201', '201', '201', NOBODY, NOBODY, NOBODY]],
  [{ identityMode: 'authenticated', guestComments: false }, ['201', '201', '201', '201', NOBODY, NOBODY, NOBODY]],
  [{ identityMode: 'authenticated', guestComments: true }, ['201', '201', '201', '201', '201', NOBODY, NOBODY]],
  [{ identityMode: 'anonymous', guestComments: true, enabled: false }, [OFF, OFF, OFF, OFF, OFF, OFF, OFF]],
];

test.each(WRITING)('%j', async (settings, outcomes) => {
  await owner('PUT', '/_config', { enabled: true, ...settings });
  const found: string[] = [];
  for (const person of PEOPLE) found.push(await outcome(by(person, 'POST', '', { content: `by ${person}` })));
  expect(Object.fromEntries(PEOPLE.map((person, at) => [person, found[at]]))).toEqual(
    Object.fromEntries(PEOPLE.map((person, at) => [person, outcomes[at]])),
  );
});

describe('afterwards', () => {
  beforeAll(() => owner('PUT', '/_config', { enabled: true, identityMode: 'anonymous', guestComments: true }));

  test('disabled comments are visible only to owner and editors, who may still delete them', async () => {
    const { id } = await must(by('stranger', 'POST', '', { content: 'said before' }));
    await owner('PUT', '/_config', { enabled: false });
    for (const person of PEOPLE) {
      const isOurs = person === 'owner' || person === 'editor';
      for (const path of ['', `/${id}`, `/${id}/thread`, `/${id}/replies`, '/_people']) {
        expect([person, path, await outcome(by(person, 'GET', path))]).toEqual([person, path, isOurs ? '200' : OFF]);
      }
      expect(await outcome(by(person, 'GET', '/_config'))).toBe('200');
    }
    expect(await outcome(by('stranger', 'DELETE', `/${id}`))).toBe(OFF);
    expect(await outcome(by('editor', 'DELETE', `/${id}`))).toBe('200');
    await owner('PUT', '/_config', { enabled: true });
  });

  test.each(PEOPLE)('a comment of the %s: the author changes it, owner and editors moderate it, others may do neither', async (author) => {
    const { id, authorId } = await must(by(author, 'POST', '', { content: `of ${author}` }));
    const isAuthor = (person: Person) => authorId !== null && author === person;
    const mayTidy = (person: Person) => isAuthor(person) || person === 'owner' || person === 'editor';
    const expected = (may: boolean) => (may ? '200' : '403 FORBIDDEN');
    for (const person of PEOPLE) {
      const outcomes = [
        await outcome(by(person, 'PATCH', `/${id}`, { content: `by ${person}` })),
        await outcome(by(person, 'PATCH', `/${id}`, { position: { by: person } })),
        await outcome(by(person, 'PATCH', `/${id}/resolve`, { resolved: true })),
      ];
      const tidy = expected(mayTidy(person));
      expect([person, ...outcomes]).toEqual([person, expected(isAuthor(person)), tidy, tidy]);
    }
    for (const person of PEOPLE.filter((one) => !mayTidy(one))) expect(await outcome(by(person, 'DELETE', `/${id}`))).toBe('403 FORBIDDEN');
    expect(await outcome(by(authorId === null ? 'editor' : author, 'DELETE', `/${id}`))).toBe('200');
  });

  test('the author of a thread may resolve its replies; the author of a reply may not', async () => {
    const root = await must(by('viewer', 'POST', '', { content: 'root' }));
    const reply = await must(by('stranger', 'POST', '', { content: 'reply', parentId: root.id }));
    expect(await outcome(by('stranger', 'PATCH', `/${reply.id}/resolve`, { resolved: true }))).toBe('403 FORBIDDEN');
    expect(await must(by('viewer', 'PATCH', `/${reply.id}/resolve`, { resolved: true }))).toMatchObject({ resolvedBy: all.viewer.userId });
    expect(await must(by('viewer', 'PATCH', `/${reply.id}/resolve`, { resolved: false }))).toMatchObject({
      resolvedBy: null,
      resolvedAt: null,
    });
  });

  test('authorName is used only for anonymous callers', async () => {
    const shown = async (person: Person) => {
      const { authorId, authorName, authorType } = await must(by(person, 'POST', '', { content: 'x', authorName: 'The owner' }));
      return [authorId, authorName, authorType];
    };
    expect(await shown('stranger')).toEqual([all.stranger.userId, 'The stranger', 'human']);
    expect(await shown('guest')).toEqual([expect.stringMatching(/^gst_/), 'Gail', 'guest']);
    expect(await shown('visitor')).toEqual([null, 'The owner', 'guest']);
  });

  test('a guest token of one artifact counts as anonymous on another', async () => {
    const other = await cast(stage.easel);
    const post = (body: object) => outcome(ask(stage.easel, other.artifact, { token: gail }, 'POST', '', body));
    expect(await post({ content: 'x' })).toBe('401 AUTH_REQUIRED');
    await must(ask(stage.easel, other.artifact, other.owner, 'PUT', '/_config', { identityMode: 'named', guestComments: true }));
    expect(await post({ content: 'x' })).toBe('400 NAME_REQUIRED');
    const { authorId } = await must(ask(stage.easel, other.artifact, { token: gail }, 'POST', '', { content: 'x', authorName: 'Gail' }));
    expect(authorId).toBeNull();
  });

  test('only the owner changes settings; they are validated, and the answer shows the effective value', async () => {
    for (const person of PEOPLE) {
      const expected =
        person === 'owner' ? '200' : tokenOf(person) === undefined || person === 'guest' ? '401 UNAUTHORIZED' : '403 FORBIDDEN';
      expect([person, await outcome(by(person, 'PUT', '/_config', { overlayEnabled: true }))]).toEqual([person, expected]);
    }
    for (const wrong of [{ maxDepth: 0 }, { maxDepth: 11 }, { identityMode: 'open' }, { enabled: 'yes' }, { guestsAllowed: true }]) {
      expect(await outcome(by('owner', 'PUT', '/_config', wrong))).toBe('400 INVALID_REQUEST');
    }
    const fresh = await cast(stage.easel);
    const settings = await must(ask(stage.easel, fresh.artifact, undefined, 'GET', '/_config'));
    expect(settings).toEqual({
      enabled: true,
      identityMode: 'authenticated',
      allowReplies: true,
      maxDepth: 3,
      overlayEnabled: false,
      guestCommentsEffective: false,
    });
    const put = (body: object) => must(ask(stage.easel, fresh.artifact, fresh.owner, 'PUT', '/_config', body));
    expect(await put({ guestComments: true })).toMatchObject({ guestComments: true, guestCommentsEffective: true });
    expect(await put({ maxDepth: 10 })).toMatchObject({ maxDepth: 10, guestComments: true });
    const back = await put({ guestComments: null });
    expect([back.guestCommentsEffective, Object.hasOwn(back, 'guestComments')]).toEqual([false, false]);
  });

  test('people with a role see everybody with a role, others only authors; nobody sees e-mail addresses', async () => {
    const fresh = await cast(stage.easel);
    await must(ask(stage.easel, fresh.artifact, fresh.viewer, 'POST', '', { content: 'here' }));
    const people = async (who?: { token: string }) => (await must(ask(stage.easel, fresh.artifact, who, 'GET', '/_people'))) as PeopleReply;
    const roles = ({ people: list }: PeopleReply) => list.map(({ role }) => role).sort();
    expect(roles(await people(fresh.owner))).toEqual(['editor', 'owner', 'viewer']);
    expect(roles(await people(fresh.viewer))).toEqual(['editor', 'owner', 'viewer']);
    const seen = await people(fresh.stranger);
    expect([roles(seen), seen.you]).toEqual([
      ['viewer'],
      { id: fresh.stranger.userId, ids: [fresh.stranger.userId], name: 'The stranger', type: 'human', role: 'none' },
    ]);
    const visitor = await people();
    expect([roles(visitor), visitor.you]).toEqual([['viewer'], { id: null, ids: [], name: null, type: 'guest', role: 'none' }]);
    expect(JSON.stringify([seen, visitor, await people(fresh.owner)])).not.toContain('@example.com');
  });
});

interface PeopleReply {
  readonly people: readonly { readonly role: string }[];
  readonly you: object;
}

test('a private page hides its comments; a visitor who knows the password may comment', async () => {
  const hidden = await cast(stage.easel, 'private');
  const { easel } = stage;
  for (const who of [undefined, hidden.stranger]) {
    expect(await outcome(ask(easel, hidden.artifact, who, 'GET'))).toBe('404 ARTIFACT_NOT_FOUND');
    expect(await outcome(ask(easel, hidden.artifact, who, 'POST', '', { content: 'x' }))).toBe('404 ARTIFACT_NOT_FOUND');
  }
  expect(await outcome(ask(easel, hidden.artifact, hidden.viewer, 'POST', '', { content: 'x' }))).toBe('201');
  await must(ask(easel, hidden.artifact, hidden.owner, 'PUT', '/_config', { identityMode: 'named', guestComments: true }));
  const body = JSON.stringify({ visibility: 'password', password: 'open sesame' });
  await easel.fetch(`/v1/artifacts/${hidden.artifact.id}`, {
    method: 'PATCH',
    token: hidden.owner.token,
    body,
    headers: { 'content-type': 'application/json' },
  });
  const origin = easel.contentUrl(hidden.artifact.slug);
  const { host } = new URL(origin);
  const form = 'password=open+sesame&to=%2F';
  const unlocked = await wire(easel.port, host, '/_easel/unlock', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': String(form.length) },
    body: form,
  });
  const cookie = [unlocked.headers['set-cookie']].flat()[0]?.split(';')[0] ?? '';
  const send = async (path: string, sent: object, headers: Readonly<Record<string, string>>) => {
    const text = JSON.stringify(sent);
    const answer = await wire(easel.port, host, `/v1/data/${hidden.artifact.id}/comments${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)), ...headers },
      body: text,
    });
    return [answer.status, JSON.parse(answer.body.toString()).code];
  };
  const said = { content: 'let in', authorName: 'Vi' };
  expect(await send('', said, { cookie, origin })).toEqual([201, undefined]);
  expect(await send('', said, { cookie, origin: 'https://elsewhere.example' })).toEqual([403, 'FORBIDDEN']);
  expect(await send('', said, { origin })).toEqual([404, 'ARTIFACT_NOT_FOUND']);
  expect(await send('/_guest/start', { email: 'vi@example.com', name: 'Vi' }, { cookie, origin })).toEqual([202, undefined]);
  expect(await send('/_guest/start', { email: 'vi@example.com', name: 'Vi' }, { origin })).toEqual([404, 'ARTIFACT_NOT_FOUND']);
});

test('in a batch access is decided for each request separately', async () => {
  const fresh = await cast(stage.easel);
  const requests = [
    { path: '/comments' },
    { method: 'POST', path: '/comments', body: { content: 'in a batch' } },
    { method: 'PUT', path: '/comments/_config', body: { enabled: false } },
  ];
  const { body } = await callData(stage.easel, fresh.artifact, 'POST', '/batch', { token: fresh.stranger.token, body: { requests } });
  expect(body.data.results.map(({ status }: { status: number }) => status)).toEqual([200, 201, 403]);
});
