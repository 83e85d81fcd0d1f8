/** The secret of a token, and the digest by which it is stored and found. */
import { createHash, randomBytes } from 'node:crypto';
import { newId, type TokenId } from '../../../../protocol/core/ids.ts';

const PREFIXES = { personal: 'so_', agent: 'sot_', external: 'sox_', run: 'sor_' } as const;

/** A fresh token. Only its digest is stored; the secret is in the reply and nowhere else. */
export function newToken(kind: keyof typeof PREFIXES): { readonly id: TokenId; readonly token: string; readonly sha256: Buffer } {
  const token = `${PREFIXES[kind]}${randomBytes(32).toString('hex')}`;
  return { id: newId('token'), token, sha256: tokenSha256(token) };
}

export function tokenSha256(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
