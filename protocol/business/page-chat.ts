/** The chat of a page: its visitors write to whoever made it, which makes a ticket of the channel `chat`. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { dateTime, storedText } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull } from '../core/round-trip.ts';
import { enveloped } from '../data/json-keys.ts';
import { ticketStatus } from './support.ts';

export const pageChatSettings = z.object({
  enabled: z.boolean().meta({ description: 'whether pages show the chat and visitors may write' }),
  greeting: z.string().meta({ description: 'what the chat says before the first message; empty for the usual words' }),
});
export const pageChatSettingsUpdate = z.strictObject({
  enabled: z.boolean(),
  greeting: storedText(LIMITS.chatGreetingCharsMax).trim().default(''),
});

const secret = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43}$/, 'must be the secret of the first answer')
  .meta({ description: 'of the first answer: the visitor keeps it to read the replies and to go on' });

export const pageChatMessage = z.object({
  id: z.string(),
  author: z.enum(['visitor', 'maker', 'system']),
  name: z.string().nullable(),
  text: z.string(),
  createdAt: dateTime,
});

export const pageChatWrite = z.strictObject({
  text: storedText(LIMITS.chatCharsMax).trim().min(1),
  name: absentOrNull(storedText(LIMITS.nameCharsMax).trim().min(1)),
  email: absentOrNull(z.email().max(LIMITS.emailCharsMax).toLowerCase()).meta({
    description: 'shown to the makers as what the visitor says',
  }),
  secret: absentOrNull(secret),
  proof: absentOrNull(z.strictObject({ challenge: z.string().max(200), solution: z.string().max(32) })).meta({
    description: 'with the first message of visitors without a proved e-mail address: see POST …/support/challenge',
  }),
});
export const pageChatRead = z.strictObject({ secret, after: absentOrNull(idSchema('ticketMessage')) });

export const pageChatWritten = z.object({ secret: z.string(), status: ticketStatus, message: pageChatMessage });
export const pageChatPage = z.object({ status: ticketStatus, messages: z.array(pageChatMessage), hasMore: z.boolean() });
const challenge = z.object({
  challenge: z.string().meta({ description: 'for this artifact; it counts once' }),
  bits: z.number().int().meta({
    description:
      'find a solution of 1 to 32 letters and digits so that SHA-256 of challenge, a full stop and solution begins with so many zero bits',
  }),
  expiresAt: dateTime,
});

const params = z.object({ artifactId: idSchema('artifact') });
const visitors = { who: 'artifact', param: 'artifactId', need: 'data:read', scope: 'data:write' } as const;
const bytesMax = LIMITS.bodyBytesMax;

export const pageChat = {
  'pageChat.getConfig': endpoint({
    method: 'GET',
    path: '/v1/data/{artifactId}/support/_config',
    group: 'support',
    summary: 'Reads whether the page has a chat with its makers.',
    access: { ...visitors, scope: 'data:read' },
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    replies: { ok: { status: 200, body: enveloped(pageChatSettings) } },
    errors: [],
  }),
  'pageChat.putConfig': endpoint({
    method: 'PUT',
    path: '/v1/data/{artifactId}/support/_config',
    group: 'support',
    summary: 'Turns the chat of the page on or off. Its tickets go to the owner of the page and the owners and admins of its workspace.',
    access: { who: 'artifact', param: 'artifactId', need: 'own', scope: 'data:write' },
    limit: 'data',
    actor: 'artifactId',
    params,
    conditional: true,
    resource: 'pageChat.getConfig',
    body: { kind: 'json', schema: pageChatSettingsUpdate, bytesMax },
    replies: { ok: { status: 200, body: enveloped(pageChatSettings) } },
    errors: ['VERSION_CONFLICT'],
  }),
  'pageChat.challenge': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/support/challenge',
    group: 'support',
    summary: 'The work that a visitor without an account does before the first message of a chat.',
    access: visitors,
    limit: 'data',
    actor: 'artifactId',
    params,
    reads: true,
    replies: { ok: { status: 200, body: enveloped(challenge) } },
    errors: ['SUPPORT_CHAT_OFF'],
  }),
  'pageChat.write': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/support',
    group: 'support',
    summary: 'A message of a visitor to the makers of the page. The first opens a ticket and answers the secret of the chat.',
    access: visitors,
    limit: 'data',
    actor: 'artifactId',
    params,
    once: true,
    body: { kind: 'json', schema: pageChatWrite, bytesMax },
    replies: { created: { status: 201, body: enveloped(pageChatWritten) } },
    errors: ['SUPPORT_CHAT_OFF', 'PROOF_INVALID', 'TICKET_NOT_FOUND', 'RATE_LIMITED'],
  }),
  'pageChat.read': endpoint({
    method: 'POST',
    path: '/v1/data/{artifactId}/support/read',
    group: 'support',
    summary: 'The messages of a chat, the oldest first, for who has its secret.',
    access: visitors,
    limit: 'data',
    actor: 'artifactId',
    params,
    reads: true,
    body: { kind: 'json', schema: pageChatRead, bytesMax },
    replies: { ok: { status: 200, body: enveloped(pageChatPage) } },
    errors: ['TICKET_NOT_FOUND'],
  }),
} as const;
