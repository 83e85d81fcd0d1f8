/**
 * Schedules over ten years in every time zone, compared with a slow model that looks at every minute. The model knows a zone by `Intl` alone:
 * the instants at which its offset changes. Zones with the same changes are one case. `SCHEDULE_SIMULATION=all` looks around every change and
 * runs the daily schedules over all years in every zone; without it both are sampled by the seed.
 */
import { IANAZone } from 'luxon';
import { beforeAll, describe, expect, it } from 'vitest';
import { dueBetween, parseSchedule } from '../../../../src/features/automation/jobs/schedule.ts';
import { Random } from '../../../support/random.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const FROM_MS = Date.UTC(2026, 0, 1);
const TO_MS = Date.UTC(2036, 11, 31);
/** No zone changes its offset twice within so long; a shorter step would find the same changes. */
const STEP_MS = 5 * DAY_MS;
/** Looked at on each side of a change, more than any change skips or repeats. */
const AROUND_MS = 27 * HOUR_MS;
const ALL = process.env.SCHEDULE_SIMULATION === 'all';
const SEED = Number(process.env.SIM_SEED ?? 20_260_124);
const CHANGES_SAMPLED = 4;
const ZONES_SAMPLED = 3;

interface Wall {
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  readonly month: number;
  readonly weekday: number;
}

interface Spec {
  readonly expression: string;
  readonly matches: (wall: Wall) => boolean;
  /** Every minute that passes counts; else each time on the clock once. */
  readonly isHourly?: true;
}

const SPECS: readonly Spec[] = [
  { expression: '0 * * * *', isHourly: true, matches: ({ minute }) => minute === 0 },
  { expression: '*/15 * * * *', isHourly: true, matches: ({ minute }) => minute % 15 === 0 },
  { expression: '7 */2 * * mon', isHourly: true, matches: ({ minute, hour, weekday }) => minute === 7 && hour % 2 === 0 && weekday === 1 },
  { expression: '30 2 * * *', matches: ({ minute, hour }) => minute === 30 && hour === 2 },
  { expression: '0 0 * * *', matches: ({ minute, hour }) => minute === 0 && hour === 0 },
  { expression: '*/20 0-3 * * *', matches: ({ minute, hour }) => minute % 20 === 0 && hour <= 3 },
  {
    expression: '15 1,2,23 * * sun,sat',
    matches: ({ minute, hour, weekday }) => minute === 15 && [1, 2, 23].includes(hour) && [0, 6].includes(weekday),
  },
  {
    expression: '0 12 1,29 * fri',
    matches: ({ minute, hour, day, weekday }) => minute === 0 && hour === 12 && (day === 1 || day === 29 || weekday === 5),
  },
];
const YEARLY: readonly Spec[] = [
  { expression: '0 0 29 2 *', matches: ({ minute, hour, day, month }) => minute === 0 && hour === 0 && day === 29 && month === 2 },
  {
    expression: '30 2 28-31 3,10 sun',
    matches: ({ minute, hour, day, month, weekday }) =>
      minute === 30 && hour === 2 && [3, 10].includes(month) && (day >= 28 || weekday === 0),
  },
];
const DAILY = SPECS.filter(({ expression }) => expression === '30 2 * * *' || expression === '0 0 * * *');

/** From `fromMs` on the clock is `offsetMs` ahead of UTC. */
interface Period {
  readonly fromMs: number;
  readonly offsetMs: number;
}

function offsetReader(zone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  return (ms) => {
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = (format.format(ms).match(/\d+/g) ?? []).map(Number);
    return Date.UTC(year, month - 1, day, hour, minute) - ms;
  };
}

function historyOf(zone: string): Period[] {
  const offsetAt = offsetReader(zone);
  const begin = FROM_MS - 4 * DAY_MS;
  const periods: Period[] = [{ fromMs: begin, offsetMs: offsetAt(begin) }];
  for (let at = begin + STEP_MS; at <= TO_MS + STEP_MS; at += STEP_MS) {
    const known = periods.at(-1)?.offsetMs;
    const offsetMs = offsetAt(at);
    if (offsetMs === known) continue;
    let low = at - STEP_MS;
    let high = at;
    while (high - low > MINUTE_MS) {
      const middle = low + Math.floor((high - low) / 2 / MINUTE_MS) * MINUTE_MS;
      if (offsetAt(middle) === known) low = middle;
      else high = middle;
    }
    periods.push({ fromMs: high, offsetMs });
  }
  return periods;
}

