/** Time that passes for work that is done once a minute. */
import { setTimeout as moment } from 'node:timers/promises';
import type { VirtualClock } from './virtual-clock.ts';

const MINUTE_MS = 60_000;
const MINUTES_MAX = 400;
const MOMENT_MAX_MS = 100;

/**
 * Lets minutes pass until the work has brought about what is awaited; false if 400 of them did not. A pass asks servers, whose answers no clock can
 * hasten: it gets a moment of each minute, the longer the more minutes it has taken, so that the minutes are not over before it is on a busy machine.
 */
export async function minutesUntil(clock: VirtualClock, isReached: () => Promise<boolean>): Promise<boolean> {
  for (let minute = 0; minute < MINUTES_MAX; minute += 1) {
    if (await isReached()) return true;
    clock.advance(MINUTE_MS);
    await moment(Math.min(minute, MOMENT_MAX_MS));
  }
  return false;
}
