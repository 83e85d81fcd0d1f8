/** Documents in an export, and what an import accepts of them. */
import { unzipSync, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as Y from 'yjs';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { inDocument, textOf, typist } from '../../../actors/documents/documents-fixture.ts';
import { databaseKinds } from '../../../support/database.ts';
import { type Cast, cast, openStage, type Stage } from '../../data/comments/comment-stage.ts';

const ENTRY = 'data/documents/notes.yjs';

describe.each(databaseKinds())('%s', (kind) => {
  let stage: Stage;
  let all: Cast;
  let id: ArtifactId;
  beforeAll(async () => {
    stage = await openStage(kind);
    all = await cast(stage.easel);
    id = all.artifact.id as ArtifactId;
    const { type } = typist(stage.easel.runtime, id);
    for (const word of ['Größe ', '→ ', '🎨']) await type(word);
    await typist(stage.easel.runtime, id, 'other').type('other');
  });
  afterAll(() => stage.close());

  async function exported(): Promise<Uint8Array> {
    const reply = await stage.easel.fetch(`/v1/artifacts/${id}/export`, { token: all.owner.token });
    expect(reply.status).toBe(200);
    return new Uint8Array(await reply.arrayBuffer());
  }

  async function imported(zip: Uint8Array): Promise<{ status: number; id: ArtifactId; code?: string; param?: string }> {
    const headers = { 'content-type': 'application/zip' };
    const reply = await stage.easel.fetch('/v1/artifacts/import', {
      token: all.owner.token,
      method: 'POST',
      body: Buffer.from(zip),
      headers,
    });
    const body = (await reply.json()) as { artifact?: { id: ArtifactId }; code?: string; param?: string };
    return { ...body, status: reply.status, id: body.artifact?.id ?? id };
  }

  test("are restored struct for struct, and merge with a client's copy of the original", async () => {
    const copy = await imported(await exported());
    expect(copy.status).toBe(201);
    const { runtime } = stage.easel;
    expect(await textOf(runtime, copy.id)).toBe('Größe → 🎨');
    expect(await textOf(runtime, copy.id, 'other')).toBe('other');
    const states = await Promise.all([id, copy.id].map((each) => inDocument(runtime, each, (doc) => doc.missing())));
    expect(states[1]).toEqual(states[0]);
    expect(await inDocument(runtime, copy.id, (doc) => doc.apply(states[0] as Uint8Array, null, null))).toBe(false);
    expect(await typist(runtime, copy.id).type('more')).toBe(true);
    const again = unzipSync(await exported());
    const doc = new Y.Doc();
    Y.applyUpdate(doc, again[ENTRY] as Uint8Array);
    expect(doc.getText('t').toString()).toBe('Größe → 🎨');
  });

  test('an entry that is no document is refused by its name', async () => {
    const entries = unzipSync(await exported());
    for (const bytes of [[], [1, 2, 3], [0, 0, 0], [1, 1, 9, 0, 4, 1, 1, 116, 0, 0]]) {
      const reply = await imported(zipSync({ ...entries, [ENTRY]: new Uint8Array(bytes) }));
      expect(reply).toMatchObject({ status: 400, code: 'INVALID_REQUEST', param: ENTRY });
    }
    const { [ENTRY]: _, ...without } = entries;
    expect(await imported(zipSync(without))).toMatchObject({ status: 400, param: ENTRY });
  });
});
