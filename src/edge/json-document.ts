/** Reads a JSON document strictly: UTF-8, no duplicate members, bounded depth. JSON.parse alone would keep the last of two members. */
import { isUtf8 } from 'node:buffer';
import { endOfString } from '../../actors/json/json-text.ts';
import { Failure } from '../../protocol/core/errors.ts';
import { LIMITS } from '../../protocol/core/limits.ts';

export interface JsonDocument {
  readonly text: string;
  readonly value: unknown;
}

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
/** Character codes up to this one are whitespace, the only characters allowed between a member's name and its colon. */
const SPACE = 0x20;

export function parseJsonDocument(bytes: Uint8Array): JsonDocument {
  if (!isUtf8(bytes)) throw new Failure('INVALID_JSON', { message: 'The body is not UTF-8.' });
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Failure('INVALID_JSON', { message: `The body is not valid JSON${problemOf(error)}.` });
  }
  if (typeof value === 'object' && value !== null) refuseDeepOrDuplicate(text);
  return { text, value };
}

/** What JSON.parse found and where; its text quotes a part of the body and ends with "is not valid JSON", which are left out. */
function problemOf(error: unknown): string {
  const problem = error instanceof SyntaxError ? error.message.replace(/, ("|\.\.\.).*$/s, '').replace(/\.$/, '') : '';
  return problem === '' ? '' : `: ${problem.charAt(0).toLowerCase()}${problem.slice(1)}`;
}

/** Scans a text that is known to be valid JSON. `indexOf` skips strings, so that a large file in base 64 costs little. */
function refuseDeepOrDuplicate(text: string): void {
  // undefined for an open array.
  const open: (Members | undefined)[] = [];
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case OPEN_OBJECT:
        open.push({ first: undefined, all: undefined });
        break;
      case OPEN_ARRAY:
        open.push(undefined);
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        open.pop();
        continue;
      case QUOTE: {
        const end = endOfString(text, at);
        noteMember(text, at, end, open[open.length - 1]);
        at = end;
        continue;
      }
      default:
        continue;
    }
    if (open.length > LIMITS.jsonDepthMax) {
      throw new Failure('INVALID_JSON', { message: `The body is nested more than ${LIMITS.jsonDepthMax} deep.` });
    }
  }
}

/** The members seen of an open object. Most objects are small, and a set for each would cost more than parsing it. */
interface Members {
  first: string | undefined;
  all: Set<string> | undefined;
}

function noteMember(text: string, start: number, end: number, members: Members | undefined): void {
  if (members === undefined) return;
  let after = end + 1;
  while (text.charCodeAt(after) <= SPACE) after += 1;
  if (text.charCodeAt(after) !== COLON) return;
  const raw = text.slice(start + 1, end);
  const name: string = raw.includes('\\') ? JSON.parse(text.slice(start, end + 1)) : raw;
  if (members.first === undefined) {
    members.first = name;
    return;
  }
  members.all ??= new Set([members.first]);
  if (members.all.has(name)) {
    throw new Failure('INVALID_JSON', { message: 'The body has the same member twice in one object.', param: name.slice(0, 200) });
  }
  members.all.add(name);
}
