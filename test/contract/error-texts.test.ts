/** Texts of refusals: plain sentences, none of them twice, for any input. Source: contract.md §0. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Endpoint } from '../../protocol/core/endpoint.ts';
import { ERRORS, Failure } from '../../protocol/core/errors.ts';
import { readInput } from '../../protocol/core/issues.ts';
import { endpoints } from '../../protocol/table.ts';
import { bodyReader, queryReader } from '../../src/edge/input.ts';

const SEED = Number(process.env.FUZZ_SEED ?? 20_261_122);
const table = Object.entries(endpoints) as [string, Endpoint][];
/** Phrases that only messages of zod contain. */
const STOCK =
  /\bexpected\b|\breceived\b|Invalid (?:input|option|string|key|value|number|discriminator|ISO|URL|email)|Too (?:small|big)|Unrecognized|>=|<=|\bundefined\b|\[object|NaN/;

function refusal(run: () => unknown): Failure | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

/** What is wrong with the texts of a refusal. One assertion per refusal keeps thousands of them cheap. */
function problemsOf(failure: Failure): string[] {
  const { issues = [], param, hint } = failure.details;
  const problems: string[] = [];
  const texts = new Set([failure.message, ...issues.map(({ message }) => message)]);
  for (const text of texts) {
    // The quoted input may contain anything.
    if (STOCK.test(text.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/^[^:]*: /, ''))) problems.push(`a phrase of zod: ${text}`);
    if (/\.\.$|\bmust be must\b|: :/.test(text)) problems.push(`joined wrongly: ${text}`);
  }
  const said = issues.map(({ path, message }) => `${path}\n${message}`);
  if (new Set(said).size < said.length) problems.push(`said twice: ${said}`);
  const [first] = issues;
  if (first !== undefined) {
    const expected = `${first.path === '' ? 'The body' : first.path}: ${first.message}.`;
    if (failure.message !== expected) problems.push(`${failure.message} is not ${expected}`);
    if ((param ?? '') !== first.path) problems.push(`param ${param} is not ${first.path}`);
  }
  if (hint === failure.message) problems.push(`the hint repeats the error: ${hint}`);
  return problems;
}

function expectPlain(failure: Failure): void {
  expect(problemsOf(failure)).toEqual([]);
}

/** Any values under names that the schema knows, so that nested schemas are reached. */
function valueFor(schema: z.core.$ZodType, depth = 0): fc.Arbitrary<unknown> {
  const junk = fc.oneof(
    fc.constantFrom(null, true, -1, 0, 1.5, 1e300, '', 'x', '\0', '\ud800', '🎨'.repeat(300), 'x'.repeat(3000), [], {}, [1], { x: 1 }),
    fc.string(),
    fc.double(),
    fc.jsonValue({ maxDepth: 2 }),
  );
  if (depth > 4) return junk;
  const deeper = (one: z.core.$ZodType) => valueFor(one, depth + 1);
  const among = (shaped: fc.Arbitrary<unknown>) => fc.oneof({ arbitrary: shaped, weight: 4 }, { arbitrary: junk, weight: 1 });
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) return deeper(schema.unwrap());
  if (schema instanceof z.ZodPipe) return deeper(schema.in);
  if (schema instanceof z.ZodArray) return among(fc.array(deeper(schema.element), { maxLength: 3 }));
  if (schema instanceof z.ZodUnion) return among(fc.oneof(...schema.options.map(deeper)));
  if (schema instanceof z.ZodLiteral) return among(fc.constantFrom(...schema.values));
  if (schema instanceof z.ZodEnum) return among(fc.constantFrom(...schema.options));
  if (schema instanceof z.ZodRecord) return among(fc.dictionary(fc.string({ maxLength: 80 }), junk, { maxKeys: 3 }));
  if (!(schema instanceof z.ZodObject)) return junk;
  const known = fc.record(Object.fromEntries(Object.entries(schema.shape).map(([name, field]) => [name, deeper(field)])), {
    requiredKeys: [],
  });
  return among(fc.tuple(known, fc.constantFrom({}, {}, { strange: 1, odd: 2 })).map(([fields, more]) => ({ ...fields, ...more })));
}

const bodies = table.filter(([, { body }]) => body?.kind === 'json' && !(body.schema instanceof z.ZodUnknown));
test.each(bodies)('%s refuses a body in plain sentences', (_id, endpoint) => {
  const read = bodyReader(endpoint);
  const schema = endpoint.body?.kind === 'json' ? endpoint.body.schema : z.never();
  let refused = 0;
  fc.assert(
    fc.property(valueFor(schema), (body) => {
      const failure = refusal(() => read?.(JSON.parse(JSON.stringify(body))));
      if (failure === undefined) return;
      refused += 1;
      expectPlain(failure);
    }),
    { seed: SEED, numRuns: 300 },
  );
  expect(refused).toBeGreaterThan(10);
});

