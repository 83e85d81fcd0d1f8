/** The group commit: the changes of many artifacts in one statement, which is one transaction and one round trip. */
import type { ArtifactBatch, BatchOutcome, JournalStore, JsonChange } from '../../actors/ports.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import { type Sql, sqlState } from './sql.ts';

/** A commit takes milliseconds. After this its outcome counts as unknown and its connection is given up. */
const COMMIT_DEADLINE_MS = 20_000;
/** SQLSTATE classes that say the data cannot be stored: data exception, integrity violation, program limit exceeded. */
const POISON_CLASSES = new Set(['22', '23', '54']);
/** Deadlock and serialisation failure: surely rolled back, and the same again may pass. */
const RETRYABLE = new Set(['40P01', '40001']);
const ATTEMPTS_MAX = 3;

/** `connect` gives a client of one connection that nothing else uses, and cuts the `broken` one that it replaces. */
export function postgresJournal(connect: (broken?: Sql) => Sql): JournalStore {
  let sql = connect();

  const commitOnce = async (batches: readonly ArtifactBatch[]): Promise<readonly BatchOutcome[]> => {
    try {
      const owned = await inTime(writeBatches(sql, batches));
      return batches.map((batch) => (owned.has(batch.artifactId) ? 'committed' : 'fenced'));
    } catch (error) {
      // Nobody knows what that connection is still doing. What it does commit, the next load finds or fences.
      if (isUnknown(error)) sql = connect(sql);
      throw error;
    }
  };

  const commit = async (batches: readonly ArtifactBatch[], attempt: number): Promise<readonly BatchOutcome[]> => {
    try {
      return await commitOnce(batches);
    } catch (error) {
      const state = sqlState(error) ?? '';
      if (RETRYABLE.has(state) && attempt < ATTEMPTS_MAX) return commit(batches, attempt + 1);
      if (!POISON_CLASSES.has(state.slice(0, 2)) || !(error instanceof Error)) throw error;
      if (batches.length === 1) return [{ poisoned: error }];
      // One transaction each from here: the halves without the poison go in.
      const middle = Math.ceil(batches.length / 2);
      return [...(await commit(batches.slice(0, middle), 1)), ...(await commit(batches.slice(middle), 1))];
    }
  };

  return { commit: (batches) => (batches.length === 0 ? Promise.resolve([]) : commit(batches, 1)) };
}

/** Columns for `unnest`, one array each: the statement's text never changes, so that it stays prepared. */
class Rows {
  readonly artifacts = { ids: [] as string[], epochs: [] as number[], seqs: [] as number[] };
  readonly puts = {
    artifacts: [] as number[],
    keys: [] as string[],
    values: [] as string[],
    seqs: [] as number[],
    created: [] as number[],
    updated: [] as number[],
    expires: [] as (number | null)[],
  };
  readonly deletes = { artifacts: [] as number[], keys: [] as string[] };

  constructor(batches: readonly ArtifactBatch[]) {
    for (const batch of batches) this.#add(batch);
  }

  #add(batch: ArtifactBatch): void {
    this.artifacts.ids.push(batch.artifactId);
    const artifact = this.artifacts.ids.length;
    this.artifacts.epochs.push(batch.epoch);
    const last = batch.changes.at(-1);
    if (last === undefined) throw new TypeError(`an empty batch of ${batch.artifactId}`);
    this.artifacts.seqs.push(last.seq);
    // Only the last change of a key can be seen after the commit; a row may be written once in a statement.
    const lastOfKey = new Map<string, { readonly seq: number } & JsonChange>();
    for (const change of batch.changes) lastOfKey.set(change.key, change);
    for (const change of lastOfKey.values()) this.#addChange(artifact, change);
  }

  #addChange(artifact: number, change: { readonly seq: number } & JsonChange): void {
    switch (change.kind) {
      case 'json.put':
        this.puts.artifacts.push(artifact);
        this.puts.keys.push(change.key);
        this.puts.values.push(change.value);
        this.puts.seqs.push(change.seq);
        this.puts.created.push(change.createdAtMs);
        this.puts.updated.push(change.updatedAtMs);
        this.puts.expires.push(change.expiresAtMs);
        return;
      case 'json.delete':
        this.deletes.artifacts.push(artifact);
        this.deletes.keys.push(change.key);
        return;
      default:
        change satisfies never;
    }
  }
}

/** Writes what its owner still owns and answers which artifacts those are. */
async function writeBatches(sql: Sql, batches: readonly ArtifactBatch[]): Promise<ReadonlySet<ArtifactId>> {
  const { artifacts, puts, deletes } = new Rows(batches);
  const rows = await sql<{ id: ArtifactId }[]>`
    with batch as (
      select * from unnest(${artifacts.ids}::text[], ${artifacts.epochs}::bigint[], ${artifacts.seqs}::bigint[])
        with ordinality as b (id, epoch, seq, artifact)
    ), owned as (
      update artifact set seq = batch.seq
      from batch
      where artifact.id = batch.id and artifact.owner_epoch = batch.epoch
      returning artifact.id, batch.artifact
    ), written as (
      insert into json_key (artifact_id, key, value, seq, created_at_ms, updated_at_ms, expires_at_ms)
      select owned.id, p.key, p.value, p.seq, p.created, p.updated, p.expires
      from unnest(
        ${puts.artifacts}::bigint[], ${puts.keys}::text[], ${puts.values}::text[], ${puts.seqs}::bigint[],
        ${puts.created}::bigint[], ${puts.updated}::bigint[], ${puts.expires}::bigint[]
      ) as p (artifact, key, value, seq, created, updated, expires)
      join owned on owned.artifact = p.artifact
      on conflict (artifact_id, key) do update set
        value = excluded.value, seq = excluded.seq, created_at_ms = excluded.created_at_ms,
        updated_at_ms = excluded.updated_at_ms, expires_at_ms = excluded.expires_at_ms
    ), deleted as (
      delete from json_key using unnest(${deletes.artifacts}::bigint[], ${deletes.keys}::text[]) as d (artifact, key)
      join owned on owned.artifact = d.artifact
      where json_key.artifact_id = owned.id and json_key.key = d.key
    )
    select id from owned`;
  return new Set(rows.map((row) => row.id));
}

/** Whether the statement may have been committed: no answer came, or the server ended the session. */
function isUnknown(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || state.startsWith('08') || state.startsWith('57P');
}

function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the commit did not answer within ${COMMIT_DEADLINE_MS / 1000} s`)), COMMIT_DEADLINE_MS);
  });
  return Promise.race([work, deadline]).finally(() => clearTimeout(timer));
}
