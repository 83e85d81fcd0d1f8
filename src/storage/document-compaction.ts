/** Merges the log of a document into its snapshot: beside the actors, beside appends, and beside another node that does the same. */
import type { Compacted, DocumentUpkeep } from '../../actors/documents/changes.ts';
import type { Clock, Log } from '../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { type DocumentLog, readLog } from './document-log.ts';
import type { DocumentThread } from './document-thread.ts';
import { keepAutomaticVersion } from './document-versions.ts';
import { type Staged, stagedValue, withStaged } from './slices.ts';
import type { Queries, Sql } from './sql.ts';

// Maximum number of queued requests; further ones are refused and retried later.
const QUEUE_MAX = 1000;

/** The document was compacted elsewhere or dropped in the meantime. */
class Overtaken extends Error {
  override readonly name = 'Overtaken';
}

interface Deps {
  readonly sql: Sql;
  readonly thread: Pick<DocumentThread, 'merge'>;
  readonly clock: Clock;
}

export class DocumentCompactor implements DocumentUpkeep {
  readonly #deps: Deps & { readonly log: Log };
  #last: Promise<unknown> = Promise.resolve();
  #queued = 0;
  #isClosing = false;

  constructor(deps: Deps & { readonly log: Log }) {
    this.#deps = deps;
  }

  compact(artifactId: ArtifactId, name: string): Promise<Compacted | null> {
    if (this.#isClosing || this.#queued >= QUEUE_MAX) return Promise.resolve(null);
    this.#queued += 1;
    // Runs one at a time, because no client waits for compaction.
    const done = this.#last.then(() => this.#compact(artifactId, name));
    this.#last = done;
    return done;
  }

  /** Begins nothing more and waits for the one that is running, which fails where its thread is closed meanwhile. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#last;
  }

  async #compact(artifactId: ArtifactId, name: string): Promise<Compacted | null> {
    this.#queued -= 1;
    if (this.#isClosing) return null;
    try {
      return await compactDocument(this.#deps, artifactId, name);
    } catch (error) {
      if (error instanceof Overtaken || this.#isClosing) return null;
      this.#deps.log.warn({ err: error, artifactId, document: name }, 'a document could not be compacted, it is tried again later');
      return null;
    }
  }
}

/** Null where there is nothing to merge. Throws `Overtaken`, and what the database or the thread says; nothing is changed then. */
export async function compactDocument({ sql, thread, clock }: Deps, artifactId: ArtifactId, name: string): Promise<Compacted | null> {
  const log = await readLog(sql, artifactId, name);
  if (log === undefined || log.updates === 0) return null;
  const state = await thread.merge(log.snapshot, log.data, artifactId);
  const storedBytes = log.data.byteLength + (log.snapshot?.byteLength ?? 0);
  const freedBytes = storedBytes - state.byteLength;
  await withStaged(sql, state, (staged) => sql.begin((tx) => replaceSnapshot(tx, log, staged, freedBytes, clock.nowMs())));
  return { snapshotBytes: state.byteLength, updates: log.updates, updateBytes: log.data.byteLength, freedBytes };
}

/**
 * Writes the snapshot and removes exactly the rows that are in it. What takes long comes first: the document's own row, which every
 * append needs, is locked last and only for the commit.
 */
async function replaceSnapshot(tx: Queries, log: DocumentLog, state: Staged, freedBytes: number, nowMs: number): Promise<void> {
  const { artifactId, name, seq } = log;
  await tx`
    insert into document_snapshot (artifact_id, name, seq, data) values (${artifactId}, ${name}, ${seq}, ${stagedValue(tx, state)})
    on conflict do nothing`;
  await keepAutomaticVersion(tx, log, nowMs);
  const merged = await tx`delete from document_update where artifact_id = ${artifactId} and name = ${name} and seq <= ${seq}`;
  const replaced = await tx`
    update document set snapshot_seq = ${seq}, stored_bytes = stored_bytes - ${freedBytes}
    where artifact_id = ${artifactId} and name = ${name} and snapshot_seq = ${log.snapshotSeq} and created_seq = ${log.createdSeq}`;
  if (replaced.count !== 1 || merged.count !== log.rows) throw new Overtaken();
  await tx`delete from document_snapshot where artifact_id = ${artifactId} and name = ${name} and seq <> ${seq}`;
}
