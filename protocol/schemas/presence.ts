import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { person } from './channel.ts';

const count = z.number().int().meta({ description: 'people who are connected by any WebSocket; anonymous ones by connection' });

export const presenceCount = z.object({ count });

export const presencePeople = z.object({
  count,
  people: z
    .array(person.extend({ connections: z.number().int() }))
    .optional()
    .meta({ description: `the first ${LIMITS.presencePeopleMax}; absent where the caller may not collaborate` }),
});
