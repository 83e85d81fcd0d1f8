/** JSON keys in the store. */
import { COLD_VALUE_BYTES, type JsonReads, type StoredKey } from '../../../actors/json/changes.ts';
import type { ChangeOf } from '../../../actors/kinds.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import type { JournalStatement } from '../journal-statement.ts';
import type { Sql, Transaction } from '../sql.ts';
import type { Graves, KindColumns, StoredKindOf } from './live-kind.ts';

type KeyChange = ChangeOf<'json'>;

export const jsonStored: StoredKindOf<'json'> = {
  columns: (graves) => new KeyColumns(graves),
  load: async (tx, artifactId) => ({ keys: await readKeys(tx, artifactId) }),
  reads: jsonReads,
};

class KeyColumns implements KindColumns<KeyChange> {
  readonly #graves: Graves;
  readonly #puts = {
    artifacts: [] as number[],
    keys: [] as string[],
    values: [] as string[],
    seqs: [] as number[],
    created: [] as number[],
    updated: [] as number[],
    expires: [] as (number | null)[],
  };
  readonly #deletes = { artifacts: [] as number[], keys: [] as string[] };

  constructor(graves: Graves) {
    this.#graves = graves;
  }

  add(artifact: number, changes: readonly KeyChange[]): void {
    const [first] = changes;
    if (first !== undefined && changes.length === 1) {
      this.#add(artifact, first);
      return;
    }
    const last = new Map<string, KeyChange>();
    for (const change of changes) last.set(change.key, change);
    for (const change of last.values()) this.#add(artifact, change);
  }

  parts(statement: JournalStatement): string {
    const p = this.#puts;
    const d = this.#deletes;
    const puts = () => `, key_written as (
      insert into json_key (artifact_id, key, value, seq, created_at_ms, updated_at_ms, expires_at_ms)
      select owned.id, p.key, p.value, p.seq, p.created, p.updated, p.expires
      from unnest(
        ${statement.bigints(p.artifacts)}, ${statement.texts(p.keys)}, ${statement.texts(p.values)}, ${statement.bigints(p.seqs)},
        ${statement.bigints(p.created)}, ${statement.bigints(p.updated)}, ${statement.bigints(p.expires)}
      ) as p (artifact, key, value, seq, created, updated, expires)
      join owned on owned.artifact = p.artifact
      on conflict (artifact_id, key) do update set
        value = excluded.value, seq = excluded.seq, created_at_ms = excluded.created_at_ms,
        updated_at_ms = excluded.updated_at_ms, expires_at_ms = excluded.expires_at_ms
    )`;
    if (d.keys.length === 0) return p.keys.length === 0 ? '' : puts();
    return `${p.keys.length === 0 ? '' : puts()}, key_deleted as (
      delete from json_key using unnest(${statement.bigints(d.artifacts)}, ${statement.texts(d.keys)}) as d (artifact, key)
      join owned on owned.artifact = d.artifact
      where json_key.artifact_id = owned.id and json_key.key = d.key
    )`;
  }

  #add(artifact: number, change: KeyChange): void {
    if (change.kind === 'json.delete') {
      this.#deletes.artifacts.push(artifact);
      this.#deletes.keys.push(change.key);
      this.#graves.bury(artifact, change, change.key, null);
      return;
    }
    const puts = this.#puts;
    puts.artifacts.push(artifact);
    puts.keys.push(change.key);
    puts.values.push(change.value);
    puts.seqs.push(change.seq);
    puts.created.push(change.createdAtMs);
    puts.updated.push(change.updatedAtMs);
    puts.expires.push(change.expiresAtMs);
  }
}

function readKeys(tx: Transaction, artifactId: ArtifactId) {
  return tx<StoredKey[]>`
    select key,
      case when octet_length(value) <= ${COLD_VALUE_BYTES} then value end as value,
      octet_length(value) as "sizeBytes",
      seq,
      created_at_ms as "createdAtMs",
      updated_at_ms as "updatedAtMs",
      expires_at_ms as "expiresAtMs"
    from json_key where artifact_id = ${artifactId} order by key`;
}

function jsonReads(sql: Sql): JsonReads {
  return {
    async readValue(artifactId, key, seq) {
      const [row] = await sql<{ value: string }[]>`
        select value from json_key where artifact_id = ${artifactId} and key = ${key} and seq = ${seq}`;
      return row?.value ?? null;
    },
  };
}
