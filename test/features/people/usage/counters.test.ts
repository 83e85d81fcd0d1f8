/** After any course of storing and removing, by several callers at once, the counters say what the rows say. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { Random } from '../../../support/random.ts';
import { json, post, published } from '../../../support/requests.ts';
import { beginUpload, draft, page, remove, sendContent, shownUsage, trueUsage, uploadBlob, uploadToken } from './storage-stage.ts';

const HOUR_MS = 3_600_000;
const SEEDS = [1, 20_261_122];
const ROUNDS = 30;
const AT_ONCE = 4;
/** Few contents, so that artifacts, versions, blobs and uploads share them. */
const CONTENTS = Array.from({ length: 8 }, (_, n) => `content ${n} ${'x'.repeat(n * 40)}`);

interface Named {
  readonly artifacts: string[];
  readonly trashed: string[];
  readonly blobs: [artifact: string, blob: string][];
}

type Step = (easel: TestEasel, user: TestUser, random: Random, named: Named) => Promise<unknown>;

const files = (random: Random) =>
  Array.from({ length: 1 + random.integer(4) }, (_, n) => ({ path: n === 0 ? 'index.html' : `f${n}.txt`, content: random.pick(CONTENTS) }));

async function publishOne(easel: TestEasel, user: TestUser, random: Random, named: Named): Promise<void> {
  const target = named.artifacts.length > 0 && random.chance(0.8) ? { artifact_id: random.pick(named.artifacts) } : {};
  const reply = await draft(easel, user, { ...target, draft: random.chance(0.5), files: files(random) });
  if (reply.status === 200) note(named.artifacts, (await json(reply)).artifact.id);
}

function note(names: string[], name: string): void {
  if (!names.includes(name)) names.push(name);
}

const STEPS: readonly Step[] = [
  publishOne,
  publishOne,
  async (easel, user, random, named) => {
    const content = random.pick(CONTENTS);
    const target = named.artifacts.length > 0 ? { artifact_id: random.pick(named.artifacts) } : {};
    const begun = await beginUpload(easel, user, content, target);
    if (begun.status !== 200) return;
    await Promise.all([1, 2].map(() => sendContent(easel, user, begun.uploadId, content)));
    // Some are left unfinished, and some are finished twice.
    const times = random.integer(3);
    const finish = () => easel.fetch('/v1/publish', { token: user.token, ...post({ ...begun.body, upload_id: begun.uploadId }) });
    await Promise.all(Array.from({ length: times }, finish));
  },
  async (easel, user, random, named) => {
    if (named.artifacts.length === 0) return;
    await remove(easel, user, `/v1/artifacts/${random.pick(named.artifacts)}/versions/${1 + random.integer(8)}`);
  },
  async (easel, user, random, named) => {
    if (named.artifacts.length === 0) return;
    const id = random.pick(named.artifacts);
    const reply = await uploadBlob(easel, user, id, random.pick(CONTENTS));
    if (reply.status === 201) named.blobs.push([id, (await json(reply)).data.id]);
  },
  async (easel, user, random, named) => {
    if (named.artifacts.length === 0) return;
    const id = random.pick(named.artifacts);
    const content = random.pick(CONTENTS);
    const reply = await uploadToken(easel, user, id, random.chance(0.5) ? content.length : undefined);
    if (reply.status !== 200 || random.chance(0.3)) return;
    const { uploadUrl } = (await json(reply)).data;
    const put = () => easel.fetch(new URL(uploadUrl).pathname, { method: 'PUT', body: content, headers: { 'content-type': 'text/plain' } });
    // A type that the bytes do not have leaves the token usable; of two at once one is refused.
    for (const sent of await Promise.all([put(), put()])) if (sent.status === 201) named.blobs.push([id, (await json(sent)).data.id]);
  },
  async (easel, user, random, named) => {
    if (named.blobs.length === 0) return;
    const [id, blob] = random.pick(named.blobs);
    await remove(easel, user, `/v1/data/${id}/blobs/${blob}`);
  },
  async (easel, user, random, named) => {
    if (named.artifacts.length < 3) return;
    const id = random.pick(named.artifacts);
    if ((await remove(easel, user, `/v1/artifacts/${id}`)).status === 200) named.trashed.push(id);
  },
  async (easel, user, random, named) => {
    if (named.trashed.length === 0) return;
    await easel.fetch(`/v1/artifacts/${random.pick(named.trashed)}/restore`, { token: user.token, method: 'POST' });
  },
  async (easel, user, random, named) => {
    if (named.artifacts.length === 0) return;
    const zip = await easel.fetch(`/v1/artifacts/${random.pick(named.artifacts)}/export`, { token: user.token });
    if (zip.status !== 200) return;
    const headers = { 'content-type': 'application/zip' };
    const body = await zip.arrayBuffer();
    const reply = await easel.fetch('/v1/artifacts/import', { token: user.token, method: 'POST', headers, body });
    if (reply.status === 201) note(named.artifacts, (await json(reply)).artifact.id);
  },
];

describe.each(databaseKinds())('over %s', (database) => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());

  test.each(SEEDS)('counters equal a recount, seed %i', async (seed) => {
    const random = new Random(seed);
    const user = await easel.newUser();
    const other = await published(easel, await easel.newUser(), { files: page(CONTENTS[0] ?? '') });
    const named: Named = { artifacts: [], trashed: [], blobs: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      const steps = Array.from({ length: AT_ONCE }, () => random.pick(STEPS));
      await Promise.all(steps.map((step) => step(easel, user, random, named)));
      expect(await shownUsage(easel, user)).toEqual(await trueUsage(easel, user));
      // The hour's publishes come back, and uploads and tokens expire.
      easel.clock.advance(HOUR_MS);
      // Past the recovery window what is in the trash is purged.
      if (random.chance(0.1)) easel.clock.advance(31 * 24 * HOUR_MS);
      if (random.chance(0.3)) expect(await easel.sweep()).toMatchObject({ correctedAccounts: 0 });
      expect(await shownUsage(easel, user)).toEqual(await trueUsage(easel, user));
    }
    expect(named.artifacts.length).toBeGreaterThan(2);
    expect(named.blobs.length).toBeGreaterThan(2);
    expect(other.id).toMatch(/^art_/);
  });
});
