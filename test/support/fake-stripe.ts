/**
 * Stripe's REST API over HTTP, stateful, with its idempotency keys, errors and signed events: what the adapter uses of it, and nothing that it does
 * not know is taken. Events are kept for the test, which sends them when, how often and in which order it likes; without them they are lost.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PLANS } from '../../protocol/business/billing-plans.ts';
import { Books } from './fake-stripe-books.ts';
import { type Body, numberOf, parseForm, partOf, requireKnown, textOf, textsOf } from './fake-stripe-forms.ts';
import {
  chargeShape,
  customerShape,
  invoiceShape,
  list,
  methodShape,
  priceShape,
  sessionShape,
  subscriptionShape,
} from './fake-stripe-shapes.ts';
import { invalid, missing, type Price, Refusal, type Subscription } from './fake-stripe-things.ts';
import { signatureOf } from './signed-events.ts';

export const FAKE_STRIPE_KEY = 'sk_test_of_the_fake';
export const FAKE_WEBHOOK_SECRET = 'whsec_of_the_fake';
/** Stripe's. */
const KEY_KEPT_MS = 24 * 3_600_000;
const SESSION_S = 24 * 3600;

export interface FakeEvent {
  readonly id: string;
  readonly type: string;
  readonly body: string;
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

type Route = readonly [method: string, path: RegExp, params: readonly string[], make: (params: Body, ids: readonly string[]) => unknown];

const PRICES: readonly Price[] = Object.values(PLANS).map(({ id, price_cents: unitAmount, interval }) => {
  return { id: `price_${id}`, lookupKey: id, unitAmount, interval };
});
const PAGES = ['limit', 'starting_after', 'ending_before', 'expand'];

export class FakeStripe {
  readonly books: Books;
  readonly events: FakeEvent[] = [];
  readonly calls: Asked[] = [];
  /** While false every call is answered with 503, and nothing happens. */
  isUp = true;
  /** Calls that came while it was away. */
  turnedAway = 0;
  /** Calls that are made, and whose connection breaks before the answer. */
  loses: ((asked: Asked) => boolean) | null = null;
  /** What each call is answered while something holds what it is about, such as another call; nothing happens. */
  busy: { readonly status: number; readonly type: string; readonly code: string } | null = null;
  readonly #nowMs: () => number;
  readonly #keys = new Map<string, { readonly asked: string; readonly answer: Answer; readonly atMs: number }>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #held: { readonly matches: (asked: Asked) => boolean; readonly made: () => void } | null = null;

  private constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.books = new Books(PRICES, nowMs, (type, kind, id) => this.#tell(type, kind, id));
  }

