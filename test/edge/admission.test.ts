/** Admission by each kind of access rule, and of WebSockets by header, by `?token=` or by the pass of a page's own host. */
import { describe, expect, expectTypeOf, test } from 'vitest';
import { ANONYMOUS, type ArtifactHead, isInstanceStaff, letIn, type Principal } from '../../actors/access/access.ts';
import type { Access, Endpoint, Scope } from '../../protocol/core/endpoint.ts';
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId, FolderId, GuestId, TokenId, UserId, WorkspaceId } from '../../protocol/core/ids.ts';
import { newId } from '../../protocol/core/ids.ts';
import { Admission, type Admitted } from '../../src/edge/admission.ts';
import type { Call } from '../../src/edge/call.ts';
import { Hosts } from '../../src/edge/hosts.ts';
import { OwnPages } from '../../src/edge/own-pages.ts';
import { NO_CALLER } from '../../src/edge/page-caller.ts';
import { type FolderSeat, requireSubjects, type SubjectResolver, type WorkspaceSeat } from '../../src/edge/subjects.ts';
import { agentPrincipal, userPrincipal } from '../support/principals.ts';

const LOCKED = `art_${'l'.repeat(24)}` as ArtifactId;
const OTHER = `art_${'o'.repeat(24)}` as ArtifactId;
/** A public artifact in the agent's workspace. */
const SHARED = `art_${'s'.repeat(24)}` as ArtifactId;
const OWNER = `usr_${'u'.repeat(24)}` as UserId;
const AGENT_WORKSPACE = 'wsp_agents' as WorkspaceId;
const TOKEN = `so_${'a'.repeat(64)}`;
const USER = userPrincipal(OWNER);
const SECRET = 's'.repeat(43);
const SIGNED_IN: Principal = { ...USER, tokenKind: 'session', tokenId: `ses_${'k'.repeat(24)}` as TokenId };
const OTHER_USER = userPrincipal(`usr_${'v'.repeat(24)}` as UserId);
const ADMIN = userPrincipal(OTHER_USER.userId, { isAdmin: true });
const GUEST: Principal = {
  kind: 'guest',
  guestId: `gst_${'g'.repeat(24)}` as GuestId,
  artifactId: LOCKED,
  name: 'Gail',
  email: 'gail@example.com',
  tokenId: `tok_${'g'.repeat(24)}` as TokenId,
  expiresAtMs: 1,
};
const agent = (...scopes: Scope[]) => agentPrincipal(AGENT_WORKSPACE, scopes);
/** Principals by their tokens. */
const principals = new Map<string, Principal>([
  [TOKEN, USER],
  ['other', OTHER_USER],
  ['admin', ADMIN],
  ['guest', GUEST],
  ['agent', agent('artifacts:read')],
  ['agent-without-scope', agent()],
]);
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
    folder: null,
    visibility: 'password',
    allowAnonWrite: false,
    allowAnonCollab: true,
    liveVersionId: null,
    deletedAtMs: null,
    collaborators: new Map(),
  };
}

const roles: readonly WorkspaceSeat['role'][] = ['owner', 'admin', 'member'];

/** Workspaces are named after the role of their one member OWNER; the agent is a member of its own. */
const workspace: SubjectResolver<WorkspaceSeat> = {
  find: (ref, principal) => {
    const id = ref as WorkspaceId;
    if (principal.kind === 'agent') return principal.workspaceId === id ? { id, role: 'member' } : null;
    const role = roles.find((one) => id === `wsp_${one}`);
    return role === undefined || principal.kind !== 'user' || principal.userId !== OWNER ? null : { id, role };
  },
};

/** The same for folders, which are looked up. */
const folder: SubjectResolver<FolderSeat> = {
  find: async (ref, principal) => {
    const id = ref as FolderId;
    const role = (['owner', 'editor', 'viewer'] as const).find((one) => id === `fld_${one}`);
    if (role === undefined || (principal.kind === 'user' && principal.userId !== OWNER)) return null;
    return { id, workspaceId: null, ownerId: OWNER, role };
  },
};

