/** Compiles an endpoint's request schemas into readers that refuse with every issue. */
import { z } from 'zod';
import type { Endpoint } from '../../protocol/endpoint.ts';
import { type ErrorCode, Failure, type Issue } from '../../protocol/errors.ts';
import { patternOf } from '../../protocol/pattern.ts';
import { documentName } from '../../protocol/schemas/document.ts';
import { jsonKey } from '../../protocol/schemas/json-key.ts';
import { tableName } from '../../protocol/schemas/table.ts';
import { parameterNames } from './router.ts';

type Values = Readonly<Record<string, unknown>>;
/** Undefined: the parameter that names the artifact cannot name one. */
export type ParamsReader = (values: readonly string[]) => Values | undefined;
export type QueryReader = (query: string) => Values;

/** What an issue reads at: dotted, and the unknown field itself where a field is unknown. */
function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ path: [...path, key].join('.'), message: 'is not a field of this request' }));
    }
    return [{ path: path.join('.'), message: issue.message }];
  });
}

function refuse(code: ErrorCode, issues: readonly Issue[]): Failure {
  const [first] = issues;
  const message = first === undefined ? undefined : `${first.path === '' ? 'The request' : first.path}: ${first.message}`;
  return new Failure(code, { ...(message !== undefined && { message }), ...(first?.path && { param: first.path }), issues });
}

function decoded(text: string): string | undefined {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    // Not UTF-8 behind the percent signs: no name of anything.
    return undefined;
  }
}

export function paramsReader(endpoint: Endpoint): ParamsReader {
  const names = parameterNames(endpoint.path);
  const schema = endpoint.params;
  if (schema === undefined) {
    if (names.length > 0) throw new Error(`${endpoint.path} names parameters without a schema`);
    const none = Object.freeze({});
    return () => none;
  }
  const artifactParam = endpoint.access.who === 'artifact' ? endpoint.access.param : undefined;
  const patterns = names.map((name) => patternOf(schema.shape[name] ?? schema));
  return (values) => {
    const given: Record<string, string | undefined> = {};
    let matches = true;
    for (let at = 0; at < names.length; at += 1) {
      const text = decoded(values[at] ?? '');
      given[names[at] ?? ''] = text;
      matches &&= text !== undefined && patterns[at]?.test(text) === true;
    }
    // Nothing but patterns, and all of them match: zod would answer the same and take longer.
    if (matches) return given;
    const parsed = schema.safeParse(given);
    if (parsed.success) return parsed.data;
    const issues = issuesOf(parsed.error);
    if (issues.some((issue) => issue.path === artifactParam)) return undefined;
    throw refuse(codeOf(schema.shape[issues[0]?.path ?? '']), issues);
  };
}

/** Names that callers choose have codes of their own. */
function codeOf(parameter: unknown): ErrorCode {
  if (parameter === jsonKey) return 'KEY_INVALID';
  if (parameter === documentName) return 'INVALID_DOCUMENT_NAME';
  return parameter === tableName ? 'INVALID_TABLE_NAME' : 'INVALID_REQUEST';
}

export function queryReader(endpoint: Endpoint): QueryReader {
  const schema = endpoint.query;
  const none = Object.freeze({});
  if (schema === undefined) return () => none;
  const empty = schema.safeParse({});
  const parse = (given: Record<string, string>): Values => {
    const parsed = schema.safeParse(given);
    if (parsed.success) return parsed.data;
    throw refuse('INVALID_REQUEST', issuesOf(parsed.error));
  };
  const known = Object.keys(schema.shape);
  return (query) => {
    if (query === '') return empty.success ? empty.data : parse({});
    const search = new URLSearchParams(query);
    const given: Record<string, string> = {};
    const repeated: Issue[] = [];
    for (const name of known) {
      const values = search.getAll(name);
      if (values.length > 1) repeated.push({ path: name, message: 'is given more than once' });
      if (values[0] !== undefined) given[name] = values[0];
    }
    if (repeated.length > 0) throw refuse('INVALID_REQUEST', repeated);
    return parse(given);
  };
}

/** Reads a JSON body. Null where the schema takes anything, so that zod is not asked. */
export function bodyReader(endpoint: Endpoint): ((value: unknown) => unknown) | null {
  if (endpoint.body?.kind !== 'json' || endpoint.body.schema instanceof z.ZodUnknown) return null;
  const { schema } = endpoint.body;
  return (value) => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const issues = issuesOf(parsed.error);
    const isSlug = issues[0]?.path === 'slug' && endpoint.errors.includes('INVALID_SLUG');
    throw refuse(isSlug ? 'INVALID_SLUG' : 'INVALID_REQUEST', issues);
  };
}
