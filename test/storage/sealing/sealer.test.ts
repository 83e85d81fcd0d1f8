import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../../protocol/core/errors.ts';
import { Sealer, type SecretPlace, Unopenable } from '../../../src/storage/sealing/sealer.ts';

const PLACE: SecretPlace = { table: 'connection', row: 'con_a', field: 'credentials' };
const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const old = new Sealer([oldKey]);

function unopenable(open: () => string): string {
  try {
    return `opened: ${open()}`;
  } catch (error) {
    expect(error).toBeInstanceOf(Unopenable);
    return (error as Error).message;
  }
}

describe('a sealed secret', () => {
  it('is what was sealed, whatever text that is, and looks different each time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const [one, other] = [old.seal(PLACE, text), old.seal(PLACE, text)];
        expect(old.open(PLACE, one)).toBe(text);
        expect(one.equals(other)).toBe(false);
      }),
      { seed: 11, numRuns: 200 },
    );
    expect(old.seal(PLACE, 'hunter2').includes('hunter2')).toBe(false);
  });

  it('does not open when any of its bits was changed, or when it was cut or lengthened', () => {
    const sealed = old.seal(PLACE, 'secret');
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const altered = Buffer.from(sealed);
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => old.open(PLACE, altered), `bit ${bit}`).toThrow(Unopenable);
    }
    for (let bytes = 0; bytes < sealed.length; bytes += 1) {
      expect(() => old.open(PLACE, sealed.subarray(0, bytes)), `${bytes} bytes`).toThrow(Unopenable);
    }
    expect(() => old.open(PLACE, Buffer.concat([sealed, Buffer.of(0)]))).toThrow(Unopenable);
  });

  it.each<[string, SecretPlace]>([
    ['row', { ...PLACE, row: 'con_b' }],
    ['table', { ...PLACE, table: 'webhook' }],
    ['field', { ...PLACE, field: 'other' }],
    ['place whose parts make the same text', { table: 'connection', row: 'con_acredentials', field: '' }],
  ])('does not open at another %s', (_what, place) => {
    const sealed = old.seal(PLACE, 'secret');
    expect(unopenable(() => old.open(place, sealed))).toBe(
      `${place.table}.${place.field} of ${place.row} was altered, or belongs elsewhere.`,
    );
  });
});

describe('rotation', () => {
  const both = new Sealer([newKey, oldKey]);
  const onlyNew = new Sealer([newKey]);

  it('seals with the first key and opens with any', () => {
    const before = old.seal(PLACE, 'secret');
    const after = both.seal(PLACE, 'secret');
    expect([both.open(PLACE, before), both.open(PLACE, after), onlyNew.open(PLACE, after)]).toEqual(['secret', 'secret', 'secret']);
    expect(unopenable(() => old.open(PLACE, after))).toMatch(/is sealed with the key [0-9a-f]{16}, which SECRET_KEY does not list\.$/);
  });

  it('seals again what an older key sealed, at its own place, and nothing else', () => {
    const before = old.seal(PLACE, 'secret');
    const again = both.reseal(PLACE, before);
    expect(again).not.toBeNull();
    expect(onlyNew.open(PLACE, again ?? Buffer.of())).toBe('secret');
    expect(both.reseal(PLACE, again ?? Buffer.of())).toBeNull();
    expect(() => both.reseal({ ...PLACE, row: 'con_b' }, before)).toThrow(Unopenable);
    expect(again?.subarray(0, 9).equals(both.currentHead ?? Buffer.of())).toBe(true);
  });

  it('names a key by something that does not tell the key', () => {
    const head = old.currentHead ?? Buffer.of();
    expect(oldKey.includes(head.subarray(1))).toBe(false);
  });
});

it('an installation without a key seals nothing and says which setting is missing', () => {
  const none = new Sealer([]);
  const refused = () => none.seal(PLACE, 'secret');
  expect(refused).toThrow(Failure);
  expect(refused).toThrow(/SECRET_KEY/);
  expect(none.currentHead).toBeNull();
  expect(() => none.open(PLACE, old.seal(PLACE, 'secret'))).toThrow(/which SECRET_KEY does not list/);
});