const shared: ArtifactHead = { ...headOf(SHARED, 'shared'), visibility: 'public', workspaceId: AGENT_WORKSPACE };
const heads = new Map([headOf(LOCKED, 'locked'), headOf(OTHER, 'other'), shared].map((head) => [head.id, head]));
const admission = new Admission({
  tokens: {
    authenticateSession: (secret) => {
      if (secret === SECRET) return SIGNED_IN;
      throw new Failure('UNAUTHORIZED', { reason: 'revoked' });
    },
    authenticate: (bearer) => {
      const principal = principals.get(bearer);
      if (principal === undefined) throw new Failure('UNAUTHORIZED', { reason: 'invalid' });
      return principal;
    },
  },
  heads: { get: async (id) => heads.get(id) ?? null, trashed: async () => null },
  content: { caller: (slug, _id, cookies) => (slug === 'locked' && cookies === 'key' ? { viewer: null, pass: PASS } : NO_CALLER) },
  hosts: new Hosts('pages.test'),
  ownPages: new OwnPages('https://api.test'),
  subjects: { workspace, folder },
});

async function who(headers: Readonly<Record<string, string>>, query = '', id = LOCKED): Promise<Principal | string> {
  const get = (name: string) => headers[name] ?? '';
  const request = { headers: { get }, cookies: headers.host === 'api.test' ? get('cookie') : '', query };
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
  // CORS does not apply to WebSockets, so a page on a sibling host could read with a visitor's cookie.
  for (const origin of ['https://other.pages.test', 'https://elsewhere.test', 'null']) {
    expect(await who({ host: PAGE, origin, cookie: 'key' })).toBe('FORBIDDEN');
    expect(await who({ host: PAGE, origin, cookie: 'key' }, `token=${TOKEN}`)).toEqual(USER);
  }
  expect(await who({ host: PAGE, cookie: 'key' })).toBe('FORBIDDEN');
  expect(await who({ host: 'api.test', origin: FROM_PAGE.origin, cookie: 'key' })).toEqual(ANONYMOUS);
});

test('the host of a page serves no other artifact', async () => {
  expect(await who(FROM_PAGE, '', OTHER)).toBe('ARTIFACT_NOT_FOUND');
  expect(await who(FROM_PAGE, `token=${TOKEN}`, OTHER)).toBe('ARTIFACT_NOT_FOUND');
  expect(await who(FROM_PAGE, '', `art_${'x'.repeat(24)}` as ArtifactId)).toBe('ARTIFACT_NOT_FOUND');
});

/** The subject that a call with this rule and token resolves, or the code of its refusal. */
async function found(
  access: Access,
  token: string,
  params: Readonly<Record<string, unknown>> | undefined = {},
): Promise<Admitted | string> {
  try {
    const authorization = token === '' ? '' : `Bearer ${token}`;
    const source = { method: 'GET', headers: { authorization, get: () => '' }, cookies: '', pageCaller: NO_CALLER };
    const principal = await admission.principal(access, source);
    return await admission.admit(access, principal, params);
  } catch (error) {
    if (error instanceof Failure) return error.code;
    throw error;
  }
}

const CALLERS = ['', 'guest', 'agent-without-scope', 'agent', 'other', TOKEN, 'admin'] as const;
const NOTHING = { head: undefined, role: 'none', seat: undefined };

/** For each of CALLERS the code of its refusal, or `in`. */
async function outcomes(access: Access, params?: Readonly<Record<string, unknown>>): Promise<string[]> {
  const all = await Promise.all(CALLERS.map((token) => found(access, token, params)));
  return all.map((one) => (typeof one === 'string' ? one : 'in'));
}

