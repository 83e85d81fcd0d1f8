/**
 * Awareness states as in y-protocols (cursor, colour, name) of the clients at a document. Nothing is stored. The server keeps its own table:
 * a member may only change the client ids that it has introduced, and the server stamps its identity on them.
 */
import { createDecoder, readVarUint } from 'lib0/decoding';
import { LIMITS } from '../../protocol/core/limits.ts';
import type { Identity } from '../features/people/identities/identities.ts';
import { type AwarenessEntry, readAwareness } from './wire.ts';

/** Clients renew their state every 15 s; after this silence a client counts as gone. Source: y-protocols. */
const SILENCE_MS = 30_000;
/** How long the clock of a client that left is kept, so that states which others still send do not bring it back. */
const REMEMBERED_MS = 60_000;
const REMEMBERED_MAX = 10_000;
/** Client ids of one member. A client has one id for a document, and a new one after it restarts on the same connection. */
const CLIENTS_PER_SPEAKER_MAX = 4;
const ENTRIES_PER_MESSAGE_MAX = LIMITS.socketsPerArtifactMax;
/** Bytes that the stamp adds to a state; clients send stamped states back. */
const STAMP_BYTES_MAX = 1024;
const GONE = 'null';

/** The identity of a member. */
export interface Speaker {
  readonly identity: Identity;
}

interface Entry {
  clock: number;
  /** `null` once the client has left. */
  json: string;
  /** The member that introduced the client; undefined once it has left. */
  speaker: Speaker | undefined;
  /** The person behind the client; undefined for anonymous callers. */
  account: string | undefined;
  seenMs: number;
}

export class AwarenessTable {
  readonly #entries = new Map<number, Entry>();
  readonly #introduced = new Map<Speaker, Set<number>>();
  #present = 0;

  /** Client ids with a state. */
  get size(): number {
    return this.#present;
  }

