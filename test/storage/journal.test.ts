import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ArtifactBatch, Change, JournalStore } from '../../actors/ports.ts';
import { type ArtifactId, newId } from '../../protocol/ids.ts';
import { postgresArtifactStore } from '../../src/storage/artifact-store.ts';
import { postgresJournal } from '../../src/storage/journal.ts';
import { databaseKinds, openTestDatabase, type TestDatabase } from '../support/database.ts';
import { describeWith } from '../support/services.ts';

const put = (seq: number, key: string, value: string, expiresAtMs: number | null = null): Change => ({
  seq,
  kind: 'json.put',
  key,
  value,
  createdAtMs: 1000 + seq,
  updatedAtMs: 2000 + seq,
  expiresAtMs,
});
const remove = (seq: number, key: string): Change => ({ seq, kind: 'json.delete', key });

describe.each(databaseKinds())('journal and artifact store: %s', (kind) => {
  let database: TestDatabase;
  let journal: JournalStore;
  beforeAll(async () => {
    database = await openTestDatabase(kind);
    journal = postgresJournal(database.journalSql);
  });
  afterAll(() => database.close());

  const store = () => postgresArtifactStore(database.sql);

  async function newArtifact(): Promise<ArtifactId> {
    const id = newId('artifact');
    await database.sql`
      insert into artifact (id, name, slug, visibility, created_at_ms, updated_at_ms) values (${id}, 'n', ${id}, 'private', 0, 0)`;
    return id;
  }

  /** An artifact that this test owns, with its batch maker. */
  async function owned(): Promise<{ id: ArtifactId; batch: (...changes: Change[]) => ArtifactBatch }> {
    const id = await newArtifact();
    const image = await store().load(id);
    return { id, batch: (...changes) => ({ artifactId: id, epoch: image?.epoch ?? -1, changes }) };
  }

  it('gives back every field of what was committed', async () => {
    const { id, batch } = await owned();
    expect(await journal.commit([batch(put(1, 'b', '{"x": 1}', 99), put(2, 'a', '"ü 🎨"'))])).toEqual(['committed']);
    expect(await store().load(id)).toEqual({
      epoch: 2,
      seq: 2,
      keys: [
        { key: 'a', value: '"ü 🎨"', sizeBytes: 9, seq: 2, createdAtMs: 1002, updatedAtMs: 2002, expiresAtMs: null },
        { key: 'b', value: '{"x": 1}', sizeBytes: 8, seq: 1, createdAtMs: 1001, updatedAtMs: 2001, expiresAtMs: 99 },
      ],
    });
  });

  it('stores text that array literals, backslashes, braces and quotes could break', async () => {
    const { id, batch } = await owned();
    const values = ['"a\\\\b\\"c"', '{"a":[1,null,"NULL"]}', 'null', '"{},\\u0000"', '"\'; drop table json_key --"', '" \\n "', '""'];
    await journal.commit([batch(...values.map((value, i) => put(i + 1, `k${i}`, value)))]);
    expect((await store().load(id))?.keys.map((key) => key.value)).toEqual(values);
  });

  it('keeps only the last of several changes of one key, whatever their order', async () => {
    const { id, batch } = await owned();
    await journal.commit([
      batch(put(1, 'put-put', '1'), put(2, 'put-put', '2'), put(3, 'put-delete', '3'), remove(4, 'put-delete'), put(5, 'stays', '5')),
    ]);
    await journal.commit([batch(remove(6, 'delete-put'), put(7, 'delete-put', '7'), remove(8, 'stays'), remove(9, 'never-was'))]);
    const image = await store().load(id);
    expect(image?.seq).toBe(9);
    expect(image?.keys.map(({ key, value, seq }) => [key, value, seq])).toEqual([
      ['delete-put', '7', 7],
      ['put-put', '2', 2],
    ]);
  });

  it('leaves out who no longer owns, and writes everybody else', async () => {
    const [mine, stolen, purged] = await Promise.all([owned(), owned(), owned()]);
    await store().load(stolen.id);
    await database.sql`delete from artifact where id = ${purged.id}`;
    const outcome = await journal.commit([stolen.batch(put(1, 'k', '1')), mine.batch(put(1, 'k', '1')), purged.batch(put(1, 'k', '1'))]);
    expect(outcome).toEqual(['fenced', 'committed', 'fenced']);
    expect((await store().load(mine.id))?.keys).toHaveLength(1);
    expect(await store().load(stolen.id)).toMatchObject({ seq: 0, keys: [] });
  });

  it('isolates a poisoned artifact: nothing of it is written, everything of the others', async () => {
    const all = await Promise.all(Array.from({ length: 9 }, owned));
    const outcome = await journal.commit(
      // A text with a NUL character is what Postgres can never store.
      all.map(({ batch }, i) => batch(put(1, 'good', '1'), put(2, i === 3 || i === 7 ? 'bad\u0000' : 'also-good', '2'))),
    );
    expect(outcome.map((each) => (typeof each === 'string' ? each : 'poisoned'))).toEqual(
      all.map((_, i) => (i === 3 || i === 7 ? 'poisoned' : 'committed')),
    );
    const images = await Promise.all(all.map(({ id }) => store().load(id)));
    expect(images.map((image) => [image?.seq, image?.keys.length])).toEqual(all.map((_, i) => (i === 3 || i === 7 ? [0, 0] : [2, 2])));
  });

  it('never lets a straggling commit land after a load: the load sees it or it is fenced', async () => {
    for (let round = 0; round < 20; round++) {
      const { id, batch } = await owned();
      const [[outcome], image] = await Promise.all([journal.commit([batch(put(1, 'k', '1'))]), store().load(id)]);
      expect(image?.keys.length).toBe(outcome === 'committed' ? 1 : 0);
      expect(image?.seq).toBe(outcome === 'committed' ? 1 : 0);
    }
  });

  it('gives every one of many concurrent loads an epoch of its own', async () => {
    const id = await newArtifact();
    const images = await Promise.all(Array.from({ length: 12 }, () => store().load(id)));
    expect(images.map((image) => image?.epoch).sort((a = 0, b = 0) => a - b)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
  });

  it('commits a batch of nothing as nothing, and 500 artifacts at once', async () => {
    expect(await journal.commit([])).toEqual([]);
    const all = await Promise.all(Array.from({ length: 500 }, owned));
    const outcome = await journal.commit(all.map(({ batch }) => batch(put(1, 'k', '"v"'))));
    expect(new Set(outcome)).toEqual(new Set(['committed']));
    const [row] = await database.sql`
      select count(*) as n from json_key where key = 'k' and value = '"v"' and artifact_id = any(${all.map(({ id }) => id)})`;
    expect(row).toEqual({ n: 500 });
  });

  it('leaves large values out of the image and reads them by key and change', async () => {
    const { id, batch } = await owned();
    const large = JSON.stringify('x'.repeat(4095));
    const limit = JSON.stringify('x'.repeat(4094));
    await journal.commit([batch(put(1, 'large', large), put(2, 'limit', limit))]);
    expect((await store().load(id))?.keys.map(({ key, value, sizeBytes }) => [key, value?.length, sizeBytes])).toEqual([
      ['large', undefined, 4097],
      ['limit', 4096, 4096],
    ]);
    expect(await store().readValue(id, 'large', 1)).toBe(large);
    expect(await store().readValue(id, 'large', 2)).toBeNull();
    expect(await store().readValue(id, 'gone', 1)).toBeNull();
  });

  it('loads neither an artifact in the trash nor one that never was', async () => {
    const id = await newArtifact();
    await database.sql`update artifact set deleted_at_ms = 1 where id = ${id}`;
    expect(await store().load(id)).toBeNull();
    expect(await store().load(newId('artifact'))).toBeNull();
  });
});

// The embedded database has no second session from which to cut one.
describeWith('postgresUrl')('journal on a server', () => {
  it('rejects when the connection is lost, and commits again afterwards', async () => {
    const database = await openTestDatabase('postgres');
    const id = newId('artifact');
    await database.sql`
      insert into artifact (id, name, slug, visibility, created_at_ms, updated_at_ms) values (${id}, 'n', ${id}, 'private', 0, 0)`;
    const batch = { artifactId: id, epoch: 0, changes: [put(1, 'k', '1')] };
    const first = database.journalSql();
    const journal = postgresJournal((broken) => (broken ? database.journalSql(broken) : first));
    const [row] = await first`select pg_backend_pid() as pid`;
    // The artifact's row is held, so that the commit waits until its connection is cut.
    await database.sql.begin(async (tx) => {
      await tx`select 1 from artifact where id = ${id} for update`;
      const refused = expect(journal.commit([batch])).rejects.toThrow();
      await tx`select pg_terminate_backend(${row?.pid})`;
      await refused;
    });
    expect(await journal.commit([batch])).toEqual(['committed']);
    await database.close();
  });
});
