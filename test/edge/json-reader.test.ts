/** The reader of large JSON documents, against the one of small documents: the same values, the same refusals. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ExactNumber } from '../../actors/json/exact-number.ts';
import { jsonText, parseJson } from '../../actors/json/json-text.ts';
import { Failure } from '../../protocol/core/errors.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { parseJsonDocument } from '../../src/edge/json-document.ts';
import { JsonReader, refusalOfBeginning } from '../../src/edge/json-reader.ts';

const RUNS = { numRuns: 400, seed: 20_261_122 };

function read(text: string | Buffer, { valuesMax = 1000, isExact = false } = {}): { readonly value: unknown; readonly slices: number } {
  const reader = new JsonReader(Buffer.from(text as string), { valuesMax, isExact });
  let slices = 1;
  while (!reader.advance()) slices += 1;
  return { value: reader.value, slices };
}

/** The value, or the code of the refusal. */
function outcome(parse: () => unknown): unknown {
  try {
    return { value: parse() };
  } catch (error) {
    if (error instanceof Failure) return { code: error.code };
    throw error;
  }
}

describe('reads what JSON.parse reads', () => {
  test('any value, written in any way', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 1, '\t', '\r\n '), (value, space) => {
        const text = JSON.stringify(value, null, space);
        // Only the small reader keeps -0 and duplicate names apart from what JSON.parse does; neither is in these texts.
        expect(read(text, { valuesMax: 10_000 }).value).toEqual(JSON.parse(text));
      }),
      RUNS,
    );
  });

  test('a valid text with one byte changed, removed or put in: both read the same or refuse with the same code', () => {
    const bytes = fc.constantFrom(
      ...[...'"\\{}[],:0123456789-+.eEtrufalsn \n\u0000\u001f'].map((char) => char.charCodeAt(0)),
      0x80,
      0xc3,
      0xff,
    );
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(), bytes, fc.constantFrom(0, 1, 2), (value, place, byte, edit) => {
        const text = Buffer.from(JSON.stringify(value));
        const at = place % text.length;
        const changed = Buffer.concat([
          text.subarray(0, at),
          edit === 1 ? Buffer.alloc(0) : Buffer.from([byte]),
          text.subarray(edit === 2 ? at : at + 1),
        ]);
        expect(outcome(() => read(changed, { valuesMax: 10_000 }).value)).toEqual(outcome(() => parseJsonDocument(changed).value));
      }),
      { ...RUNS, numRuns: 3000 },
    );
  });

  test.each([
    ['nothing', ''],
    ['white space', ' \n\t\r '],
    ['two documents', '{} {}'],
    ['a comma at the end', '[1,]'],
    ['a comma at the beginning', '{,"a":1}'],
    ['a leading zero', '01'],
    ['a bare point', '1.'],
    ['a form feed', '\f1'],
    ['a byte order mark', '\ufeff1'],
    ['a control character in a text', '"a\u0001"'],
    ['an unknown escape', '"\\x"'],
    ['half an escape', '"\\u12"'],
    ['an escape that runs into the quote', '["\\u12","3"]'],
    ['a member twice', '{"a":1,"a":2}'],
    ['a member twice, once escaped', '{"a":1,"\\u0061":2}'],
    ['an unfinished text', '"abc'],
    ['an unfinished escape', '"abc\\'],
    ['brackets that do not match', '[}'],
    ['depth 101', `${'['.repeat(101)}${']'.repeat(101)}`],
  ])('%s is refused', (_name, text) => {
    expect(outcome(() => read(text))).toEqual({ code: 'INVALID_JSON' });
    expect(outcome(() => parseJsonDocument(Buffer.from(text)))).toEqual({ code: 'INVALID_JSON' });
  });

  test('__proto__ is a member like any other', () => {
    const { value } = read('{"__proto__":{"a":1},"b":2}');
    expect([Object.keys(value as object), Object.getPrototypeOf(value)]).toEqual([['__proto__', 'b'], Object.prototype]);
  });

  test('long texts with characters and escapes at the places where they are cut', () => {
    for (const unit of ['a', 'é', '😀', '\\n', '\\u00e9', '\\ud83d\\ude00', '\\"', '\\\\']) {
      for (let shift = 0; shift < 7; shift += 1) {
        const text = `["${'x'.repeat(shift)}${unit.repeat(1_200_000 / unit.length)}",1]`;
        const { value, slices } = read(text);
        // Comparing the whole arrays would print megabytes.
        expect((value as string[])[0] === (JSON.parse(text) as string[])[0]).toBe(true);
        expect([(value as unknown[])[1], slices > 1]).toEqual([1, true]);
      }
    }
  });

  test('bytes that are no UTF-8 wherever they are, also where the check is cut', () => {
    for (const wrong of [[0xff], [0x80, 0x80, 0x80, 0x80, 0x80], [0xc3], [0xf0, 0x9f]]) {
      for (const before of [0, 10, 1024 * 1024 - 3, 2 * 1024 * 1024 - 2, 2 * 1024 * 1024, 3_000_000]) {
        const text = Buffer.concat([Buffer.from(`["${'é'.repeat(before / 2)}`), Buffer.from(wrong), Buffer.from('"]')]);
        expect(outcome(() => read(text))).toEqual({ code: 'INVALID_JSON' });
      }
    }
  });

  test('numbers that a double cannot hold, where they are wanted', () => {
    const text = '[12345678901234567890,1e400,0.1,-0,1.0,{"a":1e5}]';
    const { value } = read(text, { isExact: true });
    expect((value as unknown[])[0]).toBeInstanceOf(ExactNumber);
    expect(jsonText(value)).toBe(jsonText(parseJson(text)));
    expect(read('[12345678901234567890]').value).toEqual(JSON.parse('[12345678901234567890]'));
  });
});

