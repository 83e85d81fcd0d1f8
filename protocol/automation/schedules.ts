/** When a schedule is due. Source: contract.md §8. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime } from '../core/fields.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull } from '../core/round-trip.ts';

export const schedulePreviewRequest = z.strictObject({
  schedule: z
    .string()
    .max(LIMITS.scheduleCharsMax)
    .meta({ description: 'five fields: minute, hour, day of the month, month, day of the week; 0 9 * * 1-5 is every workday at nine' }),
  timezone: absentOrNull(z.string().max(100)).meta({ description: 'a name such as Europe/Berlin; default UTC' }),
});

export const schedulePreview = z.object({
  valid: z.boolean(),
  error: z.string().nullable().meta({ description: 'what is wrong; null where nothing is' }),
  param: z.enum(['schedule', 'timezone']).nullable(),
  human: z.object({ en: z.string(), es: z.string() }).nullable(),
  next: z.array(dateTime).meta({ description: 'the next five times; fewer where there are no more' }),
});

export const schedules = {
  'jobs.preview': endpoint({
    method: 'POST',
    path: '/v1/jobs/preview',
    group: 'jobs',
    summary: 'Tells in words what a cron expression means, and when it is due next. Clocks put forward or back are taken into account.',
    access: { who: 'account', scope: 'artifacts:read' },
    limit: 'none',
    reads: true,
    body: { kind: 'json', schema: schedulePreviewRequest, bytesMax: LIMITS.bodyBytesMax },
    replies: { ok: { status: 200, body: schedulePreview } },
    errors: [],
  }),
} as const;
