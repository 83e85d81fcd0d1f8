/**
 * Encodes and decodes the frames of the two collaboration protocols. Protocol A (y-websocket): a frame is a type and a body. Protocol B
 * (Hocuspocus): the same after an address. Source: wire.md.
 */
import { createDecoder, type Decoder, hasContent, readUint8Array, readVarUint } from 'lib0/decoding';
import { encodeUtf8 } from 'lib0/string';

const SYNC = 0;
const AWARENESS = 1;
const AUTH = 2;
const QUERY_AWARENESS = 3;
const STATELESS = 5;
const CLOSE_DOCUMENT = 7;
const SYNC_STATUS = 8;
const PING = 9;
const PONG = 10;

const STEP_1 = 0;
const STEP_2 = 1;
const UPDATE = 2;

const TOKEN = 0;
/** The only auth message that a server of protocol A sends. */
const DENIED = 0;
const DOCUMENT_DENIED = 1;
const DOCUMENT_ALLOWED = 2;

/** Separates the document's name from the session id in the address of a frame. */
const SESSION_MARK = '\0';
/** A document's name has at most 64 characters and a session id a dozen. */
const ADDRESS_BYTES_MAX = 512;
const REASON_CHARS_MAX = 1024;

/** Byte fields are views of the frame and valid only as long as it is. */
export type DocumentMessage =
  | { readonly kind: 'step1'; readonly stateVector: Uint8Array }
  | { readonly kind: 'step2' | 'update'; readonly update: Uint8Array }
  /** `states` is read by `readAwareness`. */
  | { readonly kind: 'awareness'; readonly states: Uint8Array }
  | { readonly kind: 'queryAwareness' }
  /** Only clients of version 4 and later send their version. */
  | { readonly kind: 'token'; readonly token: string; readonly version: string | undefined }
  | { readonly kind: 'stateless'; readonly payload: string }
  | { readonly kind: 'close' }
  /** A type that clients never send. */
  | { readonly kind: 'unexpected'; readonly type: number };

/** The last frame of each large update that is still in memory. */
const lastFrames = new WeakMap<Uint8Array, { readonly address: string | undefined; readonly frame: Uint8Array }>();
/** Smaller ones are as quickly made as found. */
const KEPT_BYTES = 64 * 1024;

export interface Malformed {
  readonly kind: 'malformed';
  readonly reason: string;
}

export interface AddressedMessage {
  readonly kind: 'addressed';
  /** As received; answers carry the same address. */
  readonly address: string;
  readonly document: string;
  readonly message: DocumentMessage;
}

/** The awareness entry of one client: `json` is its state, `null` when it has left. */
export interface AwarenessEntry {
  readonly clientId: number;
  readonly clock: number;
  readonly json: string;
}

class WireError extends Error {}

/** A copy of a frame whose bytes are valid only in the turn in which it arrives. */
export function keptFrame(lent: ArrayBuffer): Uint8Array {
  const kept = pooled(lent.byteLength);
  kept.set(new Uint8Array(lent));
  return kept;
}

/** Reads the first message of a frame of protocol A. Like the reference server, it ignores what follows. */
export function readMessage(frame: Uint8Array): DocumentMessage | Malformed {
  return guarded(() => message(createDecoder(frame)));
}

/** Reads a frame of protocol B. */
export function readAddressedMessage(frame: Uint8Array): AddressedMessage | { readonly kind: 'ping' | 'pong' } | Malformed {
  // Ping and pong have no address. A frame of one byte can be nothing else, because a message must follow an address.
  if (frame.length === 1 && frame[0] === PING) return { kind: 'ping' };
  if (frame.length === 1 && frame[0] === PONG) return { kind: 'pong' };
  return guarded(() => {
    const decoder = createDecoder(frame);
    const address = text(decoder, ADDRESS_BYTES_MAX);
    const mark = address.indexOf(SESSION_MARK);
    return { kind: 'addressed', address, document: mark === -1 ? address : address.slice(0, mark), message: message(decoder) };
  });
}

/** The states in the body of an awareness message. More than `entriesMax`, or one with more than `jsonBytesMax` bytes, is malformed. */
export function readAwareness(states: Uint8Array, entriesMax: number, jsonBytesMax: number): readonly AwarenessEntry[] | Malformed {
  return guarded(() => {
    const decoder = createDecoder(states);
    const count = uint(decoder);
    if (count > entriesMax) throw new WireError(`more than ${entriesMax} awareness states`);
    const entries: AwarenessEntry[] = [];
    // Each entry takes bytes, so a count that is too high ends with the frame.
    for (let i = 0; i < count; i += 1) {
      entries.push({ clientId: uint(decoder), clock: uint(decoder), json: text(decoder, jsonBytesMax) });
    }
    return entries;
  });
}

/** The body of an awareness message. */
export function writeAwareness(entries: readonly AwarenessEntry[]): Uint8Array {
  const jsons = entries.map(({ json }) => encodeUtf8(json));
  let size = uintBytes(entries.length);
  entries.forEach(({ clientId, clock }, i) => {
    const length = jsons[i]?.length ?? 0;
    size += uintBytes(clientId) + uintBytes(clock) + uintBytes(length) + length;
  });
  const writer = new Writer(size);
  writer.uint(entries.length);
  entries.forEach(({ clientId, clock }, i) => {
    writer.uint(clientId);
    writer.uint(clock);
    writer.bytes(jsons[i] ?? NOTHING);
  });
  return writer.frame;
}

/** With an `address` the frame is one of protocol B, without it one of protocol A. */
export function frameSyncStep1(stateVector: Uint8Array, address?: string): Uint8Array {
  return frameOf(address, [SYNC, STEP_1], stateVector);
}

