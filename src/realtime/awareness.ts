/**
 * Who is at a document and what they say of themselves (cursor, colour, name), as y-protocols' awareness has it. Nothing of it is stored.
 * The server keeps its own table: a member speaks for the client ids that it has introduced and for no other, and who it is is stamped by us.
 */
import { createDecoder, readVarUint } from 'lib0/decoding';
import { LIMITS } from '../../protocol/limits.ts';
import type { Identity } from '../services/identities.ts';
import { type AwarenessEntry, readAwareness } from './wire.ts';

/** Clients renew what they say every 15 s; whoever has been silent for so long is taken for gone. Source: y-protocols. */
const SILENCE_MS = 30_000;
/** How long it is remembered how far a client had got: what others still send of it must not bring it back. */
const REMEMBERED_MS = 60_000;
const REMEMBERED_MAX = 10_000;
/** A client has one id for a document; another where it has begun anew on the same connection. */
const CLIENTS_PER_SPEAKER_MAX = 4;
const ENTRIES_PER_MESSAGE_MAX = LIMITS.socketsPerArtifactMax;
/** What the stamp adds to a state, which clients send back to us. */
const STAMP_BYTES_MAX = 1024;
const GONE = 'null';

/** A member, as far as it speaks of itself. */
export interface Speaker {
  readonly identity: Identity;
}

interface Entry {
  clock: number;
  /** `null` once it has left. */
  json: string;
  /** Undefined once the member has left. */
  speaker: Speaker | undefined;
  /** Who it was; undefined for whoever cannot be told from others. */
  account: string | undefined;
  seenMs: number;
}

export class AwarenessTable {
  readonly #entries = new Map<number, Entry>();
  readonly #introduced = new Map<Speaker, Set<number>>();
  #present = 0;

  /** Client ids that have something to say. */
  get size(): number {
    return this.#present;
  }

  /** Ids for which something else is to be told now. What the speaker may not say is left out. */
  said(speaker: Speaker, states: Uint8Array, nowMs: number): number[] {
    if (this.#isEcho(speaker, states)) return [];
    const entries = readAwareness(states, ENTRIES_PER_MESSAGE_MAX, LIMITS.awarenessStateBytesMax + STAMP_BYTES_MAX);
    if ('kind' in entries) return [];
    const isFirstWord = entries.length === 1 && !this.#introduced.has(speaker);
    return entries.filter((entry) => this.#take(speaker, entry, isFirstWord, nowMs)).map(({ clientId }) => clientId);
  }

  /** Takes back everything that it has said; the ids for which that changes something. */
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

  /** Removes who has been silent for too long, and forgets those who left long ago. */
  sweep(nowMs: number): number[] {
    const gone: number[] = [];
    for (const [clientId, entry] of this.#entries) {
      if (entry.json === GONE) {
        if (nowMs - entry.seenMs >= REMEMBERED_MS || this.#entries.size - this.#present > REMEMBERED_MAX) this.#forget(clientId, entry);
      } else if (nowMs - entry.seenMs >= SILENCE_MS && this.#remove(entry, nowMs)) gone.push(clientId);
    }
    return gone;
  }

  /** What is to be told of these ids. */
  entriesOf(clientIds: Iterable<number>): AwarenessEntry[] {
    const entries: AwarenessEntry[] = [];
    for (const clientId of clientIds) {
      const entry = this.#entries.get(clientId);
      if (entry !== undefined) entries.push({ clientId, clock: entry.clock, json: entry.json });
    }
    return entries;
  }

  /** Everybody who is here. */
  all(): AwarenessEntry[] {
    const entries: AwarenessEntry[] = [];
    for (const [clientId, { clock, json }] of this.#entries) if (json !== GONE) entries.push({ clientId, clock, json });
    return entries;
  }

  /**
   * Clients send back whatever they hear of others: each of 500 people says of all others what we have just told it. Such a message
   * begins with somebody else, and is not read any further.
   */
  #isEcho(speaker: Speaker, states: Uint8Array): boolean {
    try {
      const decoder = createDecoder(states);
      if (readVarUint(decoder) === 0) return true;
      const known = this.#entries.get(readVarUint(decoder));
      if (known?.speaker === undefined || known.speaker === speaker) return false;
      return this.#introduced.has(speaker) || !isSuccessor(speaker, known.account);
    } catch {
      // Malformed: nothing of it is taken.
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

  /** Whether it was here. */
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
  // The same person comes back, maybe before the old connection is known to be dead; its end then takes nothing away. Another window of
  // this person is told apart by its repeating what it has heard: that is no later, and not the first that it says.
  if (isSuccessor(speaker, known.account)) return clock > known.clock || (clock === known.clock && isFirstWord);
  // What others repeat of somebody who has left is no later than what he said himself.
  return known.speaker === undefined && known.account === undefined && clock > known.clock;
}

function accountOf({ identity }: Speaker): string | undefined {
  return identity.kind === 'anonymous' ? undefined : identity.id;
}

function isSuccessor(speaker: Speaker, account: string | undefined): boolean {
  return account !== undefined && accountOf(speaker) === account;
}

/**
 * The state with who it is in `user`: `id`, `name` and `kind` are ours, the rest is the client's. Without an account the name is the
 * client's own, and `anonymous` says so. Undefined where it is no object.
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
    // What is no JSON would fail in every client that parses it.
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