  static async start(nowMs: () => number = Date.now): Promise<FakeStripe> {
    const fake = new FakeStripe(nowMs);
    await new Promise<void>((done) => fake.#server.listen(0, '127.0.0.1', done));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Of an installation that pays here. */
  get settings() {
    return { STRIPE_SECRET_KEY: FAKE_STRIPE_KEY, STRIPE_WEBHOOK_SECRET: FAKE_WEBHOOK_SECRET, STRIPE_API_URL: this.url };
  }

  /** Settles when the next such call was made. Its answer never leaves: whoever waits for it is to be killed. */
  hold(matches: (asked: Asked) => boolean): Promise<void> {
    return new Promise((made) => {
      this.#held = { matches, made };
    });
  }

  /** Sends an event as Stripe does; answers the status. */
  async send(baseUrl: string, { body }: FakeEvent, secret = FAKE_WEBHOOK_SECRET): Promise<number> {
    const headers = { 'content-type': 'application/json', 'stripe-signature': signatureOf(secret, body, this.#nowMs()) };
    const reply = await fetch(`${baseUrl}/v1/billing/webhooks/stripe`, { method: 'POST', body, headers });
    await reply.text();
    return reply.status;
  }

  /** A customer tells the bank that they did not agree to a payment. */
  dispute(chargeId: string): FakeEvent {
    const id = this.books.fresh('du');
    return this.#event('charge.dispute.created', {
      id,
      object: 'dispute',
      charge: chargeId,
      status: 'needs_response',
      reason: 'fraudulent',
    });
  }

  /** What was taken of a customer, in cents. */
  charged(customer: string): number[] {
    this.books.work();
    return this.books.charges.filter((charge) => charge.customer === customer).map(({ amount }) => amount);
  }

  forgetKeys(): void {
    this.#keys.clear();
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((done) => this.#server.close(() => done()));
  }

  #tell(type: string, kind: string, id: string): void {
    this.#event(type, this.#thing(kind, id));
  }

  #event(type: string, object: unknown): FakeEvent {
    const id = `evt_${String(this.events.length + 1).padStart(14, '0')}`;
    const created = this.books.now;
    const event = {
      id,
      object: 'event',
      type,
      api_version: '2026-10-28.endive',
      created,
      livemode: false,
      pending_webhooks: 1,
      data: { object },
    };
    const made = { id, type, body: JSON.stringify(event) };
    this.events.push(made);
    return made;
  }

  #thing(kind: string, id: string): unknown {
    const { books, url } = this;
    switch (kind) {
      case 'subscription':
        return subscriptionShape(books.subscription(id), null);
      case 'invoice':
        return invoiceShape(books.invoice(id), url);
      case 'session':
        return this.#session(id, false);
      case 'payment_method':
        return methodShape(books.method(id));
      default:
        return customerShape(books.customer(id));
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname, search } = new URL(request.url ?? '/', this.url);
    const text = request.method === 'POST' ? Buffer.concat(chunks).toString() : search.slice(1);
    const key = request.headers['idempotency-key'];
    const asked = { method: request.method ?? '', path: pathname, key: typeof key === 'string' ? key : null };
    const { status, body } = this.#answer(asked, text, request.headers.authorization);
    if (this.#held?.matches(asked)) {
      this.#held.made();
      this.#held = null;
      return;
    }
    if (this.loses?.(asked)) {
      request.socket.destroy();
      return;
    }
    response.writeHead(status, { 'content-type': 'application/json', 'request-id': `req_${this.calls.length}` });
    response.end(JSON.stringify(body));
  }

  #answer(asked: Asked, text: string, authorization: string | undefined): Answer {
    if (!this.isUp) {
      this.turnedAway += 1;
      return failed(503, { type: 'api_error', message: 'Stripe is away.' });
    }
    if (authorization !== `Bearer ${FAKE_STRIPE_KEY}`)
      return failed(401, { type: 'invalid_request_error', message: 'Invalid API Key provided.' });
    if (this.busy !== null) return failed(this.busy.status, { type: this.busy.type, code: this.busy.code, message: 'Something holds it.' });
    this.calls.push(asked);
    this.books.work();
    if (asked.method === 'GET' || asked.key === null) return this.#make(asked, text);
    const whole = `${asked.method} ${asked.path} ${text}`;
    const known = this.#keys.get(asked.key);
    if (known !== undefined && this.#nowMs() - known.atMs < KEY_KEPT_MS) {
      if (known.asked === whole) return known.answer;
      return failed(400, { type: 'idempotency_error', message: 'Keys for idempotent requests can only be used with the same parameters.' });
    }
    const answer = this.#make(asked, text);
    // What has failed its validation was not begun, and may be corrected.
    if (!isValidation(answer)) this.#keys.set(asked.key, { asked: whole, answer, atMs: this.#nowMs() });
    return answer;
  }

