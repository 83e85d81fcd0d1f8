/** Paths, merge patch, JSON patch and operations on plain documents. */
import fc from 'fast-check';
import { applyPatch, createPatch } from 'rfc6902';
import { describe, expect, it } from 'vitest';
import { mergePatch } from '../../../actors/json/json-merge.ts';
import { applyOperation, applyOperationToText } from '../../../actors/json/json-operation.ts';
import { applyJsonPatch, assertStorable, parseJsonPatch } from '../../../actors/json/json-patch.ts';
import { parsePath, readPath } from '../../../actors/json/json-path.ts';
import { endOfValue, placeOf } from '../../../actors/json/json-span.ts';
import { Failure } from '../../../protocol/core/errors.ts';
import { LIMITS } from '../../../protocol/core/limits.ts';
import type { JsonOperation } from '../../../protocol/data/json-keys.ts';
import { codeOf } from '../runtime/runtime-fixture.ts';

const patch = (document: string, operations: unknown) => JSON.stringify(applyJsonPatch(JSON.parse(document), parseJsonPatch(operations)));
const merge = (document: string, change: string) => JSON.stringify(mergePatch(JSON.parse(document), JSON.parse(change)));
const operate = (document: string | undefined, operation: JsonOperation) =>
  JSON.stringify(applyOperation(document === undefined ? undefined : JSON.parse(document), operation));
const operateOnText = (document: string, operation: JsonOperation) => JSON.stringify(JSON.parse(applyOperationToText(document, operation)));

describe('paths', () => {
  it.each([
    ['$', []],
    ['$.a.b[0]', ['a', 'b', 0]],
    ['$[0][12].x-y', [0, 12, 'x-y']],
    ['$["a.b"][\'c d\'].e', ['a.b', 'c d', 'e']],
    ['$["\\u00e9\\""]', ['é"']],
    ['$.__proto__.constructor', ['__proto__', 'constructor']],
  ])('%s is read', (text, steps) => {
    expect(parsePath(text)).toEqual(steps);
  });

  it.each(['', 'a.b', '$a', '$.', '$..a', '$[', '$[-1]', '$[1', '$[a]', '$["a]', '$["\\x"]', '$.a ["b"'])('%s is not a path', (text) => {
    expect(parsePath(text)).toBeUndefined();
  });

  it('[own members only] finds data called __proto__ and nothing inherited', () => {
    const document = JSON.parse('{"__proto__":{"x":1},"list":[1]}');
    expect(readPath(document, ['__proto__', 'x'])).toBe(1);
    for (const steps of [['toString'], ['list', 'length'], ['list', '0'], ['constructor', 'name']]) {
      expect(readPath(document, steps)).toBeUndefined();
    }
  });
});

