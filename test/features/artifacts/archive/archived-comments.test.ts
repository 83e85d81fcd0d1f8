/** Comments in an export, and what an import accepts of them. */
import { unzipSync, zipSync } from 'fflate';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { PublicComment } from '../../../../protocol/data/comments.ts';
import { databaseKinds } from '../../../support/database.ts';
import { ask, type Cast, cast, must, openStage, type Stage } from '../../data/comments/comment-stage.ts';

const ENTRY = 'data/comments.ndjson';

describe.each(databaseKinds())('%s', (kind) => {
  let stage: Stage;
  let all: Cast;
  beforeAll(async () => {
    stage = await openStage(kind);
  });
  afterAll(() => stage.close());
  beforeEach(async () => {
    all = await cast(stage.easel);
  });

  const by = (who: 'owner' | 'viewer' | 'stranger', method: string, path = '', body?: object) =>
    must(ask(stage.easel, all.artifact, all[who], method, path, body));

  async function exported(): Promise<Uint8Array> {
    const reply = await stage.easel.fetch(`/v1/artifacts/${all.artifact.id}/export`, { token: all.owner.token });
    expect(reply.status).toBe(200);
    return new Uint8Array(await reply.arrayBuffer());
  }

  function imported(zip: Uint8Array, who: 'owner' | 'stranger' = 'owner'): Promise<Response> {
    const headers = { 'content-type': 'application/zip' };
    return stage.easel.fetch('/v1/artifacts/import', { token: all[who].token, method: 'POST', body: Buffer.from(zip), headers });
  }

  async function commentsOf(reply: Response, who: 'owner' | 'stranger' = 'owner') {
    expect(reply.status).toBe(201);
    const { artifact } = (await reply.json()) as { artifact: { id: string } };
    const { comments } = (await must(ask(stage.easel, artifact, all[who], 'GET'))) as { comments: PublicComment[] };
    return { artifact, comments };
  }

  test('are restored with threads, positions and states, and take further comments', async () => {
    await by('owner', 'PUT', '/_config', { maxDepth: 5, identityMode: 'named' });
    const root = await by('viewer', 'POST', '', { content: 'Größe → root', quote: { exact: 'data' }, position: { at: 1 } });
    const reply = await by('owner', 'POST', '', { content: 'reply', parentId: root.id, dueAt: '2026-03-01T00:00:00Z' });
    await by('stranger', 'POST', `/${root.id}/reactions`, { emoji: '👍' });
    await by('owner', 'POST', `/${root.id}/reactions`, { emoji: '👍' });
    await by('owner', 'PATCH', `/${reply.id}/resolve`, { resolved: true });
    const { comments: before } = (await by('owner', 'GET')) as { comments: PublicComment[] };
    const { artifact, comments } = await commentsOf(await imported(await exported()));
    const kept = ({ seq: _, versionId: _version, ...comment }: PublicComment) => comment;
    // The importer's account stays an author, the viewer's does not.
    expect(comments.map(kept)).toEqual([{ ...kept(before[0] as PublicComment), authorId: null }, kept(before[1] as PublicComment)]);
    expect(comments[0]?.reactions).toEqual({ '👍': { count: 2, mine: true } });
    expect(comments[0]?.versionId).not.toBe(before[0]?.versionId);
    expect(await must(ask(stage.easel, artifact, all.owner, 'GET', '/_config'))).toMatchObject({ maxDepth: 5, identityMode: 'named' });
    const next = await must(ask(stage.easel, artifact, all.owner, 'POST', '', { content: 'next', parentId: root.id }));
    expect(next.seq).toBeGreaterThan(Math.max(...comments.map(({ seq }) => seq)));
    // The original is unchanged.
    expect((await by('owner', 'GET')).count).toBe(2);
  });

  test('an artifact without comments has no entry for them', async () => {
    const zip = unzipSync(await exported());
    expect(Object.keys(zip)).not.toContain(ENTRY);
    expect((await imported(zipSync(zip))).status).toBe(201);
  });

  test('a zip cannot attribute comments to other accounts, and an error names its entry', async () => {
    const { id } = await by('viewer', 'POST', '', { content: 'mine' });
    const zip = unzipSync(await exported());
    const line = JSON.parse(Buffer.from(zip[ENTRY] ?? '').toString());
    const withLines = (...lines: unknown[]) =>
      zipSync({ ...zip, [ENTRY]: Buffer.from(lines.map((one) => `${JSON.stringify(one)}\n`).join('')) });
    const forged = {
      ...line,
      data: { ...line.data, authorId: all.owner.userId, resolvedBy: all.owner.userId, mentions: [all.owner.userId] },
    };
    const { comments } = await commentsOf(await imported(withLines(forged), 'stranger'), 'stranger');
    expect(comments[0]).toMatchObject({ authorId: null, resolvedBy: null, mentions: [] });
    const wrong = [
      withLines(line, line),
      withLines({ ...line, data: { ...line.data, parentId: id } }),
      withLines({ ...line, data: { ...line.data, parentId: `cmt_${'a'.repeat(24)}` } }),
      withLines({ ...line, data: { ...line.data, content: 'nul \u0000' } }),
      withLines({ ...line, data: { ...line.data, contextId: 'half \ud83d' } }),
      withLines({ ...line, data: { ...line.data, content: 'x'.repeat(10_001) } }),
      withLines({ ...line, data: { ...line.data, reactions: { __proto: ['a'] } } }),
      withLines({ ...line, id: 'cmt_x' }),
      zipSync({ ...zip, [ENTRY]: Buffer.from('no json') }),
    ];
    for (const bad of wrong) {
      const reply = await imported(bad);
      expect([reply.status, ((await reply.json()) as { param?: string }).param]).toEqual([400, ENTRY]);
    }
  });
});
