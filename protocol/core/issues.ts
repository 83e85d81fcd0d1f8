/** Turns the issues of a schema into plain sentences: what the input must be, and what it is. zod's own messages are never shown. */
import { z } from 'zod';
import type { Issue } from './errors.ts';
import { LIMITS } from './limits.ts';
import { charsOf } from './text.ts';

type RawIssue = z.core.$ZodRawIssue;
type RawIssueOf<C extends z.core.$ZodIssueCode> = z.core.$ZodRawIssue<Extract<z.core.$ZodIssue, { code: C }>>;

const VALUE_CHARS_MAX = 40;

/** Parses an input: returns its value, or every issue with its path and sentence. */
export function readInput<S extends z.ZodType>(
  schema: S,
  input: unknown,
): { readonly value: z.output<S>; readonly issues?: undefined } | { readonly value?: undefined; readonly issues: readonly Issue[] } {
  let explained = 0;
  const error = (issue: RawIssue) => {
    explained += 1;
    if (explained > EXPLAINED_MAX) throw new TooManyIssues();
    return explain(issue);
  };
  try {
    const parsed = schema.safeParse(input, { error });
    return parsed.success
      ? { value: parsed.data }
      : { issues: issuesOf(parsed.error.issues.slice(0, LIMITS.issuesMax), []).slice(0, LIMITS.issuesMax) };
  } catch (thrown) {
    if (!(thrown instanceof TooManyIssues)) throw thrown;
    return { issues: [{ path: '', message: `has more than ${EXPLAINED_MAX} problems; correct one item and then the others like it` }] };
  }
}

/** Issues of one input that get a sentence; those of the alternatives of a union count too. Beyond it the input is refused as a whole. */
const EXPLAINED_MAX = 20_000;

class TooManyIssues extends Error {
  override readonly name = 'TooManyIssues';
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(names: readonly string[], word = 'and'): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`;
}

/** Paths are dotted, and an unknown field is part of its path. Equal issues appear once. */
function issuesOf(found: readonly z.core.$ZodIssue[], before: readonly PropertyKey[]): Issue[] {
  const issues = found.flatMap((issue): Issue[] => {
    const path = [...before, ...issue.path];
    switch (issue.code) {
      case 'unrecognized_keys':
        return issue.keys.slice(0, LIMITS.issuesMax).map((key) => ({ path: dotted([...path, key]), message: issue.message }));
      case 'invalid_union': {
        const meant = branchMeant(issue.errors);
        return meant === undefined ? [{ path: dotted(path), message: issue.message }] : issuesOf(meant, path);
      }
      default:
        return [{ path: dotted(path), message: issue.message }];
    }
  });
  return [...new Map(issues.map((issue) => [`${issue.path}\n${issue.message}`, issue])).values()];
}

function dotted(path: readonly PropertyKey[]): string {
  return path.map(String).join('.');
}

/** The branch of a union that matches the input's outer shape, so that the issue within it can be named. */
function branchMeant(branches: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | undefined {
  return branches.find((issues) => issues.length > 0 && issues.every(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'));
}

/** A schema's own message takes precedence over these. */
function explain(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(issue);
    case 'too_small':
      return outOfBounds(issue, issue.minimum, 'least');
    case 'too_big':
      return outOfBounds(issue, issue.maximum, 'most');
    case 'invalid_format':
      return `${wrongFormat(issue)}${but(quoted(issue.input))}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}${but(quoted(issue.input))}`;
    case 'unrecognized_keys':
      return unknownField(fieldsOf(issue.inst));
    case 'invalid_union':
      return noForm(issue);
    case 'invalid_key':
      return `has a name that cannot be used: it ${messageOf(issue.issues)}`;
    case 'invalid_element':
      return `holds something that cannot be used: it ${messageOf(issue.issues)}`;
    case 'invalid_value':
      if (issue.input === undefined) return `is required: ${listed(issue.values.map(quoted), 'or')}`;
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${listed(issue.values.map(quoted), 'or')}${but(quoted(issue.input))}`;
    case 'custom':
      return 'is not valid';
    default:
      return issue satisfies never;
  }
}

/** The message for an unknown field. */
function unknownField(known: readonly string[]): string {
  return `is not a field of this request; ${known.length === 0 ? 'it has none' : `its fields are ${listed(known)}`}`;
}

