/** Exact decimal arithmetic, as the database's `numeric` does it: sums of doubles as they are written, and their averages. */

/** `digits` times ten to the power of minus `scale`. */
interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

const ZERO: Decimal = { digits: 0n, scale: 0 };
/** Digits of the base in which the database keeps numbers. */
const GROUP = 4;
/** Significant digits that a quotient has at least. */
const QUOTIENT_DIGITS_MIN = 16;
const SCALE_MAX = 1000;

export function sumOf(values: readonly number[]): number {
  return numberOf(total(values));
}

export function averageOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : numberOf(quotient(total(values), { digits: BigInt(values.length), scale: 0 }));
}

function total(values: readonly number[]): Decimal {
  return values.map(decimalOf).reduce(sum, ZERO);
}

function decimalOf(value: number): Decimal {
  const [mantissa = '0', exponent = '0'] = String(value).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  const digits = BigInt(whole + fraction);
  const scale = fraction.length - Number(exponent);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

function sum(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { digits: scaled(a, scale) + scaled(b, scale), scale };
}

function scaled({ digits, scale }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(to - scale);
}

/** Rounded half away from zero, at the scale that the database selects. */
function quotient(a: Decimal, b: Decimal): Decimal {
  const [first, second] = [leading(a), leading(b)];
  const weight = first.weight - second.weight - (first.group <= second.group ? 1 : 0);
  const scale = Math.min(Math.max(QUOTIENT_DIGITS_MIN - weight * GROUP, a.scale, b.scale, 0), SCALE_MAX);
  const dividend = scaled(a, Math.max(a.scale, scale + b.scale));
  const shift = Math.max(a.scale, scale + b.scale) - b.scale - scale;
  const divisor = b.digits * 10n ** BigInt(shift);
  const doubled = (dividend < 0n ? -dividend : dividend) * 2n + divisor;
  const rounded = doubled / (divisor * 2n);
  return { digits: dividend < 0n ? -rounded : rounded, scale };
}

/** The first group of digits that is not zero, and its position: 0 is the group before the point. */
function leading({ digits, scale }: Decimal): { readonly weight: number; readonly group: number } {
  if (digits === 0n) return { weight: 0, group: 0 };
  const text = (digits < 0n ? -digits : digits).toString();
  const padded = text + '0'.repeat((GROUP - (scale % GROUP)) % GROUP);
  const groupsAfterPoint = Math.ceil(scale / GROUP);
  const groups = Math.ceil(padded.length / GROUP);
  const group = Number(padded.slice(0, padded.length - (groups - 1) * GROUP));
  return { weight: groups - groupsAfterPoint - 1, group };
}

function numberOf({ digits, scale }: Decimal): number {
  return Number(`${digits}e${-scale}`);
}
