/** The errors of billing, a part of the catalogue in `protocol/core/errors.ts`. */

export const BILLING_ERRORS = {
  WEBHOOK_SIGNATURE_INVALID: {
    status: 400,
    message: 'The signature of the event is missing, wrong or too old.',
    hint: 'Set STRIPE_WEBHOOK_SECRET to the secret of this endpoint at the provider, and check the clocks.',
  },
  SEATS_TOO_FEW: {
    status: 400,
    message: 'The workspace has more members than that.',
    hint: 'Ask for a seat for each member, or remove members first.',
  },
  LAST_PAYMENT_METHOD: {
    status: 400,
    message: 'The subscription is paid with this card.',
    hint: 'Save another card first, or cancel the subscription.',
  },
  CARD_DECLINED: { status: 402, message: 'The bank declined the card.', hint: 'Use another card, or ask the bank.' },
  SELF_UPGRADE_OFF: {
    status: 403,
    message: 'Accounts of this installation do not choose their tier themselves.',
    hint: 'Subscribe a workspace with POST /v1/billing/subscribe, or ask an administrator.',
  },
  BILLING_ROLE_REQUIRED: {
    status: 403,
    message: 'Only owners, admins and billing managers of the workspace may see and change what it pays.',
    hint: 'Ask an owner of the workspace to make you a billing manager.',
  },
  BILLING_PROVIDER_NOT_FOUND: {
    status: 404,
    message: 'This installation takes no events of this payment provider.',
    hint: 'It is stripe where STRIPE_SECRET_KEY is set, else embedded.',
  },
  SUBSCRIPTION_NOT_FOUND: {
    status: 404,
    message: 'The workspace has no subscription.',
    hint: 'Start one with POST /v1/billing/subscribe.',
  },
  PAYMENT_METHOD_NOT_FOUND: {
    status: 404,
    message: 'The workspace has no such card.',
    hint: 'GET /v1/billing/payment-methods lists its cards.',
  },
  CHECKOUT_NOT_FOUND: {
    status: 404,
    message: 'There is no such checkout, or it has expired.',
    hint: 'Begin a new one with POST /v1/billing/checkout-save-card.',
  },
  BILLING_PAGE_NOT_FOUND: {
    status: 404,
    message: 'This link of a payment is not complete, or it has expired.',
    hint: 'Begin again on the billing screen of the workspace.',
  },
  SUBSCRIPTION_EXISTS: {
    status: 409,
    message: 'The workspace has a subscription already.',
    hint: 'Change it with PATCH /v1/billing/subscription.',
  },
  SUBSCRIPTION_ENDED: {
    status: 409,
    message: 'The subscription has ended.',
    hint: 'Start a new one with POST /v1/billing/subscribe.',
  },
  CHECKOUT_INCOMPLETE: {
    status: 409,
    message: 'No card has been saved at the checkout yet.',
    hint: 'Finish the page at checkout_url, then send this call again.',
  },
  PAYMENT_METHOD_LIMIT_EXCEEDED: {
    status: 409,
    message: 'The workspace has the most cards that it may have.',
    hint: 'Delete one that is no longer used.',
  },
  BILLING_IN_PROGRESS: {
    status: 409,
    message: 'Another change of the subscription is under way.',
    hint: 'Try again after the seconds in Retry-After.',
  },
  BILLING_UNAVAILABLE: {
    status: 503,
    message: 'The payment provider does not answer. Nothing has changed here yet.',
    hint: 'Try again after the seconds in Retry-After; nothing is charged twice.',
  },
} as const;
