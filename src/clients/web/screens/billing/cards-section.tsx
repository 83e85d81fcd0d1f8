/** The cards of a workspace. */
import { useState } from 'preact/hooks';
import type { PaymentMethod } from '../../api/client.ts';
import { payWith, removeCard, useMethods } from '../../state/billing.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Tag } from '../../ui/small.tsx';
import { ProblemState, Skeleton } from '../../ui/states.tsx';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import { cardName } from './billing-words.ts';
import { AddCardButton, type Seat } from './card-page.tsx';

export function CardsSection({ seat }: { readonly seat: Seat }) {
  const pages = useMethods(seat.id);
  const { billing } = words.value;
  const { items, problem } = pages;
  return (
    <section class="part" aria-labelledby="cards">
      <div class="section-head">
        <div class="grow">
          <h2 id="cards">{billing.cards}</h2>
          <p class="soft small">{billing.cardsText}</p>
        </div>
        <AddCardButton seat={seat} />
      </div>
      {items === undefined && problem === undefined && <Skeleton shape="line" count={2} />}
      {items === undefined && problem !== undefined && <ProblemState problem={problem} onRetry={pages.reload} />}
      {items?.length === 0 && <p class="soft">{billing.noCards}</p>}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((method) => (
            <CardRow key={method.id} method={method} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </section>
  );
}

/** Pays what is due, and what comes, with one card. */
function usePaying(method: Pick<PaymentMethod, 'id'> | undefined, done: string) {
  const [isBusy, setBusy] = useState(false);
  const pay = async () => {
    if (method === undefined) return;
    setBusy(true);
    try {
      await payWith(method.id);
      tell(done);
    } catch (error) {
      tellProblem(error);
    }
    setBusy(false);
  };
  return { isBusy, pay: () => void pay() };
}

function CardRow({ method }: { readonly method: PaymentMethod }) {
  const [asks, setAsks] = useState(false);
  const { billing } = words.value;
  const name = cardName(method);
  const { isBusy, pay } = usePaying(method, billing.madeDefault(name));
  const { exp_month, exp_year, is_default } = method;
  const remove = async () => {
    try {
      await removeCard(method.id);
      tell(billing.removed(name));
    } catch (error) {
      tellProblem(error);
    }
  };
  return (
    <li class="row-item">
      <span class="avatar is-square has-icon">
        <Icon name="card" />
      </span>
      <div class="grow">
        <p class="row-title">
          {name} {is_default && <Tag tone="good">{billing.isDefault}</Tag>}
        </p>
        <p class="row-facts">
          <span>{billing.expires(`${String(exp_month).padStart(2, '0')}/${exp_year}`)}</span>
        </p>
      </div>
      {!is_default && (
        <Button small isBusy={isBusy} aria-label={billing.makeDefaultOf(name)} onClick={pay}>
          {billing.makeDefault}
        </Button>
      )}
      <Button small aria-label={billing.removeOf(name)} onClick={() => setAsks(true)}>
        {billing.remove}
      </Button>
      {asks && (
        <Confirm
          title={billing.removeTitle(name)}
          text={billing.removeText}
          action={billing.remove}
          onClose={() => setAsks(false)}
          onConfirm={() => void remove()}
        />
      )}
    </li>
  );
}

/** What is due, once more with the card that pays the plan. */
export function RetryButton({ seat, label, name }: { readonly seat: Seat; readonly label?: string; readonly name?: string }) {
  const { items = [] } = useMethods(seat.id);
  const { billing } = words.value;
  const card = items.find(({ is_default }) => is_default);
  const { isBusy, pay } = usePaying(card, billing.asked);
  if (card === undefined) return null;
  return (
    <Button small={label !== undefined} isBusy={isBusy} aria-label={name} onClick={pay}>
      {label ?? billing.retry}
    </Button>
  );
}
