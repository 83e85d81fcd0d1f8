/** Compiles an endpoint's request schemas into readers whose refusals list every issue. */
import { z } from 'zod';
import type { Endpoint } from '../../protocol/core/endpoint.ts';
import { type ErrorCode, Failure, type Issue } from '../../protocol/core/errors.ts';
import { listed, quoted, readInput } from '../../protocol/core/issues.ts';
import { missingCodeOf } from '../../protocol/core/missing.ts';
import { patternOf } from '../../protocol/core/pattern.ts';
import { reservedNames } from '../../protocol/core/reserved-names.ts';
import { datasetName } from '../../protocol/data/datasets.ts';
import { documentName } from '../../protocol/data/documents.ts';
import { jsonKey } from '../../protocol/data/json-keys.ts';
import { tableName } from '../../protocol/data/tables.ts';
import { endpoints } from '../../protocol/table.ts';
import { parameterNames } from './router.ts';

type Values = Readonly<Record<string, unknown>>;

/** A path with an id that cannot exist. Callers who may see its surroundings get the failure that says so. */
export class Missing {
  readonly values: Values;
  readonly failure: Failure;

  constructor(values: Values, failure: Failure) {
    this.values = values;
    this.failure = failure;
  }
}

/** Undefined where the parameter of the access rule's subject (an artifact, a workspace) cannot be an id. */
export type ParamsReader = (values: readonly string[]) => Values | Missing | undefined;
export type QueryReader = (query: string) => Values;

function refuse(code: ErrorCode, issues: readonly Issue[]): Failure {
  const [first] = issues;
  const message = first && `${first.path === '' ? 'The body' : first.path}: ${first.message}.`;
  return new Failure(code, { ...(message !== undefined && { message }), ...(first?.path && { param: first.path }), issues });
}

/** For names with an error code of their own, whose hint states the rule. */
function refuseName(code: ErrorCode, param: string, given: unknown): Failure {
  return new Failure(code, { message: `${param}: ${quoted(given)} cannot be used.`, param });
}

function decoded(text: string): string | undefined {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    // The percent-encoded bytes are not UTF-8, so they cannot name anything.
    return undefined;
  }
}

export function paramsReader(endpoint: Endpoint, table: Readonly<Record<string, Endpoint>> = endpoints): ParamsReader {
  const names = parameterNames(endpoint.path);
  const schema = endpoint.params;
  if (schema === undefined) {
    if (names.length > 0) throw new Error(`${endpoint.path} names parameters without a schema`);
    const none = Object.freeze({});
    return () => none;
  }
  const patterns = names.map((name) => patternOf(schema.shape[name] ?? schema));
  const numbers = new Set(numbersIn(schema));
  const refuseReserved = reservedRefuser(endpoint, names, table);
  return (values) => {
    const given: Record<string, string | undefined> = {};
    let matches = true;
    for (let at = 0; at < names.length; at += 1) {
      const name = names[at] ?? '';
      const text = decoded(values[at] ?? '');
      given[name] = text !== undefined && numbers.has(name) && !DECIMAL.test(text) ? undefined : text;
      matches &&= text !== undefined && patterns[at]?.test(text) === true;
    }
    refuseReserved?.(given);
    // Every schema is a pattern and all of them match: zod would accept too, but takes longer.
    if (matches) return given;
    const { value, issues } = readInput(schema, given);
    return issues === undefined ? value : misnamed(endpoint, schema, given, issues);
  };
}

/** Undefined where no name is refused: only a PUT or POST can create something under a name. */
function reservedRefuser(
  { method, params }: Endpoint,
  names: readonly string[],
  table: Readonly<Record<string, Endpoint>>,
): ((given: Readonly<Record<string, string | undefined>>) => void) | undefined {
  if (method !== 'PUT' && method !== 'POST') return undefined;
  const reserved = names.flatMap((name) => {
    const schema = params?.shape[name] as z.ZodType | undefined;
    const taken = schema === undefined ? undefined : reservedNames(table, schema);
    return taken === undefined || taken.size === 0 ? [] : [{ name, schema, taken }];
  });
  if (reserved.length === 0) return undefined;
  return (given) => {
    for (const { name, schema, taken } of reserved) {
      const value = given[name] ?? '';
      if (!taken.has(value)) continue;
      throw refuse(nameCodeOf(schema) ?? 'INVALID_REQUEST', [{ path: name, message: `${quoted(value)} is reserved; choose another name` }]);
    }
  };
}

