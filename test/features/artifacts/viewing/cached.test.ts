/** A page costs its signed-in viewer no query once it is warm, so that it is as quick as a public one. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ArtifactHead } from '../../../../actors/access/access.ts';
import type { ArtifactId, UserId } from '../../../../protocol/core/ids.ts';
import { SessionsOnPages } from '../../../../src/features/artifacts/viewing/page-sign-ins.ts';
import { SESSION } from '../../../../src/features/people/sessions/kind.ts';
import { TokenService } from '../../../../src/features/people/tokens/tokens.ts';
import { LocalBus } from '../../../../src/platform/bus.ts';
import { Stage } from '../../../content/content-stage.ts';
import { SILENT } from '../../../support/database.ts';
import { startTestEasel } from '../../../support/easel.ts';
import { userPrincipal } from '../../../support/principals.ts';
import { privatePage, type ViewStage, visited } from './view-stage.ts';

let stage: ViewStage;
beforeAll(async () => {
  const easel = await startTestEasel();
  stage = { easel, owner: await easel.newUser('pro') };
});
afterAll(() => stage.easel.close());

test('who has the cookie is known without a query, until the session ends', async () => {
  const { sql, clock } = stage.easel;
  const { page, visitor } = await visited(stage);
  const other = await privatePage(stage);
  const bus = new LocalBus(SILENT);
  const tokens = new TokenService({ sql, clock, log: SILENT, bus, sessions: SESSION });
  const signIns = new SessionsOnPages({ sql, clock, tokens });
  const secret = visitor.cookiesOf(page.slug).get('easel_viewer') ?? '';
  const first = await signIns.find(secret, page.id);
  expect(first).toMatchObject({ kind: 'user', userId: visitor.userId, onPage: { artifactId: page.id } });
  // What needs a query is a promise.
  expect(signIns.find(secret, page.id)).toBe(first);
  expect(signIns.find(secret, other.id)).toBeNull();
  expect(signIns.find('no secret', page.id)).toBeNull();
  const [session] = await sql<{ id: string; sha256: string }[]>`
    update session set revoked_at_ms = 1 where account_id = ${visitor.userId} returning id, encode(secret_sha256, 'hex') as sha256`;
  bus.tell({ kind: 'token.revoked', tokenId: session?.id as never, credential: `session:${session?.sha256}` });
  expect(await signIns.find(secret, page.id)).toBeNull();
  await tokens.stop();
});

test('a private page is answered in the turn of its request, as a public one is', async () => {
  const owner = userPrincipal('usr_owner' as UserId);
  const heads = new Map<ArtifactId, ArtifactHead>();
  const found = (id: ArtifactId) => heads.get(id) ?? Promise.resolve(null);
  const content = await Stage.open('http://api.test', {
    heads: { get: found },
    signIns: {
      redeem: async () => null,
      find: (_secret, artifactId) => ({ ...owner, onPage: { artifactId, sessionId: 'ses_x' as never } }),
    },
  });
  try {
    const { id } = await content.site('mine', { 'index.html': 'mine' }, { visibility: 'private' });
    heads.set(id, {
      ...{ id, slug: 'mine', ownerId: owner.userId, workspaceId: null, folder: null, visibility: 'private' },
      ...{ allowAnonWrite: false, allowAnonCollab: false, liveVersionId: null, deletedAtMs: null, collaborators: new Map() },
    });
    const headers = { cookie: 'theme=dark; easel_viewer=x' };
    expect((await content.ask('mine', '/', { headers })).text).toBe('mine');
    await content.content.encodingsIdle();
    await content.ask('mine', '/', { headers });
    expect((await content.ask('mine', '/', { headers })).reply).not.toBeInstanceOf(Promise);
  } finally {
    await content.close();
  }
});
