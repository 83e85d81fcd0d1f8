/** Pure decisions about JSON keys: who may use reserved keys, what a path selects, what a PATCH does, and what a cursor names. */
import type { Role } from '../../../../actors/access/access.ts';
import { mergePatch } from '../../../../actors/json/json-merge.ts';
import { applyOperation, applyOperationToText } from '../../../../actors/json/json-operation.ts';
import { isReserved } from '../../../../actors/json/json-part.ts';
import { applyJsonPatch, assertStorable, parseJsonPatch, type Spend } from '../../../../actors/json/json-patch.ts';
import { parsePath } from '../../../../actors/json/json-path.ts';
import { endOfValue, placeOf } from '../../../../actors/json/json-span.ts';
import { holdsExact, jsonText, parseJson } from '../../../../actors/json/json-text.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { readInput } from '../../../../protocol/core/issues.ts';
import { type JsonOperation, jsonKey, jsonOperation } from '../../../../protocol/data/json-keys.ts';

/** Whether the role may use keys that begin with `_`. */
export function mayUseReserved(role: Role): boolean {
  return role === 'owner' || role === 'editor';
}

/** Throws FORBIDDEN for a reserved key that the role may not use. */
export function assertMayUse(role: Role, key: string): void {
  if (isReserved(key) && !mayUseReserved(role)) {
    throw new Failure('FORBIDDEN', { message: 'Only the owner and editors may use keys that begin with _.', param: 'key' });
  }
}

/** The part of a value's text at a path. Throws INVALID_REQUEST, or KEY_NOT_FOUND if the path selects nothing. */
export function textAt(text: string, path: string): string {
  const steps = parsePath(path);
  if (steps === undefined) {
    throw new Failure('INVALID_REQUEST', { message: 'path: must look like $, $.a.b or $.list[0].', param: 'path' });
  }
  const place = placeOf(text, steps);
  if (place.steps < steps.length) throw new Failure('KEY_NOT_FOUND', { message: `The value has nothing at ${path}.`, param: 'path' });
  return text.slice(place.start, endOfValue(text, place.start));
}

interface PatchBody {
  readonly mediaType: string | undefined;
  readonly body: unknown;
  /** The body as it was sent: numbers are read from it without losing digits. */
  readonly bodyText: string | undefined;
}

/** What a PATCH does to the current value or to its text, which is undefined if the key is absent. */
export type Patch =
  | { readonly ofValue: (value: unknown, spend: Spend) => unknown }
  | { readonly ofText: (text: string | undefined) => string };

/** Reads any of the three forms of PATCH. */
export function patchOf({ mediaType, body: parsed, bodyText }: PatchBody): Patch {
  const body = bodyText === undefined || holdsExact(parsed) ? parsed : parseJson(bodyText, parsed);
  switch (mediaType) {
    case 'application/merge-patch+json':
      return { ofValue: (value) => mergePatch(value ?? {}, body) };
    case 'application/json-patch+json': {
      const patch = parseJsonPatch(body);
      return { ofValue: (value, spend) => applyJsonPatch(present(value), patch, spend) };
    }
    default: {
      const operation = operationOf(body);
      return { ofText: (text) => operated(text, operation) };
    }
  }
}

function operated(text: string | undefined, operation: JsonOperation): string {
  if (text !== undefined) return applyOperationToText(text, operation);
  const made = applyOperation(operation.op === 'remove' ? present(undefined) : undefined, operation);
  assertStorable(made);
  return jsonText(made);
}

function present(value: unknown): unknown {
  if (value === undefined) throw new Failure('KEY_NOT_FOUND', { param: 'key' });
  return value;
}

function operationOf(body: unknown): JsonOperation {
  const { value, issues = [{ path: 'value', message: 'is required' }] } = readInput(jsonOperation, body);
  if (value !== undefined && !(value.op === 'append' && value.value === undefined)) return value;
  throw new Failure('INVALID_REQUEST', {
    message: 'A PATCH of application/json is one operation: {"op":"increment"|"append"|"remove", "path", "by"|"value"}.',
    hint: 'Send a merge patch as application/merge-patch+json and a JSON patch as application/json-patch+json.',
    param: issues[0]?.path || 'op',
    issues,
  });
}

/** A cursor is the last key of its page, so that it stays valid when keys are added or deleted. */
export function cursorOfKey(key: string): string {
  return Buffer.from(key).toString('base64url');
}

/** Throws INVALID_REQUEST. */
export function keyOfCursor(cursor: string): string {
  const key = Buffer.from(cursor, 'base64url').toString();
  if (jsonKey.safeParse(key).success) return key;
  throw new Failure('INVALID_REQUEST', { message: 'cursor: must be nextCursor of the previous page.', param: 'cursor' });
}
