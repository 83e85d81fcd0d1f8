/** Numbers and times in the reader's language. */
import { words } from './words.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number, number])[] = [
  ['minute', MINUTE, HOUR],
  ['hour', HOUR, DAY],
  ['day', DAY, 30 * DAY],
  ['month', 30 * DAY, 365 * DAY],
  ['year', 365 * DAY, Number.POSITIVE_INFINITY],
];

/** "3 minutes ago", "in 29 days". */
export function ago(at: string | null | undefined, nowMs = Date.now()): string {
  if (at === null || at === undefined) return words.value.time.never;
  const seconds = (Date.parse(at) - nowMs) / 1000;
  const step = STEPS.find(([, , below]) => Math.abs(seconds) < below);
  if (step === undefined || Math.abs(seconds) < MINUTE) return words.value.time.now;
  const [unit, size] = step;
  return new Intl.RelativeTimeFormat(words.value.locale, { numeric: 'auto' }).format(Math.round(seconds / size), unit);
}

/** Seconds from now in the smallest fitting unit: "in 40 seconds", "in 12 minutes". */
export function soon(seconds: number): string {
  const [unit, size] =
    seconds < MINUTE ? (['second', 1] as const) : seconds < HOUR ? (['minute', MINUTE] as const) : (['hour', HOUR] as const);
  return new Intl.RelativeTimeFormat(words.value.locale).format(Math.ceil(seconds / size), unit);
}

export function dateText(at: string): string {
  return new Intl.DateTimeFormat(words.value.locale, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at));
}

/** A day in UTC, such as 2026-01-31. */
export function dayText(date: string): string {
  return new Intl.DateTimeFormat(words.value.locale, { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(new Date(date));
}

export function bytesText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB'] as const;
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${new Intl.NumberFormat(words.value.locale, { maximumFractionDigits: power === 0 || value >= 100 ? 0 : 1 }).format(value)} ${units[power]}`;
}

/** "see it, comment and edit it" */
export function listText(parts: readonly string[]): string {
  return new Intl.ListFormat(words.value.locale, { type: 'conjunction' }).format(parts);
}

/** An amount in the smallest unit of its currency, such as "$12.00". */
export function moneyText(cents: number, currency: string): string {
  return new Intl.NumberFormat(words.value.locale, { style: 'currency', currency: currency.toUpperCase() }).format(cents / 100);
}

/** A day with its year, where the reader is. */
export function dateOnly(at: string): string {
  return new Intl.DateTimeFormat(words.value.locale, { dateStyle: 'medium' }).format(new Date(at));
}

export function countText(count: number): string {
  return count.toLocaleString(words.value.locale);
}
