/** The pages of the API's host on which people sign in and look after their account. Each works without a script. */
import { z } from 'zod';
import { type BodySpec, endpoint, type ReplySpec } from '../core/endpoint.ts';
import { idSchema } from '../core/ids.ts';
import { LIMITS } from '../core/limits.ts';
import { missingAs } from '../core/missing.ts';

const form = { kind: 'bytes', bytesMax: LIMITS.formBytesMax, types: ['application/x-www-form-urlencoded'] } as const satisfies BodySpec;
const page = { status: 200, media: 'text/html' } as const satisfies ReplySpec;
const again = { status: 400, media: 'text/html', description: 'The form again, with what to correct.' } as const satisfies ReplySpec;
const elsewhere = { status: 303, media: 'text/plain', description: 'Another page, in Location.' } as const satisfies ReplySpec;

const noAccess = {
  status: 404,
  media: 'text/html',
  description: 'The person has no access, or there is no such page: the two look the same.',
} as const satisfies ReplySpec;

const visitor = { who: 'visitor' } as const;
const shows = { method: 'GET', group: 'pages', access: visitor, replies: { page, elsewhere, again }, errors: [] } as const;
const takes = {
  method: 'POST',
  once: true,
  group: 'pages',
  access: visitor,
  body: form,
  replies: { elsewhere, page, again },
  errors: [],
} as const;

const text = z.string().max(LIMITS.returnToCharsMax).optional();
const returning = { return_to: text.meta({ description: 'a path of this host to go to afterwards; anything else is ignored' }) };
const signingIn = z.object({ ...returning, login_hint: text });

const inviteCode = z.object({ code: missingAs(z.string().regex(/^[a-z0-9-]{1,64}$/i), 'INVITE_NOT_FOUND') });
const accessRequest = z.object({ requestId: idSchema('accessRequest') });

export const pages = {
  'pages.signIn': endpoint({
    ...shows,
    path: '/sign-in',
    limit: 'none',
    query: signingIn.extend({ error: text.meta({ description: 'why a sign-in at an identity provider has failed' }) }),
    summary: 'The sign-in page.',
  }),
  'pages.signInForm': endpoint({
    ...takes,
    path: '/sign-in',
    limit: 'none',
    summary: 'Signs in by a form: a password, or a code by mail.',
  }),
  'pages.signUp': endpoint({ ...shows, path: '/sign-up', limit: 'none', query: signingIn, summary: 'The page to make an account.' }),
  'pages.signUpForm': endpoint({ ...takes, path: '/sign-up', limit: 'none', summary: 'Makes an account by a form.' }),
  'pages.reset': endpoint({ ...shows, path: '/reset', limit: 'none', query: signingIn, summary: 'The page to choose a new password.' }),
  'pages.resetForm': endpoint({ ...takes, path: '/reset', limit: 'none', summary: 'Sets a new password by a form.' }),
  'pages.signOut': endpoint({ ...shows, path: '/sign-out', limit: 'none', summary: 'The page to sign out; it changes nothing.' }),
  'pages.signOutForm': endpoint({ ...takes, path: '/sign-out', limit: 'none', summary: 'Ends the session of this browser.' }),
  'pages.account': endpoint({
    ...shows,
    path: '/account',
    limit: 'none',
    query: z.object({ done: text.meta({ description: 'what a form has done, to be told' }) }),
    summary: 'Sessions, linked sign-ins, tokens and passkeys of the person.',
  }),
  'pages.accountForm': endpoint({ ...takes, path: '/account', limit: 'none', summary: 'Changes one of them by a form.' }),
  'pages.device': endpoint({
    ...shows,
    path: '/device',
    limit: 'deviceCodes',
    query: z.object({ user_code: text }),
    summary: 'Shows a device login to the person who may approve it; it approves nothing.',
  }),
  'pages.deviceForm': endpoint({ ...takes, path: '/device', limit: 'deviceCodes', summary: 'Approves or denies a device login.' }),
  'pages.deviceDone': endpoint({
    ...shows,
    path: '/device/done',
    limit: 'none',
    summary: 'After the approval: the token to copy, shown once, for programs that cannot poll.',
  }),
  'pages.invite': endpoint({
    ...shows,
    path: '/invite/{code}',
    limit: 'none',
    params: inviteCode,
    errors: ['INVITE_NOT_FOUND'],
    summary: 'An invitation; opening it changes nothing, and only the invited person sees to what.',
  }),
  'pages.inviteForm': endpoint({
    ...takes,
    path: '/invite/{code}',
    limit: 'inviteClaims',
    params: inviteCode,
    errors: ['INVITE_NOT_FOUND'],
    summary: 'Accepts the invitation.',
  }),
  'pages.accessRequest': endpoint({
    ...shows,
    path: '/access-requests/{requestId}',
    limit: 'none',
    params: accessRequest,
    query: z.object({ action: text.meta({ description: 'the button that was chosen in the mail; it is shown first' }) }),
    errors: ['ACCESS_REQUEST_NOT_FOUND'],
    summary: 'A request for access, for whoever decides it; opening it changes nothing.',
  }),
  'pages.accessRequestForm': endpoint({
    ...takes,
    path: '/access-requests/{requestId}',
    limit: 'none',
    params: accessRequest,
    errors: ['ACCESS_REQUEST_NOT_FOUND'],
    summary: 'Approves or denies the request.',
  }),
  'pages.open': endpoint({
    ...shows,
    path: '/open',
    limit: 'pageTickets',
    query: z.object({
      slug: text.meta({ description: 'the page, by the name of its host' }),
      challenge: text.meta({ description: 'what the page’s origin has marked this browser with' }),
      return: text.meta({ description: 'a path of the page to go to; anything else becomes its start' }),
    }),
    replies: { page, elsewhere, again, refused: noAccess },
    summary: 'Leads the signed-in person to a page on its own origin, or offers to ask for access.',
  }),
  'pages.openForm': endpoint({
    ...takes,
    path: '/open',
    limit: 'pageTickets',
    replies: { elsewhere, page, again, refused: noAccess },
    summary: 'Goes on to the page as the signed-in person, who has agreed that it learns their name.',
  }),
  'pages.askForm': endpoint({
    ...takes,
    path: '/open/ask',
    limit: 'accessRequests',
    replies: { page, elsewhere, again, refused: noAccess },
    summary: 'Asks the owner of a page for access to it.',
  }),
  'pages.file': endpoint({
    method: 'GET',
    path: '/_pages/{file}',
    group: 'pages',
    summary: 'A style sheet or script of these pages.',
    access: { who: 'anyone' },
    limit: 'none',
    conditional: true,
    params: z.object({ file: missingAs(z.string().max(100), 'NOT_FOUND') }),
    replies: { ok: { status: 200, media: '*/*' } },
    errors: ['NOT_FOUND'],
  }),
} as const;
