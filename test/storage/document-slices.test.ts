import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import { type ArtifactId, newId } from '../../protocol/core/ids.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { postgresArtifactStore } from '../../src/storage/artifact-store.ts';
import { compactDocument } from '../../src/storage/document-compaction.ts';
import { DocumentThread } from '../../src/storage/document-thread.ts';
import { makeDocumentVersion, readDocumentState } from '../../src/storage/document-versions.ts';
import { postgresJournal } from '../../src/storage/journal.ts';
import { deleteOldPieces, SLICE_BYTES } from '../../src/storage/slices.ts';
import type { Sql } from '../../src/storage/sql.ts';
import { builtFiles, everyDatabaseKind, openTestDatabase, type TestDatabase } from '../support/database.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const DOC = 'large';
const SNAPSHOT = 'from document_snapshot';
const PIECE = 'insert into document_piece';
/** Neither a multiple of a slice nor smaller than several. */
const TEXT_LENGTH = 5 * SLICE_BYTES + 1234;

/** The same client; `before` sees the text of each statement that is sent outside of a transaction, and delays it. */
function watched(sql: Sql, before: (text: string, values: readonly unknown[]) => Promise<void>): Sql {
  return new Proxy(sql, {
    apply(target, self, [text, ...values]: [TemplateStringsArray, ...unknown[]]) {
      const sent = () => Reflect.apply(target, self, [text, ...values]);
      const whole = text.join('?');
      return whole.includes(SNAPSHOT) || whole.includes(PIECE) ? before(whole, values).then(sent) : sent();
    },
  });
}