/** The result for a path whose parameters do not match. Throws where one of them is a name that callers choose. */
function misnamed(
  { access }: Endpoint,
  { shape }: z.ZodObject,
  given: Readonly<Record<string, string | undefined>>,
  issues: readonly Issue[],
): Missing | undefined {
  const wrong = Object.keys(given).filter((name) => issues.some(({ path }) => path === name));
  // Admission answers for the subject of the access rule.
  if ('param' in access && wrong.includes(access.param)) return undefined;
  for (const name of wrong) {
    const code = nameCodeOf(shape[name]);
    if (code !== undefined) throw refuseName(code, name, given[name]);
  }
  const param = wrong[0] ?? '';
  const code = missingCodeOf(shape[param] ?? shape);
  if (code === undefined) throw refuse('INVALID_REQUEST', issues);
  return new Missing(given, new Failure(code, { param }));
}

/** A malformed name that callers choose is an invalid request, not a missing resource; each kind has a code of its own. */
function nameCodeOf(parameter: unknown): ErrorCode | undefined {
  if (parameter === jsonKey) return 'KEY_INVALID';
  if (parameter === documentName) return 'INVALID_DOCUMENT_NAME';
  if (parameter === datasetName) return 'INVALID_DATASET_NAME';
  return parameter === tableName ? 'INVALID_TABLE_NAME' : undefined;
}

/** Numbers are plain digits; 1e2, 0x10, +5 and spaces are refused. */
const DECIMAL = /^-?\d+$/;

/** The names of the parameters that are numbers. */
function numbersIn(schema: z.ZodObject): string[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => (isNumber(field as z.ZodType) ? [name] : []));
}

function isNumber(field: z.core.$ZodType): boolean {
  if (field instanceof z.ZodOptional || field instanceof z.ZodDefault || field instanceof z.ZodNullable) return isNumber(field.unwrap());
  return field instanceof z.ZodNumber;
}

export function queryReader(endpoint: Endpoint): QueryReader {
  const schema = endpoint.query ?? z.object({});
  const order = Object.keys(schema.shape);
  const known = new Set(order);
  const numbers = new Set(numbersIn(schema));
  const isForeign = endpoint.foreignQuery === true;
  const empty = schema.safeParse({});
  const unknown = `is not a parameter of this request; ${order.length === 0 ? 'it takes none' : `its parameters are ${listed(order)}`}`;
  const problemOf = (name: string, text: string, given: Values): string | undefined => {
    if (!known.has(name)) return unknown;
    if (Object.hasOwn(given, name)) return 'is given more than once; give it once';
    return numbers.has(name) && !DECIMAL.test(text) ? `must be a number in plain digits, not ${quoted(text)}` : undefined;
  };
  return (query) => {
    if (query === '' && empty.success) return empty.data;
    const given: Record<string, string> = {};
    const problems = new Map<string, string>();
    for (const [name, text] of new URLSearchParams(query)) {
      if (isForeign && !known.has(name)) continue;
      const problem = problemOf(name, text, given);
      if (problem !== undefined) problems.set(name, problem);
      given[name] = text;
    }
    const { value, issues = [] } = readInput(schema, given);
    if (problems.size === 0 && value !== undefined) return value;
    const others = issues.filter(({ path }) => !problems.has(path));
    const found = [...[...problems].map(([path, message]) => ({ path, message })), ...others];
    throw refuse(
      'INVALID_REQUEST',
      found.sort((a, b) => order.indexOf(a.path) - order.indexOf(b.path)),
    );
  };
}

/** Reads a JSON body. Null where the schema accepts anything, so that zod need not run. */
export function bodyReader(endpoint: Endpoint): ((value: unknown) => unknown) | null {
  if (endpoint.body?.kind !== 'json' || endpoint.body.schema instanceof z.ZodUnknown) return null;
  const { schema } = endpoint.body;
  return (body) => {
    const { value, issues } = readInput(schema, body);
    if (issues === undefined) return value;
    const isSlug = issues[0]?.path === 'slug' && endpoint.errors.includes('INVALID_SLUG');
    if (isSlug && issues.length === 1) throw refuseName('INVALID_SLUG', 'slug', (body as Values).slug);
    throw refuse(isSlug ? 'INVALID_SLUG' : 'INVALID_REQUEST', issues);
  };
}
