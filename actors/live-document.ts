/**
 * One collaborative document (Yjs) in memory, shared by everybody who has it open. It applies what clients send and never writes of its
 * own accord: what is stored are the clients' updates as they came, so a document that leaves memory and comes back is the same one.
 */
import * as Y from 'yjs';
import { Failure } from '../protocol/errors.ts';
import { LIMITS } from '../protocol/limits.ts';
import { buildDocument } from './document-content.ts';
import type { StoredDocumentContent } from './ports.ts';
import { checkUpdate, type UpdateShape } from './update-check.ts';
import { holdsNothingNew, isSamePending, type Pending, pendingOf } from './update-news.ts';

/** `moved`: whoever comes back finds it again. `dropped`: it was deleted. */
export type DocumentEnd = 'moved' | 'dropped';

/** None of these may throw. */
export interface DocumentListener {
  /** At once, before it is committed. `update` must not be changed. */
  updated(update: Uint8Array, origin: unknown): void;
  /** Told once: nothing more comes from this one. */
  over(why: DocumentEnd): void;
}

/** What a document needs of the part that holds it. */
export interface DocumentHost {
  /** Its actor takes no more turns. */
  readonly isOver: boolean;
  storedBytes(doc: LiveDocument): number;
  /** Throws UNAVAILABLE, DOCUMENT_TOO_LARGE, DOCUMENT_LIMIT_EXCEEDED: called before anything is changed. */
  admit(doc: LiveDocument, bytes: number): void;
  record(doc: LiveDocument, update: Uint8Array, by: string | null): void;
  /** Somebody listens to it, or nobody any more. */
  heard(doc: LiveDocument): void;
  /** What is in memory is not what is stored: it must be read again. */
  spoiled(doc: LiveDocument): void;
}

