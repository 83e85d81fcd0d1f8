/** Collaborative documents in the group commit: what a batch leaves of them, and the parts of the statement that write it. */
import type { DocumentChange } from '../../actors/ports.ts';
import type { JournalStatement } from './journal-statement.ts';

type Numbered<C> = C & { readonly seq: number };
type Update = Numbered<Extract<DocumentChange, { kind: 'doc.update' }>>;

/** What one batch leaves of a document. Whoever opens it anew after a drop waits for that commit, so nothing follows a drop. */
export type DocumentEnd = 'dropped' | Update[];

export function changeDocument(ends: Map<string, DocumentEnd>, change: Numbered<DocumentChange>): void {
  if (change.kind === 'doc.drop') {
    ends.set(change.doc, 'dropped');
    return;
  }
  const end = ends.get(change.doc);
  if (end === 'dropped') throw new TypeError(`an update of ${change.doc} in the commit that drops it`);
  if (end === undefined) ends.set(change.doc, [change]);
  else end.push(change);
}

export class DocumentColumns {
  /** One row a document: its updates one after the other, each with its length before it. */
  readonly updates = {
    artifacts: [] as number[],
    names: [] as string[],
    seqs: [] as number[],
    /** Hexadecimal. */
    data: [] as string[],
    counts: [] as number[],
    users: [] as (string | null)[],
    times: [] as number[],
  };
  readonly drops = { artifacts: [] as number[], names: [] as string[] };

  /** `artifact`: the number of the batch. */
  add(artifact: number, ends: ReadonlyMap<string, DocumentEnd>): void {
    for (const [name, end] of ends) {
      if (end === 'dropped') {
        this.drops.artifacts.push(artifact);
        this.drops.names.push(name);
      } else {
        this.#addUpdates(artifact, name, end);
      }
    }
  }

  #addUpdates(artifact: number, name: string, updates: readonly Update[]): void {
    const last = updates.at(-1);
    if (last === undefined) return;
    const { updates: rows } = this;
    rows.artifacts.push(artifact);
    rows.names.push(name);
    rows.seqs.push(last.seq);
    rows.data.push(framed(updates.map(({ update }) => update)));
    rows.counts.push(updates.length);
    rows.users.push(updates.every(({ by }) => by === last.by) ? last.by : null);
    rows.times.push(last.atMs);
  }
}

/** In hexadecimal: one after the other, each with its length before it as lib0 writes it. */
export function framed(updates: readonly Uint8Array[]): string {
  return updates.map((update) => varUintHex(update.byteLength) + hexadecimal(update)).join('');
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

export function documentParts(statement: JournalStatement, { updates: p, drops: d }: DocumentColumns): string {
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
