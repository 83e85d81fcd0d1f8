/** The frames of both protocols that generators and the relay need, independent of the measured code. */
import * as decoding from 'lib0/decoding';
import * as encoding from 'lib0/encoding';

export type Dialect = 'y-websocket' | 'hocuspocus';

/** `address`: the document name inside Hocuspocus frames; not used by y-websocket. */
export interface Codec {
  step1(stateVector: Uint8Array): Uint8Array;
  step2(update: Uint8Array): Uint8Array;
  update(update: Uint8Array): Uint8Array;
  /** Undefined if the protocol does not authenticate with frames. */
  auth(token: string): Uint8Array | undefined;
  read(frame: Uint8Array): Heard;
}

export type Heard =
  | { readonly kind: 'step1' | 'step2' | 'update'; readonly body: Uint8Array }
  | { readonly kind: 'saved' | 'authorised' | 'denied' | 'other' };

const EMPTY_UPDATE = new Uint8Array([0, 0]);
export const EMPTY_VECTOR = new Uint8Array([0]);
export { EMPTY_UPDATE };

const SYNC = 0;
const AUTH = 2;
const SYNC_STATUS = 8;

export function codecOf(dialect: Dialect, address: string): Codec {
  const addressed = dialect === 'hocuspocus';
  const frame = (write: (encoder: encoding.Encoder) => void) => {
    const encoder = encoding.createEncoder();
    if (addressed) encoding.writeVarString(encoder, address);
    write(encoder);
    return encoding.toUint8Array(encoder);
  };
  const sync = (type: number, body: Uint8Array) =>
    frame((encoder) => {
      encoding.writeVarUint(encoder, SYNC);
      encoding.writeVarUint(encoder, type);
      encoding.writeVarUint8Array(encoder, body);
    });
  return {
    step1: (vector) => sync(0, vector),
    step2: (update) => sync(1, update),
    update: (update) => sync(2, update),
    auth: (token) =>
      addressed
        ? frame((encoder) => {
            encoding.writeVarUint(encoder, AUTH);
            encoding.writeVarUint(encoder, 0);
            encoding.writeVarString(encoder, token);
          })
        : undefined,
    read: (bytes) => read(bytes, addressed),
  };
}

function read(bytes: Uint8Array, addressed: boolean): Heard {
  const decoder = decoding.createDecoder(bytes);
  if (addressed) {
    // A keep-alive is a single byte.
    if (bytes.length < 2) return { kind: 'other' };
    decoding.readVarString(decoder);
  }
  const type = decoding.readVarUint(decoder);
  if (type === SYNC) {
    const kind = (['step1', 'step2', 'update'] as const)[decoding.readVarUint(decoder)];
    return kind === undefined ? { kind: 'other' } : { kind, body: decoding.readVarUint8Array(decoder) };
  }
  if (addressed && type === SYNC_STATUS) return { kind: decoding.readVarUint(decoder) === 1 ? 'saved' : 'denied' };
  if (addressed && type === AUTH) return { kind: decoding.readVarUint(decoder) === 2 ? 'authorised' : 'denied' };
  return { kind: 'other' };
}