describe('merge patch (RFC 7396)', () => {
  // Appendix A of the RFC.
  it.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ])('%s with %s is %s', (document, change, result) => {
    expect(merge(document, change)).toBe(result);
  });

  it('[prototype keys are data]', () => {
    expect(merge('{"a":1}', '{"__proto__":{"polluted":true}}')).toBe('{"a":1,"__proto__":{"polluted":true}}');
    expect(merge('{"__proto__":{"x":1}}', '{"__proto__":{"y":2},"constructor":3}')).toBe('{"__proto__":{"x":1,"y":2},"constructor":3}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('JSON patch (RFC 6902)', () => {
  it('[model] turns any document into any other by the patch that the rfc6902 package computes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 4 }), (from, to) => {
        // The package also diffs inherited members; __proto__ has a test of its own below.
        fc.pre(!JSON.stringify([from, to]).includes('__proto__'));
        const difference = createPatch(from, to);
        expect(patch(JSON.stringify(from), JSON.parse(JSON.stringify(difference)))).toBe(JSON.stringify(sorted(from, to, difference)));
      }),
    );
  });

  it.each([
    ['add replaces a member', '{"a":1}', [{ op: 'add', path: '/a', value: [2] }], '{"a":[2]}'],
    ['add inserts an element', '[1,3]', [{ op: 'add', path: '/1', value: 2 }], '[1,2,3]'],
    [
      'add appends at the length and at -',
      '[1]',
      [
        { op: 'add', path: '/1', value: 2 },
        { op: 'add', path: '/-', value: 3 },
      ],
      '[1,2,3]',
    ],
    ['the whole document can be replaced', '{"a":1}', [{ op: 'replace', path: '', value: 5 }], '5'],
    [
      'move and copy',
      '{"a":{"b":1}}',
      [
        { op: 'copy', from: '/a', path: '/c' },
        { op: 'move', from: '/a/b', path: '/c/d' },
      ],
      '{"a":{},"c":{"b":1,"d":1}}',
    ],
    [
      'a copy is a copy',
      '{"a":[1]}',
      [
        { op: 'copy', from: '/a', path: '/b' },
        { op: 'add', path: '/b/-', value: 2 },
      ],
      '{"a":[1],"b":[1,2]}',
    ],
    [
      'test ignores the order of members',
      '{"a":{"x":1,"y":[2]}}',
      [{ op: 'test', path: '/a', value: { y: [2], x: 1 } }],
      '{"a":{"x":1,"y":[2]}}',
    ],
    [
      'escapes',
      '{"a/b":1,"m~n":2}',
      [
        { op: 'remove', path: '/a~1b' },
        { op: 'replace', path: '/m~0n', value: 3 },
      ],
      '{"m~n":3}',
    ],
    ['other members of an operation are ignored', '{}', [{ op: 'add', path: '/a', value: 1, note: 'x' }], '{"a":1}'],
    [
      'null is a value',
      '{"a":null}',
      [
        { op: 'test', path: '/a', value: null },
        { op: 'replace', path: '/a', value: 1 },
      ],
      '{"a":1}',
    ],
    [
      'prototype keys are data',
      '{}',
      [
        { op: 'add', path: '/__proto__', value: { x: 1 } },
        { op: 'add', path: '/__proto__/y', value: 2 },
        { op: 'add', path: '/constructor', value: 3 },
      ],
      '{"__proto__":{"x":1,"y":2},"constructor":3}',
    ],
  ])('%s', (_, document, operations, result) => {
    expect(patch(document, operations)).toBe(result);
  });

  it.each([
    ['a missing member', '{"a":1}', { op: 'remove', path: '/b' }],
    ['an inherited member', '{"a":1}', { op: 'remove', path: '/toString' }],
    ['the length of a list', '{"a":[1]}', { op: 'remove', path: '/a/length' }],
    ['a name in a list', '{"a":[1]}', { op: 'replace', path: '/a/x', value: 1 }],
    ['a place behind the end', '[1]', { op: 'add', path: '/2', value: 1 }],
    ['a leading zero', '[1,2]', { op: 'replace', path: '/01', value: 1 }],
    ['- where an element must be', '[1]', { op: 'replace', path: '/-', value: 1 }],
    ['a parent that is a string', '{"a":"b"}', { op: 'add', path: '/a/b', value: 1 }],
    ['a parent that is missing', '{}', { op: 'add', path: '/a/b', value: 1 }],
    ['a move into itself', '{"a":{}}', { op: 'move', from: '/a', path: '/a/b' }],
    ['another value', '{"a":1}', { op: 'test', path: '/a', value: '1' }],
    ['removing everything', '{"a":1}', { op: 'remove', path: '' }],
  ])('[PATCH_FAILED names the operation] %s', (_, document, operation) => {
    const before = { op: 'test', path: '', value: JSON.parse(document) };
    expect(() => patch(document, [before, operation])).toThrow(
      expect.objectContaining({ code: 'PATCH_FAILED', details: expect.objectContaining({ param: '1' }) }),
    );
  });

  it.each([
    [{ op: 'add', path: '/a', value: 1 }, undefined],
    [[{ op: 'add', path: '/a' }], '0.value'],
    [[{ op: 'add', path: 'a', value: 1 }], '0.path'],
    [[{ op: 'add', path: '/~2', value: 1 }], '0.path'],
    [
      [
        { op: 'test', path: '/a', value: 1 },
        { op: 'move', path: '/a' },
      ],
      '1.from',
    ],
    [[{ op: 'increment', path: '/a' }], '0.op'],
  ])('[INVALID_REQUEST] %j', (body, param) => {
    expect(() => parseJsonPatch(body)).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', details: expect.objectContaining({ ...(param ? { param } : {}) }) }),
    );
  });

  it('[bounded] the number of operations, doubling copies and depth are limited', async () => {
    const doubling = Array.from({ length: 60 }, (_, index) => ({ op: 'copy', from: '', path: `/c${index}` }));
    expect(await codeOf(() => patch('{"a":"0123456789"}', doubling))).toBe('VALUE_TOO_LARGE');
    const many = Array.from({ length: 1001 }, () => ({ op: 'test', path: '', value: 1 }));
    expect(await codeOf(() => patch('1', many))).toBe('INVALID_REQUEST');
    const deep = Array.from({ length: 1000 }, (_, index) => ({ op: 'add', path: '/a'.repeat(index + 1), value: {} }));
    expect(await codeOf(() => assertStorable(applyJsonPatch({}, parseJsonPatch(deep))))).toBe('PATCH_FAILED');
  });
});

