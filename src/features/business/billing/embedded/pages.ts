/** The pages of the embedded payment provider: test cards to save, a bank that asks for a confirmation, and invoices. They work without a script. */
import { Failure } from '../../../../../protocol/core/errors.ts';
import type { BaseCall, Handlers } from '../../../../edge/call.ts';
import { type Html, html } from '../../../../edge/html.ts';
import { framedPage, PAGE_HEADERS, PAGE_TYPE, timeText } from '../../../../edge/page-frame.ts';
import { localeOf } from '../../../../mail/templates/message.ts';
import { dueCents } from './ledger.ts';
import type { EmbeddedProvider } from './provider.ts';
import { TEST_CARDS } from './test-cards.ts';

type Ids = 'pages.checkout' | 'pages.checkoutForm' | 'pages.confirmPayment' | 'pages.confirmPaymentForm' | 'pages.invoice';

export interface PayPagesDeps {
  /** Null where another provider takes the payments: these pages are unknown then. */
  readonly embedded: EmbeddedProvider | null;
  /** Called when a page has changed something of a customer. */
  readonly changed: (customerRef: string) => Promise<void>;
}

const WORDS = {
  en: {
    checkout: 'Save a card',
    testOnly: 'This is the test provider of this installation: no money is taken, and no card number is asked for.',
    save: 'Save this card',
    saved: 'The card is saved',
    back: 'Go back',
    confirm: 'Confirm the payment',
    asks: (amount: string, name: string) => `Your bank asks: shall ${amount} be paid for ${name}?`,
    yes: 'Pay',
    no: 'Do not pay',
    confirmed: 'The payment is confirmed',
    refused: 'The payment was not confirmed',
    close: 'You can close this page.',
    invoice: 'Invoice',
    status: { open: 'Open', paid: 'Paid', void: 'Void' },
    columns: ['For', 'Amount', 'Status', 'Date'],
  },
  es: {
    checkout: 'Guardar una tarjeta',
    testOnly: 'Es el proveedor de pruebas de esta instalación: no se cobra dinero ni se pide ningún número de tarjeta.',
    save: 'Guardar esta tarjeta',
    saved: 'La tarjeta está guardada',
    back: 'Volver',
    confirm: 'Confirmar el pago',
    asks: (amount: string, name: string) => `Tu banco pregunta: ¿se pagan ${amount} por ${name}?`,
    yes: 'Pagar',
    no: 'No pagar',
    confirmed: 'El pago está confirmado',
    refused: 'El pago no se ha confirmado',
    close: 'Puedes cerrar esta página.',
    invoice: 'Factura',
    status: { open: 'Pendiente', paid: 'Pagada', void: 'Anulada' },
    columns: ['Concepto', 'Importe', 'Estado', 'Fecha'],
  },
} as const;

