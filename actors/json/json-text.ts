/**
 * Lossless JSON parsing and writing. A number that a JavaScript number cannot represent (12345678901234567890, 1e400) is kept as its text, so
 * that what a change does not touch stays as it was. Such numbers are never calculated with.
 */
import { ExactNumber } from './exact-number.ts';
import { isJsonObject, setMember } from './json-path.ts';

// Up to 15 digits without an exponent always survive a round trip.
const SHORT_DIGITS = 15;
const EXPONENT = /\d[eE]/;
const STRING_OR_NUMBER = /["\d-]/g;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const NUMBER_PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const SHORT_WHOLE = /^-?[1-9]\d{0,20}$/;
/** The range in which a double has full precision. */
const NORMAL_MIN = 1e-300;
const NORMAL_MAX = 1e300;
/** Longer exponents are not evaluated: such numbers are equal only if their texts are. */
const EXPONENT_CHARS_MAX = 15;
const NUL_ESCAPE = '\\u0000';
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

/** The value of a valid JSON text. `plain` is returned where JSON.parse loses nothing; it defaults to the result of JSON.parse. */
export function parseJson(text: string, plain?: unknown): unknown {
  if (hasLongDigits(text) || EXPONENT.test(text)) {
    // A NUL occurs in JSON text only as an escape. The mark has more of them in a row than the text has anywhere, so it is unique.
    let nuls = NUL_ESCAPE;
    while (text.includes(nuls)) nuls += nuls;
    const marked = markInexact(text, nuls);
    const mark = '\u0000'.repeat(nuls.length / NUL_ESCAPE.length);
    if (marked !== undefined) return withNumbers(JSON.parse(marked), mark);
  }
  return plain === undefined ? JSON.parse(text) : plain;
}

/** Whether more than `SHORT_DIGITS` digits and points follow each other. One of so many is at one of the places looked at, most of which are something else. */
function hasLongDigits(text: string): boolean {
  for (let at = SHORT_DIGITS; at < text.length; at += SHORT_DIGITS + 1) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let start = at;
    while (isDigit(text.charCodeAt(start - 1))) start -= 1;
    let end = at + 1;
    while (end - start <= SHORT_DIGITS && isDigit(text.charCodeAt(end))) end += 1;
    if (end - start > SHORT_DIGITS) return true;
  }
  return false;
}

function isDigit(code: number): boolean {
  return (code >= ZERO && code <= NINE) || code === POINT;
}

/** The JSON text of a value, which may come from `parseJson`. */
export function jsonText(value: unknown): string {
  return holdsExact(value) ? exactText(value) : JSON.stringify(value);
}

export function holdsExact(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof ExactNumber) return true;
  for (const member of Array.isArray(value) ? value : Object.values(value)) if (holdsExact(member)) return true;
  return false;
}

function exactText(value: unknown): string {
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(exactText).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).map((name) => `${JSON.stringify(name)}:${exactText(value[name])}`);
  return `{${members.join(',')}}`;
}

/** The text with each such number replaced by a marked string; undefined if there is none. */
function markInexact(text: string, mark: string): string | undefined {
  let marked = '';
  let from = 0;
  STRING_OR_NUMBER.lastIndex = 0;
  // Avoids a match object for each number, because a document may have a hundred thousand.
  while (STRING_OR_NUMBER.test(text)) {
    const index = STRING_OR_NUMBER.lastIndex - 1;
    if (text.charCodeAt(index) === QUOTE) {
      STRING_OR_NUMBER.lastIndex = endOfString(text, index) + 1;
      continue;
    }
    NUMBER.lastIndex = index;
    NUMBER.test(text);
    const end = NUMBER.lastIndex;
    STRING_OR_NUMBER.lastIndex = end;
    const number = text.slice(index, end);
    if (isHeld(number)) continue;
    marked += `${text.slice(from, index)}"${mark}${number}"`;
    from = end;
  }
  return from === 0 ? undefined : marked + text.slice(from);
}

/** The number of a valid JSON text, as `parseJson` reads it. */
export function exactNumber(text: string): number | ExactNumber {
  return isHeld(text) ? Number(text) : new ExactNumber(text);
}

/** Whether a JavaScript number is written back as the same number. */
function isHeld(number: string): boolean {
  const value = Number(number);
  if (number.length <= SHORT_DIGITS) {
    const size = Math.abs(value);
    if (size === 0 ? !/[eE]/.test(number) : size > NORMAL_MIN && size < NORMAL_MAX) return true;
  }
  const written = String(value);
  if (written === number) return true;
  // Below this bound a whole number has one notation only.
  if (!Number.isFinite(value) || SHORT_WHOLE.test(number)) return false;
  return normalForm(written) === normalForm(number);
}

/** Replaces the marked strings with their numbers. */
function withNumbers(value: unknown, mark: string): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value;
  if (Array.isArray(value)) for (let index = 0; index < value.length; index += 1) value[index] = withNumbers(value[index], mark);
  else if (isJsonObject(value)) for (const name of Object.keys(value)) setMember(value, name, withNumbers(value[name], mark));
  return value;
}

/** The canonical text of a number: its digits without leading and trailing zeros, and the power of ten of the last. */
function normalForm(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER_PARTS.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return '0';
  if (exponent.length > EXPONENT_CHARS_MAX) return number;
  let significant = digits.length;
  while (digits.charCodeAt(significant - 1) === ZERO) significant -= 1;
  return `${sign}${digits.slice(0, significant)}e${Number(exponent) - fraction.length + digits.length - significant}`;
}

/** Whether both texts denote the same number. */
export function isSameNumber(a: unknown, b: unknown): boolean {
  const [one, other] = [numberText(a), numberText(b)];
  return one !== undefined && other !== undefined && normalForm(one) === normalForm(other);
}

function numberText(value: unknown): string | undefined {
  if (value instanceof ExactNumber) return value.text;
  return typeof value === 'number' ? String(value) : undefined;
}

/** Index of the closing quote of the string that begins at `start` in a valid JSON text. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (text.charCodeAt(end - 1) === BACKSLASH && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}
