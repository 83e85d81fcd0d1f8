/** The invoices of a workspace, with a page of each to print or keep. */
import type { Invoice } from '../../api/client.ts';
import { useInvoices } from '../../state/billing.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Tag } from '../../ui/small.tsx';
import { ProblemState, Skeleton } from '../../ui/states.tsx';
import { dateOnly, moneyText } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import type { Seat } from './card-page.tsx';
import { RetryButton } from './cards-section.tsx';

export function InvoicesSection({ seat }: { readonly seat: Seat }) {
  const pages = useInvoices(seat.id);
  const { billing } = words.value;
  const { items, problem } = pages;
  return (
    <section class="part" aria-labelledby="invoices">
      <div class="section-head">
        <h2 id="invoices">{billing.invoices}</h2>
      </div>
      {items === undefined && problem === undefined && <Skeleton shape="line" count={2} />}
      {items === undefined && problem !== undefined && <ProblemState problem={problem} onRetry={pages.reload} />}
      {items?.length === 0 && <p class="soft">{billing.noInvoices}</p>}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((invoice) => (
            <InvoiceRow key={invoice.id} seat={seat} invoice={invoice} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </section>
  );
}

const TONES = { draft: 'plain', open: 'warn', paid: 'good', void: 'plain', uncollectible: 'plain' } as const;

function InvoiceRow({ seat, invoice }: { readonly seat: Seat; readonly invoice: Invoice }) {
  const { billing } = words.value;
  const { amount_cents, currency, status, pdf_url, created_at } = invoice;
  const number = invoice.number ?? billing.draft;
  return (
    <li class="row-item">
      <span class="avatar is-square has-icon">
        <Icon name="file" />
      </span>
      <div class="grow">
        <p class="row-title">
          {billing.invoiceOf(number)} <Tag tone={TONES[status]}>{billing.invoiceStatus[status]}</Tag>
        </p>
        <p class="row-facts">
          <span>{moneyText(amount_cents, currency)}</span>
          <time dateTime={created_at}>{dateOnly(created_at)}</time>
        </p>
      </div>
      <div class="row">
        {status === 'open' && <RetryButton seat={seat} label={billing.pay} name={billing.payOf(number)} />}
        {pdf_url !== null && (
          <LinkButton small icon="external" href={pdf_url} target="_blank" rel="noopener" aria-label={billing.openOf(number)}>
            {billing.open}
          </LinkButton>
        )}
      </div>
    </li>
  );
}