/** Looks at every minute after `fromMs` up to `toMs`, and at some before, because a time that comes again is not due again. */
function modelTimes(history: readonly Period[], specs: readonly Spec[], fromMs: number, toMs: number): Map<string, number[]> {
  const due = new Map<string, number[]>(specs.map(({ expression }) => [expression, []]));
  let at = Math.floor(fromMs / MINUTE_MS) * MINUTE_MS - 3 * HOUR_MS;
  let period = history.findLastIndex((one) => one.fromMs <= at);
  let farthestWallMs = at - MINUTE_MS + (history[period]?.offsetMs ?? 0);
  for (; at <= toMs; at += MINUTE_MS) {
    while ((history[period + 1]?.fromMs ?? Number.POSITIVE_INFINITY) <= at) period += 1;
    const wallMs = at + (history[period]?.offsetMs ?? 0);
    const wall = wallOf(wallMs);
    // What the clock shows for the first time now: this minute, and those that it has left out.
    const firsts = minutesBetween(farthestWallMs, wallMs);
    for (const { expression, matches, isHourly } of specs) {
      const isDue = isHourly === true ? matches(wall) : firsts.some(matches);
      if (isDue && at > fromMs) due.get(expression)?.push(at);
    }
    farthestWallMs = Math.max(farthestWallMs, wallMs);
  }
  return due;
}

/** After the first, up to the last. */
function minutesBetween(afterMs: number, untilMs: number): Wall[] {
  const walls: Wall[] = [];
  for (let at = afterMs + MINUTE_MS; at <= untilMs; at += MINUTE_MS) walls.push(wallOf(at));
  return walls;
}

function wallOf(wallMs: number): Wall {
  const date = new Date(wallMs);
  return {
    minute: date.getUTCMinutes(),
    hour: date.getUTCHours(),
    day: date.getUTCDate(),
    month: date.getUTCMonth() + 1,
    weekday: date.getUTCDay(),
  };
}

interface Case {
  readonly zone: string;
  readonly history: readonly Period[];
}

const shown = (times: readonly number[]) => times.map((ms) => new Date(ms).toISOString());

function compare({ zone, history }: Case, specs: readonly Spec[], fromMs: number, toMs: number): void {
  const model = modelTimes(history, specs, fromMs, toMs);
  for (const { expression } of specs) {
    const found = dueBetween(parseSchedule(expression, zone), fromMs, toMs, 100_000);
    const expected = model.get(expression) ?? [];
    if (found.length === expected.length && found.every((ms, index) => ms === expected[index])) continue;
    expect({ seed: SEED, zone, expression, times: shown(found) }).toEqual({ seed: SEED, zone, expression, times: shown(expected) });
  }
}

describe('[J1] every time zone from 2026 to 2036: no due time is missed and none comes twice', () => {
  const zones = Intl.supportedValuesOf('timeZone');
  const random = new Random(SEED);
  const pick = <T>(from: readonly T[], count: number): readonly T[] => {
    const rest = [...from];
    return Array.from({ length: Math.min(count, rest.length) }, () => rest.splice(random.integer(rest.length), 1)).flat();
  };
  const histories = new Map<string, Case>();

  beforeAll(() => {
    for (const zone of zones) {
      const history = historyOf(zone);
      const luxon = IANAZone.create(zone);
      // What the schedules go by says the same on both sides of each change.
      for (const { fromMs, offsetMs } of history)
        expect([zone, fromMs, luxon.offset(fromMs) * MINUTE_MS]).toEqual([zone, fromMs, offsetMs]);
      const key = JSON.stringify(history);
      if (!histories.has(key)) histories.set(key, { zone, history });
    }
  }, 120_000);

  it('around the changes of every zone, in both directions', { timeout: 600_000 }, () => {
    let looked = 0;
    for (const one of histories.values()) {
      const changes = one.history.slice(1).filter(({ fromMs }) => fromMs >= FROM_MS && fromMs <= TO_MS);
      for (const { fromMs } of ALL ? changes : pick(changes, CHANGES_SAMPLED)) {
        // At any second: the scheduler does not wake at whole minutes.
        compare(one, SPECS, fromMs - AROUND_MS + random.integer(HOUR_MS), fromMs + AROUND_MS);
        looked += 1;
      }
    }
    expect([histories.size > 30, looked > 100]).toEqual([true, true]);
  });

  it('over all years: the 29 February and the weekends of the changes', { timeout: 600_000 }, () => {
    for (const one of pick([...histories.values()], ALL ? histories.size : ZONES_SAMPLED)) compare(one, YEARLY, FROM_MS, TO_MS);
  });

  it('over all years: once a day, however often the clock is changed', { timeout: 600_000 }, () => {
    for (const one of pick([...histories.values()], ALL ? histories.size : ZONES_SAMPLED)) compare(one, DAILY, FROM_MS, TO_MS);
  });
});
