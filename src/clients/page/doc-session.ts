/** One shared document of a page: exchanges updates with the server and tracks which of them are stored. */
import { type Decoder, readVarString, readVarUint, readVarUint8Array } from 'lib0/decoding';
import { createEncoder, toUint8Array, writeVarString, writeVarUint, writeVarUint8Array } from 'lib0/encoding';
import { Awareness, applyAwarenessUpdate, encodeAwarenessUpdate, removeAwarenessStates } from 'y-protocols/awareness';
import type * as YjsPackage from 'yjs';
import type { ConnectionState, EaselErrorClass, Problem, SharedDocEvents } from './api.ts';
import type { Stop } from './api-outside.ts';
import type { EaselError } from './errors.ts';
import { tell } from './listeners.ts';

export type Yjs = Pick<typeof YjsPackage, 'applyUpdate' | 'encodeStateAsUpdate' | 'encodeStateVector'>;

export interface SessionDeps {
  /** The class of the main SDK bundle, so that `instanceof` works in pages. */
  readonly EaselError: EaselErrorClass;
  readonly token: () => string | undefined;
  readonly failed: (error: EaselError) => void;
  /** False if there is no connection. */
  readonly send: (frame: Uint8Array) => boolean;
  /** The server has answered; the connection is live. */
  readonly live: () => void;
  /** The session has ended in this state. */
  readonly left: (session: Session, state: ConnectionState) => void;
}

// Message types of the Hocuspocus protocol. Source: src/realtime/wire.ts
const SYNC = 0;
const AWARENESS = 1;
const AUTH = 2;
const QUERY_AWARENESS = 3;
const CLOSE = 7;
const SYNC_STATUS = 8;
const STEP_1 = 0;
const STEP_2 = 1;
const UPDATE = 2;
const TOKEN = 0;
const DENIED = 1;

/** Source: LIMITS.updateBytesMax. The server closes the connection at a longer frame, and would again after every reconnect. */
export const UPDATE_BYTES_MAX = 8 * 1024 * 1024;
type Listeners = { [K in keyof SharedDocEvents]: Set<(detail: SharedDocEvents[K]) => void> };

export class Session {
  readonly name: string;
  readonly Y: Yjs;
  readonly doc: YjsPackage.Doc;
  readonly awareness: Awareness;
  readonly synced: Promise<void>;
  state: ConnectionState = 'idle';
  readOnly = false;
  hasUnsaved = false;
  readonly #deps: SessionDeps;
  readonly #listeners: Listeners = { state: new Set(), unsaved: new Set(), readOnly: new Set(), error: new Set() };
  readonly #settleSynced: { readonly resolve: () => void; readonly reject: (error: EaselError) => void };
  #error: EaselError | undefined;
  /** The changes that the server lacked were sent on this connection; from then on each change is sent as it happens. */
  #isHandedOver = false;
  /** There are local changes that were not sent on this connection, or were rejected. */
  #isBehind: boolean;
  /** On this connection: updates sent, updates acknowledged, and the number of the last update that contained a local change. */
  #sent = 0;
  #answered = 0;
  #lastOwn = 0;

