/** The third form of PATCH: one increment, append or remove at a path. */
import { Failure } from '../../protocol/core/errors.ts';
import type { JsonOperation } from '../../protocol/data/json-keys.ts';
import { ExactNumber } from './exact-number.ts';
import { assertStorable } from './json-patch.ts';
import { isJsonObject, type JsonObject, type PathStep, parsePath, readPath, setMember } from './json-path.ts';
import { endOfValue, isListAt, isObjectAt, isScalarAt, type Place, placeOf, withLast, withoutEntry } from './json-span.ts';
import { jsonText, parseJson } from './json-text.ts';

/** Returns the replacement of `document`, which it changes in place where possible; undefined stands for an absent document. Throws PATCH_FAILED or INVALID_REQUEST. */
export function applyOperation(document: unknown, operation: JsonOperation): unknown {
  const path = stepsOf(operation);
  // A parent makes the document a member like any other, so that the root needs no case of its own.
  const root: JsonObject = document === undefined ? {} : { document };
  const steps: readonly PathStep[] = ['document', ...path];
  const before = readPath(root, steps);
  switch (operation.op) {
    case 'increment':
      write(root, steps, incremented(before, operation), operation);
      break;
    case 'append':
      if (before !== undefined && !Array.isArray(before)) throw refused(operation, 'is not an array');
      if (Array.isArray(before)) before.push(operation.value);
      else write(root, steps, [operation.value], operation);
      break;
    case 'remove':
      remove(root, steps, before, operation);
      break;
    default:
      return operation satisfies never;
  }
  return root.document;
}

/**
 * Does the same to the text of a document, of which only the part at the path is parsed; the rest stays as it was sent. So a small change of a
 * large document costs little. Throws PATCH_FAILED or INVALID_REQUEST.
 */
export function applyOperationToText(text: string, operation: JsonOperation): string {
  const steps = stepsOf(operation);
  const place = placeOf(text, steps);
  const isThere = place.steps === steps.length;
  switch (operation.op) {
    case 'increment': {
      const sum = incremented(isThere ? scalarAt(text, place) : undefined, operation);
      if (!isThere) return withMade(text, place, steps, sum, operation);
      return text.slice(0, place.start) + JSON.stringify(sum) + text.slice(endOfValue(text, place.start));
    }
    case 'append':
      if (!isThere) return withMade(text, place, steps, [operation.value], operation);
      if (!isListAt(text, place.start)) throw refused(operation, 'is not an array');
      assertStorable(operation.value, steps.length + 1);
      return withLast(text, place.start, jsonText(operation.value));
    case 'remove':
      if (!isThere) throw refused(operation, 'does not exist');
      if (steps.length === 0) throw refused(operation, 'is the whole value: DELETE the key instead');
      return withoutEntry(text, place);
    default:
      return operation satisfies never;
  }
}

function stepsOf({ path }: JsonOperation): readonly PathStep[] {
  const steps = parsePath(path);
  if (steps === undefined) {
    throw new Failure('INVALID_REQUEST', { message: 'path must look like $, $.a.b or $.list[0].', param: 'path' });
  }
  return steps;
}

/** The value at a place; null for one that is no number anyway. */
function scalarAt(text: string, { start }: Place): unknown {
  return isScalarAt(text, start) ? parseJson(text.slice(start, endOfValue(text, start))) : null;
}

/** The text with a value at the path beyond `place`, which is the deepest there is. The objects on the way are made; a null gives way to one. */
function withMade(text: string, place: Place, steps: readonly PathStep[], value: unknown, operation: JsonOperation): string {
  const names = steps.slice(place.steps);
  const isNull = text.startsWith('null', place.start);
  if (!(isNull || isObjectAt(text, place.start)) || names.some((name) => typeof name === 'number')) throw notMade(operation);
  assertStorable(value, steps.length);
  const [first = '', ...others] = names;
  const made = others.reduceRight<string>((inner, name) => `{${JSON.stringify(name)}:${inner}}`, jsonText(value));
  const member = `${JSON.stringify(first)}:${made}`;
  return isNull
    ? `${text.slice(0, place.start)}{${member}}${text.slice(endOfValue(text, place.start))}`
    : withLast(text, place.start, member);
}

function incremented(before: unknown, operation: { op: 'increment'; path: string; by: number }): number {
  const start = before === undefined ? 0 : before;
  if (start instanceof ExactNumber) throw refused(operation, 'has more digits than can be calculated with: replace it by PUT');
  if (typeof start !== 'number') throw refused(operation, 'is not a number');
  const sum = start + operation.by;
  if (!Number.isFinite(sum)) throw refused(operation, 'would be too large for a number');
  return sum;
}

function remove(root: JsonObject, steps: readonly PathStep[], before: unknown, operation: JsonOperation): void {
  if (before === undefined) throw refused(operation, 'does not exist');
  if (steps.length === 1) throw refused(operation, 'is the whole value: DELETE the key instead');
  const parent = readPath(root, steps.slice(0, -1));
  const last = steps.at(-1);
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else if (isJsonObject(parent)) delete parent[String(last)];
}

/** Sets `value` at the path and creates missing objects on the way. An index beyond the end of an array does not extend it. */
function write(root: JsonObject, steps: readonly PathStep[], value: unknown, operation: JsonOperation): void {
  let parent: unknown = root;
  steps.forEach((step, index) => {
    const isLast = index === steps.length - 1;
    const there = readPath(parent, [step]);
    const next = isLast ? value : (there ?? {});
    if (Array.isArray(parent) && typeof step === 'number' && step < parent.length) parent[step] = next;
    else if (isJsonObject(parent) && typeof step === 'string') setMember(parent, step, next);
    else throw notMade(operation);
    parent = next;
  });
}

function notMade(operation: JsonOperation): Failure {
  return refused(operation, 'cannot be made: what contains it is of another type or too short');
}

function refused(operation: JsonOperation, why: string): Failure {
  return new Failure('PATCH_FAILED', { message: `Cannot ${operation.op}: ${operation.path} ${why}.`, param: 'path' });
}
