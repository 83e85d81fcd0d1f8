/** What mail and chat servers bring to support, signed by the installation's secret. Source: contract.md §17. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { storedText } from '../core/fields.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { ticket, ticketMessage } from './support.ts';

export const inboundMailAnswer = z.object({
  success: z.literal(true),
  outcome: z.enum(['created', 'continued', 'repeated', 'ignored']).meta({
    description:
      '`repeated`: this mail was taken before; `ignored`: nobody has written it (an automatic answer, a list, a bounce), or its sender sends too much',
  }),
  reason: z.string().nullable().meta({ description: 'why it is ignored' }),
  ticket: ticket.nullable(),
});

const thread = storedText(LIMITS.chatThreadCharsMax)
  .trim()
  .min(1)
  .meta({ description: 'the conversation in the other chat, by its name there' });
const from = z.strictObject({
  name: storedText(LIMITS.nameCharsMax).trim().min(1),
  email: z.email().max(LIMITS.emailCharsMax).toLowerCase().nullish().meta({ description: 'an address that the other chat has proved' }),
});

export const inboundChat = z.strictObject({
  thread,
  from: z.union([storedText(LIMITS.nameCharsMax).trim().min(1), from]).meta({ description: 'who writes: a name, or name and address' }),
  text: storedText(LIMITS.chatCharsMax).trim().min(1),
  id: storedText(LIMITS.chatThreadCharsMax)
    .trim()
    .min(1)
    .nullish()
    .meta({ description: 'of the message in the other chat: it is taken once' }),
});
export const inboundChatRead = z.strictObject({
  thread,
  after: idSchema('ticketMessage').nullish().meta({ description: 'the last reply that was taken over; the answer has those after it' }),
});

const anyone = { who: 'anyone' } as const;
const SIGNED = ['SIGNATURE_INVALID', 'INBOUND_NOT_CONFIGURED'] as const;
const HOW =
  'Signed as webhooks of this service are: the header easel-signature is t=<Unix seconds>,v1=<hex of HMAC-SHA256 of t, a full stop and the body, with SUPPORT_INBOUND_SECRET>.';
/** JSON whose bytes are signed, so the handler parses it. */
const signedJson = { kind: 'bytes', bytesMax: LIMITS.bodyBytesMax, types: ['application/json'] } as const;

export const supportInbound = {
  'support.inboundEmail': endpoint({
    method: 'POST',
    path: '/v1/support/inbound/email',
    group: 'support',
    summary: `Takes a mail as a mail server got it (RFC 5322): it opens a ticket or continues one. Its Message-ID is taken once. ${HOW}`,
    access: anyone,
    limit: 'supportInbound',
    body: { kind: 'bytes', bytesMax: LIMITS.inboundMailBytesMax, types: ['message/rfc822', 'application/octet-stream', 'text/plain'] },
    replies: { ok: { status: 200, body: inboundMailAnswer } },
    errors: [...SIGNED, 'UNAVAILABLE', 'RATE_LIMITED'],
  }),
  'support.inboundChat': endpoint({
    method: 'POST',
    path: '/v1/support/inbound/chat',
    group: 'support',
    summary: `Takes a message of another chat: {thread, from, text} opens a ticket or continues that of the thread. A call is taken once. ${HOW}`,
    access: anyone,
    limit: 'supportInbound',
    body: signedJson,
    replies: {
      created: { status: 201, body: z.object({ success: z.literal(true), ticket, message: ticketMessage }) },
      repeated: { status: 200, body: z.object({ success: z.literal(true), ticket: ticket.nullable() }) },
    },
    errors: [...SIGNED, 'INVALID_JSON', 'RATE_LIMITED'],
  }),
  'support.inboundChatReplies': endpoint({
    method: 'POST',
    path: '/v1/support/inbound/chat/replies',
    group: 'support',
    summary: `The replies to a thread of another chat, the oldest first: {thread, after}. ${HOW}`,
    access: anyone,
    limit: 'supportInbound',
    reads: true,
    body: signedJson,
    replies: {
      ok: {
        status: 200,
        body: z.object({
          success: z.literal(true),
          ticket: ticket.nullable(),
          replies: z.array(ticketMessage),
          has_more: z.boolean(),
        }),
      },
    },
    errors: [...SIGNED, 'INVALID_JSON'],
  }),
} as const;
