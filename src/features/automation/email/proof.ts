/** The work that visitors without an account do for a message, so that a flood costs its sender something. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';

export interface Proof {
  readonly challenge: string;
  readonly solution: string;
}

/** `<when it ends, Unix ms>.<random>.<signature>`, for one artifact. */
export function newChallenge(
  key: Uint8Array,
  artifactId: ArtifactId,
  nowMs: number,
): { readonly challenge: string; readonly expiresAtMs: number } {
  const expiresAtMs = nowMs + LIMITS.mailProofTtlMs;
  const named = `${expiresAtMs}.${randomBytes(12).toString('base64url')}`;
  return { challenge: `${named}.${sign(key, artifactId, named).toString('base64url')}`, expiresAtMs };
}

/** The digest of the challenge, to be stored so that it counts once. Throws PROOF_INVALID. */
export function requireProof(key: Uint8Array, artifactId: ArtifactId, proof: Proof | undefined, nowMs: number): Uint8Array {
  if (proof === undefined || !isRight(key, artifactId, proof, nowMs)) throw new Failure('PROOF_INVALID', { param: 'proof' });
  return createHash('sha256').update(`${artifactId} ${proof.challenge}`).digest();
}

function isRight(key: Uint8Array, artifactId: ArtifactId, { challenge, solution }: Proof, nowMs: number): boolean {
  const [, named = '', signature = ''] = /^(\d{1,16}\.[A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{43})$/.exec(challenge) ?? [];
  const given = Buffer.from(signature, 'base64url');
  const right = sign(key, artifactId, named);
  // The digest is of the text, so there must be one text only for each signature.
  if (given.length !== right.length || !timingSafeEqual(given, right) || signature !== right.toString('base64url')) return false;
  if (Number(named.split('.')[0]) <= nowMs || !/^[A-Za-z0-9]{1,32}$/.test(solution)) return false;
  return zeroBits(createHash('sha256').update(`${challenge}.${solution}`).digest()) >= LIMITS.mailProofBits;
}

function sign(key: Uint8Array, artifactId: ArtifactId, named: string): Buffer {
  return createHmac('sha256', key).update(`notify owner of ${artifactId} ${named}`).digest();
}

function zeroBits(digest: Uint8Array): number {
  const first = digest.findIndex((byte) => byte !== 0);
  return first === -1 ? digest.length * 8 : first * 8 + Math.clz32(digest[first] ?? 0) - 24;
}
