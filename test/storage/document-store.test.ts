import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import type { Compacted, DocumentUpkeep } from '../../actors/documents/changes.ts';
import type { Change } from '../../actors/kinds.ts';
import { localPlacement } from '../../actors/runtime/placement.ts';
import { ActorRuntime } from '../../actors/runtime/runtime.ts';
import type { ArtifactBatch, JournalStore } from '../../actors/runtime/store.ts';
import { type ArtifactId, newId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { postgresArtifactStore } from '../../src/storage/artifact-store.ts';
import { compactDocument, DocumentCompactor } from '../../src/storage/document-compaction.ts';
import { purgeDocuments } from '../../src/storage/document-purge.ts';
import { DocumentThread } from '../../src/storage/document-thread.ts';
import {
  deleteDocumentVersion,
  listDocumentVersions,
  makeDocumentVersion,
  readDocumentState,
} from '../../src/storage/document-versions.ts';
import { postgresJournal } from '../../src/storage/journal.ts';
import { framed, unframed } from '../../src/storage/live/documents.ts';
import { inDocument, textOf as textOfDocument, typist } from '../actors/documents/documents-fixture.ts';
import { UNMETERED } from '../sim/world.ts';
import { builtFiles, everyDatabaseKind, openTestDatabase, SILENT, type TestDatabase } from '../support/database.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const DOC = 'notes';

/** The text `t` of a state. */
function textOf(state: Uint8Array | null | undefined): string {
  const doc = new Y.Doc();
  if (state) Y.applyUpdate(doc, state);
  return doc.getText('t').toString();
}

function drop(seq: number): Change {
  return { seq, kind: 'doc.drop', doc: DOC, atMs: 9000 + seq };
}

it('[framed] updates of every length are read back unchanged', () => {
  const updates = [0, 1, 127, 128, 300, 16_383, 16_384, 2_097_152].map((length) => new Uint8Array(length).fill(length % 251));
  expect(unframed(Buffer.from(framed(updates), 'hex')).map((each) => Buffer.from(each).toString('base64'))).toEqual(
    updates.map((each) => Buffer.from(each).toString('base64')),
  );
});

describe.each(everyDatabaseKind())('documents in the store: %s', (kind) => {
  let database: TestDatabase;
  let journal: JournalStore;
  let thread: DocumentThread;
  const clock = new VirtualClock();
  beforeAll(async () => {
    database = await openTestDatabase(kind);
    journal = postgresJournal(database.journalSql);
    thread = new DocumentThread(builtFiles().documentWorkerFile, systemClock);
  });
  afterAll(async () => {
    await thread.close();
    await database.close();
  });

  const store = () => postgresArtifactStore(database.sql);
  const deps = () => ({ sql: database.sql, thread, clock });
  const rowsOf = (id: ArtifactId) => database.sql<{ seq: number; updates: number }[]>`
    select seq, updates from document_update where artifact_id = ${id} and name = ${DOC} order by seq`;
  const snapshotsOf = (id: ArtifactId) => database.sql<{ seq: number }[]>`select seq from document_snapshot where artifact_id = ${id}`;

  /** An artifact with a document into which the texts are typed: each text is one commit, a list of texts is one together. */
  async function written(...texts: (string | string[])[]) {
    const id = newId('artifact');
    await database.sql`
      insert into artifact (id, name, slug, visibility, created_at_ms, updated_at_ms) values (${id}, 'n', ${id}, 'private', 0, 0)`;
    const image = await store().load(id);
    let copy = new Y.Doc();
    let seq = 0;
    const commit = async (...changes: Change[]) => {
      const batch: ArtifactBatch = { artifactId: id, epoch: image?.epoch ?? -1, changes };
      expect(await journal.commit([batch])).toEqual(['committed']);
    };
    const edit = (make: (doc: Y.Doc) => void): Change => {
      const before = Y.encodeStateVector(copy);
      copy.transact(() => make(copy));
      seq += 1;
      return { seq, kind: 'doc.update', doc: DOC, update: Y.encodeStateAsUpdate(copy, before), by: null, atMs: 1000 + seq };
    };
    const type = (text: string) => edit((doc) => doc.getText('t').insert(doc.getText('t').length, text));
    const write = async (each: string | string[]) => commit(...[each].flat().map(type));
    const dropIt = async () => {
      seq += 1;
      await commit(drop(seq));
      copy = new Y.Doc();
    };
    for (const each of texts) await write(each);
    const epoch = image?.epoch ?? -1;
    const read = async () => {
      const content = await store().readDocument(id, epoch, DOC);
      const doc = new Y.Doc();
      if (content?.snapshot) Y.applyUpdate(doc, content.snapshot);
      for (const update of content?.updates ?? []) Y.applyUpdate(doc, update);
      return doc.getText('t').toString();
    };
    return { id, epoch, write, edit, commit, dropIt, read, where: { artifactId: id, name: DOC } };
  }

  it('reads back what was appended, and lists documents without their content', async () => {
    const { id, epoch, read } = await written('a', ['b', 'c']);
    expect(await read()).toBe('abc');
    const [info] = (await store().readDocuments(id, epoch)) ?? [];
    const [sum] = await database.sql<{ bytes: number }[]>`
      select sum(octet_length(data)) as bytes from document_update where artifact_id = ${id}`;
    expect(info).toEqual({ name: DOC, seq: 3, storedBytes: sum?.bytes, createdAtMs: 1001, updatedAtMs: 1003 });
    expect(await rowsOf(id)).toEqual([
      { seq: 1, updates: 1 },
      { seq: 3, updates: 2 },
    ]);
  });

  it('[another owner] an actor that has lost its artifact reads nothing', async () => {
    const { id, epoch } = await written('a');
    await store().load(id);
    expect(await store().readDocuments(id, epoch)).toBeNull();
    expect(await store().readDocument(id, epoch, DOC)).toBeNull();
  });

  it('[compaction] merges exactly what it read, and records that', async () => {
    const { id, epoch, read, write } = await written('a', ['b', 'c'], 'd');
    const done = await compactDocument(deps(), id, DOC);
    expect(done).toMatchObject({ updates: 4 });
    expect(await rowsOf(id)).toEqual([]);
    expect(await read()).toBe('abcd');
    const [info] = (await store().readDocuments(id, epoch)) ?? [];
    expect(info?.storedBytes).toBe(done?.snapshotBytes);
    await write('e');
    expect(await read()).toBe('abcde');
    expect(await compactDocument(deps(), id, DOC)).toMatchObject({ updates: 1 });
    expect(await compactDocument(deps(), id, DOC)).toBeNull();
    expect(await snapshotsOf(id)).toHaveLength(1);
    expect(await read()).toBe('abcde');
  });

  // This test computes for seconds, on a busy machine for minutes; the time-out is only for a hang.
  it('[the largest] is appended, compacted and read back whole', { timeout: 900_000 }, async () => {
    const piece = 'x'.repeat(7 * 1024 * 1024);
    const pieces = Math.floor(LIMITS.documentBytesMax / piece.length);
    const { id, read } = await written(...Array<string>(pieces).fill(piece));
    expect((await read()).length).toBe(pieces * piece.length);
    expect(await compactDocument(deps(), id, DOC)).toMatchObject({ updates: pieces });
    expect(await rowsOf(id)).toEqual([]);
    expect((await read()).length).toBe(pieces * piece.length);
  });

  it('[an edit during a compaction] stays in the log and is merged by the next one', async () => {
    const { id, epoch, read, write } = await written('a', 'b');
    const merge = async (snapshot: Uint8Array | null, updates: Uint8Array) => {
      const state = await thread.merge(snapshot, updates);
      await write('c');
      return state;
    };
    expect(await compactDocument({ ...deps(), thread: { merge } }, id, DOC)).toMatchObject({ updates: 2 });
    expect(await rowsOf(id)).toEqual([{ seq: 3, updates: 1 }]);
    expect(await read()).toBe('abc');
    const [sum] = await database.sql<{ bytes: number }[]>`
      select (select sum(octet_length(data)) from document_update where artifact_id = ${id})
        + (select sum(octet_length(data)) from document_snapshot where artifact_id = ${id}) as bytes`;
    expect((await store().readDocuments(id, epoch))?.[0]?.storedBytes).toBe(sum?.bytes);
  });

  it('[two compactors] one of them does nothing', async () => {
    const { id, read } = await written('a', 'b', 'c');
    let other: Promise<unknown> = Promise.resolve();
    const merge = async (snapshot: Uint8Array | null, updates: Uint8Array) => {
      other = compactDocument(deps(), id, DOC);
      await other;
      return thread.merge(snapshot, updates);
    };
    await expect(compactDocument({ ...deps(), thread: { merge } }, id, DOC)).rejects.toThrow();
    expect(await other).toMatchObject({ updates: 3 });
    expect(await read()).toBe('abc');
    expect(await snapshotsOf(id)).toEqual([{ seq: 3 }]);
  });

  it('[dropped meanwhile] a document does not return, nor into a new document of that name', async () => {
    const { id, read, write, dropIt } = await written('old');
    const merge = async (snapshot: Uint8Array | null, updates: Uint8Array) => {
      await dropIt();
      await write('new');
      return thread.merge(snapshot, updates);
    };
    await expect(compactDocument({ ...deps(), thread: { merge } }, id, DOC)).rejects.toThrow();
    expect(await read()).toBe('new');
    expect(await snapshotsOf(id)).toEqual([]);
    expect(await listDocumentVersions(database.sql, { artifactId: id, name: DOC }, { beforeSeq: undefined, limit: 9 })).toEqual([]);
  });

  it('[the thread dies] the log is unchanged, and the compactor reports that it has done nothing', async () => {
    const { id, read } = await written('a', 'b');
    const warnings: string[] = [];
    const log = { ...SILENT, warn: (_: object, message: string) => void warnings.push(message) };
    const merge = () => Promise.reject(new Error('the thread for documents ended with code 1'));
    const broken = new DocumentCompactor({ ...deps(), thread: { merge }, log });
    expect(await broken.compact(id, DOC)).toBeNull();
    expect(warnings).toHaveLength(1);
    expect(await rowsOf(id)).toHaveLength(2);
    const compactor = new DocumentCompactor({ ...deps(), log: SILENT });
    expect(await Promise.all([compactor.compact(id, DOC), compactor.compact(id, DOC)])).toMatchObject([{ updates: 2 }, null]);
    await compactor.close();
    expect(await compactor.compact(id, DOC)).toBeNull();
    expect(await read()).toBe('ab');
  });

  it('[racing] concurrent appends and compactions lose nothing and duplicate nothing', async () => {
    const { id, read, write } = await written('0');
    let isWriting = true;
    const compacting = (async () => {
      let done = 0;
      while (isWriting) if ((await compactDocument(deps(), id, DOC)) !== null) done += 1;
      return done;
    })();
    for (let round = 1; round <= 60; round += 1) await write([`${round % 10}`, '.']);
    isWriting = false;
    expect(await compacting).toBeGreaterThan(1);
    expect(await read()).toBe(`0${Array.from({ length: 60 }, (_, i) => `${(i + 1) % 10}.`).join('')}`);
    const [row] = await database.sql<{ stored: number; there: number }[]>`
      select stored_bytes as stored, (select coalesce(sum(octet_length(data)), 0) from document_update where artifact_id = ${id})
        + (select sum(octet_length(data)) from document_snapshot where artifact_id = ${id}) as there
      from document where artifact_id = ${id}`;
    expect(row?.stored).toBe(row?.there);
  });

  it('[pending] an update whose predecessor is missing survives compaction and takes effect when the predecessor arrives', async () => {
    const { id, edit, commit, read } = await written('a');
    const first = edit((doc) => doc.getText('t').insert(1, 'b'));
    const second = edit((doc) => doc.getText('t').insert(2, 'c'));
    await commit({ ...second, seq: 2 });
    await compactDocument(deps(), id, DOC);
    expect(await read()).toBe('a');
    await commit({ ...first, seq: 3 });
    expect(await read()).toBe('abc');
    await compactDocument(deps(), id, DOC);
    expect(await read()).toBe('abc');
  });

  it('[automatic versions] at most one in ten minutes of change, and only the newest of older days', async () => {
    const { id, write, where } = await written('a');
    const list = async () => (await listDocumentVersions(database.sql, where, { beforeSeq: undefined, limit: 200 })).map(({ seq }) => seq);
    await compactDocument(deps(), id, DOC);
    expect(await list()).toEqual([1]);
    clock.advance(LIMITS.documentVersionGapMs - 1);
    await write('b');
    await compactDocument(deps(), id, DOC);
    expect(await list()).toEqual([1]);
    clock.advance(1);
    await write('c');
    await compactDocument(deps(), id, DOC);
    expect(await list()).toEqual([3, 1]);
    clock.advance(3 * 24 * 3600 * 1000);
    await write('d');
    await compactDocument(deps(), id, DOC);
    expect(await list()).toEqual([4, 3]);
    expect(textOf(await readDocumentState(database.sql, thread, where, 3))).toBe('abc');
  });

  it('[versions by request] are stored with their label, listed newest first and deleted', async () => {
    const { id, write, where } = await written('a');
    const one = await makeDocumentVersion(database.sql, thread, where, { label: 'first', by: 'user_1', nowMs: 5 });
    expect(one).toEqual({ seq: 1, label: 'first', createdBy: 'user_1', automatic: false, sizeBytes: one.sizeBytes, createdAtMs: 5 });
    await write('b');
    await makeDocumentVersion(database.sql, thread, where, { label: null, by: null, nowMs: 6 });
    const list = await listDocumentVersions(database.sql, where, { beforeSeq: undefined, limit: 9 });
    expect(list.map(({ seq, label }) => [seq, label])).toEqual([
      [2, null],
      [1, 'first'],
    ]);
    expect(await listDocumentVersions(database.sql, where, { beforeSeq: 2, limit: 9 })).toEqual([one]);
    await compactDocument(deps(), id, DOC);
    expect(textOf(await readDocumentState(database.sql, thread, where, 1))).toBe('a');
    expect(await deleteDocumentVersion(database.sql, where, 1)).toBe(true);
    expect(await deleteDocumentVersion(database.sql, where, 1)).toBe(false);
    await expect(readDocumentState(database.sql, thread, where, 1)).rejects.toMatchObject({ code: 'VERSION_NOT_FOUND' });
    const missing = makeDocumentVersion(database.sql, thread, { ...where, name: 'other' }, { label: null, by: null, nowMs: 7 });
    await expect(missing).rejects.toMatchObject({ code: 'DOCUMENT_NOT_FOUND' });
  });

  it('[limit of versions] refuses another version by request', async () => {
    const { id, where } = await written('a');
    await database.sql`
      insert into document_version (artifact_id, name, seq, state, automatic, created_at_ms)
      select ${id}, ${DOC}, 10 + n, ''::bytea, false, 0 from generate_series(1, ${LIMITS.documentVersionsMax}::integer) as n`;
    const one = makeDocumentVersion(database.sql, thread, where, { label: null, by: null, nowMs: 7 });
    await expect(one).rejects.toMatchObject({ code: 'DOCUMENT_VERSIONS_FULL' });
  });

  it('[state at a seq] while the log still has it', async () => {
    const { id, write, where } = await written('a', 'b', ['c', 'd'], 'e');
    const at = async (seq: number) => textOf(await readDocumentState(database.sql, thread, where, seq));
    expect([await at(1), await at(2), await at(4), await at(5)]).toEqual(['a', 'ab', 'abcd', 'abcde']);
    for (const seq of [0, 6]) await expect(at(seq)).rejects.toMatchObject({ code: 'VERSION_NOT_FOUND' });
    await database.sql`insert into document_version (artifact_id, name, seq, state, automatic, created_at_ms)
      values (${id}, ${DOC}, 5, ''::bytea, true, ${clock.nowMs()})`;
    await compactDocument(deps(), id, DOC);
    await write('f');
    expect(await at(6)).toBe('abcdef');
    await expect(at(4)).rejects.toMatchObject({ code: 'VERSION_NOT_FOUND' });
  });

  it('[purge] removes all documents of one artifact, and none of another', async () => {
    const [one, other] = [await written('a', 'b'), await written('c')];
    for (const { id, write, where } of [one, other]) {
      await compactDocument(deps(), id, DOC);
      await write('d');
      await makeDocumentVersion(database.sql, thread, where, { label: null, by: null, nowMs: 1 });
    }
    const stopped = new AbortController();
    stopped.abort();
    expect(await purgeDocuments(database.sql, one.id, stopped.signal)).toBe(false);
    expect(await purgeDocuments(database.sql, one.id, new AbortController().signal)).toBe(true);
    const count = async (id: ArtifactId) => {
      const [row] = await database.sql<{ n: number }[]>`
        select (select count(*) from document_update where artifact_id = ${id}) + (select count(*) from document_snapshot where artifact_id = ${id})
          + (select count(*) from document_version where artifact_id = ${id}) as n`;
      return row?.n;
    };
    expect(await count(one.id)).toBe(0);
    expect(await count(other.id)).toBeGreaterThanOrEqual(3);
    expect(await other.read()).toBe('cd');
  });

  it('[with actors] typed text is compacted while actors run, and survives unloading', async () => {
    const { id } = await written('0');
    const compactor = new DocumentCompactor({ ...deps(), log: SILENT });
    const done: Promise<Compacted | null>[] = [];
    const upkeep: DocumentUpkeep = {
      compact: (...of) => {
        const compacting = compactor.compact(...of);
        done.push(compacting);
        return compacting;
      },
    };
    const ports = { clock, store: store(), journal, placement: localPlacement(), meter: UNMETERED, log: SILENT, upkeep };
    const runtime = new ActorRuntime({ ...ports, idleMs: 60_000, memoryBytesMax: 64 * 1024 * 1024 });
    const writer = typist(runtime, id);
    await Promise.all(Array.from({ length: 600 }, () => writer.type('x')));
    await writer.type('.');
    expect(await done[0]).not.toBeNull();
    expect((await rowsOf(id)).length).toBeLessThan(3);
    const before = await inDocument(runtime, id, (doc) => doc.missing());
    await runtime.discard(id);
    expect(await inDocument(runtime, id, (doc) => doc.missing())).toEqual(before);
    expect(await writer.send(Y.encodeStateAsUpdate(writer.copy))).toBe(false);
    expect(await textOfDocument(runtime, id)).toHaveLength(602);
    await runtime.stop();
    await compactor.close();
  });
});
