/**
 * JSON Patch, RFC 6902, and what a PATCH may cost.
 * The package rfc6902 is not used, except as a model in the tests: it cannot replace the whole document, reads inherited members
 * (`/toString`), changes the prototype at `/__proto__`, and reports success for `/list/length` and `/list/x`.
 */
import { z } from 'zod';
import { Failure } from '../../protocol/core/errors.ts';
import { readInput } from '../../protocol/core/issues.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { ExactNumber } from './exact-number.ts';
import { isJsonObject, type JsonObject, setMember } from './json-path.ts';
import { isSameNumber } from './json-text.ts';

// One patch is one turn, and a turn that takes long keeps everybody else waiting: more is an INVALID_REQUEST.
const OPERATIONS_MAX = 1000;
// `copy` can double a document with every operation; all copies of one patch together may have this much: VALUE_TOO_LARGE.
const COPY_COST_MAX = 2 * LIMITS.jsonValueBytesMax;

const pointer = z.string().regex(/^(?:\/(?:[^~/]|~[01])*)*$/, 'must be a JSON Pointer such as /a/b/0');
const value = z.unknown();
const operation = z.discriminatedUnion('op', [
  z.object({ op: z.literal('add'), path: pointer, value }),
  z.object({ op: z.literal('remove'), path: pointer }),
  z.object({ op: z.literal('replace'), path: pointer, value }),
  z.object({ op: z.literal('move'), from: pointer, path: pointer }),
  z.object({ op: z.literal('copy'), from: pointer, path: pointer }),
  z.object({ op: z.literal('test'), path: pointer, value }),
]);
const operations = z
  .array(
    operation.refine((one) => !('value' in one) || one.value !== undefined, { path: ['value'], message: 'is missing' }),
    'must be an array of operations (RFC 6902)',
  )
  .max(OPERATIONS_MAX);

export type PatchOperation = z.output<typeof operation>;

/** Checks a patch document. Throws INVALID_REQUEST with every issue. */
export function parseJsonPatch(body: unknown): readonly PatchOperation[] {
  const { value: read, issues } = readInput(operations, body);
  if (issues === undefined) return read;
  const [first] = issues;
  throw new Failure('INVALID_REQUEST', {
    message: `The patch is not valid: ${first?.path ? `${first.path} ` : ''}${first?.message}.`,
    ...(first?.path ? { param: first.path } : {}),
    issues,
  });
}

/** Takes work out of the turn's budget before it is done, in the unit of `TurnWork.spend`; `param` names the operation. Throws REQUEST_TOO_EXPENSIVE. */
export type Spend = (bytes: number, param: string) => void;

/** Elements of an array that are moved by one in the time in which a byte is parsed and written. */
const ELEMENTS_MOVED_PER_BYTE = 20;
/** Copying takes a part of the time of parsing and writing. */
const COPY_SHARE = 4;

const UNBOUNDED: Spend = () => undefined;

/** What the operations of one patch share. */
interface Work {
  /** What all copies may still have. */
  copyLeft: number;
  readonly sizes: ObjectSizes;
  readonly spend: (bytes: number) => void;
}

/** How many members objects have. Counting takes as long as the object is large, so that each is counted once and then kept up to date. */
class ObjectSizes {
  readonly #sizes = new WeakMap<JsonObject, number>();

  of(object: JsonObject): number {
    const known = this.#sizes.get(object);
    if (known !== undefined) return known;
    const size = Object.keys(object).length;
    this.#sizes.set(object, size);
    return size;
  }

  set(object: JsonObject, name: string, value: unknown): void {
    if (!Object.hasOwn(object, name)) this.#grow(object, 1);
    setMember(object, name, value);
  }

  delete(object: JsonObject, name: string): void {
    this.#grow(object, -1);
    delete object[name];
  }

  #grow(object: JsonObject, by: number): void {
    const known = this.#sizes.get(object);
    if (known !== undefined) this.#sizes.set(object, known + by);
  }
}

/**
 * Applies all or throws PATCH_FAILED, VALUE_TOO_LARGE or what `spend` throws (then `document` is spoiled). Answers what replaces `document`.
 */
export function applyJsonPatch(document: unknown, patch: readonly PatchOperation[], spend: Spend = UNBOUNDED): unknown {
  // A parent makes the document a member like any other; its name is the first token of every pointer.
  const root: JsonObject = { '': document };
  let at = 0;
  const work: Work = { copyLeft: COPY_COST_MAX, sizes: new ObjectSizes(), spend: (bytes) => spend(bytes, String(at)) };
  patch.forEach((one, index) => {
    at = index;
    const why = applyOne(root, one, work);
    if (why !== undefined) {
      throw new Failure('PATCH_FAILED', { message: `Operation ${index} (${one.op} ${one.path || '""'}): ${why}.`, param: String(index) });
    }
  });
  return root[''];
}