describe('access rules by subject', () => {
  test('anyone: everybody, and nothing of them is read', async () => {
    expect(await found({ who: 'anyone' }, 'nonsense')).toEqual(NOTHING);
    expect(await outcomes({ who: 'anyone' })).toEqual(CALLERS.map(() => 'in'));
  });

  test('account: accounts, and agents where the rule names a scope that they have', async () => {
    expect(await found({ who: 'account', person: true }, 'nonsense')).toBe('UNAUTHORIZED');
    expect(await found({ who: 'account', person: true }, TOKEN)).toEqual(NOTHING);
    const refused = ['UNAUTHORIZED', 'FORBIDDEN'];
    expect(await outcomes({ who: 'account', person: true })).toEqual([...refused, 'FORBIDDEN', 'FORBIDDEN', 'in', 'in', 'in']);
    expect(await outcomes({ who: 'account', scope: 'artifacts:read' })).toEqual([...refused, 'INSUFFICIENT_SCOPE', 'in', 'in', 'in', 'in']);
  });

  test('artifact: whom the artifact grants it; where a person is wanted no agent and no visitor', async () => {
    const access = { who: 'artifact', param: 'id', need: 'edit', scope: 'artifacts:read' } as const;
    expect(await found(access, TOKEN, { id: LOCKED })).toEqual({ head: heads.get(LOCKED), role: 'owner', seat: undefined });
    expect(await found(access, TOKEN, { id: SHARED })).toMatchObject({ role: 'owner' });
    expect(await outcomes(access, { id: SHARED })).toEqual([
      'UNAUTHORIZED',
      'UNAUTHORIZED',
      'INSUFFICIENT_SCOPE',
      'in',
      'FORBIDDEN',
      'in',
      'FORBIDDEN',
    ]);
    // A path that cannot name an artifact.
    expect(await found(access, TOKEN, undefined)).toEqual('ARTIFACT_NOT_FOUND');
    const view = { who: 'artifact', param: 'id', need: 'view', person: true } as const;
    expect(await outcomes(view, { id: SHARED })).toEqual(['UNAUTHORIZED', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'in', 'in', 'in']);
  });

  test('workspace: members of the role or one above it; others do not learn that it exists', async () => {
    const access = { who: 'workspace', param: 'w', role: 'admin', person: true } as const;
    const asked = roles.map((role) => found(access, TOKEN, { w: `wsp_${role}` }));
    const seat = (role: string) => ({ ...NOTHING, seat: { id: `wsp_${role}`, role } });
    expect(await Promise.all(asked)).toEqual([seat('owner'), seat('admin'), 'FORBIDDEN']);
    const hidden = 'WORKSPACE_NOT_FOUND';
    expect(await outcomes(access, { w: 'wsp_owner' })).toEqual([
      'UNAUTHORIZED',
      'FORBIDDEN',
      'FORBIDDEN',
      'FORBIDDEN',
      hidden,
      'in',
      hidden,
    ]);
    expect([await found(access, TOKEN, { w: 'wsp_none' }), await found(access, TOKEN, undefined)]).toEqual([hidden, hidden]);
    const forAgents = { who: 'workspace', param: 'w', role: 'member', scope: 'artifacts:read' } as const;
    expect(await outcomes(forAgents, { w: AGENT_WORKSPACE })).toEqual([
      'UNAUTHORIZED',
      'FORBIDDEN',
      'INSUFFICIENT_SCOPE',
      'in',
      hidden,
      hidden,
      hidden,
    ]);
    expect(await found({ ...access, role: 'member' }, 'agent', { w: AGENT_WORKSPACE })).toBe('FORBIDDEN');
    expect(await found(forAgents, 'agent', { w: 'wsp_owner' })).toBe(hidden);
  });

  test('folder: callers with the needed right; others do not learn that it exists', async () => {
    const rule = (need: 'view' | 'edit' | 'own') => ({ who: 'folder', param: 'f', need, scope: 'artifacts:read' }) as const;
    const asked = async (need: 'view' | 'edit' | 'own') =>
      Promise.all(
        ['owner', 'editor', 'viewer'].map(async (role) => (await found(rule(need), TOKEN, { f: `fld_${role}` })) !== 'FORBIDDEN'),
      );
    expect(await asked('view')).toEqual([true, true, true]);
    expect(await asked('edit')).toEqual([true, true, false]);
    expect(await asked('own')).toEqual([true, false, false]);
    expect(await found(rule('edit'), TOKEN, { f: 'fld_editor' })).toEqual({
      ...NOTHING,
      seat: { id: 'fld_editor', workspaceId: null, ownerId: OWNER, role: 'editor' },
    });
    const hidden = 'FOLDER_NOT_FOUND';
    expect(await outcomes(rule('view'), { f: 'fld_viewer' })).toEqual([
      'UNAUTHORIZED',
      'FORBIDDEN',
      'INSUFFICIENT_SCOPE',
      'in',
      hidden,
      'in',
      hidden,
    ]);
    expect(await found(rule('view'), TOKEN, undefined)).toBe(hidden);
  });

  test('instanceAdmin: administrators of the installation', async () => {
    const admin = 'ADMIN_REQUIRED';
    expect(await outcomes({ who: 'instanceAdmin' })).toEqual(['UNAUTHORIZED', admin, admin, admin, admin, admin, 'in']);
  });

  test('instanceStaff: administrators, and who answers tickets', async () => {
    const staff = 'STAFF_REQUIRED';
    expect(await outcomes({ who: 'instanceStaff' })).toEqual(['UNAUTHORIZED', staff, staff, staff, staff, staff, 'in']);
    const answers = userPrincipal(newId('user'), { isStaff: true });
    expect(isInstanceStaff(answers)).toBe(true);
    expect(isInstanceStaff({ ...answers, tokenKind: 'external' })).toBe(false);
  });
});

