/** Access to the data of an artifact: every combination, as decided by one function and enforced by every endpoint over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ANONYMOUS, type ArtifactHead, type Decision, decide, letIn, type Principal, standsOnPass } from '../../actors/access/access.ts';
import type { Visibility } from '../../protocol/artifacts/artifacts.ts';
import type { Need, Scope } from '../../protocol/core/endpoint.ts';
import { type ArtifactId, type GuestId, newId, type TokenId, type UserId, type WorkspaceId } from '../../protocol/core/ids.ts';
import { callData, type DataArtifact, publishArtifact } from '../support/data-client.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../support/easel.ts';
import { wire } from '../support/page-requests.ts';
import { agentPrincipal, userPrincipal } from '../support/principals.ts';

const OWNER = `usr_${'o'.repeat(24)}` as UserId;
const EDITOR = `usr_${'e'.repeat(24)}` as UserId;
const VIEWER = `usr_${'v'.repeat(24)}` as UserId;
const STRANGER = `usr_${'s'.repeat(24)}` as UserId;
const TOKEN = `tok_${'t'.repeat(24)}` as TokenId;

const HOME = newId('workspace');
const AWAY = newId('workspace');

function user(userId: UserId): Principal {
  return userPrincipal(userId);
}

function agent(workspaceId: WorkspaceId, scopes: readonly Scope[]): Principal {
  return agentPrincipal(workspaceId, scopes);
}

const ARTIFACT = `art_${'a'.repeat(24)}` as ArtifactId;
const GUEST: Principal = {
  kind: 'guest',
  guestId: `gst_${'g'.repeat(24)}` as GuestId,
  artifactId: ARTIFACT,
  name: 'Gail',
  email: 'gail@example.com',
  tokenId: TOKEN,
  expiresAtMs: 1,
};
const PASS = { artifactId: ARTIFACT, expiresAtMs: 2 };

const CALLERS = {
  owner: user(OWNER),
  editor: user(EDITOR),
  viewer: user(VIEWER),
  stranger: user(STRANGER),
  anonymous: ANONYMOUS,
  guest: GUEST,
  'visitor that was let in': letIn(ANONYMOUS, PASS),
  'guest that was let in': letIn(GUEST, PASS),
  'stranger that was let in': letIn(user(STRANGER), PASS),
  'visitor that was let in elsewhere': letIn(ANONYMOUS, { ...PASS, artifactId: `art_${'b'.repeat(24)}` as ArtifactId }),
  'agent that reads': agent(HOME, ['data:read']),
  'agent that writes': agent(HOME, ['data:write']),
  'agent that does both': agent(HOME, ['data:read', 'data:write']),
  'agent of something else': agent(HOME, ['artifacts:read', 'artifacts:publish']),
  'agent of another workspace': agent(AWAY, ['data:read', 'data:write']),
} as const;
type Caller = keyof typeof CALLERS;

interface Openness {
  readonly allowAnonWrite: boolean;
  readonly allowAnonCollab: boolean;
}

function head(visibility: Visibility, openness: Openness): ArtifactHead {
  return {
    id: ARTIFACT,
    slug: 'page',
    ownerId: OWNER,
    workspaceId: HOME,
    folder: null,
    visibility,
    ...openness,
    liveVersionId: null,
    deletedAtMs: null,
    collaborators: new Map([
      [EDITOR, 'editor'],
      [VIEWER, 'viewer'],
    ]),
  };
}

/** The agent scope that endpoints with each need require. Comments are read with one scope and written with the other. */
const NEEDS = [
  ['data:read', 'data:read'],
  ['data:write', 'data:write'],
  ['collab:read', 'data:read'],
  ['collab:write', 'data:write'],
  ['comment', 'data:read'],
  ['comment', 'data:write'],
] as const satisfies readonly (readonly [Need, Scope])[];

const DECISIONS = {
  yes: 'allowed',
  no403: 'forbidden',
  no404: 'hidden',
  no401: 'unauthenticated',
  scope: 'insufficient_scope',
} as const;
type Word = keyof typeof DECISIONS;

