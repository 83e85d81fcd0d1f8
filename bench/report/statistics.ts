/** Medians with their spread, and verdicts against aims. */

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface Verdict {
  readonly what: string;
  /** Readable aim, for example `≤ 1.6 ×`. */
  readonly aim: string;
  readonly value: string;
  readonly reached: boolean;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  const middle = Math.floor(sorted.length / 2);
  return {
    median: sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2,
    min: at(0),
    max: at(sorted.length - 1),
  };
}

export function atMost(what: string, value: number, limit: number, unit: string): Verdict {
  return { what, aim: `≤ ${limit} ${unit}`, value: `${rounded(value)} ${unit}`, reached: value <= limit };
}

export function atLeast(what: string, value: number, limit: number, unit: string): Verdict {
  return { what, aim: `≥ ${limit} ${unit}`, value: `${rounded(value)} ${unit}`, reached: value >= limit };
}

/** Three significant digits; integers from 1000 on. */
export function rounded(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en').replaceAll(',', ' ');
  return String(Number(value.toPrecision(3)));
}

export function withSpread(spread: Spread): string {
  return `${rounded(spread.median)} (${rounded(spread.min)}–${rounded(spread.max)})`;
}
