/** Metadata of blobs; their bytes are in the object store. */
import type { StoredBlob } from '../../../actors/blobs/changes.ts';
import type { ChangeOf } from '../../../actors/kinds.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import type { JournalStatement } from '../journal-statement.ts';
import type { Transaction } from '../sql.ts';
import type { Graves, KindColumns, StoredKindOf } from './live-kind.ts';

type BlobChange = ChangeOf<'blobs'>;

const HOUR_MS = 3_600_000;

export const blobsStored: StoredKindOf<'blobs'> = {
  columns: (graves) => new BlobColumns(graves),
  load: async (tx, artifactId) => ({ blobs: await readBlobs(tx, artifactId) }),
  reads: () => ({}),
};

class BlobColumns implements KindColumns<BlobChange> {
  readonly #graves: Graves;
  readonly #puts = {
    artifacts: [] as number[],
    ids: [] as string[],
    filenames: [] as string[],
    mimes: [] as string[],
    sizes: [] as number[],
    digests: [] as string[],
    creators: [] as (string | null)[],
    seqs: [] as number[],
    created: [] as number[],
  };
  readonly #deletes = { artifacts: [] as number[], ids: [] as string[] };
  #lastMs = 0;

  constructor(graves: Graves) {
    this.#graves = graves;
  }

  add(artifact: number, changes: readonly BlobChange[]): void {
    const last = new Map<string, BlobChange>();
    for (const change of changes) last.set(change.blobId, change);
    for (const change of last.values()) this.#add(artifact, change);
  }

  parts(statement: JournalStatement): string {
    const p = this.#puts;
    const d = this.#deletes;
    const puts = () => `, blob_written as (
      insert into blob (artifact_id, id, filename, mime_type, size_bytes, sha256, created_by, seq, created_at_ms)
      select owned.id, p.id, p.filename, p.mime, p.size, decode(p.sha256, 'hex'), p.creator, p.seq, p.created
      from unnest(
        ${statement.bigints(p.artifacts)}, ${statement.texts(p.ids)}, ${statement.nullableTexts(p.filenames)}, ${statement.nullableTexts(p.mimes)}, ${statement.bigints(p.sizes)},
        ${statement.texts(p.digests)}, ${statement.nullableTexts(p.creators)}, ${statement.bigints(p.seqs)}, ${statement.bigints(p.created)}
      ) as p (artifact, id, filename, mime, size, sha256, creator, seq, created)
      join owned on owned.artifact = p.artifact
      on conflict (artifact_id, id) do update set
        filename = excluded.filename, mime_type = excluded.mime_type, size_bytes = excluded.size_bytes, sha256 = excluded.sha256,
        created_by = excluded.created_by, seq = excluded.seq, created_at_ms = excluded.created_at_ms
    )`;
    const deletes = () => `, blob_deleted as (
      delete from blob using unnest(${statement.bigints(d.artifacts)}, ${statement.texts(d.ids)}) as d (artifact, id)
      join owned on owned.artifact = d.artifact
      where blob.artifact_id = owned.id and blob.id = d.id
      returning owned.owner_id, blob.size_bytes
    )`;
    return `${p.ids.length === 0 ? '' : puts()}${d.ids.length === 0 ? '' : deletes()}${this.#counted(statement)}`;
  }

  /**
   * What the owners' accounts store: a blob takes the place of the room that was reserved under its id, and a deleted one is released. It is
   * added to the hour's releases, so that the commit does not wait for the row of an account, which a publish may hold.
   */
  #counted(statement: JournalStatement): string {
    const p = this.#puts;
    const d = this.#deletes;
    const ids = statement.texts([...p.ids, ...d.ids]);
    const artifacts = statement.bigints([...p.artifacts, ...d.artifacts]);
    const written = () => `
        union all
        select owned.owner_id, -w.size from unnest(${statement.bigints(p.artifacts)}, ${statement.bigints(p.sizes)}) as w (artifact, size)
        join owned on owned.artifact = w.artifact`;
    const deleted = `
        union all select owner_id, size_bytes from blob_deleted`;
    return `, blob_settled as (
      delete from storage_reservation as r using unnest(${ids}, ${artifacts}) as s (id, artifact)
      join owned on owned.artifact = s.artifact
      where r.id = s.id
      returning r.account_id, r.bytes
    ), blob_counted as (
      insert into storage_release (account_id, hour_ms, bytes)
      select c.account_id, (${statement.bigints([this.#lastMs - (this.#lastMs % HOUR_MS)])})[1], sum(c.bytes) from (
        select account_id, bytes from blob_settled${p.ids.length === 0 ? '' : written()}${d.ids.length === 0 ? '' : deleted}
      ) as c (account_id, bytes)
      where c.account_id is not null
      group by c.account_id having sum(c.bytes) <> 0
      order by c.account_id
      on conflict (account_id, hour_ms) do update set bytes = storage_release.bytes + excluded.bytes
    )`;
  }

  #add(artifact: number, change: BlobChange): void {
    this.#lastMs = Math.max(this.#lastMs, change.kind === 'blob.delete' ? change.atMs : change.createdAtMs);
    if (change.kind === 'blob.delete') {
      this.#deletes.artifacts.push(artifact);
      this.#deletes.ids.push(change.blobId);
      this.#graves.bury(artifact, change, change.blobId, null);
      return;
    }
    const puts = this.#puts;
    puts.artifacts.push(artifact);
    puts.ids.push(change.blobId);
    puts.filenames.push(change.filename);
    puts.mimes.push(change.mimeType);
    puts.sizes.push(change.sizeBytes);
    puts.digests.push(change.sha256);
    puts.creators.push(change.createdBy);
    puts.seqs.push(change.seq);
    puts.created.push(change.createdAtMs);
  }
}

function readBlobs(tx: Transaction, artifactId: ArtifactId) {
  return tx<StoredBlob[]>`
    select id, filename, mime_type as "mimeType", size_bytes as "sizeBytes", encode(sha256, 'hex') as sha256, created_at_ms as "createdAtMs"
    from blob where artifact_id = ${artifactId} order by created_at_ms, id`;
}
