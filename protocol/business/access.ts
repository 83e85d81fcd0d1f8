/** What the endpoints of the installation's administration have in common. */
import { z } from 'zod';
import { storedText } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';

export const instanceAdmin = { who: 'instanceAdmin' } as const;

export const ofUser = z.object({ userId: idSchema('user') });

export const q = storedText(LIMITS.adminQueryCharsMax).trim().optional().meta({ description: 'a part of it, in any case of letters' });
