/** The group commit: the changes of many artifacts in one statement, which is one transaction and one round trip. */
import type { ArtifactBatch, BatchOutcome, JournalStore } from '../../actors/runtime/store.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { JournalColumns } from './journal-columns.ts';
import { JournalStatement } from './journal-statement.ts';
import { type Queries, type Sql, sqlState } from './sql.ts';

/** A commit takes milliseconds. After this time its outcome counts as unknown and its connection is closed. */
const COMMIT_DEADLINE_MS = 20_000;
/** SQLSTATE classes that say the data cannot be stored: data exception, integrity violation, program limit exceeded. */
const POISON_CLASSES = new Set(['22', '23', '54']);
/** Deadlock and serialisation failure: certainly rolled back, and a retry may succeed. */
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
      // The old connection may still commit. The next load either sees that commit or fences it.
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
      // Each half is now a transaction of its own, so that the half without the poisoned change is committed.
      const middle = Math.ceil(batches.length / 2);
      return [...(await commit(batches.slice(0, middle), 1)), ...(await commit(batches.slice(middle), 1))];
    }
  };

  return { commit: (batches) => (batches.length === 0 ? Promise.resolve([]) : commit(batches, 1)) };
}

/**
 * Writes the changes of artifacts that this process still owns and returns those artifacts. The statement has a part only for each kind of
 * change that occurs, so that a commit of JSON keys does not pay for the other kinds; few combinations occur, and each stays prepared.
 * All parts see the state before the statement, and no two write the same row.
 */
export async function writeBatches(sql: Queries, batches: readonly ArtifactBatch[]): Promise<ReadonlySet<ArtifactId>> {
  const columns = new JournalColumns(batches);
  const { artifacts } = columns;
  const statement = new JournalStatement();
  const text = `
    with batch as (
      select * from unnest(${statement.texts(artifacts.ids)}, ${statement.bigints(artifacts.epochs)}, ${statement.bigints(artifacts.seqs)})
        with ordinality as b (id, epoch, seq, artifact)
    ), owned as (
      update artifact set seq = batch.seq
      from batch
      where artifact.id = batch.id and artifact.owner_epoch = batch.epoch
      returning artifact.id, batch.artifact, coalesce(artifact.owner_id, artifact.workspace_id) as owner_id
    )${columns.parts(statement)}
    select string_agg(id, ',') as ids from owned`;
  const [row] = await sql.unsafe<{ ids: string | null }[]>(text, statement.parameters, { prepare: true });
  return new Set((row?.ids ?? '').split(',') as ArtifactId[]);
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