/** The decisions for the NEEDS, in their order: on a hidden artifact, on a public one, and on a public one that is open to everybody. */
const EXPECTED: Readonly<Record<Caller, readonly [hidden: string, shown: string, open: string]>> = {
  owner: ['yes yes yes yes yes yes', 'yes yes yes yes yes yes', 'yes yes yes yes yes yes'],
  editor: ['yes yes yes yes yes yes', 'yes yes yes yes yes yes', 'yes yes yes yes yes yes'],
  viewer: ['yes no403 yes no403 yes yes', 'yes no403 yes no403 yes yes', 'yes yes yes yes yes yes'],
  stranger: ['no404 no404 no404 no404 no404 no404', 'yes no403 yes no403 yes yes', 'yes yes yes yes yes yes'],
  anonymous: ['no404 no401 no404 no401 no404 no404', 'yes no401 no401 no401 yes yes', 'yes yes yes yes yes yes'],
  guest: ['no404 no401 no404 no401 no404 no404', 'yes no401 no401 no401 yes yes', 'yes yes yes yes yes yes'],
  'visitor that was let in': ['yes no401 no401 no401 yes yes', 'yes no401 no401 no401 yes yes', 'yes yes yes yes yes yes'],
  'guest that was let in': ['yes no401 no401 no401 yes yes', 'yes no401 no401 no401 yes yes', 'yes yes yes yes yes yes'],
  'stranger that was let in': ['yes no403 yes no403 yes yes', 'yes no403 yes no403 yes yes', 'yes yes yes yes yes yes'],
  'visitor that was let in elsewhere': ['no404 no401 no404 no401 no404 no404', 'yes no401 no401 no401 yes yes', 'yes yes yes yes yes yes'],
  'agent that reads': ['yes scope yes scope yes scope', 'yes scope yes scope yes scope', 'yes scope yes scope yes scope'],
  'agent that writes': ['scope yes scope yes scope yes', 'scope yes scope yes scope yes', 'scope yes scope yes scope yes'],
  'agent that does both': ['yes yes yes yes yes yes', 'yes yes yes yes yes yes', 'yes yes yes yes yes yes'],
  'agent of something else': [
    'scope scope scope scope scope scope',
    'scope scope scope scope scope scope',
    'scope scope scope scope scope scope',
  ],
  'agent of another workspace': ['no404 no404 no404 no404 no404 no404', 'yes no403 yes no403 yes yes', 'yes yes yes yes yes yes'],
};

const callerNames = Object.keys(EXPECTED) as Caller[];

function expected(caller: Caller, kind: 0 | 1 | 2): Decision[] {
  return EXPECTED[caller][kind].split(' ').map((word) => DECISIONS[word as Word]);
}

const OPENNESS: readonly Openness[] = [false, true].flatMap((allowAnonWrite) =>
  [false, true].map((allowAnonCollab) => ({ allowAnonWrite, allowAnonCollab })),
);

