/** What an actor starts from, out of Postgres. */
import {
  type ArtifactStore,
  COLD_VALUE_BYTES,
  type HolderQuery,
  type StoredBlob,
  type StoredKey,
  type StoredRow,
  type StoredTable,
} from '../../actors/ports.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import { readComments, readDocument, readDocuments } from './artifact-documents.ts';
import { kindOf } from './journal-columns.ts';
import type { Sql, Transaction } from './sql.ts';

export function postgresArtifactStore(sql: Sql): ArtifactStore {
  return {
    load: (artifactId) =>
      sql.begin(async (tx) => {
        // Statements sent together: those after the first see every commit that its row lock has waited for.
        const [[owner], keys, tables, [dropped], blobs] = await Promise.all([
          takeOwnership(tx, artifactId),
          readKeys(tx, artifactId),
          readTables(tx, artifactId),
          tx`select 1 from dropped_table where artifact_id = ${artifactId} limit 1`,
          readBlobs(tx, artifactId),
        ]);
        return owner ? { ...owner, keys, tables, hasDroppedTables: dropped !== undefined, blobs } : null;
      }),

    async readValue(artifactId, key, seq) {
      const [row] = await sql<{ value: string }[]>`
        select value from json_key where artifact_id = ${artifactId} and key = ${key} and seq = ${seq}`;
      return row?.value ?? null;
    },

    readRows: (artifactId, table, rowIds) => sql<StoredRow[]>`
      select ${rowColumns(sql)} from table_row r
      where r.artifact_id = ${artifactId} and r.row_id = any(${[...rowIds]}::text[]) and ${inTable(sql, table)}`,

    readHolders: (artifactId, wanted) => (wanted.isIndexed ? readIndexed(sql, artifactId, wanted) : readUnindexed(sql, artifactId, wanted)),

    readDocuments: (artifactId, epoch) => readDocuments(sql, artifactId, epoch),
    readDocument: (artifactId, epoch, name) => readDocument(sql, artifactId, epoch, name),
    readComments: (artifactId, epoch) => readComments(sql, artifactId, epoch),
  };
}

/** No row for an artifact in the trash: nobody may use it, so nobody owns it. */
function takeOwnership(tx: Transaction, artifactId: ArtifactId) {
  return tx<{ epoch: number; seq: number }[]>`
    update artifact set owner_epoch = owner_epoch + 1
    where id = ${artifactId} and deleted_at_ms is null
    returning owner_epoch as epoch, seq`;
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

function readTables(tx: Transaction, artifactId: ArtifactId) {
  return tx<StoredTable[]>`
    select name, coalesce(stored_as, name) as "storedAs", schema::text as schema, row_count as "rowCount", seq, created_at_ms as "createdAtMs", updated_at_ms as "updatedAtMs"
    from data_table where artifact_id = ${artifactId} order by name`;
}

function readBlobs(tx: Transaction, artifactId: ArtifactId) {
  return tx<StoredBlob[]>`
    select id, filename, mime_type as "mimeType", size_bytes as "sizeBytes", encode(sha256, 'hex') as sha256, created_at_ms as "createdAtMs"
    from blob where artifact_id = ${artifactId} order by created_at_ms, id`;
}

/** Of `table_row r`, as a StoredRow has them. */
function rowColumns(sql: Sql) {
  return sql`r.row_id as "rowId", r.data::text as data, r.created_seq as "createdSeq", r.seq, r.created_at_ms as "createdAtMs", r.updated_at_ms as "updatedAtMs"`;
}

/** Said so that no index can begin with it: rows are to be found by their ids and not by going through their table. */
function inTable(sql: Sql, table: string) {
  return sql`r.table_name || '' = ${table}`;
}

function readIndexed(sql: Sql, artifactId: ArtifactId, { table, column, values, rowsMax }: HolderQuery) {
  const numbers = values.filter((value) => typeof value === 'number');
  const texts = values.filter((value) => typeof value !== 'number');
  return sql<StoredRow[]>`
    select ${rowColumns(sql)} from (
      select row_id from row_index
      where artifact_id = ${artifactId} and table_name = ${table} and column_name = ${column} and kind = 'n' and num = any(${numbers}::double precision[])
      union all
      select row_id from row_index
      where artifact_id = ${artifactId} and table_name = ${table} and column_name = ${column} and kind <> 'n'
        and (txt, kind) in (select * from unnest(${texts.map(String)}::text[], ${texts.map(kindOf)}::"char"[]))
      limit ${rowsMax}
    ) as i join table_row r on r.artifact_id = ${artifactId} and r.row_id = i.row_id and ${inTable(sql, table)}`;
}

function readUnindexed(sql: Sql, artifactId: ArtifactId, { table, column, values, rowsMax }: HolderQuery) {
  return sql<StoredRow[]>`
    select ${rowColumns(sql)} from table_row r
    where r.artifact_id = ${artifactId} and r.table_name = ${table}
      and r.data -> ${column} in (select v::jsonb from unnest(${values.map((value) => JSON.stringify(value))}::text[]) as v)
    limit ${rowsMax}`;
}
