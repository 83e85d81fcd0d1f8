/** What a body may hold by its schema, and how many problems of it are told. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readInput } from '../../protocol/core/issues.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { absentOrNull } from '../../protocol/core/round-trip.ts';
import { endpoints } from '../../protocol/table.ts';
import { listsMaxOf, valuesMaxOf } from '../../src/edge/body-bounds.ts';

const pair = z.strictObject({ a: z.string(), b: z.number().optional() });

describe('the values that a body can have', () => {
  test.each([
    ['a text', z.string(), 1],
    ['a choice', z.enum(['a', 'b']), 1],
    ['null or a text', absentOrNull(z.string().max(3)), 1],
    ['an object', pair, 3],
    ['a refined object', pair.refine(() => true), 3],
    ['a list', z.array(pair).max(10), 31],
    ['a choice of forms', z.union([z.string(), z.array(z.string()).max(4)]), 5],
    ['a list without a bound', z.array(pair), LIMITS.bodyValuesMax],
    ['anything', z.strictObject({ body: z.unknown() }), LIMITS.bodyValuesMax],
    ['an object with other members', z.looseObject({}), LIMITS.bodyValuesMax],
    ['a map', z.record(z.string(), z.string()), LIMITS.bodyValuesMax],
  ])('%s', (_name, schema, values) => {
    expect(valuesMaxOf(schema)).toBe(values);
  });

  test('a publish can have its files twice and a few fields', () => {
    const { body } = endpoints['publish.publish'];
    expect(valuesMaxOf(body.schema)).toBe(1 + 13 + (1 + LIMITS.versionFilesMax * 5) + (1 + LIMITS.versionFilesMax * 4));
  });

  test('the longest value that may be stored never has too many', () => {
    // One digit and one comma each.
    expect(LIMITS.jsonValueBytesMax / 2).toBeLessThan(LIMITS.bodyValuesMax);
  });
});

describe('the lists that a body can have', () => {
  test('are bounded by its schema or by its metadata', () => {
    const both = z.union([z.array(z.string()).max(4), z.strictObject({ list: z.array(z.number()).max(7), free: z.array(z.string()) })]);
    expect([...listsMaxOf(both)]).toEqual([
      ['', 4],
      ['list', 7],
    ]);
    expect([...listsMaxOf(endpoints['tables.insert'].body.schema)]).toEqual([
      ['', LIMITS.insertRowsMax],
      ['rows', LIMITS.insertRowsMax],
    ]);
    expect(listsMaxOf(endpoints['publish.publish'].body.schema).get('files')).toBe(LIMITS.versionFilesMax);
  });
});

describe('the problems of an input', () => {
  const numbers = z.strictObject({ list: z.array(z.number()) });

  test('are told up to a number', () => {
    const { issues } = readInput(numbers, { list: Array(5000).fill('x') });
    expect(issues).toHaveLength(LIMITS.issuesMax);
    expect(issues?.[3]).toEqual({ path: 'list.3', message: 'must be a number, not a text' });
  });

  test('are told as one where there are very many', () => {
    const { issues } = readInput(numbers, { list: Array(30_000).fill('x') });
    expect(issues).toEqual([{ path: '', message: 'has more than 20000 problems; correct one item and then the others like it' }]);
  });

  test('that are unknown fields are told up to the same number', () => {
    const unknown = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, 1]));
    expect(readInput(numbers, { list: [], ...unknown }).issues).toHaveLength(LIMITS.issuesMax);
  });
});
