/** Rows that other parts of the service store as a dataset. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { writeDataset } from '../../../../src/features/data/datasets/write.ts';
import { artifactBytes, recount } from '../../../../src/features/people/usage/rows.ts';
import { type DataArtifact, publishArtifact } from '../../../support/data-client.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { type StoreStage, storeStage } from './dataset-stage.ts';

describe('rows that another part of the service stores', () => {
  let easel: TestEasel;
  let owner: TestUser;
  let page: DataArtifact;
  let stage: StoreStage;

  beforeAll(async () => {
    easel = await startTestEasel();
    owner = await easel.newUser('pro');
    page = await publishArtifact(easel, owner);
    stage = await storeStage(easel);
  });
  afterAll(async () => {
    await stage.close();
    await easel.close();
  });

  const write = (name: string, rows: readonly Record<string, unknown>[], more = {}) =>
    writeDataset(stage.deps, { artifactId: page.id, name, rows, ...more });

  test('they become lines of JSON in an object, and what is known of them a version', async () => {
    const rows = [
      { city: 'Bern', at: '2026-01-31', people: 134_000, open: true, tags: ['a'] },
      { city: 'Zürich', at: '2026-02-01T10:00:00Z', people: 1.5, open: null, more: 'x' },
    ];
    const { stored, isNew } = await write('cities', rows);
    const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    expect(isNew).toBe(true);
    expect(stored).toMatchObject({
      name: 'cities',
      version: 1,
      rows: 2,
      sizeBytes: Buffer.byteLength(text),
      sha256: createHash('sha256').update(text).digest('hex'),
      columns: [
        { name: 'city', type: 'string' },
        { name: 'at', type: 'date' },
        { name: 'people', type: 'number' },
        { name: 'open', type: 'boolean' },
        { name: 'tags', type: 'json' },
        { name: 'more', type: 'string' },
      ],
    });
    expect((await stage.deps.objects.read(stored.sha256)).toString()).toBe(text);
    expect(await stage.spooled()).toEqual([]);
  });

  test('the same rows again make no version, other rows the next one', async () => {
    expect(await write('again', [{ n: 1 }])).toMatchObject({ isNew: true, stored: { version: 1 } });
    expect(await write('again', [{ n: 1 }])).toMatchObject({ isNew: false, stored: { version: 1 } });
    expect(await write('again', [{ n: 2 }])).toMatchObject({ isNew: true, stored: { version: 2 } });
  });

  test('rows may come one by one, and are stored as the JSON that they become', async () => {
    async function* rows() {
      yield { at: new Date(0) };
      yield { at: new Date(1000), nothing: undefined };
    }
    const { stored } = await writeDataset(stage.deps, { artifactId: page.id, name: 'stream', rows: rows() });
    expect(stored.columns).toEqual([{ name: 'at', type: 'date' }]);
    expect((await stage.deps.objects.read(stored.sha256)).toString()).toBe(
      '{"at":"1970-01-01T00:00:00.000Z"}\n{"at":"1970-01-01T00:00:01.000Z"}\n',
    );
  });

  test('where the source fails or a row does not fit, nothing is stored or left', async () => {
    async function* rows() {
      yield { n: 1 };
      throw new Error('the source ended');
    }
    const failing = writeDataset(stage.deps, { artifactId: page.id, name: 'failed', rows: rows() });
    await expect(failing).rejects.toThrow('the source ended');
    await expect(write('failed', [{ n: 1 }, { text: 'x'.repeat(LIMITS.rowBytesMax) }])).rejects.toMatchObject({
      code: 'ROW_TOO_LARGE',
      details: { param: 'row 2' },
    });
    await expect(write('1st', [])).rejects.toMatchObject({ code: 'INVALID_DATASET_NAME' });
    expect(await easel.sql`select 1 from dataset_version where name = 'failed'`).toHaveLength(0);
    expect(await stage.spooled()).toEqual([]);
  });

  test('a writer whose access ends meanwhile records nothing', async () => {
    const refusal = Object.assign(new Error('revoked'), { code: 'FORBIDDEN' });
    const asker = { refusal: refusal as never };
    await expect(write('refused', [{ n: 1 }], { asker })).rejects.toBe(refusal);
    expect(await easel.sql`select 1 from dataset_version where name = 'refused'`).toHaveLength(0);
  });

  test('ten versions are kept, and all of them count for the artifact and its owner', async () => {
    const counted = await publishArtifact(easel, owner);
    const before = await easel.sql.begin((tx) => artifactBytes(tx, counted.id));
    for (let n = 1; n <= LIMITS.datasetVersionsKept + 3; n += 1) {
      await writeDataset(stage.deps, { artifactId: counted.id, name: 'many', rows: [{ n: 100 + n }] });
    }
    const kept = await easel.sql`select version from dataset_version where artifact_id = ${counted.id} order by version`;
    expect(kept.map(({ version }) => version)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
    const lineBytes = Buffer.byteLength('{"n":101}\n');
    expect((await easel.sql.begin((tx) => artifactBytes(tx, counted.id))) - before).toBe(10 * lineBytes);
    const counters = await easel.sql.begin((tx) => recount(tx, owner.userId));
    expect(counters?.bytes).toBe(counters?.trueBytes);
  });

  test('of writers at once each gets a version of its own, and no more names than the limit', async () => {
    const busy = await publishArtifact(easel, owner);
    const versions = await Promise.all(
      [1, 2, 3, 4].map((n) => writeDataset(stage.deps, { artifactId: busy.id, name: 'one', rows: [{ n }] })),
    );
    expect(versions.map(({ stored }) => stored.version).sort()).toEqual([1, 2, 3, 4]);
    await easel.sql`
      insert into dataset_version (artifact_id, name, version, seq, sha256, size_bytes, row_count, columns, blocks, cell_bytes, created_at_ms)
      select artifact_id, 'd' || n, 1, 100 + n, sha256, 0, 0, columns, blocks, 0, 0
      from dataset_version, generate_series(1, ${LIMITS.datasetsMax - 2}) as n where artifact_id = ${busy.id} and name = 'one' and version = 1`;
    const last = await Promise.allSettled(
      ['x', 'y', 'z'].map((name) => writeDataset(stage.deps, { artifactId: busy.id, name, rows: [{ name }] })),
    );
    expect(last.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(last.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'DATASET_LIMIT_EXCEEDED' } });
  });
});