/** The fields of an object schema, without the ignored read-only ones. */
function fieldsOf(schema: unknown): string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, field]) => (z.globalRegistry.get(field as z.ZodType)?.readOnly === true ? [] : name));
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

function wrongType({ expected, input }: RawIssueOf<'invalid_type'>): string {
  if (input === undefined) return 'is required';
  if (expected === 'never' || expected === 'undefined') return 'must be left out';
  const type = TYPES[expected];
  if (type === undefined) return 'is of the wrong type';
  return `must be ${type}${but(typeof input === 'number' ? quoted(input) : typeName(input))}`;
}

function typeName(input: unknown): string {
  if (input === null || input === undefined) return 'null';
  if (Array.isArray(input)) return 'a list';
  return TYPES[typeof input] ?? 'something else';
}

function outOfBounds(issue: RawIssueOf<'too_small' | 'too_big'>, bound: number | bigint, side: 'least' | 'most'): string {
  const { origin, input } = issue;
  const isWithin = issue.inclusive !== false;
  const beyond = side === 'least' ? 'more' : 'less';
  const amount = issue.exact ? `exactly ${bound}` : isWithin ? `at ${side} ${bound}` : `${beyond} than ${bound}`;
  const unit = UNITS[origin];
  if (unit === undefined) return `must be ${amount}${but(quoted(input))}`;
  const count = typeof input === 'string' ? charsOf(input) : Array.isArray(input) ? input.length : undefined;
  if (count === 0 && side === 'least') return 'must not be empty';
  return `must have ${amount} ${unit}${bound === 1 ? '' : 's'}${but(count === undefined ? '' : String(count))}`;
}

const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item', set: 'item', map: 'item' };

const FORMATS: Readonly<Record<string, string>> = {
  datetime: 'must be a time such as 2026-01-31T12:00:00Z',
  date: 'must be a day such as 2026-01-31',
  time: 'must be a time of day such as 12:00:00',
  email: 'must be an e-mail address',
  url: 'must be an address such as https://example.com/page',
  base64: 'must be base64',
  base64url: 'must be base64url',
  json_string: 'must be JSON',
};

function wrongFormat(issue: RawIssueOf<'invalid_format'>): string {
  const { format } = issue;
  if (format === 'starts_with') return `must begin with ${quoted(issue.prefix)}`;
  if (format === 'ends_with') return `must end with ${quoted(issue.suffix)}`;
  if (format === 'includes') return `must contain ${quoted(issue.includes)}`;
  if (format === 'regex') return `must match ${issue.pattern}`;
  return FORMATS[format] ?? `must be of the form ${format}`;
}

function noForm(issue: RawIssueOf<'invalid_union'>): string {
  const { input } = issue;
  if (issue.discriminator !== undefined) {
    const given = typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[issue.discriminator] : undefined;
    const options = listed(Array.isArray(issue.options) ? issue.options.map(quoted) : [], 'or');
    return given === undefined ? `is required: ${options}` : `must be ${options}${but(quoted(given))}`;
  }
  const messages = new Set(issue.errors.flatMap(([first]) => first?.message ?? []));
  if (messages.size === 0) return 'has more than one meaning';
  // The alternatives share one ending, which names the given value.
  const tail = [but(quoted(input)), but(typeName(input))].find((end) => [...messages].every((message) => message.endsWith(end))) ?? '';
  const forms = [...messages].map((message, at) => message.slice(0, message.length - tail.length).replace(at === 0 ? '' : /^must be /, ''));
  return `${listed(forms, 'or')}${tail}`;
}

function messageOf([first]: readonly z.core.$ZodIssue[]): string {
  return first?.message ?? 'is not valid';
}

function but(value: string): string {
  return value === '' ? '' : `, not ${value}`;
}

/** A value as messages show it; long text is cut. */
export function quoted(value: unknown): string {
  if (typeof value === 'string') {
    const chars = [...value];
    return JSON.stringify(chars.length > VALUE_CHARS_MAX ? `${chars.slice(0, VALUE_CHARS_MAX).join('')}…` : value);
  }
  return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint' ? String(value) : typeName(value);
}