  /** Applies states and returns the ids that changed. States that the speaker may not set are dropped. */
  said(speaker: Speaker, states: Uint8Array, nowMs: number): number[] {
    if (this.#isEcho(speaker, states)) return [];
    const entries = readAwareness(states, ENTRIES_PER_MESSAGE_MAX, LIMITS.awarenessStateBytesMax + STAMP_BYTES_MAX);
    if ('kind' in entries) return [];
    const isFirstWord = entries.length === 1 && !this.#introduced.has(speaker);
    return entries.filter((entry) => this.#take(speaker, entry, isFirstWord, nowMs)).map(({ clientId }) => clientId);
  }

  /** Removes all states of a member and returns the ids that changed. */
  left(speaker: Speaker, nowMs: number): number[] {
    const gone: number[] = [];
    for (const clientId of this.#introduced.get(speaker) ?? []) {
      const entry = this.#entries.get(clientId);
      if (entry?.speaker !== speaker) continue;
      entry.speaker = undefined;
      if (this.#remove(entry, nowMs)) gone.push(clientId);
    }
    this.#introduced.delete(speaker);
    return gone;
  }

  /** Removes clients that have been silent for too long, and forgets those that left long ago. */
  sweep(nowMs: number): number[] {
    const gone: number[] = [];
    for (const [clientId, entry] of this.#entries) {
      if (entry.json === GONE) {
        if (nowMs - entry.seenMs >= REMEMBERED_MS || this.#entries.size - this.#present > REMEMBERED_MAX) this.#forget(clientId, entry);
      } else if (nowMs - entry.seenMs >= SILENCE_MS && this.#remove(entry, nowMs)) gone.push(clientId);
    }
    return gone;
  }

  /** The current entries of these ids. */
  entriesOf(clientIds: Iterable<number>): AwarenessEntry[] {
    const entries: AwarenessEntry[] = [];
    for (const clientId of clientIds) {
      const entry = this.#entries.get(clientId);
      if (entry !== undefined) entries.push({ clientId, clock: entry.clock, json: entry.json });
    }
    return entries;
  }

  /** The ids of all clients that are present. */
  all(): AwarenessEntry[] {
    const entries: AwarenessEntry[] = [];
    for (const [clientId, { clock, json }] of this.#entries) if (json !== GONE) entries.push({ clientId, clock, json });
    return entries;
  }

  /**
   * Clients send back every state that they receive: each of 500 clients repeats the states of all others. Such a message begins with
   * another client's id, and the rest of it is not read.
   */
  #isEcho(speaker: Speaker, states: Uint8Array): boolean {
    try {
      const decoder = createDecoder(states);
      if (readVarUint(decoder) === 0) return true;
      const known = this.#entries.get(readVarUint(decoder));
      if (known?.speaker === undefined || known.speaker === speaker) return false;
      return this.#introduced.has(speaker) || !isSuccessor(speaker, known.account);
    } catch {
      // A malformed message changes nothing.
      return true;
    }
  }

  #take(speaker: Speaker, { clientId, clock, json }: AwarenessEntry, isFirstWord: boolean, nowMs: number): boolean {
    const known = this.#entries.get(clientId);
    if (json === GONE) return known?.speaker === speaker && clock >= known.clock && this.#leave(known, clock, nowMs);
    if (known !== undefined && !maySpeak(speaker, known, clock, isFirstWord)) return false;
    if (Buffer.byteLength(json) > LIMITS.awarenessStateBytesMax) return false;
    const stamped = stamp(json, speaker.identity);
    if (stamped === undefined || !this.#introduce(speaker, clientId)) return false;
    if (known === undefined || known.json === GONE) this.#present += 1;
    this.#entries.set(clientId, { clock, json: stamped, speaker, account: accountOf(speaker), seenMs: nowMs });
    return true;
  }

  #introduce(speaker: Speaker, clientId: number): boolean {
    const ids = this.#introduced.get(speaker) ?? new Set();
    if (!ids.has(clientId) && ids.size >= CLIENTS_PER_SPEAKER_MAX) return false;
    this.#introduced.set(speaker, ids.add(clientId));
    return true;
  }

  #leave(entry: Entry, clock: number, nowMs: number): boolean {
    entry.clock = clock;
    return this.#remove(entry, nowMs);
  }

  /** Returns whether the client was present. */
  #remove(entry: Entry, nowMs: number): boolean {
    if (entry.json === GONE) return false;
    entry.json = GONE;
    entry.seenMs = nowMs;
    this.#present -= 1;
    return true;
  }

  #forget(clientId: number, entry: Entry): void {
    if (entry.speaker !== undefined) this.#introduced.get(entry.speaker)?.delete(clientId);
    this.#entries.delete(clientId);
  }
}

function maySpeak(speaker: Speaker, known: Entry, clock: number, isFirstWord: boolean): boolean {
  if (known.speaker === speaker) return clock > known.clock || (clock === known.clock && known.json === GONE);
  // The same person reconnects, maybe before the server has noticed that the old connection is dead; its close then removes nothing. Another
  // window of this person only repeats the state that it received: its clock is not newer, and it is not the first state that it sends.
  if (isSuccessor(speaker, known.account)) return clock > known.clock || (clock === known.clock && isFirstWord);
  // A state that others repeat after its client left has no newer clock than the client's own last state.
  return known.speaker === undefined && known.account === undefined && clock > known.clock;
}

function accountOf({ identity }: Speaker): string | undefined {
  return identity.kind === 'anonymous' ? undefined : identity.id;
}

function isSuccessor(speaker: Speaker, account: string | undefined): boolean {
  return account !== undefined && accountOf(speaker) === account;
}

/**
 * The state with the identity in `user`. The server sets `id`, `name` and `kind`, the client the rest. Without an account the name is the
 * client's own and `kind` is `anonymous`. Undefined where the state is no object.
 */
function stamp(json: string, { id, name, kind, color }: Identity): string | undefined {
  const state = parsed(json);
  if (state === undefined) return undefined;
  const { anonymous: _claim, ...own } = isObject(state.user) ? state.user : {};
  const given = typeof own.name === 'string' && own.name !== '' ? own.name : name;
  const user = kind === 'anonymous' ? { color, ...own, id, name: given, kind, anonymous: true } : { color, ...own, id, name, kind };
  return JSON.stringify({ ...state, user });
}

function parsed(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    // Every client parses the state, so text that is no JSON must not be passed on.
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