describe('is bounded', () => {
  test('by the number of values, before the rest is read', () => {
    expect(outcome(() => read('[1,2,3]', { valuesMax: 4 }))).toMatchObject({ value: {} });
    expect(outcome(() => read('[1,2,{"a":3}]', { valuesMax: 4 }))).toEqual({ code: 'INVALID_REQUEST' });
    // What follows would be refused as JSON, but is never seen.
    expect(outcome(() => read('[1,2,3,4,}', { valuesMax: 4 }))).toEqual({ code: 'INVALID_REQUEST' });
  });

  test('by the items of a list, of the body or of one of its members', () => {
    const listsMax = new Map([
      ['', 3],
      ['rows', 2],
    ]);
    const bounded = (text: string) => {
      const reader = new JsonReader(Buffer.from(text), { valuesMax: 100, isExact: false, listsMax });
      while (!reader.advance());
      return reader.value;
    };
    for (const text of ['[1,2,3]', '[[1,2,3,4,5]]', '{"rows":[1,2],"other":[1,2,3,4]}', '{"a":{"rows":[1,2,3]}}', '{"":[1,2,3]}']) {
      expect(bounded(text)).toEqual(JSON.parse(text));
    }
    expect(outcome(() => bounded('[1,2,3,4,}'))).toEqual({ code: 'INVALID_REQUEST' });
    expect(outcome(() => bounded('{"a":[1,2,3],"rows":[1,2,{},}'))).toEqual({ code: 'INVALID_REQUEST' });
  });

  test('already where only its beginning has arrived, whatever follows', () => {
    const listsMax = new Map([['rows', 1000]]);
    const refusal = (text: string, bounds = listsMax) =>
      refusalOfBeginning(Buffer.from(text), { valuesMax: 1e6, isExact: false, listsMax: bounds });
    expect(refusal(`{"rows":[${'{},'.repeat(1001)}{"a`)).toMatchObject({ code: 'INVALID_REQUEST', details: { param: 'rows' } });
    expect(refusal(`{"rows":[${'{},'.repeat(900)}{"a`)).toBeUndefined();
    // Cut within a character, and not JSON at all: that is for the reader of the whole.
    expect(refusalOfBeginning(Buffer.from('{"rows":["é').subarray(0, -1), { valuesMax: 10, isExact: false, listsMax })).toBeUndefined();
    expect(refusal(`]${'[1,'.repeat(20_000)}`)).toBeUndefined();
    expect(refusal(`{"rows":[${'{},'.repeat(5000)}`, new Map())).toBeUndefined();
  });

  test('in the length of a number', () => {
    expect(outcome(() => read('1'.repeat(LIMITS.bodyNumberCharsMax)))).toMatchObject({ value: {} });
    expect(outcome(() => read('1'.repeat(LIMITS.bodyNumberCharsMax + 1)))).toEqual({ code: 'INVALID_JSON' });
  });

  test.each([
    ['objects', `[${Array(100_000).fill('{}').join()}]`],
    ['members', `{${Array.from({ length: 50_000 }, (_, index) => `"k${index}":0`).join()}}`],
    ['white space', `${' '.repeat(8_000_000)}1`],
    ['a text', `"${'x'.repeat(8_000_000)}"`],
  ])('in the work of one slice: %s', (_name, text) => {
    // Each of these is several slices' work, whatever the machine.
    expect(read(text, { valuesMax: 200_000 }).slices).toBeGreaterThan(5);
  });
});

test('an object with more members than may be listed at once is refused at the first one too many', () => {
  const members = (count: number) => Array.from({ length: count }, (_, index) => `"m${index}":0`).join(',');
  const bounds = { valuesMax: LIMITS.bodyValuesMax, isExact: false };
  const read = (text: string) => {
    const reader = new JsonReader(Buffer.from(text), bounds);
    while (!reader.advance());
    return reader.value;
  };
  expect(Object.keys(read(`{${members(LIMITS.bodyMembersMax)}}`) as object)).toHaveLength(LIMITS.bodyMembersMax);
  expect(() => read(`{"first":{},"large":{${members(LIMITS.bodyMembersMax + 1)}}}`)).toThrow(
    expect.objectContaining({ code: 'INVALID_REQUEST' }),
  );
});