test('a table with a subject that has no resolver does not start', () => {
  const table = (access: Access) => ({ 'things.do': { access } });
  const byWorkspace = table({ who: 'workspace', param: 'w', role: 'member', person: true });
  const byFolder = table({ who: 'folder', param: 'f', need: 'view', person: true });
  expect(() => requireSubjects(byWorkspace, { folder })).toThrow('things.do is declared with access by workspace');
  expect(() => requireSubjects(byFolder, { workspace })).toThrow('things.do is declared with access by folder');
  expect(requireSubjects({ ...byWorkspace, ...byFolder }, { workspace, folder })).toBeUndefined();
  expect(requireSubjects(table({ who: 'instanceAdmin' }), {})).toBeUndefined();
});

test('the rule types the call', () => {
  type CallOf<A extends Access> = Call<Endpoint & { readonly access: A }>;
  type OfArtifact = { readonly who: 'artifact'; readonly param: 'id'; readonly need: 'view' };
  type OnArtifact = OfArtifact & { readonly scope: 'data:read' };
  expectTypeOf<CallOf<{ who: 'anyone' }>>().not.toHaveProperty('user');
  expectTypeOf<CallOf<{ who: 'account'; person: true }>['user']>().toEqualTypeOf<UserId>();
  expectTypeOf<CallOf<{ who: 'account'; scope: 'data:read' }>['user']>().toEqualTypeOf<UserId | null>();
  expectTypeOf<CallOf<{ who: 'account'; person: true }>>().not.toHaveProperty('head');
  expectTypeOf<CallOf<OnArtifact>['head']>().toEqualTypeOf<ArtifactHead>();
  expectTypeOf<CallOf<OnArtifact>>().not.toHaveProperty('user');
  expectTypeOf<CallOf<OfArtifact & { readonly person: true }>['user']>().toEqualTypeOf<UserId>();
  expectTypeOf<CallOf<{ who: 'workspace'; param: 'w'; role: 'member'; person: true }>['workspace']>().toEqualTypeOf<WorkspaceSeat>();
  expectTypeOf<CallOf<{ who: 'workspace'; param: 'w'; role: 'member'; person: true }>['user']>().toEqualTypeOf<UserId>();
  expectTypeOf<CallOf<{ who: 'folder'; param: 'f'; need: 'view'; scope: 'data:read' }>['user']>().toEqualTypeOf<UserId | null>();
  expectTypeOf<CallOf<{ who: 'folder'; param: 'f'; need: 'view'; person: true }>['folder']>().toEqualTypeOf<FolderSeat>();
  expectTypeOf<CallOf<{ who: 'instanceAdmin' }>['user']>().toEqualTypeOf<UserId>();
});

