/** Reads whole documents from the store and processes them on the document thread, a few at a time, so that no actor is blocked. */
import type { RootKinds, View } from '../../../../actors/documents/document-view.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { Lanes } from '../../../platform/lanes.ts';
import { readLog } from '../../../storage/document-log.ts';
import type { DocumentThread } from '../../../storage/document-thread.ts';
import { type DocumentVersion, makeDocumentVersion, readDocumentAt, readDocumentState } from '../../../storage/document-versions.ts';
import type { Sql } from '../../../storage/sql.ts';

export interface DocumentKey {
  readonly artifactId: ArtifactId;
  readonly name: string;
}

export interface DocumentContent {
  readonly seq: number;
  readonly types: RootKinds;
  /** UTF-8. */
  readonly bytes: Uint8Array;
}

/** Sees committed changes only. `seq` undefined: the current state. Methods reject with DOCUMENT_NOT_FOUND, VERSION_NOT_FOUND or UNAVAILABLE. */
export class WholeDocuments {
  readonly #sql: Sql;
  readonly #thread: DocumentThread;
  #running = 0;
  readonly #waiting = new Lanes<() => void>();

  constructor(deps: { readonly sql: Sql; readonly thread: DocumentThread }) {
    this.#sql = deps.sql;
    this.#thread = deps.thread;
  }

  view(key: DocumentKey, seq: number | undefined, view: View): Promise<DocumentContent> {
    return this.#limited(key, async () => {
      const read = await this.#read(key, seq);
      const { types, bytes } = await this.#thread.view(read.snapshot, read.data, view, key.artifactId);
      return { seq: read.seq, types, bytes };
    });
  }

  /** The document as one Yjs update. */
  state(key: DocumentKey, seq: number | undefined): Promise<{ readonly seq: number; readonly update: Uint8Array }> {
    return this.#limited(key, async () => {
      const read = await this.#read(key, seq);
      return { seq: read.seq, update: await this.#thread.merge(read.snapshot, read.data, key.artifactId) };
    });
  }

  /** The update that restores the content of the document at `seq`. */
  restoring(key: DocumentKey, seq: number): Promise<Uint8Array> {
    return this.#limited(key, async () => {
      const target = await readDocumentState(this.#sql, this.#thread, key, seq);
      const { snapshot, data } = await this.#read(key, undefined);
      return this.#thread.restoring(await this.#thread.merge(snapshot, data, key.artifactId), target, key.artifactId);
    });
  }

  /** Also rejects with DOCUMENT_VERSIONS_FULL. */
  makeVersion(
    key: DocumentKey,
    made: { readonly label: string | null; readonly by: string | null; readonly nowMs: number },
  ): Promise<DocumentVersion> {
    return this.#limited(key, () => makeDocumentVersion(this.#sql, this.#thread, key, made));
  }

  async #read(key: DocumentKey, seq: number | undefined) {
    if (seq !== undefined) return { ...(await readDocumentAt(this.#sql, key, seq)), seq };
    const log = await readLog(this.#sql, key.artifactId, key.name);
    if (log === undefined) throw new Failure('DOCUMENT_NOT_FOUND', { param: 'doc' });
    return log;
  }

  /** Limits concurrency: each piece of work holds one or two whole documents in memory. */
  async #limited<T>({ artifactId }: DocumentKey, work: () => Promise<T>): Promise<T> {
    if (this.#running >= LIMITS.documentReadsMax) {
      const isFull =
        this.#waiting.size >= LIMITS.documentReadsWaitingMax || this.#waiting.sizeOf(artifactId) >= LIMITS.artifactDocumentReadsWaitingMax;
      if (isFull) {
        throw new Failure('UNAVAILABLE', { message: 'Too many reads of whole documents are waiting.', retryAfterS: 1 });
      }
      // The work that ends passes its slot on, so `#running` stays the same.
      await new Promise<void>((resolve) => this.#waiting.push(artifactId, resolve));
    } else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.take();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