describe('one function decides', () => {
  const decided = (caller: Caller, visibility: Visibility, openness: Openness) =>
    NEEDS.map(([need, scope]) => decide(headFor(caller, visibility, openness), CALLERS[caller], need, scope));
  /** Agents are asked about what their workspace owns, everybody else about what a person owns. */
  const headFor = (caller: Caller, visibility: Visibility, openness: Openness) =>
    caller.startsWith('agent') ? { ...head(visibility, openness), ownerId: null } : head(visibility, openness);

  // To these callers password and workspace pages are as hidden as private ones. Of members, test/actors/access tells.
  test.each(callerNames.flatMap((caller) => (['private', 'workspace', 'password'] as const).map((kind) => [caller, kind] as const)))(
    'for the %s of a %s artifact, where everybody may write only what everybody sees',
    (caller, visibility) => {
      const joins = NEEDS.findIndex(([need]) => need === 'collab:read');
      for (const openness of OPENNESS) {
        const decisions = expected(caller, 0);
        // A caller with a pass and no account joins under the rule for visitors.
        if (openness.allowAnonCollab && decisions[joins] === 'unauthenticated') decisions[joins] = 'allowed';
        expect([openness, decided(caller, visibility, openness)]).toEqual([openness, decisions]);
      }
    },
  );

  test.each(callerNames)('for the %s of a public artifact', (caller) => {
    const [shown, open] = [expected(caller, 1), expected(caller, 2)];
    for (const openness of OPENNESS) {
      const decisions = NEEDS.map(([need], index) => {
        const isOpen = need.startsWith('collab') ? openness.allowAnonCollab : openness.allowAnonWrite;
        return (isOpen ? open : shown)[index];
      });
      expect([openness, decided(caller, 'public', openness)]).toEqual([openness, decisions]);
    }
  });

  test.each(callerNames)('for the %s, of what is not there', (caller) => {
    const isNobody = ['anonymous', 'guest'].includes(CALLERS[caller].kind);
    const decisions = NEEDS.map(([need, scope]) => decide(null, CALLERS[caller], need, scope));
    expect(decisions).toEqual(NEEDS.map(([need]) => (isNobody && need.endsWith('write') ? 'unauthenticated' : 'hidden')));
  });

  test('a pass ends with its grant and with the credential beside it', () => {
    expect([letIn(ANONYMOUS, PASS), letIn(GUEST, PASS)].map((principal) => 'expiresAtMs' in principal && principal.expiresAtMs)).toEqual([
      2, 1,
    ]);
    expect([ANONYMOUS, letIn(ANONYMOUS, PASS), CALLERS['agent that reads']].map(standsOnPass)).toEqual([false, true, false]);
  });
});

type Attempt = readonly [method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>];

const STATUS: Readonly<Record<Decision, number>> = {
  allowed: 200,
  forbidden: 403,
  insufficient_scope: 403,
  hidden: 404,
  unauthenticated: 401,
  suspended: 403,
};