/** The problem, or undefined. */
function applyOne(root: JsonObject, one: PatchOperation, work: Work): string | undefined {
  const tokens = tokensOf(one.path);
  switch (one.op) {
    case 'add':
      return add(root, tokens, one.value, work);
    case 'remove':
      return tokens.length === 1 ? 'the whole value cannot be removed, DELETE the key instead' : remove(root, tokens, work);
    case 'replace':
      return find(root, tokens) === undefined ? missing(one.path) : replace(root, tokens, one.value);
    case 'test':
      return isEqual(find(root, tokens), one.value, work.sizes) ? undefined : 'the value is another';
    case 'copy': {
      const source = find(root, tokensOf(one.from));
      return source === undefined ? missing(one.from) : add(root, tokens, copyOf(source, work, 0), work);
    }
    case 'move': {
      const source = find(root, tokensOf(one.from));
      if (source === undefined) return missing(one.from);
      if (one.path === one.from) return undefined;
      if (one.path.startsWith(`${one.from}/`)) return 'a value cannot be moved into itself';
      return remove(root, tokensOf(one.from), work) ?? add(root, tokens, source, work);
    }
    default:
      return one satisfies never;
  }
}

function tokensOf(path: string): string[] {
  return path.split('/').map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function missing(path: string): string {
  return `there is nothing at ${path || '""'}`;
}

// No leading zeros, no sign: RFC 6901. 15 digits are exact in a number.
const INDEX = /^(?:0|[1-9]\d{0,14})$/;

function child(parent: unknown, token: string): unknown {
  if (Array.isArray(parent)) return INDEX.test(token) ? parent[Number(token)] : undefined;
  return isJsonObject(parent) && Object.hasOwn(parent, token) ? parent[token] : undefined;
}

/** Undefined for a missing value, which is unambiguous because JSON has no undefined. */
function find(root: JsonObject, tokens: readonly string[]): unknown {
  let at: unknown = root;
  for (const token of tokens) {
    at = child(at, token);
    if (at === undefined) return undefined;
  }
  return at;
}

function add(root: JsonObject, tokens: readonly string[], added: unknown, work: Work): string | undefined {
  const parent = find(root, tokens.slice(0, -1));
  const last = tokens.at(-1) ?? '';
  if (isJsonObject(parent)) work.sizes.set(parent, last, added);
  else if (!Array.isArray(parent)) return 'there is no object or array to add to';
  else if (last === '-') parent.push(added);
  else if (!INDEX.test(last) || Number(last) > parent.length) return `an array of ${parent.length} has no place ${last}`;
  else {
    spendMove(parent, last, work);
    parent.splice(Number(last), 0, added);
  }
  return undefined;
}

/** Replaces the value at a location that exists. */
function replace(root: JsonObject, tokens: readonly string[], replacement: unknown): undefined {
  const parent = find(root, tokens.slice(0, -1));
  const last = tokens.at(-1) ?? '';
  if (Array.isArray(parent)) parent[Number(last)] = replacement;
  else if (isJsonObject(parent)) setMember(parent, last, replacement);
}

function remove(root: JsonObject, tokens: readonly string[], work: Work): string | undefined {
  const parent = find(root, tokens.slice(0, -1));
  const last = tokens.at(-1) ?? '';
  if (child(parent, last) === undefined) return missing(tokens.join('/'));
  if (Array.isArray(parent)) {
    spendMove(parent, last, work);
    parent.splice(Number(last), 1);
  } else if (isJsonObject(parent)) work.sizes.delete(parent, last);
  return undefined;
}

/** The elements behind the place are moved by one. */
function spendMove(array: readonly unknown[], place: string, { spend }: Work): void {
  spend((array.length - Number(place)) / ELEMENTS_MOVED_PER_BYTE);
}

/** Takes as long as `b` is large, which comes from the patch. */
function isEqual(a: unknown, b: unknown, sizes: ObjectSizes): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((element, index) => isEqual(element, b[index], sizes));
  if (!isJsonObject(a) || !isJsonObject(b)) return a === b || isSameNumber(a, b);
  const names = Object.keys(b);
  return sizes.of(a) === names.length && names.every((name) => Object.hasOwn(a, name) && isEqual(a[name], b[name], sizes));
}

function copyOf(source: unknown, work: Work, depth: number): unknown {
  spendCopy(work, 2);
  if (typeof source === 'string') spendCopy(work, source.length);
  else if (source instanceof ExactNumber) spendCopy(work, source.text.length);
  if (work.copyLeft < 0) throw new Failure('VALUE_TOO_LARGE', { message: 'The copies of this patch are too large.' });
  if (depth > LIMITS.jsonDepthMax) throw tooDeep();
  if (Array.isArray(source)) return source.map((element) => copyOf(element, work, depth + 1));
  if (!isJsonObject(source)) return source;
  const copy: JsonObject = {};
  for (const name of Object.keys(source)) {
    spendCopy(work, name.length + 3);
    setMember(copy, name, copyOf(source[name], work, depth + 1));
  }
  return copy;
}

function spendCopy(work: Work, bytes: number): void {
  work.copyLeft -= bytes;
  work.spend(bytes / COPY_SHARE);
}

/** Throws PATCH_FAILED where a patched value is nested deeper than a body may be. */
export function assertStorable(patched: unknown, depth = 0): void {
  if (depth > LIMITS.jsonDepthMax) throw tooDeep();
  if (Array.isArray(patched)) for (const element of patched) assertStorable(element, depth + 1);
  else if (isJsonObject(patched)) for (const name of Object.keys(patched)) assertStorable(patched[name], depth + 1);
}

function tooDeep(): Failure {
  return new Failure('PATCH_FAILED', { message: `The value would be nested more than ${LIMITS.jsonDepthMax} deep.` });
}
