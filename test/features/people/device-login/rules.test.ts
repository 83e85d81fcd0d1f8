import fc from 'fast-check';
import { expect, test } from 'vitest';
import { normalCode, shownCode, userCodeOf, warningFor } from '../../../../src/features/people/device-login/rules.ts';
import { publicKeyOf, seal, unseal } from '../../../../src/features/people/device-login/sealing.ts';

const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });

test('every short code can be typed in as it is shown, in lowercase and with spaces', () => {
  fc.assert(
    fc.property(bytes, (random) => {
      const code = userCodeOf(random);
      if (code === undefined) return;
      const shown = shownCode(code);
      for (const typed of [shown, shown.toLowerCase(), ` ${shown.replace('-', ' - ')} `, code]) expect(normalCode(typed)).toBe(code);
    }),
  );
});

test('bytes that would make some letters likelier are skipped, and too few are no code', () => {
  expect(userCodeOf(new Uint8Array([255, 0, 250, 1, 240, 19, 20, 39, 239, 0, 0]))).toBe('BCZBZZBB');
  expect(userCodeOf(new Uint8Array([255, 0, 1, 2, 3, 4, 5, 6]))).toBeUndefined();
});

test.each(['', 'BDFH', 'BDFH-KMPRR', 'AEIO-UAEI', 'BDFH-KMP0', "BDFH-KMP'", '\u0000'.repeat(8), 'x'.repeat(1000)])(
  '%j is no code',
  (typed) => {
    expect(normalCode(typed)).toBeUndefined();
  },
);

test('what is sealed for a device code opens with it, and with nothing else', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), fc.string(), fc.nat(), (code, other, text, at) => {
      const sealed = seal(publicKeyOf(code), text);
      expect(unseal(code, sealed)).toBe(text);
      if (other !== code) expect(() => unseal(other, sealed)).toThrow();
      const changed = Buffer.from(sealed);
      changed[32 + (at % (changed.length - 32))] = (changed[32 + (at % (changed.length - 32))] ?? 0) ^ 1;
      expect(() => unseal(code, changed)).toThrow();
      expect(seal(publicKeyOf(code), text)).not.toEqual(sealed);
    }),
    { numRuns: 50 },
  );
});

test('the warning names both addresses, and is there only where they differ', () => {
  expect(warningFor(null, ['a@x.example'])).toBeNull();
  expect(warningFor('a@x.example', ['b@x.example', 'a@x.example'])).toBeNull();
  expect(warningFor('a@x.example', ['b@x.example'])).toBe('Signed in as b@x.example; a@x.example was expected.');
  expect(warningFor('a@x.example', [])).toBe('The account that signed in has no e-mail address; a@x.example was expected.');
});
