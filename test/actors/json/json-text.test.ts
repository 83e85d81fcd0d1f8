/** Numbers beyond the range or precision of a double survive reading, partial changes and writing of a document. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ExactNumber } from '../../../actors/json/exact-number.ts';
import { mergePatch } from '../../../actors/json/json-merge.ts';
import { applyOperation } from '../../../actors/json/json-operation.ts';
import { applyJsonPatch, parseJsonPatch } from '../../../actors/json/json-patch.ts';
import { readPath } from '../../../actors/json/json-path.ts';
import { endOfString, isSameNumber, jsonText, parseJson } from '../../../actors/json/json-text.ts';
import { codeOf } from '../runtime/runtime-fixture.ts';

const BIG = '12345678901234567890';
const digits = (min: number, max: number) => fc.stringMatching(new RegExp(`^[0-9]{${min},${max}}$`));
/** Texts of numbers, most of which a double cannot hold. */
const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(
      fc.constant('0'),
      digits(0, 25).map((rest) => `7${rest}`),
    ),
    fc.oneof(
      fc.constant(''),
      digits(1, 25).map((rest) => `.${rest}`),
    ),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant('') },
      { weight: 1, arbitrary: fc.tuple(fc.constantFrom('e', 'E', 'e+', 'e-'), digits(1, 4)).map((parts) => parts.join('')) },
    ),
  )
  .map((parts) => parts.join(''));
/** Strings that could be mistaken for a number, the end of a string or the internal mark of an exact number. */
const trickyText = fc
  .array(fc.oneof(numberText, fc.constantFrom('"', '\\', '\u0000', '\u0000\u0000', ',', ':', '\ud800', 'é'), fc.string()))
  .map((parts) => parts.join(''));

