/** Codes of device logins, and what a poll gets. */
import { createHash } from 'node:crypto';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { DeviceLoginRow } from './rows.ts';

/** Letters that are not taken for others and spell no words. RFC 8628, 6.1: 20 to the power of 8 codes. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const CODE_LETTERS = 8;

/** `bytes`: random; those that would make some letters more likely are skipped. Undefined where too few are left. */
export function userCodeOf(bytes: Uint8Array): string | undefined {
  const fair = 256 - (256 % LETTERS.length);
  const letters = [...bytes].filter((byte) => byte < fair).map((byte) => LETTERS[byte % LETTERS.length]);
  return letters.length < CODE_LETTERS ? undefined : letters.slice(0, CODE_LETTERS).join('');
}

/** What a person typed, as it is stored. Undefined where it cannot be a code. */
export function normalCode(typed: string): string | undefined {
  const letters = typed.toUpperCase().replace(/[\s-]/g, '');
  return letters.length === CODE_LETTERS && [...letters].every((letter) => LETTERS.includes(letter)) ? letters : undefined;
}

/** As it is shown. */
export function shownCode(code: string): string {
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}

export function deviceDigest(deviceCode: string): Buffer {
  return createHash('sha256').update(`device login ${deviceCode}`).digest();
}

/** Words of a program about itself, on one line. */
export function ownWords(text: string | undefined): string | null {
  return text?.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069\s]+/gu, ' ').trim() || null;
}

export type PollOutcome =
  | { readonly kind: 'unknown' | 'expired' | 'denied' | 'approved' }
  | { readonly kind: 'pending' | 'too_soon'; readonly intervalS: number };

/** An approved login is delivered however early the poll comes: its wait is over. */
export function pollOutcome(row: DeviceLoginRow | undefined, nowMs: number): PollOutcome {
  if (row === undefined) return { kind: 'unknown' };
  if (row.expires_at_ms <= nowMs) return { kind: 'expired' };
  switch (row.status) {
    case 'approved':
    case 'denied':
      return { kind: row.status };
    case 'pending': {
      const isSoon = row.polled_at_ms !== null && nowMs - row.polled_at_ms < row.interval_s * 1000;
      if (!isSoon) return { kind: 'pending', intervalS: row.interval_s };
      return { kind: 'too_soon', intervalS: Math.min(LIMITS.devicePollIntervalMaxS, row.interval_s + LIMITS.devicePollIntervalS) };
    }
    default:
      return row.status satisfies never;
  }
}

/** What the program is told where somebody else than expected signed in. `emails`: proved addresses of the person. */
export function warningFor(expected: string | null, emails: readonly string[]): string | null {
  if (expected === null || emails.includes(expected)) return null;
  const [own] = emails;
  return own === undefined
    ? `The account that signed in has no e-mail address; ${expected} was expected.`
    : `Signed in as ${own}; ${expected} was expected.`;
}
