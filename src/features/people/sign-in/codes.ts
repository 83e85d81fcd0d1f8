/** Codes by mail that prove an address. */
import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Queries } from '../../deps.ts';
import { type CodeOf, type CodeRow, deleteCodes, insertCode, liveCodes, lockName, newCodeId, spendTries } from './rows.ts';

const CODE_DIGITS = 6;

export interface Pending {
  /** Counts from the moment in which the code is entered. */
  readonly passwordHash: string | null;
  readonly name: string | null;
}

const NOTHING: Pending = { passwordHash: null, name: null };

/** A new code beside those that are valid; the caller mails it. */
export async function makeCode(
  tx: Queries,
  what: CodeOf,
  nowMs: number,
  pending = NOTHING,
): Promise<{ readonly id: string; readonly code: string }> {
  const code = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0');
  const id = newCodeId();
  await insertCode(tx, {
    ...what,
    ...pending,
    ...{ id, digest: digestOf(what, code), triesLeft: LIMITS.signInCodeTries, nowMs, expiresAtMs: nowMs + LIMITS.signInCodeTtlMs },
  });
  return { id, code };
}

/**
 * Consumes a right code, and with it all others of its kind. A wrong one spends an attempt at each and answers null: throw only after the
 * transaction, which would give the attempt back. `id`: only this one counts.
 */
export async function useCode(tx: Queries, what: CodeOf, code: string, nowMs: number, id?: string): Promise<CodeRow | null> {
  await lockName(tx, what.email);
  const rows = await liveCodes(tx, what, nowMs);
  const digest = digestOf(what, code);
  const right = rows.find((row) => timingSafeEqual(row.code_sha256, digest) && (id === undefined || row.id === id));
  if (right === undefined) {
    await spendTries(
      tx,
      rows.map((row) => row.id),
    );
    return null;
  }
  await deleteCodes(tx, what);
  return right;
}

function digestOf({ email, purpose, accountId }: CodeOf, code: string): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([purpose, email, accountId, code]))
    .digest();
}
