/** The filters of datasets mean what those of tables mean, which the model of their tests describes. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matches as modelMatches } from '../../../../src/features/automation/scripts/rehearsal/plain-rows.ts';
import { matches } from '../../../../src/features/data/datasets/matching.ts';
import { parseFilter } from '../../../../src/features/data/tables/queries/filter.ts';

const text = fc.constantFrom('', 'a', 'ab', 'b', 'B', '\uE000', '\u{1F600}', '\uFFFD', '1');
const scalar = fc.oneof(text, fc.constantFrom(0, 1, -1, 1.5, 1e21), fc.boolean(), fc.constant(null));
const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.record({ x: scalar, y: fc.array(scalar, { maxLength: 2 }) }));
const row = fc.dictionary(fc.constantFrom('a', 'b', 'id', '__proto__'), value, { maxKeys: 4 });
const path = fc.constantFrom('a', 'b', 'id', 'a.x', 'a.0', 'a.-1', 'b.y.0', '__proto__', 'none');
const comparable = fc.oneof(text, fc.constantFrom(0, 1, -1, 1.5));
const operators = fc.oneof(
  fc.record({ $eq: value }),
  fc.record({ $ne: value }),
  fc.record({ $in: fc.array(value, { maxLength: 3 }) }),
  fc.record({ $nin: fc.array(value, { maxLength: 3 }) }),
  fc.record({ $gt: comparable }),
  fc.record({ $gte: comparable, $lt: comparable }),
  fc.record({ $lte: comparable }),
  fc.record({ $contains: scalar }),
  fc.record({ $startsWith: text }),
  fc.record({ $endsWith: text }),
  fc.record({ $exists: fc.boolean() }),
  fc.record({ $not: fc.record({ $gt: comparable }) }),
);
const field = fc.tuple(path, operators).map(([name, conditions]) => ({ [name]: conditions }));
const filter = fc.oneof(
  field,
  fc.record({ $and: fc.array(field, { minLength: 1, maxLength: 3 }) }),
  fc.record({ $or: fc.array(field, { minLength: 1, maxLength: 3 }) }),
  fc.record({ $not: field }),
);

test('a row matches exactly where it matches in the model', () => {
  fc.assert(
    fc.property(filter, row, (json, fields) => {
      const parsed = parseFilter(json);
      expect(matches(parsed, fields)).toBe(modelMatches(parsed, fields));
    }),
    { numRuns: 3000 },
  );
});