  constructor(name: string, Y: Yjs, doc: object, deps: SessionDeps) {
    this.name = name;
    this.Y = Y;
    this.doc = doc as YjsPackage.Doc;
    this.#deps = deps;
    let resolve: () => void = () => undefined;
    let reject: (error: EaselError) => void = resolve;
    this.synced = new Promise<void>((...settle) => {
      [resolve, reject] = settle;
    });
    this.#settleSynced = { resolve, reject };
    // Pages that do not use `synced` must not get an unhandled rejection.
    this.synced.catch(() => undefined);
    this.#isBehind = Y.encodeStateVector(this.doc).length > 1;
    this.hasUnsaved = this.#isBehind;
    this.awareness = new Awareness(this.doc);
    this.doc.on('update', this.#changed);
    this.doc.on('destroy', this.destroy);
    this.awareness.on('update', this.#awarenessChanged);
  }

  on<K extends keyof SharedDocEvents>(event: K, listener: (detail: SharedDocEvents[K]) => void): Stop {
    this.#listeners[event].add(listener);
    return () => void this.#listeners[event].delete(listener);
  }

  saved(): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (this.#error === undefined && this.hasUnsaved) return;
        for (const stop of stops) stop();
        if (this.#error === undefined) resolve();
        else reject(this.#error);
      };
      const stops = [this.on('unsaved', look), this.on('state', look)];
      look();
    });
  }

  readonly destroy = (): void => {
    if (this.#error !== undefined) return;
    this.awareness.setLocalState(null);
    this.#send(CLOSE);
    this.#end('idle', new this.#deps.EaselError({ code: 'CLOSED', status: 0, message: 'The document was closed by the page.' }));
  };

  /** On a new connection: authenticates, asks for missing updates and announces the own awareness state. Does nothing without a connection. */
  opened(): void {
    this.#isHandedOver = false;
    this.#sendToken();
    this.#send(SYNC, STEP_1, this.Y.encodeStateVector(this.doc));
    // Increments the awareness clock: the server may have marked this client as gone at the current clock.
    this.awareness.setLocalState(this.awareness.getLocalState());
  }

  connectionBecame(state: ConnectionState, error: EaselError | undefined): void {
    if (state === 'refused' && error !== undefined) {
      this.#refuse(error);
      return;
    }
    // `live` is set once the stored document has arrived, `idle` when the page leaves the document.
    if (this.#error !== undefined || (state !== 'connecting' && state !== 'offline')) return;
    this.#isBehind ||= this.hasUnsaved;
    this.#isHandedOver = false;
    this.#sent = this.#answered = this.#lastOwn = 0;
    this.#forgetOthers();
    this.#become(state);
  }

  heard(type: number, decoder: Decoder): void {
    switch (type) {
      case SYNC:
        this.#sync(readVarUint(decoder), readVarUint8Array(decoder));
        break;
      case AWARENESS: {
        const states = readVarUint8Array(decoder);
        tell(() => applyAwarenessUpdate(this.awareness, states, this));
        break;
      }
      case AUTH:
        this.#auth(readVarUint(decoder), decoder);
        break;
      case QUERY_AWARENESS:
        this.#sendAwareness();
        break;
      case CLOSE:
        this.#refuse(this.#problem('FORBIDDEN', readVarString(decoder)));
        break;
      case SYNC_STATUS:
        this.#status(readVarUint(decoder) === 1);
        break;
      default:
      // A message type of a later version.
    }
  }

  #sync(step: number, bytes: Uint8Array): void {
    if (step === STEP_1) {
      this.#handOver(bytes);
      return;
    }
    // Only a listener of the page can throw here; the update itself is applied.
    tell(() => this.Y.applyUpdate(this.doc, bytes, this));
    if (step !== STEP_2) return;
    this.#deps.live();
    this.#become('live');
    this.#settleSynced.resolve();
  }

  /** Sends what a server with this state vector lacks. It always contains all deletions, so its length does not tell whether anything is new. */
  #handOver(stateVector: Uint8Array): void {
    if (this.#sendUpdate(STEP_2, this.Y.encodeStateAsUpdate(this.doc, stateVector), this.#isBehind)) {
      this.#isHandedOver = true;
      this.#isBehind = false;
    }
    this.#lookUnsaved();
  }

  /** False if it was not sent. */
  #sendUpdate(step: typeof STEP_2 | typeof UPDATE, update: Uint8Array, isOwn: boolean): boolean {
    if (update.length > UPDATE_BYTES_MAX) {
      this.#refuse(this.#problem('UPDATE_REFUSED', 'The change is larger than 8 MB.'));
      return false;
    }
    if (!this.#send(SYNC, step, update)) return false;
    this.#sent += 1;
    if (isOwn) this.#lastOwn = this.#sent;
    return true;
  }

  readonly #changed = (update: Uint8Array, origin: unknown): void => {
    if (origin === this) return;
    if (this.readOnly || !this.#isHandedOver || !this.#sendUpdate(UPDATE, update, true)) this.#isBehind = true;
    this.#lookUnsaved();
  };

  #status(isTaken: boolean): void {
    this.#answered += 1;
    // Sent again when this page may write again.
    if (!isTaken && this.readOnly) this.#isBehind = true;
    if (!isTaken && !this.readOnly) {
      const reason =
        'The server rejected a change: the document is too large, or the change depends on one that the server does not have. Later changes are not sent.';
      this.#refuse(this.#problem('UPDATE_REFUSED', reason));
    }
    this.#lookUnsaved();
  }

