import fc from 'fast-check';
import { IANAZone } from 'luxon';
import { describe, expect, it } from 'vitest';
import { dueBetween, nextDue, parseSchedule, ScheduleInvalid } from '../../../../src/features/automation/jobs/schedule.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const at = (text: string) => Date.parse(text);

function times(expression: string, timezone: string, from: string, to: string): string[] {
  return dueBetween(parseSchedule(expression, timezone), at(from), at(to), 1000).map((ms) =>
    new Date(ms).toISOString().replace(':00.000Z', 'Z'),
  );
}

describe('[J1] when a schedule is due around a change of the clock', () => {
  it('a time that does not exist is due when the clock has been put forward, once', () => {
    expect(times('30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00Z', '2026-03-31T00:00Z')).toEqual([
      '2026-03-28T01:30Z',
      '2026-03-29T01:00Z',
      '2026-03-30T00:30Z',
    ]);
    expect(times('*/15 2 * * *', 'Europe/Berlin', '2026-03-29T00:00Z', '2026-03-29T12:00Z')).toEqual(['2026-03-29T01:00Z']);
  });

  it('a midnight that does not exist is not left out', () => {
    expect(times('0 0 * * *', 'Africa/Cairo', '2026-04-22T12:00Z', '2026-04-25T12:00Z')).toEqual([
      '2026-04-22T22:00Z',
      '2026-04-23T22:00Z',
      '2026-04-24T21:00Z',
    ]);
  });

  it('a time that comes twice is due at the first, and every hour that passes counts where each hour is meant', () => {
    expect(times('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', '2026-10-26T12:00Z')).toEqual([
      '2026-10-25T00:30Z',
      '2026-10-26T01:30Z',
    ]);
    expect(times('0 * * * *', 'Europe/Berlin', '2026-10-24T23:30Z', '2026-10-25T03:00Z')).toEqual([
      '2026-10-25T00:00Z',
      '2026-10-25T01:00Z',
      '2026-10-25T02:00Z',
      '2026-10-25T03:00Z',
    ]);
    expect(times('*/20 * * * *', 'Australia/Lord_Howe', '2026-04-04T14:30Z', '2026-04-04T15:30Z')).toEqual([
      '2026-04-04T14:40Z',
      '2026-04-04T15:10Z',
      '2026-04-04T15:30Z',
    ]);
  });

  it('days: either of two named ones, the 29 February, and a date that never comes', () => {
    expect(times('0 12 13 * fri', 'UTC', '2026-02-01T00:00Z', '2026-02-28T00:00Z')).toEqual([
      '2026-02-06T12:00Z',
      '2026-02-13T12:00Z',
      '2026-02-20T12:00Z',
      '2026-02-27T12:00Z',
    ]);
    expect(new Date(nextDue(parseSchedule('0 0 29 2 *', 'UTC'), at('2096-03-01T00:00Z')) ?? 0).toISOString()).toBe(
      '2104-02-29T00:00:00.000Z',
    );
    expect(() => parseSchedule('0 0 31 2 *', 'UTC')).toThrow(ScheduleInvalid);
    expect(nextDue(parseSchedule('0 0 31 4,6 *', 'UTC'), at('2026-01-01T00:00Z'))).toBeNull();
    expect(nextDue(parseSchedule('* * 31 4,6 *', 'UTC'), at('2026-01-01T00:00Z'))).toBeNull();
  });

  it.each([
    ['* * * *', 'UTC', 'schedule'],
    ['0 * * * * *', 'UTC', 'schedule'],
    ['61 * * * *', 'UTC', 'schedule'],
    ['0 0 L * *', 'UTC', 'schedule'],
    ['0 0 * * 5L', 'UTC', 'schedule'],
    ['0 0 * * 1#2', 'UTC', 'schedule'],
    ['@daily', 'UTC', 'schedule'],
    ['*/0 * * * *', 'UTC', 'schedule'],
    ['5-1 * * * *', 'UTC', 'schedule'],
    ['', 'UTC', 'schedule'],
    ['0 0 * * *', 'Mars/Olympus', 'timezone'],
    ['0 0 * * *', '', 'timezone'],
  ])('%j in %j is refused, naming the %s', (expression, timezone, param) => {
    expect(() => parseSchedule(expression, timezone)).toThrow(expect.objectContaining({ name: 'ScheduleInvalid', param }));
  });
});

