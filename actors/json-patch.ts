/**
 * JSON Patch, RFC 6902, and what a PATCH may cost.
 * Our own hundred lines instead of the rfc6902 package, which the tests use as a model: that one cannot replace the whole document,
 * reads inherited members (`/toString`), changes the prototype at `/__proto__`, and reports success for `/list/length` and `/list/x`.
 */
import { z } from 'zod';
import { Failure } from '../protocol/errors.ts';
import { LIMITS } from '../protocol/limits.ts';
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
  const parsed = operations.safeParse(body);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }));
  const [first] = issues;
  throw new Failure('INVALID_REQUEST', {
    message: `The patch is not valid: ${first?.path ? `${first.path} ` : ''}${first?.message}.`,
    ...(first?.path ? { param: first.path } : {}),
    issues,
  });
}

/** Applies all or throws PATCH_FAILED (then `document` is spoiled). Answers what replaces `document`. */
export function applyJsonPatch(document: unknown, patch: readonly PatchOperation[]): unknown {
  // With a parent above it the document itself is a member like any other; its name is the first token of every pointer.
  const root: JsonObject = { '': document };
  const budget = { left: COPY_COST_MAX };
  patch.forEach((one, index) => {
    const why = applyOne(root, one, budget);
    if (why !== undefined) {
      throw new Failure('PATCH_FAILED', { message: `Operation ${index} (${one.op} ${one.path || '""'}): ${why}.`, param: String(index) });
    }
  });
  return root[''];
}

/** What went wrong, or undefined. */
function applyOne(root: JsonObject, one: PatchOperation, budget: { left: number }): string | undefined {
  const tokens = tokensOf(one.path);
  switch (one.op) {
    case 'add':
      return add(root, tokens, one.value);
    case 'remove':
      return tokens.length === 1 ? 'the whole value cannot be removed, DELETE the key instead' : remove(root, tokens);
    case 'replace':
      return find(root, tokens) === undefined ? missing(one.path) : replace(root, tokens, one.value);
    case 'test':
      return isEqual(find(root, tokens), one.value) ? undefined : 'the value is another';
    case 'copy': {
      const source = find(root, tokensOf(one.from));
      return source === undefined ? missing(one.from) : add(root, tokens, copyOf(source, budget, 0));
    }
    case 'move': {
      const source = find(root, tokensOf(one.from));
      if (source === undefined) return missing(one.from);
      if (one.path === one.from) return undefined;
      if (one.path.startsWith(`${one.from}/`)) return 'a value cannot be moved into itself';
      return remove(root, tokensOf(one.from)) ?? add(root, tokens, source);
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

/** Undefined where there is nothing: JSON itself has no undefined. */
function find(root: JsonObject, tokens: readonly string[]): unknown {
  let at: unknown = root;
  for (const token of tokens) {
    at = child(at, token);
    if (at === undefined) return undefined;
  }
  return at;
}

function add(root: JsonObject, tokens: readonly string[], added: unknown): string | undefined {
  const parent = find(root, tokens.slice(0, -1));
  const last = tokens.at(-1) ?? '';
  if (isJsonObject(parent)) setMember(parent, last, added);
  else if (!Array.isArray(parent)) return 'there is no object or array to add to';
  else if (last === '-') parent.push(added);
  else if (!INDEX.test(last) || Number(last) > parent.length) return `an array of ${parent.length} has no place ${last}`;
  else parent.splice(Number(last), 0, added);
  return undefined;
}

/** Of a place that exists. */
function replace(root: JsonObject, tokens: readonly string[], replacement: unknown): undefined {
  const parent = find(root, tokens.slice(0, -1));
  const last = tokens.at(-1) ?? '';
  if (Array.isArray(parent)) parent[Number(last)] = replacement;
  else if (isJsonObject(parent)) setMember(parent, last, replacement);
}

function remove(root: JsonObject, tokens: readonly string[]): string | undefined {
  const parent = find(root, tokens.slice(0, -1));
  const last = tokens.at(-1) ?? '';
  if (child(parent, last) === undefined) return missing(tokens.join('/'));
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else if (isJsonObject(parent)) delete parent[last];
  return undefined;
}

function isEqual(a: unknown, b: unknown): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((element, index) => isEqual(element, b[index]));
  if (!isJsonObject(a) || !isJsonObject(b)) return a === b || isSameNumber(a, b);
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name]));
}

function copyOf(source: unknown, budget: { left: number }, depth: number): unknown {
  budget.left -= 2;
  if (typeof source === 'string') budget.left -= source.length;
  else if (source instanceof ExactNumber) budget.left -= source.text.length;
  if (budget.left < 0) throw new Failure('VALUE_TOO_LARGE', { message: 'The copies of this patch are too large.' });
  if (depth > LIMITS.jsonDepthMax) throw tooDeep();
  if (Array.isArray(source)) return source.map((element) => copyOf(element, budget, depth + 1));
  if (!isJsonObject(source)) return source;
  const copy: JsonObject = {};
  for (const name of Object.keys(source)) {
    budget.left -= name.length + 3;
    setMember(copy, name, copyOf(source[name], budget, depth + 1));
  }
  return copy;
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
