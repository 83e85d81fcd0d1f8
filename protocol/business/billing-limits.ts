/** The limits of billing, with the error code beyond each. Sizes are in bytes, times in ms. */

const DAY_MS = 24 * 3_600_000;

export const BILLING_LIMITS = {
  // INVALID_REQUEST
  seatsMax: 10_000,
  paymentTokenCharsMax: 255,
  checkoutIdCharsMax: 64,
  // PAYMENT_METHOD_LIMIT_EXCEEDED
  paymentMethodsMax: 20,
  // Writes of one person, and calls of one address to the intake of events: RATE_LIMITED
  billingWritesPerHour: 120,
  billingEventsPerMinute: 3000,
  // One event of the provider: PAYLOAD_TOO_LARGE
  billingEventBytesMax: 256 * 1024,
  // Events that one node works on at once, and those that wait: UNAVAILABLE, and the provider sends them again
  billingEventsMax: 8,
  billingEventsWaitingMax: 256,
  // How far the time that a signature names may be from ours: WEBHOOK_SIGNATURE_INVALID. The provider's own libraries take the same
  billingSignatureToleranceMs: 5 * 60_000,
  // One call of the provider: BILLING_UNAVAILABLE
  billingCallTimeoutMs: 20_000,
  // For so long a change is made again until its outcome is known. Providers forget the key of a call after a day, and would charge again: what is
  // open for longer is settled as unknown
  billingOperationMs: 20 * 3_600_000,
  // A subscription whose state at the provider was not seen for so long is asked for
  billingUnseenMs: 3_600_000,
  // Subscriptions and operations that a sweep looks at in one run; the next run continues
  billingSweepBatch: 100,
  // A page to save a card, or to confirm a payment
  checkoutTtlMs: DAY_MS,
  // Unpaid for so long, a subscription is canceled; mails go out these days after the first refusal
  pastDueMs: 14 * DAY_MS,
  dunningDays: [0, 3, 7, 13],
  // Ids of events are kept so that a second delivery is recognised; the provider repeats for three days
  billingEventsKeptMs: 30 * DAY_MS,
  // Finished operations are kept so that a repeated call is recognised
  billingOperationsKeptMs: 30 * DAY_MS,
  // A card that was saved on a page is found for so long after the page has ended
  checkoutsKeptMs: 7 * DAY_MS,
} as const;
