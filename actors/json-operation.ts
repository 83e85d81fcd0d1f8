/** The third form of PATCH: one increment, append or remove at a path. */
import { Failure } from '../protocol/errors.ts';
import type { JsonOperation } from '../protocol/schemas/json-key.ts';
import { ExactNumber } from './exact-number.ts';
import { isJsonObject, type JsonObject, type PathStep, parsePath, readPath, setMember } from './json-path.ts';

/** Changes `document` in place where it can, and answers what replaces it; undefined stands for an absent document. Throws PATCH_FAILED or INVALID_REQUEST. */
export function applyOperation(document: unknown, operation: JsonOperation): unknown {
  const path = parsePath(operation.path);
  if (path === undefined) {
    throw new Failure('INVALID_REQUEST', { message: 'path must look like $, $.a.b or $.list[0].', param: 'path' });
  }
  // With a parent above it the document itself is a member like any other.
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

/** Puts `value` at the path and makes the objects on the way there; an array is never made longer by naming an index. */
function write(root: JsonObject, steps: readonly PathStep[], value: unknown, operation: JsonOperation): void {
  let parent: unknown = root;
  steps.forEach((step, index) => {
    const isLast = index === steps.length - 1;
    const there = readPath(parent, [step]);
    const next = isLast ? value : (there ?? {});
    if (Array.isArray(parent) && typeof step === 'number' && step < parent.length) parent[step] = next;
    else if (isJsonObject(parent) && typeof step === 'string') setMember(parent, step, next);
    else throw refused(operation, 'cannot be made: what contains it is of another type or too short');
    parent = next;
  });
}

function refused(operation: JsonOperation, why: string): Failure {
  return new Failure('PATCH_FAILED', { message: `Cannot ${operation.op}: ${operation.path} ${why}.`, param: 'path' });
}
