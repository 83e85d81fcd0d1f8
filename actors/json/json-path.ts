/** Paths into a JSON document: `$`, `$.a.b`, `$.list[0]`, `$["any name"]`. */

import { ExactNumber } from './exact-number.ts';

/** A string names a member, a number an element. */
export type PathStep = string | number;

const STEP = /\.([^.[\]"']+)|\[(\d{1,15})\]|\[("(?:[^"\\]|\\.)*")\]|\['([^'\\]*)'\]/y;

/** Undefined when `text` is not a path. */
export function parsePath(text: string): readonly PathStep[] | undefined {
  if (!text.startsWith('$')) return undefined;
  const steps: PathStep[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < text.length) {
    const found = STEP.exec(text);
    if (found === null) return undefined;
    const [, name, index, quoted, single] = found;
    if (index !== undefined) steps.push(Number(index));
    else if (quoted === undefined) steps.push(name ?? single ?? '');
    else {
      const unquoted = parseQuoted(quoted);
      if (unquoted === undefined) return undefined;
      steps.push(unquoted);
    }
  }
  return steps;
}

function parseQuoted(quoted: string): string | undefined {
  try {
    return String(JSON.parse(quoted));
  } catch (error) {
    // An invalid escape makes it no path; any other error is a bug.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The value at the path; undefined if there is none. Only own members count, so that `toString` or `__proto__` is a plain name. */
export function readPath(document: unknown, steps: readonly PathStep[]): unknown {
  let at = document;
  for (const step of steps) {
    at = childAt(at, step);
    if (at === undefined) return undefined;
  }
  return at;
}

function childAt(parent: unknown, step: PathStep): unknown {
  if (Array.isArray(parent)) return typeof step === 'number' ? parent[step] : undefined;
  return typeof step === 'string' && isJsonObject(parent) && Object.hasOwn(parent, step) ? parent[step] : undefined;
}

export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** Sets a member as plain data, because an assignment to `__proto__` would change the prototype. */
export function setMember(target: JsonObject, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  else target[name] = value;
}
