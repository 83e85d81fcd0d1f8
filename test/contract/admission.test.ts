/** Who opens a WebSocket: by header, by `?token=`, or by the pass of a page's own host. */
import { expect, test } from 'vitest';
import { ANONYMOUS, type ArtifactHead, letIn, type Principal } from '../../actors/access.ts';
import { Failure } from '../../protocol/errors.ts';
import type { ArtifactId, TokenId, UserId } from '../../protocol/ids.ts';
import { Admission } from '../../src/edge/admission.ts';
import { Hosts } from '../../src/edge/hosts.ts';

const LOCKED = `art_${'l'.repeat(24)}` as ArtifactId;
const OTHER = `art_${'o'.repeat(24)}` as ArtifactId;
const OWNER = `usr_${'u'.repeat(24)}` as UserId;
const TOKEN = `so_${'a'.repeat(64)}`;
const USER: Principal = { kind: 'user', userId: OWNER, tokenId: `tok_${'k'.repeat(24)}` as TokenId, tokenKind: 'personal', isAdmin: false };
const PASS = { artifactId: LOCKED, expiresAtMs: 1 };
const ACCESS = { who: 'artifact', param: 'artifactId', need: 'collab:read', scope: 'data:read' } as const;
const PAGE = 'locked.pages.test';
const FROM_PAGE = { host: PAGE, origin: `https://${PAGE}` };

function headOf(id: ArtifactId, slug: string): ArtifactHead {
  return {
    id,
    slug,
    ownerId: OWNER,
    workspaceId: null,
    visibility: 'password',
    allowAnonWrite: false,
    allowAnonCollab: true,
    liveVersionId: null,
    deletedAtMs: null,
    collaborators: new Map(),
  };
}

const heads = new Map([headOf(LOCKED, 'locked'), headOf(OTHER, 'other')].map((head) => [head.id, head]));
const admission = new Admission({
  tokens: {
    authenticate: (bearer) => {
      if (bearer !== TOKEN) throw new Failure('UNAUTHORIZED', { reason: 'invalid' });
      return USER;
    },
  },
  heads: { get: async (id) => heads.get(id) ?? null, trashed: async () => null },
  content: { pass: (slug, _id, cookies) => (slug === 'locked' && cookies === 'key' ? PASS : null) },
  hosts: new Hosts('pages.test'),
});

async function who(headers: Readonly<Record<string, string>>, query = '', id = LOCKED): Promise<Principal | string> {
  const request = { headers: { get: (name: string) => headers[name] ?? '' }, query };
  try {
    return await admission.upgradingPrincipal(request, id, ACCESS);
  } catch (error) {
    if (error instanceof Failure) return error.code;
    throw error;
  }
}

test('the header counts before the query, and both before nothing', async () => {
  const host = 'api.test';
  expect(await who({ host })).toEqual(ANONYMOUS);
  expect(await who({ host, authorization: `Bearer ${TOKEN}` })).toEqual(USER);
  expect(await who({ host }, `v=1&token=${TOKEN}`)).toEqual(USER);
  expect(await who({ host }, 'token=')).toEqual(ANONYMOUS);
  expect(await who({ host }, 'token=so_nonsense')).toBe('UNAUTHORIZED');
  expect(await who({ host }, 'token=two%20words')).toBe('UNAUTHORIZED');
  expect(await who({ host, authorization: 'Basic x' }, `token=${TOKEN}`)).toBe('UNAUTHORIZED');
});

test('a pass counts on the host of its own page, from that page only', async () => {
  expect(await who({ ...FROM_PAGE, cookie: 'key' })).toEqual(letIn(ANONYMOUS, PASS));
  expect(await who({ host: PAGE, 'sec-fetch-site': 'same-origin', cookie: 'key' })).toEqual(letIn(ANONYMOUS, PASS));
  expect(await who({ ...FROM_PAGE, cookie: 'key' }, `token=${TOKEN}`)).toEqual(letIn(USER, PASS));
  expect(await who({ ...FROM_PAGE, cookie: 'another' })).toEqual(ANONYMOUS);
  // A WebSocket knows no CORS: with the cookie of a visitor a neighbour could read along.
  for (const origin of ['https://other.pages.test', 'https://elsewhere.test', 'null']) {
    expect(await who({ host: PAGE, origin, cookie: 'key' })).toBe('FORBIDDEN');
    expect(await who({ host: PAGE, origin, cookie: 'key' }, `token=${TOKEN}`)).toEqual(USER);
  }
  expect(await who({ host: PAGE, cookie: 'key' })).toBe('FORBIDDEN');
  expect(await who({ host: 'api.test', origin: FROM_PAGE.origin, cookie: 'key' })).toEqual(ANONYMOUS);
});

test('another artifact does not exist on the host of a page', async () => {
  expect(await who(FROM_PAGE, '', OTHER)).toBe('ARTIFACT_NOT_FOUND');
  expect(await who(FROM_PAGE, `token=${TOKEN}`, OTHER)).toBe('ARTIFACT_NOT_FOUND');
  expect(await who(FROM_PAGE, '', `art_${'x'.repeat(24)}` as ArtifactId)).toBe('ARTIFACT_NOT_FOUND');
});