// A document of Yjs without content, with its place here.
const DOCUMENT_BYTES = 4000;
// An item of a document with its two ids and its place in the lists, beside its content.
const STRUCT_BYTES = 320;

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
  #structs = 0;
  #contentBytes = 0;
  #stateVector: Uint8Array | undefined;
  #state: Uint8Array | undefined;
  /** The last answer to somebody who had a part: after a restart everybody asks for the same. */
  #difference: { readonly stateVector: Uint8Array; readonly update: Uint8Array } | undefined;

  /** Throws what Yjs throws where `content` cannot be read. */
  constructor(name: string, host: DocumentHost, content?: StoredDocumentContent) {
    this.name = name;
    this.#host = host;
    const { doc, leftOut } = buildDocument(content?.snapshot ?? null, content?.updates ?? [], () => this.#begin());
    this.#doc = doc;
    this.leftOut = leftOut;
    this.#contentBytes = content?.updates.reduce((sum, { byteLength }) => sum + byteLength, content.snapshot?.byteLength ?? 0) ?? 0;
    this.#weigh();
  }

  /** Its actor is gone, or it was deleted: do nothing more with it. */
  get isOver(): boolean {
    return this.#end !== undefined || this.#host.isOver;
  }

  /** Of what is stored of it. */
  get stateBytes(): number {
    return this.#host.storedBytes(this);
  }

  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  /** An estimate from above, in bytes of memory. */
  get residentBytes(): number {
    const cached = (this.#state?.byteLength ?? 0) + (this.#difference?.update.byteLength ?? 0);
    return DOCUMENT_BYTES + this.#structs * STRUCT_BYTES + this.#contentBytes * 2 + cached;
  }

  /**
   * Within a turn: applies what a client has made, in Yjs' format v1, and has it stored as it is; `update` must not be changed any more.
   * False when it held nothing new. `by` is the account that made it. Throws UNAVAILABLE, INVALID_UPDATE, DOCUMENT_TOO_LARGE or
   * DOCUMENT_LIMIT_EXCEEDED, and has then changed nothing.
   */
  apply(update: Uint8Array, by: string | null, origin: unknown): boolean {
    this.#assertLive();
    this.isUsed = true;
    if (update.byteLength > LIMITS.updateBytesMax) throw new Failure('DOCUMENT_TOO_LARGE', { message: 'The update is too large.' });
    const shape = checkUpdate(update);
    if (shape === undefined) throw new Failure('INVALID_UPDATE', { message: 'This is no update of a Yjs document.' });
    if (shape.structs === 0 && shape.deletes === 0) return false;
    try {
      this.#host.admit(this, update.byteLength);
      this.#admitShape(shape);
    } catch (refusal) {
      // Whoever comes back sends what everybody has: that may be said of a full document too.
      if (holdsNothingNew(this.#doc, update)) return false;
      throw refusal;
    }
    const kept = shape.lendsBytes ? update.slice() : update;
    if (!this.#integrate(kept, origin)) return false;
    this.#structs += shape.structs;
    this.#record(kept, by, origin);
    return true;
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
      // Half a change is none: what is stored is read again.
      if (made.length > 0) this.#spoil();
      throw error;
    } finally {
      this.#doc.off('update', keep);
      if (!this.isOver) for (const update of made) this.#recordOwn(update, by);
    }
  }

  /** What it holds, to be read only. */
  read<T>(view: (doc: Y.Doc) => T): T {
    this.#assertLive();
    this.isUsed = true;
    return view(this.#doc);
  }

  /** Whether everything in `update` is here already. Throws INVALID_UPDATE. */
  knows(update: Uint8Array): boolean {
    this.#assertLive();
    const shape = checkUpdate(update);
    if (shape === undefined) throw new Failure('INVALID_UPDATE', { message: 'This is no update of a Yjs document.' });
    return (shape.structs === 0 && shape.deletes === 0) || holdsNothingNew(this.#doc, update);
  }

  /** Kept until the next update. */
  stateVector(): Uint8Array {
    this.#assertLive();
    this.isUsed = true;
    this.#stateVector ??= Y.encodeStateVector(this.#doc);
    return this.#stateVector;
  }

  /** As one update what a peer with this state vector lacks; without one everything. Kept until the next update. Throws INVALID_UPDATE. */
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
    // Of its own even where the same listener comes twice.
    const heard: DocumentListener = { updated: (update, origin) => listener.updated(update, origin), over: (why) => listener.over(why) };
    this.#listeners.add(heard);
    this.#host.heard(this);
    return () => {
      if (this.#listeners.delete(heard) && this.#end === undefined) this.#host.heard(this);
    };
  }

  /** Called by its part alone: tells whoever listens and gives up its memory. */
  end(why: DocumentEnd): void {
    if (this.#end !== undefined) return;
    this.#end = why;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener.over(why);
    this.#doc.destroy();
  }

  /** At a sweep: gives up what can be made again, and counts anew. */
  trim(): void {
    this.#state = undefined;
    this.#difference = undefined;
    this.#weigh();
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
    if (this.#structs + shape.structs > LIMITS.documentStructsMax) this.#weigh();
    const isOver =
      this.#structs + shape.structs > LIMITS.documentStructsMax ||
      (shape.clients > 1 && clients.size + shape.clients > LIMITS.documentClientsMax) ||
      (shape.subdocuments > 0 && this.#doc.subdocs.size + shape.subdocuments > LIMITS.subdocumentsMax);
    if (isOver) throw new Failure('DOCUMENT_TOO_LARGE', { message: 'The document has more parts than it may have.' });
  }

  /** Whether it changed anything. Throws INVALID_UPDATE. */
  #integrate(update: Uint8Array, origin: unknown): boolean {
    const before = pendingOf(this.#doc);
    this.#hasChanged = false;
    try {
      Y.applyUpdate(this.#doc, update, origin);
    } catch {
      this.#spoil();
      throw new Failure('INVALID_UPDATE');
    }
    const after = pendingOf(this.#doc);
    if (isSamePending(before, after)) return this.#hasChanged;
    if (after.bytes > LIMITS.documentPendingBytesMax && after.bytes > before.bytes) this.#refusePending(before);
    return true;
  }

  /** Updates that wait for others which never come must not pile up. */
  #refusePending(before: Pending): never {
    if (this.#hasChanged) this.#spoil();
    else before.restore(this.#doc);
    throw new Failure('INVALID_UPDATE', { message: 'The update builds on others that never came.' });
  }

  #spoil(): void {
    this.#host.spoiled(this);
  }

  #changed(transaction: Y.Transaction): void {
    // Yjs would now delete formats that have become idle, as every client does by itself. The server writes nothing of its own.
    (transaction as { _needFormattingCleanup?: boolean })._needFormattingCleanup = false;
    this.#hasChanged ||= transaction.deleteSet.clients.size > 0 || hasMoved(transaction);
  }

  #recordOwn(update: Uint8Array, by: string | null): void {
    this.#structs += checkUpdate(update)?.structs ?? 0;
    this.#record(update, by, this);
  }

  #record(update: Uint8Array, by: string | null, origin: unknown): void {
    this.#stateVector = undefined;
    this.#state = undefined;
    this.#difference = undefined;
    this.#contentBytes += update.byteLength;
    this.#host.record(this, update, by);
    for (const listener of this.#listeners) listener.updated(update, origin);
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

function hasMoved({ beforeState, afterState }: Y.Transaction): boolean {
  for (const [client, clock] of afterState) if (beforeState.get(client) !== clock) return true;
  return false;
}

/** Of no clients. */
function isEmptyVector(stateVector: Uint8Array): boolean {
  return stateVector.byteLength === 1 && stateVector[0] === 0;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && a.every((byte, at) => byte === b[at]);
}
