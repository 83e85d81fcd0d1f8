/** The cards of the embedded payment provider. Each behaves in one way, so that everything a bank does can be tried out. */

/** `late`, `doubled`: the events of a customer with this card. `confirm`: the bank asks the person (3-D Secure). */
export type Behaviour = 'good' | 'declined' | 'insufficient_funds' | 'expired' | 'confirm' | 'disputed' | 'late' | 'doubled';

/** Why a bank refuses. */
export const DECLINES: Readonly<Partial<Record<Behaviour, string>>> = {
  declined: 'it gives no reason',
  insufficient_funds: 'there is not enough money',
  expired: 'the card has expired',
  confirm: 'it wants a confirmation by the person',
};

export interface TestCard {
  /** The first is shown. */
  readonly tokens: readonly string[];
  readonly name: string;
  readonly brand: string;
  readonly last4: string;
  readonly behaviour: Behaviour;
  /** Refused when it is saved already; others when they are charged. */
  readonly isRefused?: true;
}

export const TEST_CARDS: readonly TestCard[] = [
  { tokens: ['tok_visa', 'pm_card_visa'], name: 'Pays', brand: 'visa', last4: '4242', behaviour: 'good' },
  { tokens: ['tok_mastercard', 'pm_card_mastercard'], name: 'Pays', brand: 'mastercard', last4: '4444', behaviour: 'good' },
  {
    tokens: ['tok_declined', 'tok_chargeDeclined'],
    name: 'Is declined',
    brand: 'visa',
    last4: '0002',
    behaviour: 'declined',
    isRefused: true,
  },
  { tokens: ['tok_expired'], name: 'Has expired', brand: 'visa', last4: '0069', behaviour: 'expired', isRefused: true },
  {
    tokens: ['tok_declined_later'],
    name: 'Is saved, and declined when it is charged',
    brand: 'visa',
    last4: '0341',
    behaviour: 'declined',
  },
  {
    tokens: ['tok_insufficient_funds'],
    name: 'Has no money when it is charged',
    brand: 'visa',
    last4: '9995',
    behaviour: 'insufficient_funds',
  },
  { tokens: ['tok_3ds'], name: 'Asks for a confirmation', brand: 'visa', last4: '3155', behaviour: 'confirm' },
  { tokens: ['tok_disputed'], name: 'Pays, and disputes it', brand: 'visa', last4: '0259', behaviour: 'disputed' },
  { tokens: ['tok_late'], name: 'Pays, and the events come an hour late', brand: 'visa', last4: '1881', behaviour: 'late' },
  { tokens: ['tok_doubled'], name: 'Pays, and the events come twice', brand: 'visa', last4: '1117', behaviour: 'doubled' },
];
