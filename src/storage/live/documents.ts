/** Collaborative documents in the store. */
import { createDecoder, hasContent, readVarUint8Array } from 'lib0/decoding';
import { createEncoder, toUint8Array, writeVarUint8Array } from 'lib0/encoding';
import type { StoredDocument, StoredDocumentContent } from '../../../actors/documents/changes.ts';
import type { ChangeOf } from '../../../actors/kinds.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import type { JournalStatement } from '../journal-statement.ts';
import type { Sql } from '../sql.ts';
import { readStored } from '../stored-document.ts';
import type { Graves, KindColumns, StoredKindOf } from './live-kind.ts';
import { owned } from './owned.ts';

type DocumentChange = ChangeOf<'documents'>;
type Update = Extract<DocumentChange, { kind: 'doc.update' }>;

/** The state of a document after one batch. A drop is always last, because reopening the document waits for that commit. */
type DocumentEnd = 'dropped' | Update[];

export const documentsStored: StoredKindOf<'documents'> = {
  columns: (graves) => new DocumentColumns(graves),
  // Its part is made when it is first asked for.
  load: () => Promise.resolve({}),
  reads: (sql) => ({
    readDocuments: (artifactId, epoch) => readDocuments(sql, artifactId, epoch),
    readDocument: (artifactId, epoch, name) => readDocument(sql, artifactId, epoch, name),
  }),
};

function changeDocument(ends: Map<string, DocumentEnd>, change: DocumentChange): void {
  if (change.kind === 'doc.drop') {
    ends.set(change.doc, 'dropped');
    return;
  }
  const end = ends.get(change.doc);
  if (end === 'dropped') throw new TypeError(`an update of ${change.doc} in the commit that drops it`);
  if (end === undefined) ends.set(change.doc, [change]);
  else end.push(change);
}

class DocumentColumns implements KindColumns<DocumentChange> {
  readonly #graves: Graves;
  /** One row a document: its updates one after the other, each with its length before it. */
  readonly #updates = {
    artifacts: [] as number[],
    names: [] as string[],
    seqs: [] as number[],
    /** Hexadecimal. */
    data: [] as string[],
    counts: [] as number[],
    users: [] as (string | null)[],
    times: [] as number[],
  };
  readonly #drops = { artifacts: [] as number[], names: [] as string[] };

  constructor(graves: Graves) {
    this.#graves = graves;
  }

  add(artifact: number, changes: readonly DocumentChange[]): void {
    const ends = new Map<string, DocumentEnd>();
    for (const change of changes) {
      if (change.kind === 'doc.drop') this.#graves.bury(artifact, change, change.doc, null);
      changeDocument(ends, change);
    }
    for (const [name, end] of ends) {
      if (end === 'dropped') {
        this.#drops.artifacts.push(artifact);
        this.#drops.names.push(name);
      } else {
        this.#addUpdates(artifact, name, end);
      }
    }
  }

  parts(statement: JournalStatement): string {
    const p = this.#updates;
    const d = this.#drops;
    const puts = () => `, doc_update as materialized (
      select owned.id, p.name, p.seq, decode(p.data, 'hex') as data, p.updates, p.by_user, p.at
      from unnest(
        ${statement.bigints(p.artifacts)}, ${statement.texts(p.names)}, ${statement.bigints(p.seqs)}, ${statement.texts(p.data)},
        ${statement.integers(p.counts)}, ${statement.nullableTexts(p.users)}, ${statement.bigints(p.times)}
      ) as p (artifact, name, seq, data, updates, by_user, at)
      join owned on owned.artifact = p.artifact
    ), document_written as (
      insert into document (artifact_id, name, created_seq, seq, stored_bytes, created_at_ms, updated_at_ms)
      select id, name, seq, seq, octet_length(data), at, at from doc_update
      on conflict (artifact_id, name) do update set
        seq = excluded.seq, stored_bytes = document.stored_bytes + excluded.stored_bytes, updated_at_ms = excluded.updated_at_ms
    ), doc_update_written as (
      insert into document_update (artifact_id, name, seq, data, updates, by_user, at_ms)
      select id, name, seq, data, updates, by_user, at from doc_update
    )`;
    const drops = () => `, doc_dropped as (
      select owned.id, d.name from unnest(${statement.bigints(d.artifacts)}, ${statement.texts(d.names)}) as d (artifact, name)
      join owned on owned.artifact = d.artifact
    ), document_dropped as (
      delete from document using doc_dropped d where document.artifact_id = d.id and document.name = d.name
    ), doc_updates_dropped as (
      delete from document_update using doc_dropped d where document_update.artifact_id = d.id and document_update.name = d.name
    ), doc_snapshots_dropped as (
      delete from document_snapshot using doc_dropped d where document_snapshot.artifact_id = d.id and document_snapshot.name = d.name
    ), doc_versions_dropped as (
      delete from document_version using doc_dropped d where document_version.artifact_id = d.id and document_version.name = d.name
    )`;
    return `${p.names.length === 0 ? '' : puts()}${d.names.length === 0 ? '' : drops()}`;
  }

  #addUpdates(artifact: number, name: string, updates: readonly Update[]): void {
    const last = updates.at(-1);
    if (last === undefined) return;
    const rows = this.#updates;
    rows.artifacts.push(artifact);
    rows.names.push(name);
    rows.seqs.push(last.seq);
    rows.data.push(framed(updates.map(({ update }) => update)));
    rows.counts.push(updates.length);
    rows.users.push(updates.every(({ by }) => by === last.by) ? last.by : null);
    rows.times.push(last.atMs);
  }
}

/**
 * In hexadecimal: one after the other, each with its length before it as lib0 writes it. Its encoder takes memory of its own for each
 * document and commit, which costs five times as much as all of this.
 */
export function framed(updates: readonly Uint8Array[]): string {
  return updates.map((update) => varUintHex(update.byteLength) + hexadecimal(update)).join('');
}

/** The same as bytes. */
export function framedBytes(updates: readonly Uint8Array[]): Uint8Array {
  const encoder = createEncoder();
  for (const update of updates) writeVarUint8Array(encoder, update);
  return toUint8Array(encoder);
}

/** The updates of one row of `document_update`. */
export function unframed(data: Uint8Array): Uint8Array[] {
  const decoder = createDecoder(data);
  const updates: Uint8Array[] = [];
  while (hasContent(decoder)) updates.push(readVarUint8Array(decoder));
  return updates;
}

function varUintHex(value: number): string {
  let hex = '';
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) hex += ((rest % 128) + 128).toString(16);
  return hex + rest.toString(16).padStart(2, '0');
}

function hexadecimal({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('hex');
}

async function readDocuments(sql: Sql, artifactId: ArtifactId, epoch: number): Promise<readonly StoredDocument[] | null> {
  return owned(
    sql,
    artifactId,
    epoch,
    (tx) => tx<StoredDocument[]>`
    select name, seq, stored_bytes as "storedBytes", created_at_ms as "createdAtMs", updated_at_ms as "updatedAtMs"
    from document where artifact_id = ${artifactId} order by name`,
  );
}

async function readDocument(sql: Sql, artifactId: ArtifactId, epoch: number, name: string): Promise<StoredDocumentContent | null> {
  const stored = await readStored<null>(sql, (read) => owned(sql, artifactId, epoch, read), artifactId, name);
  if (stored === null) return null;
  if (stored === undefined) return { snapshot: null, updates: [], seq: 0 };
  const { head, rows } = stored;
  return { snapshot: head.snapshot, updates: rows.flatMap(({ data }) => unframed(data)), seq: head.seq };
}
