/** What Stripe's failures mean here. */
import Stripe from 'stripe';
import { type ErrorCode, Failure } from '../../../../../protocol/core/errors.ts';
import { ProviderAway } from '../provider.ts';

/** The payment waits for the person, on the page of its invoice (3-D Secure). */
const CONFIRMATION_CODES: ReadonlySet<string> = new Set([
  'invoice_payment_intent_requires_action',
  'subscription_payment_intent_requires_action',
  'authentication_required',
]);

/** Whatever their status is. */
const BUSY_CODES: ReadonlySet<string> = new Set(['lock_timeout', 'idempotency_key_in_use', 'rate_limit']);
/** Where Stripe finds the token of a card that a caller gave. */
const TOKEN_PARAMS: ReadonlySet<string> = new Set(['card[token]', 'payment_method']);

export function isConfirmationWanted(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeError && error.code !== undefined && CONFIRMATION_CODES.has(error.code);
}

/** Makes calls; rejects with `ProviderAway` or a `Failure`. `missing`: what it means that a thing is not there, or no longer. */
export async function translated<T>(make: () => Promise<T>, missing?: ErrorCode): Promise<T> {
  try {
    return await make();
  } catch (error) {
    throw meaningOf(error, missing);
  }
}

function meaningOf(error: unknown, missing: ErrorCode | undefined): unknown {
  if (!(error instanceof Stripe.errors.StripeError)) return error;
  // Another call holds the customer or the key, or there were too many calls: it was not made.
  if (error.code !== undefined && BUSY_CODES.has(error.code)) return away(error);
  if (isConfirmationWanted(error)) {
    return new Failure('CARD_DECLINED', { message: 'The bank declined the card: it wants a confirmation by the person.' });
  }
  if (error instanceof Stripe.errors.StripeCardError) {
    const why = error.decline_code ?? error.code ?? 'no reason given';
    return new Failure('CARD_DECLINED', { message: `The bank declined the card: ${why.replaceAll('_', ' ')}.` });
  }
  if (error instanceof Stripe.errors.StripeInvalidRequestError) {
    if (error.code === 'resource_missing' && missing !== undefined) return new Failure(missing);
    return new Failure('INVALID_REQUEST', {
      ...(error.param !== undefined && TOKEN_PARAMS.has(error.param) && { param: 'token' }),
      message: `The payment provider refused this: ${error.code ?? 'the call is not valid'}.`,
      hint: 'Check the token or the plan; an administrator finds more in the log of the provider.',
    });
  }
  // No answer, an error of theirs, too many calls, a call with the same key under way, or a wrong key: whether it was made is not known.
  return away(error);
}

function away({ type, statusCode, code }: InstanceType<typeof Stripe.errors.StripeError>): ProviderAway {
  return new ProviderAway(`Stripe: ${type} ${statusCode ?? ''} ${code ?? ''}`.trim());
}
