import { z } from 'zod';
import { dateTime, storedText } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';

/** Why and since when an account, a workspace or an artifact cannot be used. Lifting it restores everything. */
export const suspension = z.object({
  reason: z.string().meta({ description: 'shown to administrators, and told to the owner by mail' }),
  at: dateTime,
  by: idSchema('user').nullable().meta({ description: 'null where that account is gone' }),
});

/** An answer can be sent back: of a suspension that stands only its reason can change. */
export const wantedSuspension = z
  .looseObject({ reason: storedText(LIMITS.suspensionReasonCharsMax).trim().min(1) })
  .transform(({ reason }) => ({ reason }))
  .nullable();
