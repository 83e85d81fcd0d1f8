/** Signing in from a program that has no browser of its own. Source: spec.md, "Device login"; contract.md §1; RFC 8628. */
import { z } from 'zod';
import { endpoint } from '../core/endpoint.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { absentOrNull } from '../core/round-trip.ts';
import { boundedText } from '../core/text.ts';
import { emailAddress } from './sign-in.ts';

const secret = z.string().min(1).max(LIMITS.deviceCodeCharsMax);
const seconds = z.number().int();

/** What a program says about itself. The person who approves sees it, marked as the program's own words. */
const ownWords = absentOrNull(boundedText(LIMITS.deviceNameCharsMax, 1));

export const deviceStart = z.strictObject({
  expected_email: absentOrNull(emailAddress).meta({
    description: 'who is expected to sign in: a hint, and a warning where it is somebody else',
  }),
  client_name: ownWords.meta({ description: 'name of the program, shown to the person who approves' }),
  host_name: ownWords.meta({ description: 'name of the machine, shown to the person who approves' }),
});

export const deviceLogin = {
  'deviceLogin.start': endpoint({
    method: 'POST',
    path: '/v1/auth/device/start',
    group: 'deviceLogin',
    summary: 'Begins a login: a secret for the program, and a short code that a person approves in the browser within 10 minutes.',
    access: { who: 'anyone' },
    limit: 'deviceStarts',
    body: { kind: 'json', schema: deviceStart, bytesMax: LIMITS.bodyBytesMax, optional: true },
    replies: {
      created: {
        status: 201,
        body: z.object({
          device_code: secret.meta({ description: 'for the program alone' }),
          user_code: z.string().meta({ description: 'shown to the person' }),
          verification_uri: z.string(),
          verification_uri_complete: z.string(),
          interval: seconds,
          expires_in: seconds,
        }),
      },
    },
    errors: ['UNAVAILABLE'],
  }),
  'deviceLogin.token': endpoint({
    method: 'POST',
    path: '/v1/auth/device/token',
    group: 'deviceLogin',
    summary: 'Asks whether the login was approved, no more often than every `interval` seconds. The token is delivered once.',
    access: { who: 'anyone' },
    limit: 'devicePolls',
    once: true,
    body: { kind: 'json', schema: z.strictObject({ device_code: secret }), bytesMax: LIMITS.bodyBytesMax },
    replies: {
      ok: {
        status: 200,
        body: z.discriminatedUnion('status', [
          z.object({ status: z.literal('pending'), interval: seconds }),
          z.object({
            status: z.literal('approved'),
            token: z.string(),
            user_id: idSchema('user'),
            warn: z.string().optional().meta({ description: 'another address than the expected one has signed in' }),
          }),
        ]),
      },
    },
    errors: ['SLOW_DOWN', 'DEVICE_CODE_EXPIRED', 'DEVICE_LOGIN_DENIED', 'DEVICE_CODE_UNKNOWN'],
  }),
} as const;
