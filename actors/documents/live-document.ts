/**
 * One collaborative document (Yjs) in memory, shared by all clients that have it open. It applies clients' updates and never writes any
 * itself: the store holds the clients' updates unchanged, so a document that is evicted and loaded again is identical.
 */
import * as Y from 'yjs';
import { Failure } from '../../protocol/core/errors.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import type { StoredDocumentContent } from './changes.ts';
import { type ConflictBudget, TooManyConflicts } from './conflict-scan.ts';
import { buildDocument } from './document-content.ts';
import { checkUpdate, type UpdateShape } from './update-check.ts';
import { gapsOf, isWaitingOver, type Missing, takeWaiting, UpdateGap, type Waiting } from './update-gap.ts';
import { holdsNothingNew } from './update-news.ts';

/** `moved`: clients find it again when they reconnect. `dropped`: it was deleted. */
export type DocumentEnd = 'moved' | 'dropped';

/** None of these may throw. */
export interface DocumentListener {
  /** Called immediately, before the update is committed. `update` must not be modified. */
  updated(update: Uint8Array, origin: unknown): void;
  /** Called once: this document sends no more updates. */
  over(why: DocumentEnd): void;
}

/** What a document needs of the part that holds it. */
export interface DocumentHost {
  /** Its actor takes no more turns. */
  readonly isOver: boolean;
  readonly conflicts: ConflictBudget;
  storedBytes(doc: LiveDocument): number;
  /** Throws UNAVAILABLE, DOCUMENT_TOO_LARGE, DOCUMENT_LIMIT_EXCEEDED: called before anything is changed. */
  admit(doc: LiveDocument, bytes: number): void;
  record(doc: LiveDocument, update: Uint8Array, by: string | null): void;
  /** Called when a document gains or loses a listener. */
  heard(doc: LiveDocument): void;
  /** The document in memory differs from the stored one and must be loaded again. */
  spoiled(doc: LiveDocument): void;
}

/** What became of everything that a peer has and the document lacks. */
export interface Answered {
  /** Something was new. */
  readonly isNew: boolean;
  /** What it builds on and even the peer does not have: that part of the update was left out. Undefined where all of it was taken. */
  readonly missing: Missing | undefined;
}

// A document of Yjs without content, with its place here.
const DOCUMENT_BYTES = 4000;
// An item of a document with its two ids and its place in the lists, beside its content.
const STRUCT_BYTES = 320;
const CONFLICTS_RETRY_S = 10;