/**
 * `update` and the frame must not be changed: many peers may be sent the same large update one after the other, and a copy for each would cost
 * the event loop more in garbage collection than all else.
 */
export function frameSyncStep2(update: Uint8Array, address?: string): Uint8Array {
  const last = lastFrames.get(update);
  if (last !== undefined && last.address === address) return last.frame;
  const frame = frameOf(address, [SYNC, STEP_2], update);
  if (update.byteLength >= KEPT_BYTES) lastFrames.set(update, { address, frame });
  return frame;
}

export function frameSyncUpdate(update: Uint8Array, address?: string): Uint8Array {
  return frameOf(address, [SYNC, UPDATE], update);
}

/** `states` is the output of `writeAwareness`. */
export function frameAwareness(states: Uint8Array, address?: string): Uint8Array {
  return frameOf(address, [AWARENESS], states);
}

export function frameQueryAwareness(address?: string): Uint8Array {
  return frameOf(address, [QUERY_AWARENESS]);
}

/** Tells the client that it has no access, or no longer has. */
export function frameDenied(reason: string, address?: string): Uint8Array {
  return frameOf(address, [AUTH, address === undefined ? DENIED : DOCUMENT_DENIED], encodeUtf8(reason.slice(0, REASON_CHARS_MAX)));
}

export function frameAllowed(scope: 'read-write' | 'readonly', address: string): Uint8Array {
  return frameOf(address, [AUTH, DOCUMENT_ALLOWED], encodeUtf8(scope));
}

/** Answers one Step2 or update: durable, or refused. */
export function frameSyncStatus(taken: boolean, address: string): Uint8Array {
  return frameOf(address, [SYNC_STATUS, taken ? 1 : 0]);
}

/** An awareness message without states, which only shows the client that the connection is alive. */
export function frameKeepAlive(address?: string): Uint8Array {
  return frameAwareness(NO_STATES, address);
}

/** Only clients of protocol B that sent their version understand it. */
export function framePing(): Uint8Array {
  return Uint8Array.of(PING);
}

export function framePong(): Uint8Array {
  return Uint8Array.of(PONG);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const NOTHING = new Uint8Array(0);
const NO_STATES = Uint8Array.of(0);

function message(decoder: Decoder): DocumentMessage {
  const type = uint(decoder);
  switch (type) {
    case SYNC:
      return syncMessage(decoder);
    case AWARENESS:
      return { kind: 'awareness', states: body(decoder) };
    case AUTH:
      return tokenMessage(decoder);
    case QUERY_AWARENESS:
      return { kind: 'queryAwareness' };
    case STATELESS:
      return { kind: 'stateless', payload: text(decoder) };
    case CLOSE_DOCUMENT:
      return { kind: 'close' };
    default:
      return { kind: 'unexpected', type };
  }
}

function syncMessage(decoder: Decoder): DocumentMessage {
  const step = uint(decoder);
  if (step > UPDATE) throw new WireError(`sync message ${step}`);
  const bytes = body(decoder);
  if (step === STEP_1) return { kind: 'step1', stateVector: bytes };
  return { kind: step === STEP_2 ? 'step2' : 'update', update: bytes };
}

function tokenMessage(decoder: Decoder): DocumentMessage {
  const kind = uint(decoder);
  if (kind !== TOKEN) throw new WireError(`auth message ${kind}`);
  const token = text(decoder);
  return { kind: 'token', token, version: hasContent(decoder) ? text(decoder) : undefined };
}

/** Refuses numbers beyond exact integers, which lib0 accepts. */
function uint(decoder: Decoder): number {
  const value = readVarUint(decoder);
  if (!Number.isSafeInteger(value)) throw new WireError('a number that is too large');
  return value;
}

function body(decoder: Decoder): Uint8Array {
  return readUint8Array(decoder, uint(decoder));
}

function text(decoder: Decoder, bytesMax = Number.POSITIVE_INFINITY): string {
  const bytes = body(decoder);
  if (bytes.length > bytesMax) throw new WireError(`a text of more than ${bytesMax} bytes`);
  return UTF8.decode(bytes);
}

/** lib0 throws where a frame ends early, a number is too long or a text is no UTF-8. That is an expected result for frames of strangers. */
function guarded<T>(read: () => T): T | Malformed {
  try {
    return read();
  } catch (error) {
    return { kind: 'malformed', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** `kinds` are below 128: one byte each. The body is copied once, into a frame of exactly its size. */
function frameOf(address: string | undefined, kinds: readonly number[], body?: Uint8Array): Uint8Array {
  const name = address === undefined ? undefined : encodeUtf8(address);
  const size =
    (name === undefined ? 0 : uintBytes(name.length) + name.length) +
    kinds.length +
    (body === undefined ? 0 : uintBytes(body.length) + body.length);
  const writer = new Writer(size);
  if (name !== undefined) writer.bytes(name);
  for (const kind of kinds) writer.uint(kind);
  if (body !== undefined) writer.bytes(body);
  return writer.frame;
}

/** Frames are small and many, so they come from Node's buffer pool; separate allocations would cost more than the encoding. */
function pooled(size: number): Uint8Array {
  const { buffer, byteOffset } = Buffer.allocUnsafe(size);
  return new Uint8Array(buffer, byteOffset, size);
}

function uintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) bytes += 1;
  return bytes;
}

class Writer {
  readonly frame: Uint8Array;
  #at = 0;

  constructor(size: number) {
    this.frame = pooled(size);
  }

  uint(value: number): void {
    let rest = value;
    while (rest >= 128) {
      this.frame[this.#at++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.frame[this.#at++] = rest;
  }

  /** Writes the length and then the bytes. */
  bytes(value: Uint8Array): void {
    this.uint(value.length);
    this.frame.set(value, this.#at);
    this.#at += value.length;
  }
}