/** Local wall-clock days and offsets, read minute by minute: slow and plain. */
describe('[J1] over every time zone and each change of its clock from 2026 to 2036', () => {
  const zones = Intl.supportedValuesOf('timeZone');
  const START = at('2026-01-01T00:00Z');
  const END = at('2037-01-01T00:00Z');

  /** The instants at which the clock of a zone is put forward or back, to the minute. */
  function changesOf(iana: IANAZone): number[] {
    const changes: number[] = [];
    let before = iana.offset(START);
    for (let day = START; day < END; day += 7 * DAY_MS) {
      const after = iana.offset(day + 7 * DAY_MS);
      if (before !== after) changes.push(changeWithin(iana, day, day + 7 * DAY_MS));
      before = after;
    }
    return changes;
  }

  function changeWithin(iana: IANAZone, fromMs: number, toMs: number): number {
    let [low, high] = [fromMs, toMs];
    while (high - low > MINUTE_MS) {
      const middle = low + Math.floor((high - low) / 2 / MINUTE_MS) * MINUTE_MS;
      if (iana.offset(middle) === iana.offset(low)) low = middle;
      else high = middle;
    }
    return high;
  }

  /** One zone of each kind: those that change in the same instants by the same amounts are one. */
  function readKinds(): Map<string, { readonly zone: string; readonly changes: readonly number[] }> {
    const found = new Map<string, { zone: string; changes: number[] }>();
    for (const zone of zones) {
      const iana = IANAZone.create(zone);
      const changes = changesOf(iana);
      const kind = [START, ...changes].map((ms) => `${ms}:${iana.offset(ms)}`).join(' ');
      if (!found.has(kind)) found.set(kind, { zone, changes });
    }
    return found;
  }

  let known: ReturnType<typeof readKinds> | undefined;
  const kinds = () => {
    known ??= readKinds();
    return known;
  };

  it('a daily time is due exactly once on every local day, in order, whatever the clock does', () => {
    let days = 0;
    for (const { zone, changes } of kinds().values()) {
      const iana = IANAZone.create(zone);
      for (const change of changes) {
        const dayOf = (ms: number) => new Date(ms + iana.offset(ms) * MINUTE_MS).toISOString().slice(0, 10);
        for (const expression of ['0 0 * * *', '30 0 * * *', '15 1 * * *', '30 2 * * *', '0 3 * * *', '59 23 * * *']) {
          const due = dueBetween(parseSchedule(expression, zone), change - 3 * DAY_MS, change + 3 * DAY_MS, 100);
          const seen = due.map(dayOf);
          days += seen.length;
          // 23:59 that falls into a gap is due at the midnight after it, which is of the next day.
          const repeated = seen.length - new Set(seen).size;
          expect([zone, expression, new Date(change).toISOString(), repeated > 0 && expression !== '59 23 * * *']).toEqual([
            zone,
            expression,
            new Date(change).toISOString(),
            false,
          ]);
          expect(due.length).toBeGreaterThanOrEqual(5);
          expect(due.length).toBeLessThanOrEqual(7);
          expect([...due].sort((a, b) => a - b)).toEqual(due);
        }
      }
    }
    expect(days).toBeGreaterThan(1000);
  });

  it('is what a clock shows that is read minute by minute', () => {
    const changing = [...kinds().values()].filter(({ changes }) => changes.length > 0);
    fc.assert(
      fc.property(
        fc.nat(changing.length - 1),
        fc.nat(1000),
        fc.constantFrom('*', '*/2', '0', '2', '1-3', '0,12,23'),
        fc.constantFrom('*', '*/15', '0', '30', '7,37', '59'),
        fc.constantFrom('*', '*', '1-5', 'sun'),
        (zoneAt, changeAt, hour, minute, weekday) => {
          const kind = changing[zoneAt];
          if (kind === undefined) throw new Error('no such zone');
          const { zone, changes } = kind;
          const change = changes[changeAt % changes.length] ?? START;
          const [from, to] = [change - 20 * HOUR_MS, change + 20 * HOUR_MS];
          const schedule = parseSchedule(`${minute} ${hour} * * ${weekday}`, zone);
          expect(dueBetween(schedule, from, to, 10_000)).toEqual(readMinuteByMinute(schedule, from, to));
        },
      ),
      { seed: 14, numRuns: 200 },
    );
  });
});

/** The rule as it is told to people, without any shortcut. */
function readMinuteByMinute(schedule: ReturnType<typeof parseSchedule>, fromMs: number, toMs: number): number[] {
  const { zone, minutes, hours, weekdays, isHourly } = schedule;
  const wall = (ms: number) => ms + zone.offset(ms) * MINUTE_MS;
  const matches = (wallMs: number) => {
    const date = new Date(wallMs);
    return hours.includes(date.getUTCHours()) && minutes.includes(date.getUTCMinutes()) && weekdays.has(date.getUTCDay());
  };
  const due = new Set<number>();
  // What the clock has shown already: a time that comes twice counts once, unless each hour is meant.
  let shownUpTo = wall(fromMs - 3 * HOUR_MS);
  for (let ms = fromMs - 3 * HOUR_MS + MINUTE_MS; ms <= toMs; ms += MINUTE_MS) {
    const now = wall(ms);
    if (isHourly) {
      if (matches(now)) due.add(ms);
      continue;
    }
    // All that the clock has passed since the minute before, the skipped times included.
    for (let shown = shownUpTo + MINUTE_MS; shown <= now; shown += MINUTE_MS) if (matches(shown)) due.add(ms);
    shownUpTo = Math.max(shownUpTo, now);
  }
  return [...due].filter((ms) => ms > fromMs && ms <= toMs);
}