export class LiveDocument {
  readonly name: string;
  /** Within the runtime's sweeps: used since the last one. */
  isUsed = true;
  readonly #host: DocumentHost;
  readonly #doc: Y.Doc;
  /** Updates that were stored and cannot be applied. */
  readonly leftOut: number;
  readonly #listeners = new Set<DocumentListener>();
  #end: DocumentEnd | undefined;
  #hasChanged = false;
  /** What was integrated of an update that could not be integrated as a whole. */
  #partial: Uint8Array | undefined;
  readonly #keepPartial = (update: Uint8Array) => {
    this.#partial = update;
  };
  /** What builds on missing updates, as it was stored before such updates were refused. */
  #waiting: Waiting | undefined;
  #structs = 0;
  #contentBytes = 0;
  #stateVector: Uint8Array | undefined;
  #state: Uint8Array | undefined;
  /** The last difference computed for a state vector: after a restart all clients ask for the same one. */
  #difference: { readonly stateVector: Uint8Array; readonly update: Uint8Array } | undefined;

  /** Throws what Yjs throws where `content` cannot be read. */
  constructor(name: string, host: DocumentHost, content?: StoredDocumentContent) {
    this.name = name;
    this.#host = host;
    const { doc, leftOut } = buildDocument(content?.snapshot ?? null, content?.updates ?? [], () => this.#begin());
    this.#doc = doc;
    this.leftOut = leftOut;
    this.#waiting = takeWaiting(doc);
    doc.off('update', this.#keepPartial);
    this.#contentBytes = content?.updates.reduce((sum, { byteLength }) => sum + byteLength, content.snapshot?.byteLength ?? 0) ?? 0;
    this.#weigh();
  }

  /** Its actor is gone or it was deleted: it must not be used any more. */
  get isOver(): boolean {
    return this.#end !== undefined || this.#host.isOver;
  }

  /** Bytes stored for the document. */
  get stateBytes(): number {
    return this.#host.storedBytes(this);
  }

  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  /** An estimate from above, in bytes of memory. */
  get residentBytes(): number {
    // Each with the frame in which it was last sent.
    const cached = ((this.#state?.byteLength ?? 0) + (this.#difference?.update.byteLength ?? 0)) * 2;
    return DOCUMENT_BYTES + this.#structs * STRUCT_BYTES + this.#contentBytes * 2 + cached + (this.#waiting?.update.byteLength ?? 0);
  }

  /**
   * Within a turn: applies what a client has made, in Yjs' format v1, and has it stored as it is; `update` must not be changed any more.
   * False when it held nothing new. `by` is the account that made it. Throws UpdateGap, UNAVAILABLE, INVALID_UPDATE, DOCUMENT_TOO_LARGE or
   * DOCUMENT_LIMIT_EXCEEDED, and has then changed nothing.
   */
  apply(update: Uint8Array, by: string | null, origin: unknown): boolean {
    return this.#take(update, by, origin, 0).isNew;
  }

  /**
   * As `apply`, for everything that a peer has and the document lacks. What builds on updates that even the peer does not have is left out:
   * the peer's own copy does not show it either.
   */
  applyAnswer(update: Uint8Array, by: string | null, origin: unknown): Answered {
    return this.#take(update, by, origin, LIMITS.documentGapsMax);
  }

  /**
   * Within a turn: lets `change` write as a client of the server's own, and has what it changed stored as one update by `by`.
   * `bytesMax`: more than it will add. Throws as `apply` does, and what `change` throws.
   */
  edit<T>(by: string | null, bytesMax: number, change: (doc: Y.Doc) => T): T {
    this.#assertLive();
    this.isUsed = true;
    this.#host.admit(this, bytesMax);
    const made: Uint8Array[] = [];
    const keep = (update: Uint8Array) => void made.push(update);
    this.#doc.on('update', keep);
    try {
      return this.#doc.transact(() => change(this.#doc));
    } catch (error) {
      // The change was applied only in part: load the stored document again.
      if (made.length > 0) this.#spoil();
      throw error;
    } finally {
      this.#doc.off('update', keep);
      if (!this.isOver) for (const update of made) this.#recordOwn(update, by, this);
    }
  }

  /** Passes the Yjs document to `view`, which must only read it. */
  read<T>(view: (doc: Y.Doc) => T): T {
    this.#assertLive();
    this.isUsed = true;
    return view(this.#doc);
  }

  /** Whether the document already contains everything in `update`. Throws INVALID_UPDATE. */
  knows(update: Uint8Array): boolean {
    this.#assertLive();
    const shape = checkUpdate(update);
    if (shape === undefined) throw new Failure('INVALID_UPDATE', { message: 'This is no update of a Yjs document.' });
    return (shape.structs === 0 && shape.deletes === 0) || holdsNothingNew(this.#doc, update);
  }

  /** Whether some of what an answer lacked has come since. */
  hasCome(missing: Missing): boolean {
    return isWaitingOver(this.#doc, missing);
  }

  /** Cached until the next update. */
  stateVector(): Uint8Array {
    this.#assertLive();
    this.isUsed = true;
    this.#stateVector ??= Y.encodeStateVector(this.#doc);
    return this.#stateVector;
  }

  /** One update with what a peer with this state vector lacks, or with everything. Cached until the next update. Throws INVALID_UPDATE. */
  missing(stateVector?: Uint8Array): Uint8Array {
    this.#assertLive();
    this.isUsed = true;
    if (stateVector === undefined || isEmptyVector(stateVector)) {
      this.#state ??= Y.encodeStateAsUpdate(this.#doc);
      return this.#state;
    }
    if (this.#difference !== undefined && isSame(this.#difference.stateVector, stateVector)) return this.#difference.update;
    const update = this.#lackedBy(stateVector);
    this.#difference = { stateVector: stateVector.slice(), update };
    return update;
  }

  /** Keeps it and its actor in memory until the returned function is called. */
  listen(listener: DocumentListener): () => void {
    this.#assertLive();
    // A separate object for each call, so that one listener can be registered twice.
    const heard: DocumentListener = { updated: (update, origin) => listener.updated(update, origin), over: (why) => listener.over(why) };
    this.#listeners.add(heard);
    this.#host.heard(this);
    return () => {
      if (this.#listeners.delete(heard) && this.#end === undefined) this.#host.heard(this);
    };
  }

  /** Called only by its part: notifies the listeners and frees the memory. */
  end(why: DocumentEnd): void {
    if (this.#end !== undefined) return;
    this.#end = why;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener.over(why);
    this.#doc.destroy();
  }

  /** Called at a sweep: drops the caches, estimates the size again and applies what no longer waits. */
  trim(): void {
    this.#forgetEncoded();
    this.#weigh();
    if (this.#waiting !== undefined && isWaitingOver(this.#doc, this.#waiting.missing)) this.#resume(this.#waiting.update);
  }

  #begin(): Y.Doc {
    const doc = new Y.Doc({ guid: this.name });
    doc.on('afterTransaction', (transaction) => this.#changed(transaction));
    return doc;
  }

  #assertLive(): void {
    if (this.isOver) throw new Failure('UNAVAILABLE', { message: 'The document has left memory.', retryAfterS: 1 });
  }

  #admitShape(shape: UpdateShape): void {
    const { clients } = this.#doc.store;
    if (shape.clients > LIMITS.documentUpdateClientsMax) {
      const unknown = shape.spans.reduce((sum, { client }) => sum + (clients.has(client) ? 0 : 1), 0);
      if (unknown > LIMITS.documentUpdateClientsMax) {
        const message = `The update brings ${unknown} new clients of Yjs; at most ${LIMITS.documentUpdateClientsMax} may come at once.`;
        throw new Failure('DOCUMENT_TOO_LARGE', { message });
      }
    }
    if (this.#structs + shape.structs > LIMITS.documentStructsMax) this.#weigh();
    const isOver =
      this.#structs + shape.structs > LIMITS.documentStructsMax ||
      (shape.clients > 1 && clients.size + shape.clients > LIMITS.documentClientsMax) ||
      (shape.subdocuments > 0 && this.#doc.subdocs.size + shape.subdocuments > LIMITS.subdocumentsMax);
    if (isOver) throw new Failure('DOCUMENT_TOO_LARGE', { message: 'The document has more parts than it may have.' });
  }

  #take(update: Uint8Array, by: string | null, origin: unknown, gapsMax: number): Answered {
    this.#assertLive();
    this.isUsed = true;
    if (update.byteLength > LIMITS.updateBytesMax) throw new Failure('DOCUMENT_TOO_LARGE', { message: 'The update is too large.' });
    const shape = checkUpdate(update);
    if (shape === undefined) throw new Failure('INVALID_UPDATE', { message: 'This is no update of a Yjs document.' });
    if (shape.structs === 0 && shape.deletes === 0) return NOTHING_NEW;
    try {
      this.#host.admit(this, update.byteLength);
      this.#admitShape(shape);
    } catch (refusal) {
      // A client that reconnects sends updates that are already known: a full document accepts those too.
      if (holdsNothingNew(this.#doc, update)) return NOTHING_NEW;
      throw refusal;
    }
    if (gapsOf(this.#doc, shape) > gapsMax) throw new UpdateGap();
    const kept = shape.lendsBytes ? update.slice() : update;
    const missing = this.#integrate(kept, origin);
    if (missing !== undefined) return this.#takePartial(missing, by, origin, gapsMax);
    if (!this.#hasChanged) return NOTHING_NEW;
    this.#structs += shape.structs;
    this.#record(kept, by, origin);
    return { isNew: true, missing: undefined };
  }

  /** Has only that stored which was integrated. */
  #takePartial(missing: Missing, by: string | null, origin: unknown, gapsMax: number): Answered {
    const partial = this.#partial;
    this.#partial = undefined;
    if (partial === undefined && gapsMax === 0) throw new UpdateGap();
    if (partial !== undefined) this.#recordOwn(partial, by, origin);
    return { isNew: partial !== undefined, missing };
  }

  /** What it could not integrate is forgotten; answers what that waits for. Throws INVALID_UPDATE. */
  #integrate(update: Uint8Array, origin: unknown): Missing | undefined {
    this.#hasChanged = false;
    this.#partial = undefined;
    try {
      this.#host.conflicts.within(() => Y.applyUpdate(this.#doc, update, origin));
    } catch (error) {
      this.#spoil();
      throw error instanceof TooManyConflicts ? refusalOf(error) : new Failure('INVALID_UPDATE');
    } finally {
      this.#doc.off('update', this.#keepPartial);
    }
    return takeWaiting(this.#doc)?.missing;
  }

  /** Applies what waited. It is stored already; the listeners have not seen it. */
  #resume(update: Uint8Array): void {
    const made: Uint8Array[] = [];
    const keep = (integrated: Uint8Array) => void made.push(integrated);
    this.#doc.on('update', keep);
    try {
      Y.applyUpdateV2(this.#doc, update, this);
    } catch {
      this.#spoil();
      return;
    } finally {
      this.#doc.off('update', keep);
      this.#doc.off('update', this.#keepPartial);
    }
    this.#waiting = takeWaiting(this.#doc);
    this.#stateVector = undefined;
    this.#forgetEncoded();
    for (const integrated of made) for (const listener of this.#listeners) listener.updated(integrated, this);
  }

  #spoil(): void {
    this.#host.spoiled(this);
  }

  #changed(transaction: Y.Transaction): void {
    // Yjs would now delete redundant formats, as every client does itself. The server must not write updates of its own.
    (transaction as { _needFormattingCleanup?: boolean })._needFormattingCleanup = false;
    this.#hasChanged ||= transaction.deleteSet.clients.size > 0 || hasMoved(transaction);
    const { pendingStructs, pendingDs } = transaction.doc.store;
    // Yjs encodes the integrated part after this, for whoever listens then.
    if (pendingStructs !== null || pendingDs !== null) transaction.doc.on('update', this.#keepPartial);
  }

  /** `update` is one that this copy has encoded. */
  #recordOwn(update: Uint8Array, by: string | null, origin: unknown): void {
    this.#structs += checkUpdate(update)?.structs ?? 0;
    this.#record(update, by, origin);
  }

  #record(update: Uint8Array, by: string | null, origin: unknown): void {
    this.#stateVector = undefined;
    this.#forgetEncoded();
    this.#contentBytes += update.byteLength;
    this.#host.record(this, update, by);
    for (const listener of this.#listeners) listener.updated(update, origin);
  }

  #forgetEncoded(): void {
    this.#state = undefined;
    this.#difference = undefined;
  }

  #lackedBy(stateVector: Uint8Array): Uint8Array {
    try {
      return Y.encodeStateAsUpdate(this.#doc, stateVector);
    } catch {
      throw new Failure('INVALID_UPDATE', { message: 'This is no state vector of a Yjs document.' });
    }
  }

  #weigh(): void {
    let structs = 0;
    for (const list of this.#doc.store.clients.values()) structs += list.length;
    this.#structs = structs;
  }
}

const NOTHING_NEW: Answered = { isNew: false, missing: undefined };

function hasMoved({ beforeState, afterState }: Y.Transaction): boolean {
  for (const [client, clock] of afterState) if (beforeState.get(client) !== clock) return true;
  return false;
}

function refusalOf({ isHopeless }: TooManyConflicts): Failure {
  const message = 'The update was made beside too many other changes of the same places to be merged.';
  return isHopeless ? new Failure('INVALID_UPDATE', { message }) : new Failure('UNAVAILABLE', { message, retryAfterS: CONFLICTS_RETRY_S });
}

/** Whether the state vector names no clients. */
function isEmptyVector(stateVector: Uint8Array): boolean {
  return stateVector.byteLength === 1 && stateVector[0] === 0;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && a.every((byte, at) => byte === b[at]);
}
