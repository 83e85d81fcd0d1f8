/** A group commit pays for the kinds that changed and for no other, and its texts stay few, so that each stays prepared. */
import { describe, expect, it } from 'vitest';
import type { Change, ChangeOf, KindName } from '../../actors/kinds.ts';
import type { ArtifactBatch } from '../../actors/runtime/store.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { JournalColumns } from '../../src/storage/journal-columns.ts';
import { JournalStatement } from '../../src/storage/journal-statement.ts';

const times = { createdAtMs: 1, updatedAtMs: 2 };
const CHANGES: { readonly [T in KindName]: (seq: number) => ChangeOf<T> } = {
  json: (seq) => ({ seq, kind: 'json.put', key: `k${seq}`, value: '1', expiresAtMs: null, ...times }),
  tables: (seq) => ({ seq, kind: 'table.put', table: `t${seq}`, schema: null, rowCount: 0, ...times }),
  blobs: (seq) => {
    const file = { filename: 'f', mimeType: 'text/plain', sizeBytes: 1, sha256: '00', createdBy: null, createdAtMs: 1 };
    return { seq, kind: 'blob.put', blobId: `b${seq}`, ...file };
  },
  documents: (seq) => ({ seq, kind: 'doc.update', doc: `d${seq}`, update: new Uint8Array([0, 0]), by: null, atMs: 1 }),
  comments: (seq) => ({ seq, kind: 'comment.put', commentId: `c${seq}`, cause: 'added', data: '{}', replaced: null, ...times }),
};
const KINDS = Object.keys(CHANGES) as KindName[];
const WRITES = { json: 'json_key', tables: 'data_table', blobs: 'blob', documents: 'document', comments: 'comment' } as const;

function batchOf(artifact: number, changes: readonly Change[]): ArtifactBatch {
  return { artifactId: `art_${artifact}` as ArtifactId, epoch: 1, changes };
}

function textOf(...batches: readonly (readonly Change[])[]): string {
  return new JournalColumns(batches.map((changes, at) => batchOf(at, changes))).parts(new JournalStatement());
}

/** The kinds that a statement writes. */
function kindsIn(text: string): readonly KindName[] {
  return KINDS.filter((kind) => text.includes(`insert into ${WRITES[kind]} `));
}

describe('the parts of a commit', () => {
  it.each(KINDS)('of %s alone are of no other kind, and the same text whatever the number of changes', (kind) => {
    const one = textOf([CHANGES[kind](1)]);
    expect(kindsIn(one)).toEqual([kind]);
    expect(one).not.toContain('tombstone');
    expect(textOf([CHANGES[kind](1), CHANGES[kind](2)], [CHANGES[kind](1)])).toBe(one);
  });

  it('of several kinds come in one order, however the changes were mixed', () => {
    const mixed = (order: readonly KindName[]) => textOf(order.map((kind, at) => CHANGES[kind](at + 1)));
    const text = mixed(KINDS);
    expect(kindsIn(text)).toEqual(KINDS);
    expect(mixed([...KINDS].reverse())).toBe(text);
    expect(textOf(...KINDS.map((kind) => [CHANGES[kind](1)]))).toBe(text);
  });

  it('bury what a batch of mixed kinds has deleted', () => {
    const columns = new JournalColumns([
      batchOf(1, [
        { seq: 1, kind: 'json.delete', key: 'gone', atMs: 5 },
        { seq: 2, kind: 'doc.drop', doc: 'away', atMs: 6 },
        { seq: 3, kind: 'json.put', key: 'gone', value: '1', expiresAtMs: null, ...times },
      ]),
    ]);
    const statement = new JournalStatement();
    expect(columns.parts(statement)).toContain('insert into tombstone');
    // The key is there again after the commit: only the document is buried.
    expect(statement.parameters.slice(-6)).toEqual(['{1}', '{2}', 'doc.drop', 'away', '{NULL}', '{6}']);
  });
});