  #auth(kind: number, decoder: Decoder): void {
    if (kind === TOKEN) {
      this.#sendToken();
      return;
    }
    const text = readVarString(decoder);
    if (kind === DENIED) {
      const [, code = 'FORBIDDEN', message = text] = /^([A-Z_]+): (.*)$/s.exec(text) ?? [];
      this.#refuse(this.#problem(code as Problem['code'], message));
      return;
    }
    const readOnly = text === 'readonly';
    if (readOnly === this.readOnly) return;
    this.readOnly = readOnly;
    // When writing is allowed again, the server asks for all missing changes (step 1).
    this.#isHandedOver = false;
    this.#emit('readOnly', readOnly);
  }

  readonly #awarenessChanged = (changes: { added: number[]; updated: number[]; removed: number[] }): void => {
    // Only our own state is sent: other clients send theirs.
    if (Object.values(changes).some((ids) => ids.includes(this.awareness.clientID))) this.#sendAwareness();
  };

  #sendAwareness(): void {
    if (this.awareness.meta.has(this.awareness.clientID))
      this.#send(AWARENESS, encodeAwarenessUpdate(this.awareness, [this.awareness.clientID]));
  }

  #forgetOthers(): void {
    const others = [...this.awareness.meta.keys()].filter((id) => id !== this.awareness.clientID);
    removeAwarenessStates(this.awareness, others, this);
    // Without their clocks removed, states that arrive after a reconnect with the same clock would be ignored as old.
    for (const id of others) this.awareness.meta.delete(id);
  }

  #sendToken(): void {
    this.#send(AUTH, TOKEN, this.#deps.token() ?? '');
  }

  #send(type: number, ...parts: (number | string | Uint8Array)[]): boolean {
    return this.#error === undefined && this.#deps.send(this.#frame(type, ...parts));
  }

  #frame(type: number, ...parts: (number | string | Uint8Array)[]): Uint8Array {
    const encoder = createEncoder();
    writeVarString(encoder, this.name);
    writeVarUint(encoder, type);
    for (const part of parts) {
      if (typeof part === 'number') writeVarUint(encoder, part);
      else if (typeof part === 'string') writeVarString(encoder, part);
      else writeVarUint8Array(encoder, part);
    }
    return toUint8Array(encoder);
  }

  #lookUnsaved(): void {
    const hasUnsaved = this.#isBehind || this.#lastOwn > this.#answered;
    if (hasUnsaved === this.hasUnsaved) return;
    this.hasUnsaved = hasUnsaved;
    this.#emit('unsaved', hasUnsaved);
  }

  #problem(code: Problem['code'], message: string): EaselError {
    return new this.#deps.EaselError({ code, status: 0, message }) as EaselError;
  }

  #refuse(error: EaselError): void {
    if (this.#error !== undefined) return;
    this.#end('refused', error);
    this.#emit('error', error);
    this.#deps.failed(error);
  }

  #end(state: ConnectionState, error: InstanceType<EaselErrorClass>): void {
    this.#error = error as EaselError;
    this.doc.off('update', this.#changed);
    this.doc.off('destroy', this.destroy);
    this.#forgetOthers();
    this.awareness.destroy();
    this.#deps.left(this, state);
    this.#become(state);
    this.#settleSynced.reject(this.#error);
  }

  #become(state: ConnectionState): void {
    if (state === this.state) return;
    this.state = state;
    this.#emit('state', state);
  }

  #emit<K extends keyof SharedDocEvents>(event: K, detail: SharedDocEvents[K]): void {
    for (const listener of [...this.#listeners[event]]) tell(listener, detail);
  }
}
