/** The pages of the embedded payment provider, which stand for those of a real one. Whoever has the link may open it, as there. */
import { z } from 'zod';
import { type BodySpec, endpoint, type ReplySpec } from '../core/endpoint.ts';
import { LIMITS } from '../core/limits.ts';
import { missingAs } from '../core/missing.ts';

const form = { kind: 'bytes', bytesMax: LIMITS.formBytesMax, types: ['application/x-www-form-urlencoded'] } as const satisfies BodySpec;
const page = { status: 200, media: 'text/html' } as const satisfies ReplySpec;
const elsewhere = { status: 303, media: 'text/plain', description: 'Another page, in Location.' } as const satisfies ReplySpec;
const again = { status: 400, media: 'text/html', description: 'The form again, with what to correct.' } as const satisfies ReplySpec;

const visitor = { who: 'visitor' } as const;
const params = z.object({ secret: missingAs(z.string().regex(/^[a-z0-9_]{10,80}$/), 'BILLING_PAGE_NOT_FOUND') });
const shows = { method: 'GET', group: 'pages', access: visitor, limit: 'none', params, errors: ['BILLING_PAGE_NOT_FOUND'] } as const;
const takes = {
  method: 'POST',
  once: true,
  group: 'pages',
  access: visitor,
  limit: 'billingEvents',
  params,
  body: form,
  replies: { page, elsewhere, again },
  errors: ['BILLING_PAGE_NOT_FOUND'],
} as const;

export const billingPages = {
  'pages.checkout': endpoint({
    ...shows,
    path: '/pay/checkout/{secret}',
    replies: { page },
    summary: 'Test cards to save, at the embedded provider.',
  }),
  'pages.checkoutForm': endpoint({ ...takes, path: '/pay/checkout/{secret}', summary: 'Saves the chosen test card.' }),
  'pages.confirmPayment': endpoint({
    ...shows,
    path: '/pay/confirm/{secret}',
    replies: { page },
    summary: 'Asks to confirm a payment, as a bank does with 3-D Secure.',
  }),
  'pages.confirmPaymentForm': endpoint({ ...takes, path: '/pay/confirm/{secret}', summary: 'Confirms the payment or refuses it.' }),
  'pages.invoice': endpoint({ ...shows, path: '/pay/invoices/{secret}', replies: { page }, summary: 'An invoice to print or keep.' }),
} as const;
