/** Work on whole documents beside the actors: from the store, on the thread for it, a few at once whoever asks. */
import type { RootKinds, View } from '../../../actors/document-view.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { ArtifactId } from '../../../protocol/ids.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { readLog } from '../../storage/document-log.ts';
import type { DocumentThread } from '../../storage/document-thread.ts';
import { type DocumentVersion, makeDocumentVersion, readDocumentAt, readDocumentState } from '../../storage/document-versions.ts';
import type { Sql } from '../../storage/sql.ts';

export interface Where {
  readonly artifactId: ArtifactId;
  readonly name: string;
}

export interface SeenWhole {
  readonly seq: number;
  readonly types: RootKinds;
  /** UTF-8. */
  readonly bytes: Uint8Array;
}

/** What they see is committed. `seq` undefined: as it is now. All reject with DOCUMENT_NOT_FOUND, VERSION_NOT_FOUND or UNAVAILABLE. */
export class WholeDocuments {
  readonly #sql: Sql;
  readonly #thread: DocumentThread;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(deps: { readonly sql: Sql; readonly thread: DocumentThread }) {
    this.#sql = deps.sql;
    this.#thread = deps.thread;
  }

  view(where: Where, seq: number | undefined, view: View): Promise<SeenWhole> {
    return this.#inTurn(async () => {
      const read = await this.#read(where, seq);
      const { types, bytes } = await this.#thread.view(read.snapshot, read.data, view);
      return { seq: read.seq, types, bytes };
    });
  }

  /** As one update. */
  state(where: Where, seq: number | undefined): Promise<{ readonly seq: number; readonly update: Uint8Array }> {
    return this.#inTurn(async () => {
      const read = await this.#read(where, seq);
      return { seq: read.seq, update: await this.#thread.merge(read.snapshot, read.data) };
    });
  }

  /** The update that brings back what the document showed at `seq`. */
  restoring(where: Where, seq: number): Promise<Uint8Array> {
    return this.#inTurn(async () => {
      const target = await readDocumentState(this.#sql, this.#thread, where, seq);
      const { snapshot, data } = await this.#read(where, undefined);
      return this.#thread.restoring(await this.#thread.merge(snapshot, data), target);
    });
  }

  /** Rejects with DOCUMENT_VERSIONS_FULL too. */
  makeVersion(
    where: Where,
    made: { readonly label: string | null; readonly by: string | null; readonly nowMs: number },
  ): Promise<DocumentVersion> {
    return this.#inTurn(() => makeDocumentVersion(this.#sql, this.#thread, where, made));
  }

  async #read(where: Where, seq: number | undefined) {
    if (seq !== undefined) return { ...(await readDocumentAt(this.#sql, where, seq)), seq };
    const log = await readLog(this.#sql, where.artifactId, where.name);
    if (log === undefined) throw new Failure('DOCUMENT_NOT_FOUND', { param: 'doc' });
    return log;
  }

  /** Each holds a document or two in memory. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= LIMITS.documentReadsMax) {
      if (this.#waiting.length >= LIMITS.documentReadsWaitingMax) {
        throw new Failure('UNAVAILABLE', { message: 'Too many documents are being worked on.', retryAfterS: 1 });
      }
      // Whoever leaves hands over its place.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
