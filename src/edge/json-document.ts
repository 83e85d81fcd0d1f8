/** Reads a JSON document strictly: UTF-8, no duplicate members, bounded depth. JSON.parse alone would take the last of two members. */
import { isUtf8 } from 'node:buffer';
import { endOfString } from '../../actors/json-text.ts';
import { Failure } from '../../protocol/errors.ts';
import { LIMITS } from '../../protocol/limits.ts';

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
/** Up to here whitespace, the only characters of JSON that stand between a member's name and its colon. */
const SPACE = 0x20;

export function parseJsonDocument(bytes: Uint8Array): JsonDocument {
  if (!isUtf8(bytes)) throw new Failure('INVALID_JSON', { message: 'The body is not UTF-8.' });
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Failure('INVALID_JSON', { message: `The body is not valid JSON: ${error instanceof Error ? error.message : 'unreadable'}` });
  }
  if (typeof value === 'object' && value !== null) refuseDeepOrDuplicate(text);
  return { text, value };
}

/** Scans a text that is known to be valid JSON. Strings are skipped by `indexOf`, so that a large file in base 64 costs little. */
function refuseDeepOrDuplicate(text: string): void {
  // The members seen of each open object; undefined for an open array.
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case OPEN_OBJECT:
        open.push(new Set());
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
      throw new Failure('INVALID_JSON', { message: `The body is nested deeper than ${LIMITS.jsonDepthMax}.` });
    }
  }
}

function noteMember(text: string, start: number, end: number, members: Set<string> | undefined): void {
  if (members === undefined) return;
  let after = end + 1;
  while (text.charCodeAt(after) <= SPACE) after += 1;
  if (text.charCodeAt(after) !== COLON) return;
  const raw = text.slice(start + 1, end);
  const name: string = raw.includes('\\') ? JSON.parse(text.slice(start, end + 1)) : raw;
  if (members.has(name)) {
    throw new Failure('INVALID_JSON', { message: 'The body has the same member twice in one object.', param: name.slice(0, 200) });
  }
  members.add(name);
}