describe('over HTTP', () => {
  let easel: TestEasel;
  let people: Readonly<Record<'owner' | 'editor' | 'viewer' | 'stranger', TestUser>>;
  let artifacts: Readonly<Record<'private' | 'public' | 'open', DataArtifact>>;
  beforeAll(async () => {
    easel = await startTestEasel();
    const [owner, editor, viewer, stranger] = await Promise.all(Array.from({ length: 4 }, () => easel.newUser('pro')));
    people = { owner, editor, viewer, stranger } as typeof people;
    artifacts = {
      private: await publishArtifact(easel, people.owner, { visibility: 'private', allowAnonWrite: true }),
      public: await publishArtifact(easel, people.owner, { visibility: 'public' }),
      open: await publishArtifact(easel, people.owner, { visibility: 'public', allowAnonWrite: true }),
    };
    for (const { id } of Object.values(artifacts)) {
      await easel.sql`
        insert into collaborator (artifact_id, user_id, role, added_at_ms)
        values (${id}, ${people.editor.userId}, 'editor', 0), (${id}, ${people.viewer.userId}, 'viewer', 0)`;
      for (const key of ['shown', '_kept']) await callData(easel, { id }, 'PUT', `/json/${key}`, { token: people.owner.token, body: 1 });
      await callData(easel, { id }, 'POST', '/tables/t', { token: people.owner.token, body: { n: 1 } });
    }
  });
  afterAll(() => easel.close());

  const json = { accept: 'application/json' };
  /** Reads and writes of every kind; each leaves the artifact unchanged. */
  const READS: readonly Attempt[] = [
    ['GET', '/json'],
    ['GET', '/json/shown'],
    ['GET', '/tables'],
    ['GET', '/changes', undefined, json],
  ];
  const WRITES: readonly Attempt[] = [
    ['PUT', '/json/shown', 1],
    ['PATCH', '/json/shown', { op: 'increment', path: '$', by: 0 }],
    ['POST', '/tables/t', { n: 1 }],
    ['DELETE', '/json?confirm=no'],
  ];

  const callers = ['owner', 'editor', 'viewer', 'stranger', 'anonymous'] as const;
  test.each(callers.flatMap((caller) => (['private', 'public', 'open'] as const).map((kind) => [caller, kind] as const)))(
    'the %s of a %s artifact',
    async (caller, kind) => {
      const token = caller === 'anonymous' ? undefined : people[caller].token;
      const [read = 'hidden', write = 'hidden'] = expected(caller, { private: 0, public: 1, open: 2 }[kind] as 0 | 1 | 2);
      for (const [method, path, body, headers] of READS) {
        const { status } = await callData(easel, artifacts[kind], method, path, { token, body, ...(headers && { headers }) });
        expect([method, path, status]).toEqual([method, path, STATUS[read]]);
      }
      for (const [method, path, body] of WRITES) {
        const { status } = await callData(easel, artifacts[kind], method, path, { token, body });
        // An admitted write may still be invalid (201 for a row, 400 for a missing confirmation).
        const outcome = [200, 201, 400].includes(status) ? 200 : status;
        // The query is validated before the artifact is looked up.
        const isRefusedUnread = path.startsWith('/json?') && status === 400;
        if (!isRefusedUnread) expect([method, path, outcome]).toEqual([method, path, STATUS[write]]);
      }
    },
  );

  test.each(callers)('keys that begin with _ and the %s', async (caller) => {
    const token = caller === 'anonymous' ? undefined : people[caller].token;
    const may = caller === 'owner' || caller === 'editor';
    const get = await callData(easel, artifacts.open, 'GET', '/json/_kept', { token });
    const put = await callData(easel, artifacts.open, 'PUT', '/json/_kept', { token, body: 1 });
    expect([get.status, put.status]).toEqual(may ? [200, 200] : [403, 403]);
    const list = await callData(easel, artifacts.open, 'GET', '/json', { token });
    expect(list.body.data.keys).toEqual(may ? ['_kept', 'shown'] : ['shown']);
    const batch = await callData(easel, artifacts.open, 'POST', '/batch', { token, body: { requests: [{ path: '/json/_kept' }] } });
    expect(batch.body.data.results[0].status).toBe(may ? 200 : 403);
    const { body } = await callData(easel, artifacts.open, 'GET', '/changes', { token, headers: json });
    expect(body.data.events.some(({ key }: { key?: string }) => key === '_kept')).toBe(may);
  });

  test('a bad token is refused even where none is needed', async () => {
    const { status, body } = await callData(easel, artifacts.public, 'GET', '/json', { token: `so_${'0'.repeat(64)}` });
    expect([status, body.code, body.reason]).toEqual([401, 'UNAUTHORIZED', 'invalid']);
  });

  test('a page on its own host calls its data without CORS, and no other artifact there', async () => {
    const { id, slug } = artifacts.public;
    const host = new URL(easel.contentUrl(slug)).host;
    const own = await wire(easel.port, host, `/v1/data/${id}/json/shown`);
    expect([own.status, JSON.parse(own.body.toString()).data.value]).toEqual([200, 1]);
    for (const other of [artifacts.open, artifacts.private]) {
      expect((await wire(easel.port, host, `/v1/data/${other.id}/json/shown`)).status).toBe(404);
    }
  });

  test.each(READS.map((attempt) => [attempt[1], attempt] as const))(
    'other origins may read %s, and why they may not',
    async (_path, attempt) => {
      const [method, path, body, headers] = attempt;
      const origin = 'https://elsewhere.example';
      for (const [artifact, status] of [
        [artifacts.public, 200],
        [artifacts.private, 404],
      ] as const) {
        const answer = await callData(easel, artifact, method, path, { body, headers: { ...headers, origin } });
        expect(answer.status).toBe(status);
        expect(answer.headers.get('access-control-allow-origin')).toBe('*');
        expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
        expect(answer.headers.get('vary')).toContain('Origin');
      }
    },
  );

  test("the page's own origin may send credentials, that of another page may not", async () => {
    const { id, slug } = artifacts.public;
    const from = async (origin: string) => (await callData(easel, { id }, 'GET', '/json/shown', { headers: { origin } })).headers;
    const own = await from(easel.contentUrl(slug));
    expect([own.get('access-control-allow-origin'), own.get('access-control-allow-credentials')]).toEqual([easel.contentUrl(slug), 'true']);
    const other = await from(easel.contentUrl(artifacts.open.slug));
    expect([other.get('access-control-allow-origin'), other.has('access-control-allow-credentials')]).toEqual(['*', false]);
  });
});