describe('the cookie of a session', () => {
  const COOKIE = `__Host-service_access=${SECRET}`;
  const OWN = { host: 'api.test', origin: 'https://api.test' };
  const ACCOUNT = { who: 'account', person: true } as const;
  const DATA = { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:read' } as const;

  async function caller(method: string, access: Access, headers: Readonly<Record<string, string>>, cookies = COOKIE) {
    const get = (name: string) => headers[name] ?? '';
    const source = { method, headers: { authorization: get('authorization'), get }, cookies, pageCaller: NO_CALLER };
    try {
      return await admission.principal(access, source);
    } catch (error) {
      if (error instanceof Failure) return error.code;
      throw error;
    }
  }

  test('authorises reads, and writes from a page of this host', async () => {
    expect(await caller('GET', ACCOUNT, { host: 'api.test' })).toEqual(SIGNED_IN);
    expect(await caller('POST', ACCOUNT, OWN)).toEqual(SIGNED_IN);
    expect(await caller('DELETE', DATA, { host: 'api.test', 'sec-fetch-site': 'same-origin' })).toEqual(SIGNED_IN);
    expect(await caller('GET', ACCOUNT, { host: 'api.test', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).toEqual(
      SIGNED_IN,
    );
  });

  test.each([
    ['another origin', { origin: 'https://evil.test' }],
    ['a page of ours on a subdomain', { origin: 'https://locked.pages.test' }],
    ['the same host without TLS', { origin: 'http://api.test' }],
    ['an opaque origin', { origin: 'null' }],
    ['no origin', {}],
    ['a request of a sibling without an Origin', { 'sec-fetch-site': 'same-site' }],
  ])('a write is refused with %s', async (_name, headers) => {
    const from: Record<string, string> = { host: 'api.test', ...headers };
    expect(await caller('POST', ACCOUNT, from)).toBe('ORIGIN_REFUSED');
    expect(await caller('PUT', DATA, from)).toBe('ORIGIN_REFUSED');
    // A token is no cookie: no page can send it without knowing it.
    expect(await caller('POST', ACCOUNT, { ...from, authorization: `Bearer ${TOKEN}` })).toEqual(USER);
  });

  test('a read by a page of another origin is one without the cookie', async () => {
    expect(await caller('GET', DATA, { host: 'api.test', origin: 'https://locked.pages.test' })).toEqual(ANONYMOUS);
    expect(await caller('GET', DATA, { host: 'api.test', 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' })).toEqual(ANONYMOUS);
    expect(await caller('GET', ACCOUNT, { host: 'api.test', origin: 'https://evil.test' })).toBe('UNAUTHORIZED');
  });

  test('I5: over TLS only the names with the prefix count, which no subdomain can set', async () => {
    for (const name of ['service_session', 'service_access']) {
      expect(await caller('GET', ACCOUNT, { host: 'api.test' }, `${name}=${SECRET}`)).toBe('UNAUTHORIZED');
      expect(await caller('GET', ACCOUNT, { host: 'api.test' }, `a=1; __Host-${name}=${SECRET}`)).toEqual(SIGNED_IN);
    }
    expect(await caller('GET', ACCOUNT, { host: 'api.test' }, '__Host-service_access=short')).toBe('UNAUTHORIZED');
  });

  test('one that has ended reads as nobody and writes nothing', async () => {
    const ended = `__Host-service_session=${'e'.repeat(43)}`;
    expect(await caller('GET', DATA, OWN, ended)).toEqual(ANONYMOUS);
    expect(await caller('PUT', DATA, OWN, ended)).toBe('UNAUTHORIZED');
    expect(await caller('GET', ACCOUNT, OWN, ended)).toBe('UNAUTHORIZED');
  });

  test('opens WebSockets from pages of this host only; elsewhere it counts as no credential', async () => {
    expect(await who({ ...OWN, cookie: COOKIE })).toEqual(SIGNED_IN);
    expect(await who({ host: 'api.test', cookie: COOKIE })).toBe('ORIGIN_REFUSED');
    expect(await who({ host: 'api.test', origin: 'https://other.pages.test', cookie: COOKIE })).toBe('ORIGIN_REFUSED');
    expect(await who({ host: 'api.test', origin: 'https://other.pages.test', cookie: COOKIE }, '', SHARED)).toEqual(ANONYMOUS);
    expect(await who({ host: 'api.test', origin: 'https://evil.test', cookie: COOKIE }, `token=${TOKEN}`)).toEqual(USER);
    // On a page's host it is never read.
    expect(await who({ ...FROM_PAGE, cookie: COOKIE })).toEqual(ANONYMOUS);
  });

  test('a sign-in from a page of another origin is refused, and one by a program is not', async () => {
    const SIGN_IN = { who: 'anyone', browser: true } as const;
    expect(await caller('POST', SIGN_IN, { host: 'api.test', origin: 'https://evil.test' }, '')).toBe('ORIGIN_REFUSED');
    expect(await caller('POST', SIGN_IN, { host: 'api.test', 'sec-fetch-site': 'same-site' }, '')).toBe('ORIGIN_REFUSED');
    expect(await caller('POST', SIGN_IN, OWN, '')).toEqual(ANONYMOUS);
    expect(await caller('POST', SIGN_IN, { host: 'api.test' }, '')).toEqual(ANONYMOUS);
  });
});
