/**
 * When a job is due. cron-parser reads the expression; which instants it means is decided here, because its own iterator leaves out the day whose
 * midnight does not exist. luxon knows the offsets of a time zone.
 */
import cronParser from 'cron-parser';
import { IANAZone } from 'luxon';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** A 29 February can be eight years away, around a year that is divisible by 100 and not by 400. */
const SEARCHED_DAYS = 8 * 366 + 2;

export interface Schedule {
  /** As it was given. */
  readonly expression: string;
  readonly timezone: string;
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly months: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** As cron has it: where the day of the month and the day of the week are both named, one of them is enough. */
  readonly isEitherDay: boolean;
  /** `*` as the hour: every hour that passes counts, also the one that comes twice. Else each time on the clock counts once a day. */
  readonly isHourly: boolean;
  readonly zone: IANAZone;
}

/** `message` says in words what is wrong. */
export class ScheduleInvalid extends Error {
  override readonly name = 'ScheduleInvalid';
  readonly param: 'schedule' | 'timezone';

  constructor(param: 'schedule' | 'timezone', message: string) {
    super(message);
    this.param = param;
  }
}

/** Five fields: minute, hour, day of the month, month, day of the week. Throws `ScheduleInvalid`. */
export function parseSchedule(expression: string, timezone: string): Schedule {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== 5)
    throw invalid('schedule', `A schedule has five fields (minute, hour, day, month, weekday); this one has ${fields.length}.`);
  if (!/^[\d*,/a-z-]+$/i.test(fields.join('')))
    throw invalid('schedule', 'A schedule has numbers, names of months and weekdays, * , - and / only.');
  const zone = IANAZone.create(timezone);
  if (!zone.isValid) throw invalid('timezone', `There is no time zone "${timezone}"; use a name such as Europe/Berlin or UTC.`);
  const parsed = readFields(fields);
  const days = [...parsed.dayOfMonth, ...parsed.dayOfWeek];
  if (!days.every((day) => typeof day === 'number'))
    throw invalid('schedule', 'Days are numbers or names of weekdays; L, W and # are not known.');
  return {
    expression: fields.join(' '),
    timezone,
    minutes: parsed.minute,
    hours: parsed.hour,
    months: new Set(parsed.month),
    days: new Set(parsed.dayOfMonth.map(Number)),
    weekdays: new Set(parsed.dayOfWeek.map((day) => day % 7)),
    isEitherDay: !fields[2]?.startsWith('*') && !fields[4]?.startsWith('*'),
    isHourly: fields[1]?.startsWith('*') === true,
    zone,
  };
}

const FIELDS = [
  { name: 'minute', takes: 'numbers from 0 to 59' },
  { name: 'hour', takes: 'numbers from 0 to 23' },
  { name: 'day of the month', takes: 'numbers from 1 to 31' },
  { name: 'month', takes: 'numbers from 1 to 12, or jan to dec' },
  { name: 'day of the week', takes: 'numbers from 0 to 7, or sun to sat' },
] as const;

function readFields(fields: readonly string[]) {
  const parsed = parsedBy(fields);
  if (parsed !== null) return parsed;
  // Each field alone tells which one it is; the text of the library does not.
  const at = fields.findIndex((field, index) => parsedBy(FIELDS.map((_, other) => (other === index ? field : '*'))) === null);
  const wrong = FIELDS[at];
  if (wrong === undefined) throw invalid('schedule', `No month that it names has the day ${fields[2]}.`);
  throw invalid(
    'schedule',
    `"${fields[at]}" is no ${wrong.name}: that takes ${wrong.takes}, ranges such as 1-5, lists, and steps such as */2.`,
  );
}

/** Null where it cannot be read. */
function parsedBy(fields: readonly string[]) {
  try {
    return cronParser.parseExpression(fields.join(' '), { tz: 'UTC' }).fields;
  } catch {
    return null;
  }
}

function invalid(param: ScheduleInvalid['param'], message: string): ScheduleInvalid {
  return new ScheduleInvalid(param, message);
}

