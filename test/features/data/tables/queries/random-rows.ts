/** Rows and filters for property tests, with few names and values, so that filters often match. */
import fc from 'fast-check';

export const anyText = fc.oneof(
  fc.constantFrom('', 'a', 'b', 'ab', 'abc', 'A', 'é', 'z', '\u{1F600}', '\uFFFD', '%', "'", '10', 'true', 'a.b', '$eq'),
  fc.string({ unit: 'binary', maxLength: 6 }).filter((text) => !text.includes('\u0000')),
);
const anyNumber = fc
  .oneof(
    fc.constantFrom(0, 1, -1, 2, 10, 0.1, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 9007199254740992),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  )
  .map((value) => (Object.is(value, -0) ? 0 : value));
const anyScalar = fc.oneof(anyText, anyNumber, fc.boolean(), fc.constant(null));
const names = fc.constantFrom('a', 'b', 'c', 'id', '0', '__proto__', 'toString', 'ö');
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    anyScalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(names, tie('value')), { maxLength: 3 }).map(Object.fromEntries),
  ),
}));

export { anyValue };

const fieldNames = fc.constantFrom('a', 'b', 'c', 'nested', '__proto__', 'ö', '');
export const anyRow = fc
  .array(fc.tuple(fieldNames, anyValue), { maxLength: 5 })
  .map((entries) => Object.fromEntries(entries) as Record<string, unknown>);

const anyPath = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'c',
    '',
    'ö',
    '__proto__',
    'a.a',
    'a.b',
    'a.0',
    'a.-1',
    'a.01',
    'b.0.a',
    'nested.c.1',
    'id',
    'createdAt',
    'updatedAt',
    'id.a',
    'createdAt.0',
  ),
  fc
    .array(fc.constantFrom('a', 'b', '0', '-2', 'id', '+1', '99999999999', "x'); drop table table_row; --"), { minLength: 1, maxLength: 3 })
    .map((steps) => steps.join('.')),
);

const time = fc.constantFrom('2026-01-31T12:00:00.003Z', '2026-01-31T12:00:00.00', '2026-01-31T12:00:00Z', '2027', '');
const comparable = fc.oneof(anyNumber, anyText, time);
const plainValue = fc.oneof(
  anyScalar,
  time,
  anyValue.filter((value) => !hasOperators(value)),
);

function hasOperators(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).some((name) => name.startsWith('$'));
}

const equal = fc.oneof(plainValue, anyValue);
const list = fc.array(plainValue, { maxLength: 4 });
const operator = fc.oneof(
  ...(['$eq', '$ne'] as const).map((name) => fc.record({ [name]: equal })),
  ...(['$gt', '$gte', '$lt', '$lte'] as const).map((name) => fc.record({ [name]: comparable })),
  ...(['$in', '$nin'] as const).map((name) => fc.record({ [name]: list })),
  fc.record({ $contains: anyScalar }),
  ...(['$startsWith', '$endsWith'] as const).map((name) => fc.record({ [name]: anyText })),
  fc.record({ $exists: fc.boolean() }),
);
const operators: fc.Arbitrary<object> = fc.oneof(
  { weight: 3, arbitrary: operator },
  { weight: 1, arbitrary: fc.tuple(operator, operator).map(([one, other]) => ({ ...one, ...other })) },
);

/** The JSON of a valid filter. */
const { filter: anyFilter } = fc.letrec<{ filter: unknown }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc
      .tuple(
        anyPath,
        fc.oneof(
          plainValue,
          operators,
          operators.map((of) => ({ $not: of })),
        ),
      )
      .map(([path, value]) => Object.fromEntries([[path, value]])),
    fc.array(tie('filter'), { minLength: 1, maxLength: 3 }).map((of) => ({ $and: of })),
    fc.array(tie('filter'), { minLength: 1, maxLength: 3 }).map((of) => ({ $or: of })),
    tie('filter').map((of) => ({ $not: of })),
  ),
}));

export { anyFilter };