export function payPages({ embedded, changed }: PayPagesDeps): Handlers<Ids> {
  return {
    'pages.checkout': async (call) => {
      const { locale, words } = wordsFor(call);
      await findCheckout(embedded, call.params.secret);
      return page('page', locale, words.checkout, checkoutForm(call.params.secret, locale));
    },
    'pages.checkoutForm': async (call) => {
      const { locale, words } = wordsFor(call);
      const { provider, state, checkout } = await findCheckout(embedded, call.params.secret);
      const token = new URLSearchParams(Buffer.from(call.body).toString()).get('card') ?? '';
      try {
        await provider.act(state.ref, `${checkout.ref}.${token}.${call.requestId}`, (ledger) => {
          const open = ledger.state.checkouts.find(({ ref }) => ref === checkout.ref);
          // A second form of the same page saves no second card.
          if (open !== undefined && open.methodRef === null) open.methodRef = ledger.attach(token);
        });
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        return page(
          'again',
          locale,
          words.checkout,
          html`<p class="notice bad" role="alert">${error.message}</p>
${checkoutForm(call.params.secret, locale)}`,
        );
      }
      await changed(state.ref);
      return page(
        'page',
        locale,
        words.saved,
        html`<h1>${words.saved}</h1>
<p><a class="button" href="${checkout.returnUrl}">${words.back}</a></p>`,
      );
    },
    'pages.confirmPayment': async (call) => {
      const { locale, words } = wordsFor(call);
      const { state, invoice } = await findInvoice(embedded, call.params.secret, 'confirmSecret');
      const content = html`<h1>${words.confirm}</h1>
<p>${words.asks(money(dueCents(invoice), invoice.currency), state.name)}</p>
<form method="post" action="/pay/confirm/${call.params.secret}" class="actions"><button name="answer" value="confirm">${words.yes}</button><button class="plain" name="answer" value="refuse">${words.no}</button></form>`;
      return page('page', locale, words.confirm, content);
    },
    'pages.confirmPaymentForm': async (call) => {
      const { locale, words } = wordsFor(call);
      const { provider, state } = await findInvoice(embedded, call.params.secret, 'confirmSecret');
      const isConfirmed = new URLSearchParams(Buffer.from(call.body).toString()).get('answer') === 'confirm';
      await provider.act(state.ref, `${call.params.secret}.${call.requestId}`, (ledger) => ledger.confirm(call.params.secret, isConfirmed));
      await changed(state.ref);
      const title = isConfirmed ? words.confirmed : words.refused;
      return page(
        'page',
        locale,
        title,
        html`<h1>${title}</h1>
<p>${words.close}</p>`,
      );
    },
    'pages.invoice': async (call) => {
      const { locale, words } = wordsFor(call);
      const { state, invoice } = await findInvoice(embedded, call.params.secret, 'secret');
      const title = `${words.invoice} ${invoice.number}`;
      const cells = [invoice.text, money(invoice.amountCents, invoice.currency), words.status[invoice.status]];
      const content = html`<h1>${title}</h1>
<p>${state.name}</p>
<table><thead><tr>${words.columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody><tr>${cells.map((cell) => html`<td>${cell}</td>`)}<td>${timeText(new Date(invoice.createdAtMs).toISOString())}</td></tr></tbody></table>`;
      return page('page', locale, title, content);
    },
  };
}

function page<R extends 'page' | 'again'>(reply: R, locale: keyof typeof WORDS, title: string, content: Html) {
  return { reply, body: framedPage({ title, locale }, content), type: PAGE_TYPE, headers: PAGE_HEADERS } as const;
}

function checkoutForm(secret: string, locale: keyof typeof WORDS): Html {
  const words = WORDS[locale];
  const options = TEST_CARDS.map(({ tokens, name, brand, last4 }, at) => {
    return html`<p><label><input type="radio" name="card" value="${tokens[0]}"${at === 0 && html` checked`}> ${brand} ···· ${last4} · ${name}</label></p>
`;
  });
  return html`<h1>${words.checkout}</h1>
<p>${words.testOnly}</p>
<form method="post" action="/pay/checkout/${secret}">
${options}<button class="block">${words.save}</button>
</form>`;
}

/** Throws BILLING_PAGE_NOT_FOUND. */
async function findCheckout(embedded: EmbeddedProvider | null, secret: string) {
  const { provider, state } = await open(embedded, secret);
  const checkout = state.checkouts.find((one) => one.secret === secret);
  if (checkout === undefined || checkout.expiresAtMs <= provider.nowMs()) throw new Failure('BILLING_PAGE_NOT_FOUND');
  return { provider, state, checkout };
}

/** Throws BILLING_PAGE_NOT_FOUND. */
async function findInvoice(embedded: EmbeddedProvider | null, secret: string, by: 'secret' | 'confirmSecret') {
  const { provider, state } = await open(embedded, secret);
  const invoice = state.invoices.find((one) => one[by] === secret);
  if (invoice === undefined) throw new Failure('BILLING_PAGE_NOT_FOUND');
  return { provider, state, invoice };
}

async function open(embedded: EmbeddedProvider | null, secret: string) {
  if (embedded === null) throw new Failure('BILLING_PAGE_NOT_FOUND');
  return { provider: embedded, state: await embedded.open(secret) };
}

function money(amountCents: number, currency: string): string {
  return `${(amountCents / 100).toFixed(2)} ${currency.toUpperCase()}`;
}

function wordsFor({ acceptLanguage }: Pick<BaseCall, 'acceptLanguage'>) {
  const locale = localeOf(...acceptLanguage.split(',').map((tag) => tag.trim()));
  return { locale, words: WORDS[locale] };
}