const queries = table.filter(([, { query }]) => query !== undefined);
test.each(queries)('%s refuses a query in plain sentences', (_id, endpoint) => {
  const read = queryReader(endpoint);
  const names = [...Object.keys(endpoint.query?.shape ?? {}), 'strange'];
  const text = fc.oneof(fc.string(), fc.constantFrom('', '-1', '0', '1.5', '99999999999999999999', 'x'.repeat(9000), 'yes', 'root', '\0'));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...names), text), { maxLength: 5 }), (pairs) => {
      const failure = refusal(() => read(new URLSearchParams(pairs).toString()));
      if (failure !== undefined) expectPlain(failure);
    }),
    { seed: SEED, numRuns: 200 },
  );
});

describe('every kind of issue has its own text', () => {
  const cases: [string, z.ZodType, unknown, string][] = [
    ['a type', z.string(), 5, 'must be a text, not 5'],
    ['nothing', z.strictObject({ a: z.string() }), {}, 'is required'],
    ['no number', z.number(), Number.NaN, 'must be a number, not NaN'],
    ['a fraction', z.number().int(), 1.5, 'must be a whole number, not 1.5'],
    ['too short a text', z.string().min(8), 'abc', 'must have at least 8 characters, not 3'],
    ['an empty text', z.string().min(1), '', 'must not be empty'],
    ['too long a list', z.array(z.number()).max(1), [1, 2], 'must have at most 1 item, not 2'],
    ['an exact length', z.string().length(2), 'abc', 'must have exactly 2 characters, not 3'],
    ['too small a number', z.number().gt(1), 1, 'must be more than 1, not 1'],
    ['too large a number', z.number().max(100), 500, 'must be at most 100, not 500'],
    ['a time', z.iso.datetime(), 'now', 'must be a time such as 2026-01-31T12:00:00Z, not "now"'],
    ['an address', z.email(), 'me', 'must be an e-mail address, not "me"'],
    ['a pattern', z.string().regex(/^a$/), 'b', 'must match /^a$/, not "b"'],
    ['a beginning', z.string().startsWith('a'), 'b', 'must begin with "a", not "b"'],
    [
      'an unknown field',
      z.strictObject({ a: z.string().optional(), b: z.string().optional() }),
      { c: 1 },
      'is not a field of this request; its fields are a and b',
    ],
    ['a field of none', z.strictObject({}), { c: 1 }, 'is not a field of this request; it has none'],
    ['a choice', z.enum(['a', 'b', 'c']), 'd', 'must be one of "a", "b" or "c", not "d"'],
    ['one value', z.literal('a'), 'd', 'must be "a", not "d"'],
    ['a union', z.union([z.string(), z.array(z.string())]), true, 'must be a text or a list, not true or false'],
    [
      'a kind',
      z.discriminatedUnion('op', [z.object({ op: z.literal('x') }), z.object({ op: z.literal('y') })]),
      { op: 'z' },
      'must be "x" or "y", not "z"',
    ],
    ['a multiple', z.number().multipleOf(5), 7, 'must be a multiple of 5, not 7'],
    [
      'a name in a record',
      z.record(z.string().max(1), z.number()),
      { ab: 1 },
      'has a name that cannot be used: it must have at most 1 character, not 2',
    ],
    [
      'an element of a map',
      z.map(z.string(), z.number()),
      new Map([[{}, 1]]),
      'has a name that cannot be used: it must be a text, not an object',
    ],
    ['a check without words', z.string().refine(() => false), 'a', 'is not valid'],
    ['a check with words', z.string().refine(() => false, 'must be another'), 'a', 'must be another'],
  ];
  test.each(cases)('%s', (_name, schema, input, message) => {
    expect(readInput(schema, input).issues?.[0]?.message).toBe(message);
  });

  test('a refusal by a union explains the form that was meant', () => {
    const schema = z.union([z.string(), z.array(z.string())]);
    expect(readInput(schema, ['a', 5]).issues).toEqual([{ path: '1', message: 'must be a text, not 5' }]);
  });
});

test('an invalid name is refused without stating the rule twice', () => {
  const failure = refusal(() => bodyReader(endpoints['artifacts.update'])?.({ slug: 'Not A Slug' }));
  expect([failure?.code, failure?.message, failure?.details.param]).toEqual(['INVALID_SLUG', 'slug: "Not A Slug" cannot be used.', 'slug']);
  expect(ERRORS.INVALID_SLUG.hint).toContain('2 to 63');
});