  #make({ method, path }: Asked, text: string): Answer {
    try {
      for (const [verb, pattern, params, make] of this.#routes()) {
        const found = verb === method ? pattern.exec(path) : null;
        if (found === null) continue;
        const body = parseForm(text);
        requireKnown(body, params);
        return { status: 200, body: make(body, found.slice(1)) };
      }
      throw invalid(`Unrecognized request URL (${method}: ${path}).`, {}, 404);
    } catch (error) {
      if (error instanceof Refusal) return failed(error.status, error.error);
      return failed(500, { type: 'api_error', message: error instanceof Error ? error.message : 'unknown' });
    }
  }

  #routes(): readonly Route[] {
    return [...this.#customerRoutes(), ...this.#methodRoutes(), ...this.#subscriptionRoutes(), ...this.#invoiceRoutes()];
  }

  #customerRoutes(): readonly Route[] {
    const { books, url } = this;
    return [
      ['POST', /^\/v1\/customers$/, ['name', 'metadata'], (body) => customerShape(books.createCustomer(body))],
      ['GET', /^\/v1\/customers\/(\w+)$/, ['expand'], (_, [id = '']) => customerShape(books.customer(id))],
      [
        ...(['POST', /^\/v1\/customers\/(\w+)$/, ['invoice_settings', 'name', 'metadata']] as const),
        (body, [id = '']) => customerShape(books.makeDefault(id, textOf(partOf(body, 'invoice_settings'), 'default_payment_method'))),
      ],
      [
        ...(['GET', /^\/v1\/customers\/(\w+)\/payment_methods$/, ['type', ...PAGES]] as const),
        (body, [id = '']) =>
          list(`/v1/customers/${id}/payment_methods`, books.methodsOf(id).map(methodShape), numberOf(body, 'limit') ?? 10),
      ],
      [
        ...(['POST', /^\/v1\/checkout\/sessions$/, ['mode', 'customer', 'currency', 'success_url', 'cancel_url']] as const),
        (body) => {
          if (textOf(body, 'mode') !== 'setup') throw invalid('The fake only has sessions that save a card.', { param: 'mode' });
          textOf(body, 'currency');
          const { id: customer } = books.liveCustomer(textOf(body, 'customer'));
          const session = { id: books.fresh('cs_test'), customer, successUrl: textOf(body, 'success_url'), expires: books.now + SESSION_S };
          books.sessions.set(session.id, { ...session, status: 'open', method: null });
          return this.#session(session.id, false);
        },
      ],
      [
        ...(['GET', /^\/v1\/checkout\/sessions\/(\w+)$/, ['expand']] as const),
        (body, [id = '']) => this.#session(id, Object.values(partOf(body, 'expand')).includes('setup_intent')),
      ],
      [
        ...(['GET', /^\/v1\/prices$/, ['lookup_keys', 'active', ...PAGES]] as const),
        (body) => {
          const keys = Object.values(partOf(body, 'lookup_keys'));
          return list('/v1/prices', books.prices.filter(({ lookupKey }) => keys.includes(lookupKey)).map(priceShape), 10);
        },
      ],
      [
        ...(['GET', /^\/v1\/charges\/(\w+)$/, ['expand']] as const),
        (_, [id = '']) => {
          const charge = books.charges.find((one) => one.id === id);
          if (charge === undefined) throw missing('charge', id);
          return { ...chargeShape(charge), receipt_url: `${url}/r/${id}` };
        },
      ],
    ];
  }

  #methodRoutes(): readonly Route[] {
    const { books } = this;
    return [
      [
        ...(['POST', /^\/v1\/payment_methods$/, ['type', 'card']] as const),
        (body) => methodShape(books.createMethod(textOf(partOf(body, 'card'), 'token'))),
      ],
      [
        ...(['POST', /^\/v1\/payment_methods\/(\w+)\/attach$/, ['customer']] as const),
        (body, [id = '']) => methodShape(books.attach(id, textOf(body, 'customer'))),
      ],
      ['POST', /^\/v1\/payment_methods\/(\w+)\/detach$/, [], (_, [id = '']) => methodShape(books.detach(id))],
    ];
  }

  #subscriptionRoutes(): readonly Route[] {
    const { books } = this;
    const created = ['customer', 'items', 'metadata', 'payment_behavior', 'trial_end', 'trial_settings'];
    const updated = ['items', 'metadata', 'proration_behavior', 'payment_behavior', 'cancel_at_period_end'];
    return [
      [
        ...(['POST', /^\/v1\/subscriptions$/, created] as const),
        (body) => {
          const made = books.subscribe(
            textOf(body, 'customer'),
            itemOf(body),
            numberOf(body, 'trial_end'),
            textsOf(partOf(body, 'metadata')),
          );
          return subscriptionShape(made, null);
        },
      ],
      ['GET', /^\/v1\/subscriptions\/(\w+)$/, ['expand'], (body, [id = '']) => this.#subscription(books.subscription(id), body)],
      [
        ...(['POST', /^\/v1\/subscriptions\/(\w+)$/, updated] as const),
        (body, [id = '']) => {
          const isProrated = body.proration_behavior === 'always_invoice';
          if (body.items !== undefined) books.changeItem(id, itemOf(body), isProrated, body.payment_behavior === 'error_if_incomplete');
          const cancel = body.cancel_at_period_end;
          const metadata = textsOf(partOf(body, 'metadata'));
          return subscriptionShape(
            books.update(id, { metadata, ...(cancel !== undefined && { cancelAtPeriodEnd: cancel === 'true' }) }),
            null,
          );
        },
      ],
      ['DELETE', /^\/v1\/subscriptions\/(\w+)$/, [], (_, [id = '']) => subscriptionShape(books.cancel(id), null)],
      [
        ...(['GET', /^\/v1\/subscriptions$/, ['customer', 'status', ...PAGES]] as const),
        (body) => {
          const all = books
            .subscriptionsOf(textOf(body, 'customer'))
            .filter(({ status }) => body.status === 'all' || status !== 'canceled');
          const shown = all.map((one) => this.#subscription(one, body));
          return list('/v1/subscriptions', shown, numberOf(body, 'limit') ?? 10);
        },
      ],
    ];
  }

  #invoiceRoutes(): readonly Route[] {
    const { books, url } = this;
    return [
      [
        ...(['GET', /^\/v1\/invoices$/, ['customer', 'subscription', 'status', ...PAGES]] as const),
        (body) => {
          const found = [...books.invoices.values()].filter(({ customer, subscription, status }) => {
            const given = { customer, subscription, status };
            return Object.entries(given).every(([name, value]) => body[name] === undefined || body[name] === value);
          });
          const shown = found.reverse().map((one) => invoiceShape(one, url));
          return list('/v1/invoices', shown, numberOf(body, 'limit') ?? 10);
        },
      ],
      ['GET', /^\/v1\/invoices\/(\w+)$/, ['expand'], (_, [id = '']) => invoiceShape(books.invoice(id), url)],
      ['POST', /^\/v1\/invoices\/(\w+)\/pay$/, [], (_, [id = '']) => invoiceShape(books.pay(id), url)],
      ['POST', /^\/v1\/invoices\/(\w+)\/void$/, [], (_, [id = '']) => invoiceShape(books.void(id), url)],
    ];
  }

  #subscription(one: Subscription, body: Body): unknown {
    const wanted = Object.values(partOf(body, 'expand'));
    const isWhole = wanted.includes('data.latest_invoice') || wanted.includes('latest_invoice');
    const latest = isWhole && one.latestInvoice !== null ? invoiceShape(this.books.invoice(one.latestInvoice), this.url) : null;
    return subscriptionShape(one, latest);
  }

  #session(id: string, isWhole: boolean): unknown {
    const session = this.books.sessions.get(id);
    if (session === undefined) throw missing('checkout.session', id);
    const shape = sessionShape(session, this.url);
    return isWhole ? shape : { ...shape, setup_intent: `seti_${id}` };
  }
}

function itemOf(body: Body): { readonly price: string; readonly quantity: number } {
  const item = partOf(body, 'items', '0');
  requireKnown(item, ['id', 'price', 'quantity']);
  return { price: textOf(item, 'price'), quantity: numberOf(item, 'quantity') ?? 1 };
}

function failed(status: number, error: Readonly<Record<string, string>>): Answer {
  return { status, body: { error } };
}

function isValidation({ status, body }: Answer): boolean {
  const { code } = (body as { error?: { code?: string } }).error ?? {};
  return status === 400 && code !== undefined && code.startsWith('parameter_');
}