describe.each(everyDatabaseKind())('large documents in the store: %s', (kind) => {
  let database: TestDatabase;
  let thread: DocumentThread;
  const clock = new VirtualClock();
  beforeAll(async () => {
    database = await openTestDatabase(kind);
    thread = new DocumentThread(builtFiles().documentWorkerFile, systemClock);
  });
  afterAll(async () => {
    await thread.close();
    await database.close();
  });

  const compact = (id: ArtifactId, sql = database.sql) => compactDocument({ sql, thread, clock }, id, DOC);

  /** A document of one large commit. */
  async function largeDocument() {
    const id = newId('artifact');
    await database.sql`
      insert into artifact (id, name, slug, visibility, created_at_ms, updated_at_ms) values (${id}, 'n', ${id}, 'private', 0, 0)`;
    const epoch = (await postgresArtifactStore(database.sql).load(id))?.epoch ?? -1;
    const journal = postgresJournal(database.journalSql);
    const copy = new Y.Doc();
    const text = copy.getText('t');
    let seq = 0;
    const type = async (typed: string) => {
      const before = Y.encodeStateVector(copy);
      text.insert(text.length, typed);
      seq += 1;
      const update = Y.encodeStateAsUpdate(copy, before);
      await journal.commit([
        { artifactId: id, epoch, changes: [{ seq, kind: 'doc.update', doc: DOC, update, by: null, atMs: 1000 + seq }] },
      ]);
    };
    // Digits that repeat nowhere at the length of a slice.
    await type(Array.from({ length: TEXT_LENGTH / 8 + 1 }, (_, i) => String(i).padStart(8, '0')).join(''));
    const read = async (sql = database.sql) => {
      const content = await postgresArtifactStore(sql).readDocument(id, epoch, DOC);
      const doc = new Y.Doc();
      if (content?.snapshot) Y.applyUpdate(doc, content.snapshot);
      for (const update of content?.updates ?? []) Y.applyUpdate(doc, update);
      return doc.getText('t').toString();
    };
    const stored = async () => [
      await database.sql`select snapshot_seq, seq, stored_bytes from document where artifact_id = ${id}`,
      await database.sql`select seq, md5(data) as md5 from document_snapshot where artifact_id = ${id}`,
      await database.sql`select seq, updates, md5(data) as md5 from document_update where artifact_id = ${id} order by seq`,
      await database.sql`select seq, md5(state) as md5 from document_version where artifact_id = ${id} order by seq`,
    ];
    return { id, type, read, stored, typed: () => text.toString(), where: { artifactId: id, name: DOC } };
  }

  const pieces = async () => (await database.sql`select from document_piece`).count;

  it('[compaction] the snapshot goes in slices, is read in slices, and is the same', async () => {
    const { id, read, typed } = await largeDocument();
    const sizes: number[] = [];
    const sending = watched(database.sql, async (text, values) => {
      if (text.includes(PIECE)) sizes.push((values.at(-1) as Uint8Array).byteLength);
    });
    const done = await compact(id, sending);
    expect(sizes.length).toBeGreaterThan(5);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(SLICE_BYTES);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(done?.snapshotBytes);
    expect(await pieces()).toBe(0);
    let slices = 0;
    const reading = watched(database.sql, async (text) => {
      if (text.includes(SNAPSHOT)) slices += 1;
    });
    expect((await read(reading)) === typed()).toBe(true);
    // The first is read with the document's head.
    expect(slices).toBe(sizes.length - 1);
  });

  it('[versions] go in slices, and are the same', async () => {
    const { where, type, typed } = await largeDocument();
    let sent = 0;
    const sending = watched(database.sql, async (text) => {
      if (text.includes(PIECE)) sent += 1;
    });
    await makeDocumentVersion(sending, thread, where, { label: null, by: null, nowMs: 1 });
    expect(sent).toBeGreaterThan(5);
    expect(await pieces()).toBe(0);
    const before = typed();
    await type('more');
    const doc = new Y.Doc();
    Y.applyUpdate(doc, await readDocumentState(database.sql, thread, where, 1));
    expect(doc.getText('t').toString() === before).toBe(true);
  });

  it('[a failure between two slices] leaves the old snapshot, the log and the versions as they are, and no pieces', async () => {
    const { id, type, stored, read, typed } = await largeDocument();
    await compact(id);
    await type('more');
    const before = await stored();
    let sent = 0;
    const failing = watched(database.sql, async (text) => {
      if (text.includes(PIECE)) sent += 1;
      if (sent === 3) throw new Error('no connection');
    });
    await expect(compact(id, failing)).rejects.toThrow('no connection');
    expect(await stored()).toEqual(before);
    expect(await pieces()).toBe(0);
    expect((await read()) === typed()).toBe(true);
  });

  it('[pieces that a restart of the server has taken] are missed, and nothing is changed', async () => {
    const { id, type, stored } = await largeDocument();
    await compact(id);
    await type('more');
    const before = await stored();
    let sent = 0;
    const losing = watched(database.sql, async (text) => {
      if (text.includes(PIECE)) sent += 1;
      if (sent === 3) await database.sql`delete from document_piece`;
    });
    await expect(compact(id, losing)).rejects.toMatchObject({ code: '23502' });
    expect(sent).toBeGreaterThan(5);
    expect(await stored()).toEqual(before);
  });

  it('[a compaction between two slices of a read] is noticed, and the newer document is read whole', async () => {
    const { id, type, read, typed } = await largeDocument();
    await compact(id);
    let slices = 0;
    const overtaken = watched(database.sql, async (text) => {
      if (text.includes(SNAPSHOT)) slices += 1;
      if (slices !== 3) return;
      slices += 1;
      await type('more');
      await compact(id);
    });
    expect((await read(overtaken)) === typed()).toBe(true);
    expect(typed().endsWith('more')).toBe(true);
  });

  it('[a process that was killed] its pieces are removed by the daily sweep, and those on their way are not', async () => {
    await database.sql`
      insert into document_piece (upload, n, data, at)
      select gen_random_uuid(), n, 'x'::bytea, now() - n * interval '59 minutes' from generate_series(1, 3) as n`;
    expect(await deleteOldPieces(database.sql)).toBe(2);
    expect(await database.sql`select n from document_piece`).toEqual([{ n: 1 }]);
    await database.sql`delete from document_piece`;
  });
});
