/** The endpoints of jobs. */
import type { z } from 'zod';
import type { schedulePreview } from '../../../../protocol/automation/schedules.ts';
import type { Handlers } from '../../../edge/call.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { inWords } from './in-words.ts';
import { nextDue, parseSchedule, type Schedule, ScheduleInvalid } from './schedule.ts';

const TIMES_SHOWN = 5;

export function jobHandlers(): Handlers<'jobs.preview'> {
  return {
    'jobs.preview': ({ body: { schedule, timezone = 'UTC' }, nowMs }) => ({ reply: 'ok', body: previewOf(schedule, timezone, nowMs) }),
  };
}

function previewOf(expression: string, timezone: string, nowMs: number): z.input<typeof schedulePreview> {
  try {
    const schedule = parseSchedule(expression, timezone);
    return { valid: true, error: null, param: null, human: inWords(schedule), next: nextTimes(schedule, nowMs) };
  } catch (error) {
    if (!(error instanceof ScheduleInvalid)) throw error;
    return { valid: false, error: error.message, param: error.param, human: null, next: [] };
  }
}

function nextTimes(schedule: Schedule, nowMs: number): string[] {
  const times: string[] = [];
  for (let at = nextDue(schedule, nowMs); at !== null && times.length < TIMES_SHOWN; at = nextDue(schedule, at)) times.push(dateTime(at));
  return times;
}
