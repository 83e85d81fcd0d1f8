/**
 * Two nodes prove to each other that they know CLUSTER_SECRET, without saying it. Each side sends 32 random bytes and its name; each proves with an
 * HMAC over both, the names of both and its role, so that neither a recorded proof nor the other side's own proof is of any use.
 *
 *   server → client   nonce (32), length (1), `incarnation address`
 *   client → server   nonce (32), length (1), `incarnation address`, proof (32)
 *   server → client   proof (32)
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const NONCE_BYTES = 32;
export const PROOF_BYTES = 32;
/** Of the name of a node, in UTF-8. */
const NAME_BYTES_MAX = 255;
const VERSION = 'easel peer 1';

export interface PeerName {
  readonly address: string;
  readonly incarnation: string;
}

export interface Introduction {
  readonly name: PeerName;
  /** As it is sent: the proofs are over these bytes, whatever a stranger has put into them. */
  readonly encoded: Buffer;
}

export function introduction(name: PeerName): Introduction {
  const text = Buffer.from(`${name.incarnation} ${name.address}`);
  if (text.length > NAME_BYTES_MAX) throw new Error('PEER_ADDRESS is too long for a handshake');
  return { name, encoded: Buffer.concat([randomBytes(NONCE_BYTES), Buffer.from([text.length]), text]) };
}

/** The introduction at the beginning of `received`, and where it ends; undefined while it is incomplete. */
export function readIntroduction(received: Buffer): { readonly introduction: Introduction; readonly end: number } | undefined {
  const textBytes = received[NONCE_BYTES];
  if (textBytes === undefined) return undefined;
  const begin = NONCE_BYTES + 1;
  const end = begin + textBytes;
  if (received.length < end) return undefined;
  const text = received.toString('utf8', begin, end);
  const space = text.indexOf(' ');
  const name = { incarnation: text.slice(0, Math.max(space, 0)), address: text.slice(space + 1) };
  return { introduction: { name, encoded: Buffer.from(received.subarray(0, end)) }, end };
}

export function proofOf(secret: string, role: 'server' | 'client', server: Introduction, client: Introduction): Buffer {
  const mac = createHmac('sha256', secret).update(`${VERSION} ${role}\n`);
  // Each part has a known length, so that two different pairs never have the same text.
  for (const side of [server, client]) mac.update(side.encoded);
  return mac.digest();
}

export function isProof(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
