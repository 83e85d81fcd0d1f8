/**
 * Secrets that the service must be able to read again, such as credentials of connections: AES-256-GCM under SECRET_KEY.
 * Sealed form: version (1 byte), key id (8), nonce (12), tag (16), ciphertext. Where a secret belongs is authenticated with it, so that
 * somebody who can write to the database cannot have it opened in the place of another one.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Failure } from '../../../protocol/core/errors.ts';

/** The one value that a secret is: a column of a row. */
export interface SecretPlace {
  readonly table: string;
  readonly row: string;
  readonly field: string;
}

const VERSION = 1;
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NONCE_AT = 1 + KEY_ID_BYTES;
const TAG_AT = NONCE_AT + NONCE_BYTES;
const TEXT_AT = TAG_AT + TAG_BYTES;

/** A sealed secret cannot be opened: its key is not listed, or it was altered or moved. */
export class Unopenable extends Error {
  override readonly name = 'Unopenable';
}

interface Key {
  readonly id: Buffer;
  readonly secret: Buffer;
}

export class Sealer {
  /** The first seals. */
  readonly #keys: readonly Key[];

  /** `keys`: 32 bytes each, the current one first. Without any, nothing can be sealed. */
  constructor(keys: readonly Uint8Array[]) {
    this.#keys = keys.map((key) => ({ id: derive(key, 'easel key id', KEY_ID_BYTES), secret: derive(key, 'easel sealed secret', 32) }));
  }

  /** Throws SECRETS_NOT_CONFIGURED where the installation has no key. */
  seal(place: SecretPlace, text: string): Buffer {
    const [key] = this.#keys;
    if (key === undefined) throw new Failure('SECRETS_NOT_CONFIGURED');
    const head = Buffer.concat([Buffer.of(VERSION), key.id]);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key.secret, nonce).setAAD(boundTo(head, place));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([head, nonce, cipher.getAuthTag(), sealed]);
  }

  /** Throws `Unopenable`. */
  open(place: SecretPlace, sealed: Uint8Array): string {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    const named = `${place.table}.${place.field} of ${place.row}`;
    if (bytes.length < TEXT_AT || bytes[0] !== VERSION) throw new Unopenable(`${named} is not a sealed secret of this version.`);
    const key = this.#keys.find(({ id }) => id.equals(idIn(bytes)));
    if (key === undefined)
      throw new Unopenable(`${named} is sealed with the key ${idIn(bytes).toString('hex')}, which SECRET_KEY does not list.`);
    try {
      const decipher = createDecipheriv('aes-256-gcm', key.secret, bytes.subarray(NONCE_AT, TAG_AT), { authTagLength: TAG_BYTES });
      decipher.setAAD(boundTo(bytes.subarray(0, NONCE_AT), place)).setAuthTag(bytes.subarray(TAG_AT, TEXT_AT));
      return Buffer.concat([decipher.update(bytes.subarray(TEXT_AT)), decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new Unopenable(`${named} was altered, or belongs elsewhere.`, { cause });
    }
  }

  /** The same secret under the current key; null where it is sealed with that already. Throws `Unopenable`. */
  reseal(place: SecretPlace, sealed: Uint8Array): Buffer | null {
    const [current] = this.#keys;
    if (current?.id.equals(idIn(sealed)) === true) return null;
    return this.seal(place, this.open(place, sealed));
  }

  /** What `reseal` leaves alone begins with this; null without a key. */
  get currentHead(): Buffer | null {
    const [key] = this.#keys;
    return key === undefined ? null : Buffer.concat([Buffer.of(VERSION), key.id]);
  }
}

function idIn(sealed: Uint8Array): Buffer {
  return Buffer.from(sealed.subarray(1, NONCE_AT));
}

/** JSON keeps the three parts apart, whatever characters they have. */
function boundTo(head: Uint8Array, { table, row, field }: SecretPlace): Buffer {
  return Buffer.concat([head, Buffer.from(JSON.stringify([table, row, field]))]);
}

function derive(key: Uint8Array, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, new Uint8Array(0), purpose, bytes));
}
