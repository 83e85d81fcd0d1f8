/**
 * JSON text in and out without loss. A number that JavaScript's cannot hold (12345678901234567890, 1e400) is kept as its text, so that what
 * a change of a document does not touch stays as it was. Nobody calculates with such a number.
 */
import { ExactNumber } from './exact-number.ts';
import { isJsonObject, setMember } from './json-path.ts';

// What no number has that JavaScript keeps as it is: up to 15 digits always come back the same.
const SUSPICIOUS = /[\d.]{16}|\d[eE]/;
const STRING_OR_NUMBER = /["\d-]/g;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const NUMBER_PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const SHORT_DIGITS = 15;
const SHORT_WHOLE = /^-?[1-9]\d{0,20}$/;
/** Between these a double has its full precision. */
const NORMAL_MIN = 1e-300;
const NORMAL_MAX = 1e300;
/** An exponent with more digits is not calculated with: no two such numbers are the same unless they are written alike. */
const EXPONENT_CHARS_MAX = 15;
const NUL_ESCAPE = '\\u0000';
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ZERO = 0x30;

/** The value of a valid JSON text. `plain`: what to answer where nothing of it is lost by JSON.parse; default what that makes of it. */
export function parseJson(text: string, plain?: unknown): unknown {
  if (SUSPICIOUS.test(text)) {
    // Only as an escape can a NUL be in the text: more of them in a row than there are anywhere are our own mark.
    let nuls = NUL_ESCAPE;
    while (text.includes(nuls)) nuls += nuls;
    const marked = markInexact(text, nuls);
    const mark = '\u0000'.repeat(nuls.length / NUL_ESCAPE.length);
    if (marked !== undefined) return withNumbers(JSON.parse(marked), mark);
  }
  return plain === undefined ? JSON.parse(text) : plain;
}

/** The text of a value that `parseJson` may have made. */
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

/** The text with each such number as a string that begins with the mark; undefined where there is none. */
function markInexact(text: string, mark: string): string | undefined {
  let marked = '';
  let from = 0;
  STRING_OR_NUMBER.lastIndex = 0;
  // Without a match object for every number: a document may have a hundred thousand.
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

/** Whether a JavaScript number is written as the same number again. */
function isHeld(number: string): boolean {
  const value = Number(number);
  if (number.length <= SHORT_DIGITS) {
    const size = Math.abs(value);
    if (size === 0 ? !/[eE]/.test(number) : size > NORMAL_MIN && size < NORMAL_MAX) return true;
  }
  const written = String(value);
  if (written === number) return true;
  // Up to there a whole number is written in one way only.
  if (!Number.isFinite(value) || SHORT_WHOLE.test(number)) return false;
  return normalForm(written) === normalForm(number);
}

/** Puts the numbers in the places of their marked texts. */
function withNumbers(value: unknown, mark: string): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value;
  if (Array.isArray(value)) for (let index = 0; index < value.length; index += 1) value[index] = withNumbers(value[index], mark);
  else if (isJsonObject(value)) for (const name of Object.keys(value)) setMember(value, name, withNumbers(value[name], mark));
  return value;
}

/** One text for all texts of a number: its digits without zeros around them, and the power of ten of the last. */
function normalForm(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER_PARTS.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return '0';
  if (exponent.length > EXPONENT_CHARS_MAX) return number;
  let significant = digits.length;
  while (digits.charCodeAt(significant - 1) === ZERO) significant -= 1;
  return `${sign}${digits.slice(0, significant)}e${Number(exponent) - fraction.length + digits.length - significant}`;
}

/** Whether both are the same number, however each is written. */
export function isSameNumber(a: unknown, b: unknown): boolean {
  const [one, other] = [numberText(a), numberText(b)];
  return one !== undefined && other !== undefined && normalForm(one) === normalForm(other);
}

function numberText(value: unknown): string | undefined {
  if (value instanceof ExactNumber) return value.text;
  return typeof value === 'number' ? String(value) : undefined;
}

/** The place of the quote that ends the string which begins at `start` of a valid JSON text. */
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