/** The first instant after `afterMs`, Unix ms; null where there is none, such as for 30 February. */
export function nextDue(schedule: Schedule, afterMs: number): number | null {
  return schedule.isHourly ? nextByElapsed(schedule, afterMs) : nextByClock(schedule, afterMs);
}

/** At most `max` instants in `(afterMs, untilMs]`, the first ones. */
export function dueBetween(schedule: Schedule, afterMs: number, untilMs: number, max: number): number[] {
  const due: number[] = [];
  for (let at = nextDue(schedule, afterMs); at !== null && at <= untilMs && due.length < max; at = nextDue(schedule, at)) due.push(at);
  return due;
}

/** Wall-clock fields of an instant as if they were UTC, so that UTC getters read them. */
function wallClock({ zone }: Schedule, ms: number): Date {
  return new Date(ms + zone.offset(ms) * MINUTE_MS);
}

function matchesDate(schedule: Schedule, wall: Date): boolean {
  if (!schedule.months.has(wall.getUTCMonth() + 1)) return false;
  const byDay = schedule.days.has(wall.getUTCDate());
  const byWeekday = schedule.weekdays.has(wall.getUTCDay());
  return schedule.isEitherDay ? byDay || byWeekday : byDay && byWeekday;
}

/** Each named time once a day: one that comes twice at its first, one that does not exist when the clock has passed it. */
function nextByClock(schedule: Schedule, afterMs: number): number | null {
  const today = wallClock(schedule, afterMs);
  // Of the day before too: a zone can go back over midnight.
  const firstMs = Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()) - DAY_MS;
  for (let day = 0; day <= SEARCHED_DAYS; day += 1) {
    const date = new Date(firstMs + day * DAY_MS);
    if (!matchesDate(schedule, date)) continue;
    let nearest = Number.POSITIVE_INFINITY;
    for (const hour of schedule.hours) {
      for (const minute of schedule.minutes) {
        const at = instantOf(schedule.zone, date.getTime() + hour * HOUR_MS + minute * MINUTE_MS);
        if (at > afterMs && at < nearest) nearest = at;
      }
    }
    if (nearest !== Number.POSITIVE_INFINITY) return nearest;
  }
  return null;
}

/** Every minute that passes and reads so on the clock. */
function nextByElapsed(schedule: Schedule, afterMs: number): number | null {
  const minutes = new Set(schedule.minutes);
  const hours = new Set(schedule.hours);
  const endMs = afterMs + SEARCHED_DAYS * DAY_MS;
  let at = Math.floor(afterMs / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
  while (at <= endMs) {
    const wall = wallClock(schedule, at);
    const hour = wall.getUTCHours();
    const minute = wall.getUTCMinutes();
    if (!matchesDate(schedule, wall)) {
      // Never over the next midnight in one step, wherever the clock is put forward or back meanwhile.
      at += hour < 20 ? (20 - hour) * HOUR_MS - minute * MINUTE_MS : (60 - minute) * MINUTE_MS;
    } else if (!hours.has(hour)) {
      at += (60 - minute) * MINUTE_MS;
    } else if (!minutes.has(minute)) {
      at += MINUTE_MS;
    } else {
      return at;
    }
  }
  return null;
}

/** The first instant at which the clock shows `wallMs` (its fields read as UTC); in a gap the instant at which the clock is put forward. */
function instantOf(zone: IANAZone, wallMs: number): number {
  const before = zone.offset(wallMs - DAY_MS) * MINUTE_MS;
  const after = zone.offset(wallMs + DAY_MS) * MINUTE_MS;
  const fits = [wallMs - before, wallMs - after].filter((at) => at + zone.offset(at) * MINUTE_MS === wallMs);
  if (fits.length > 0) return Math.min(...fits);
  // In the gap: its end lies between the two readings.
  let low = Math.min(wallMs - before, wallMs - after);
  let high = Math.max(wallMs - before, wallMs - after);
  const lowOffset = zone.offset(low);
  while (high - low > MINUTE_MS) {
    const middle = Math.floor((low + high) / 2 / MINUTE_MS) * MINUTE_MS;
    if (zone.offset(middle) === lowOffset) low = middle;
    else high = middle;
  }
  return high;
}