/** A document as text, with each number as generated. No name is an array index, because JavaScript moves those to the front. */
const { document } = fc.letrec<{ document: string }>((tie) => ({
  document: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    numberText,
    trickyText.map((text) => JSON.stringify(text)),
    fc.constantFrom('true', 'false', 'null'),
    fc.array(tie('document'), { maxLength: 4 }).map((elements) => `[${elements.join(',')}]`),
    fc
      .uniqueArray(
        fc.tuple(
          fc.oneof(
            trickyText.map((name) => `k${name}`),
            fc.constant('__proto__'),
          ),
          tie('document'),
        ),
        { maxLength: 4, selector: ([name]) => name },
      )
      .map((members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`),
  ),
}));

/** The tokens of a text, so that numbers are compared by value and everything else by spelling. */
function tokensOf(text: string): string[] {
  return text.match(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|./gsu) ?? [];
}

/** Compares independently of the code under test: as fractions of big integers. */
function sameValue(a: string, b: string): boolean {
  const parts = [a, b].map((text) => {
    const [, sign = '', whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
    return { digits: BigInt(sign + whole + fraction), exponent: Number(exponent) - fraction.length };
  });
  const least = Math.min(...parts.map((part) => part.exponent));
  const [one, other] = parts.map((part) => part.digits * 10n ** BigInt(part.exponent - least));
  return one === other;
}

function expectSame(written: string, original: string): void {
  const [now, before] = [tokensOf(written), tokensOf(original)];
  expect(now.length).toBe(before.length);
  now.forEach((token, index) => {
    const was = before[index] ?? '';
    if (/^-?\d/.test(was)) expect([was, token, sameValue(token, was)]).toEqual([was, token, true]);
    else expect(token).toBe(was);
  });
}

describe('a document read and written again', () => {
  it('[model] has the same numbers, and the rest as JSON.stringify writes it', () => {
    fc.assert(
      fc.property(document, (text) => expectSame(jsonText(parseJson(text)), text)),
      { numRuns: 2000 },
    );
  });

  it('equals the result of JSON.parse where that loses nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(parseJson(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
    const plain = {};
    expect(parseJson('[1,0.1,123456789012345,"12345678901234567890",1e21]', plain)).toBe(plain);
  });

  it('keeps a string that looks like the internal mark', () => {
    const text = `{"a":${BIG},"b":"\\u0000${BIG}","c":"\\u0000\\u0000\\u0000${BIG}","\\u0000${BIG}":1,"d":"\\\\u0000"}`;
    expect(jsonText(parseJson(text))).toBe(text);
    expect(parseJson(text)).toMatchObject({ a: new ExactNumber(BIG), b: `\u0000${BIG}` });
  });

  it('takes time linear in its length', () => {
    const zeros = '0'.repeat(400_000);
    for (const text of [`[1${zeros}1]`, `[0.${zeros}1]`, `[1e${zeros}9]`, `[1e-9${zeros}]`, `["${'\\u0000'.repeat(100_000)}",${BIG}]`]) {
      expect(jsonText(parseJson(text))).toBe(text);
    }
  });

  it('cannot be written by JSON.stringify, which would lose digits', () => {
    expect(() => JSON.stringify(parseJson(`[${BIG}]`))).toThrow('jsonText');
  });
});

describe('numbers that a change does not touch are kept by', () => {
  const anywhere = fc.tuple(document, document);

  it('[model] a merge patch', () => {
    fc.assert(
      fc.property(anywhere, ([kept, set]) => {
        const merged = mergePatch(parseJson(`{"kept":${kept},"gone":1,"n":${BIG}}`), parseJson(`{"gone":null,"set":[${set}]}`));
        expectSame(jsonText(merged), `{"kept":${kept},"n":${BIG},"set":[${set}]}`);
      }),
    );
  });

  it('[model] a JSON patch', () => {
    fc.assert(
      fc.property(anywhere, ([kept, set]) => {
        const patch = [
          `{"op":"add","path":"/set","value":${set}}`,
          `{"op":"copy","from":"/kept","path":"/copy"}`,
          `{"op":"move","from":"/n","path":"/moved"}`,
          `{"op":"test","path":"/copy","value":${kept}}`,
          `{"op":"remove","path":"/gone"}`,
        ];
        const patched = applyJsonPatch(parseJson(`{"kept":${kept},"n":${BIG},"gone":${BIG}}`), parseJsonPatch(parseJson(`[${patch}]`)));
        expectSame(jsonText(patched), `{"kept":${kept},"set":${set},"copy":${kept},"moved":${BIG}}`);
      }),
    );
  });

  it('[model] an increment beside them, and an append', () => {
    fc.assert(
      fc.property(anywhere, ([kept, added]) => {
        const counted = applyOperation(parseJson(`{"kept":${kept},"n":1,"list":[]}`), { op: 'increment', path: '$.n', by: 2 });
        const appended = applyOperation(counted, { op: 'append', path: '$.list', value: parseJson(added) });
        expectSame(jsonText(appended), `{"kept":${kept},"n":3,"list":[${added}]}`);
      }),
    );
  });

  it('[model] reading a path', () => {
    fc.assert(fc.property(document, (kept) => expectSame(jsonText(readPath(parseJson(`{"a":[${BIG},${kept}]}`), ['a', 1])), kept)));
  });
});

describe('an exact number', () => {
  it('is not an object for paths and merges', () => {
    expect(readPath(parseJson(`{"n":${BIG}}`), ['n', 'text'])).toBeUndefined();
    expect(mergePatch(parseJson(`{"n":${BIG}}`), { n: { text: 1 } })).toEqual({ n: { text: 1 } });
  });

  it('is tested by its value', async () => {
    const test = (text: string, value: string) =>
      jsonText(applyJsonPatch(parseJson(text), parseJsonPatch(parseJson(`[{"op":"test","path":"","value":${value}}]`))));
    const tested = (text: string, value: string) => codeOf(() => test(text, value));
    test(BIG, BIG);
    test('1e400', '10.0E399');
    test(`{"a":[${BIG}]}`, `{"a":[${BIG}0e-1]}`);
    expect(await tested(BIG, '12345678901234567891')).toBe('PATCH_FAILED');
    expect(await tested(BIG, '12345678901234567000')).toBe('PATCH_FAILED');
    expect(await tested('1e400', '1e401')).toBe('PATCH_FAILED');
    expect([isSameNumber(-0, 0), isSameNumber(1, '1'), isSameNumber(1, -1)]).toEqual([true, false, false]);
  });

  it('cannot be incremented', async () => {
    const increment = (text: string) => codeOf(() => applyOperation(parseJson(text), { op: 'increment', path: '$', by: 1 }));
    expect(await increment(BIG)).toBe('PATCH_FAILED');
    expect(await increment('1e400')).toBe('PATCH_FAILED');
  });

  it('counts by its length towards the copy limit of a patch', async () => {
    const long = `1${'0'.repeat(1000)}1`;
    const copies = Array.from({ length: 1000 }, () => ({ op: 'copy', from: '/0', path: '/-' }));
    expect(await codeOf(() => applyJsonPatch(parseJson(`[${long.repeat(10)}]`), parseJsonPatch(copies)))).toBe('VALUE_TOO_LARGE');
  });
});

it('the end of a string is found past escaped quotes', () => {
  fc.assert(
    fc.property(trickyText, (text) => {
      const written = JSON.stringify(text);
      expect(endOfString(`${written},"x"`, 0)).toBe(written.length - 1);
    }),
  );
});
