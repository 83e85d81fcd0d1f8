/**
 * A token that waits for its program is sealed with a key that follows from the program's device code, of which the server keeps a digest only.
 * Whoever reads the database gets neither. X25519, HKDF-SHA-256 and AES-256-GCM; each seal has a key of its own, so the nonce is constant.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';

const KEY_BYTES = 32;
const TAG_BYTES = 16;
const NONCE = Buffer.alloc(12);
/** DER before the 32 bytes of an X25519 key. */
const PRIVATE_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex');
const PUBLIC_PREFIX = Buffer.from('302a300506032b656e032100', 'hex');

/** The public key of a device code. */
export function publicKeyOf(deviceCode: string): Buffer {
  return rawPublicKey(createPublicKey(privateKeyOf(deviceCode)));
}

export function seal(publicKey: Buffer, text: string): Buffer {
  const once = generateKeyPairSync('x25519');
  const own = rawPublicKey(once.publicKey);
  const shared = diffieHellman({ privateKey: once.privateKey, publicKey: publicKeyFrom(publicKey) });
  const cipher = createCipheriv('aes-256-gcm', keyFrom(shared, own, publicKey), NONCE);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([own, cipher.getAuthTag(), sealed]);
}

/** Throws for another device code, and for bytes that were changed. */
export function unseal(deviceCode: string, sealed: Buffer): string {
  const privateKey = privateKeyOf(deviceCode);
  const other = sealed.subarray(0, KEY_BYTES);
  const shared = diffieHellman({ privateKey, publicKey: publicKeyFrom(other) });
  const key = keyFrom(shared, other, rawPublicKey(createPublicKey(privateKey)));
  const decipher = createDecipheriv('aes-256-gcm', key, NONCE);
  decipher.setAuthTag(sealed.subarray(KEY_BYTES, KEY_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(KEY_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
}

function privateKeyOf(deviceCode: string): KeyObject {
  const seed = createHash('sha256').update(`easel device login key ${deviceCode}`).digest();
  return createPrivateKey({ key: Buffer.concat([PRIVATE_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}

function publicKeyFrom(raw: Buffer): KeyObject {
  return createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, raw]), format: 'der', type: 'spki' });
}

function rawPublicKey(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' }).subarray(PUBLIC_PREFIX.length);
}

function keyFrom(shared: Buffer, once: Buffer, receiver: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', shared, Buffer.concat([once, receiver]), 'easel device login token', KEY_BYTES));
}