/** Applies a patch by the package (which decides the order of members), except for a whole document, which it cannot replace. */
function sorted(from: unknown, to: unknown, difference: ReturnType<typeof createPatch>): unknown {
  if (difference.some((operation) => operation.path === '')) return to;
  const document = structuredClone(from);
  expect(applyPatch(document, difference).every((error) => error === null)).toBe(true);
  return document;
}

describe('one operation', () => {
  it.each<[string, string | undefined, JsonOperation, string]>([
    ['increment an absent key', undefined, { op: 'increment', path: '$', by: 2 }, '2'],
    ['increment an absent path of an absent key', undefined, { op: 'increment', path: '$.a.b', by: 1 }, '{"a":{"b":1}}'],
    ['increment what is there', '{"a":[1,5]}', { op: 'increment', path: '$.a[1]', by: -2 }, '{"a":[1,3]}'],
    ['append to an absent key', undefined, { op: 'append', path: '$', value: null }, '[null]'],
    ['append makes an array', '{}', { op: 'append', path: '$.list', value: { x: 1 } }, '{"list":[{"x":1}]}'],
    ['append to what is there', '{"list":[1]}', { op: 'append', path: '$.list', value: 2 }, '{"list":[1,2]}'],
    ['remove a member', '{"a":1,"b":2}', { op: 'remove', path: '$.a' }, '{"b":2}'],
    ['remove an element', '[1,2,3]', { op: 'remove', path: '$[1]' }, '[1,3]'],
    ['a prototype key', '{}', { op: 'increment', path: '$.__proto__.x', by: 1 }, '{"__proto__":{"x":1}}'],
  ])('%s', (_, document, operation, result) => {
    expect(operate(document, operation)).toBe(result);
    if (document !== undefined) expect(operateOnText(document, operation)).toBe(result);
  });

  it.each<[string, JsonOperation, string]>([
    ['{"a":"1"}', { op: 'increment', path: '$.a', by: 1 }, 'PATCH_FAILED'],
    ['{"a":null}', { op: 'increment', path: '$.a', by: 1 }, 'PATCH_FAILED'],
    ['1.7e308', { op: 'increment', path: '$', by: 1.7e308 }, 'PATCH_FAILED'],
    ['{"a":1}', { op: 'increment', path: '$.a.b', by: 1 }, 'PATCH_FAILED'],
    ['[]', { op: 'increment', path: '$[0]', by: 1 }, 'PATCH_FAILED'],
    ['[]', { op: 'increment', path: '$.length', by: 1 }, 'PATCH_FAILED'],
    ['{"a":{}}', { op: 'append', path: '$.a', value: 1 }, 'PATCH_FAILED'],
    ['{"a":1}', { op: 'remove', path: '$.b' }, 'PATCH_FAILED'],
    ['{"a":1}', { op: 'remove', path: '$' }, 'PATCH_FAILED'],
    ['{"a":1}', { op: 'remove', path: 'a' }, 'INVALID_REQUEST'],
  ])('%s refuses %j', async (document, operation, code) => {
    expect(await codeOf(() => operate(document, operation))).toBe(code);
    expect(await codeOf(() => operateOnText(document, operation))).toBe(code);
  });

  const name = fc.constantFrom('a', 'b', '__proto__', 'x"y\\', 'é', '');
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(0, -1.5, 1e300, true, null, '', 'a,]}"\\"', '{'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.uniqueArray(fc.tuple(name, tie('value')), { maxLength: 3, selector: ([member]) => member }).map((members) => new Map(members)),
    ),
  })).value;
  const space = fc.constantFrom('', ' ', '\n\t ');
  /** A text with spaces wherever they are allowed, some names written with escapes. */
  const written = (it: unknown, gap: string): string => {
    if (Array.isArray(it)) return `[${gap}${it.map((element) => written(element, gap)).join(`${gap},${gap}`)}${gap}]`;
    if (!(it instanceof Map)) return JSON.stringify(it);
    const members = [...it].map(
      ([member, inner]) => `${JSON.stringify(member).replace('b', '\\u0062')}${gap}:${gap}${written(inner, gap)}`,
    );
    return `{${gap}${members.join(`${gap},${gap}`)}${gap}}`;
  };
  const path = fc
    .array(fc.oneof(name, fc.nat(3)), { maxLength: 3 })
    .map((steps) => `$${steps.map((step) => `[${JSON.stringify(step)}]`).join('')}`);
  const operation: fc.Arbitrary<JsonOperation> = fc.oneof(
    fc.record({ op: fc.constant('increment' as const), path, by: fc.constantFrom(1, -0.5, 1.7e308) }),
    fc.record({ op: fc.constant('append' as const), path, value: fc.constantFrom(1, 'x', { a: [] }) }),
    fc.record({ op: fc.constant('remove' as const), path }),
  );
  const outcome = (act: () => string) => {
    try {
      return act();
    } catch (error) {
      if (error instanceof Failure) return `${error.code}: ${error.message}`;
      throw error;
    }
  };

  it('[model] does the same to a text as to its value', () => {
    fc.assert(
      fc.property(value, space, operation, (it, gap, one) => {
        const text = `${gap}${written(it, gap)}${gap}`;
        expect(outcome(() => operateOnText(text, one))).toBe(outcome(() => operate(text, one)));
      }),
      { numRuns: 3000 },
    );
  });

  it('[model] a path finds the same part of a text as of its value', () => {
    fc.assert(
      fc.property(value, space, path, (it, gap, at) => {
        const text = `${gap}${written(it, gap)}${gap}`;
        const steps = parsePath(at) ?? [];
        const place = placeOf(text, steps);
        const found =
          place.steps < steps.length ? undefined : JSON.stringify(JSON.parse(text.slice(place.start, endOfValue(text, place.start))));
        expect(found).toBe(JSON.stringify(readPath(JSON.parse(text), steps)));
      }),
      { numRuns: 3000 },
    );
  });

  it('in a text is not nested deeper than a body may be', async () => {
    const deep = (depth: number) => `$${'.a'.repeat(depth)}`;
    for (const op of ['increment', 'append'] as const) {
      const one = (depth: number): JsonOperation =>
        op === 'append' ? { op, path: deep(depth), value: 1 } : { op, path: deep(depth), by: 1 };
      const most = LIMITS.jsonDepthMax - (op === 'append' ? 1 : 0);
      expect(applyOperationToText('{}', one(most))).toContain('1');
      expect(await codeOf(() => applyOperationToText('{}', one(most + 1)))).toBe('PATCH_FAILED');
    }
  });
});
