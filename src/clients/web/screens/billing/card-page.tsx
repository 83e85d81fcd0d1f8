/** The way to the page of the payment provider on which a card is saved, and back from it. */
import { useEffect, useState } from 'preact/hooks';
import { type Problem, problemOf } from '../../api/problem.ts';
import { openCardPage, takeCard } from '../../state/billing.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';
import { cardName } from './billing-words.ts';

export interface Seat {
  readonly id: string;
  readonly slug: string;
}

export function AddCardButton({ seat, look = 'second' }: { readonly seat: Seat; readonly look?: 'main' | 'second' }) {
  const [isBusy, setBusy] = useState(false);
  const open = async () => {
    setBusy(true);
    try {
      await openCardPage(seat);
    } catch (error) {
      tellProblem(error);
      setBusy(false);
    }
  };
  return (
    <Button look={look} icon="plus" isBusy={isBusy} onClick={() => void open()}>
      {words.value.billing.addCard}
    </Button>
  );
}

/** Takes the card of the checkout that the address names, once: the browser has come back from the provider. */
export function CardReturn({ seat }: { readonly seat: Seat }) {
  const [checkoutId] = useState(() => new URLSearchParams(location.search).get('checkout_id'));
  const [state, setState] = useState<'none' | 'busy' | Problem>(checkoutId === null ? 'none' : 'busy');
  const { billing, app } = words.value;
  const take = async (id: string) => {
    setState('busy');
    try {
      const { payment_method, subscription } = await takeCard(id);
      tell(subscription?.action_url ? billing.savedWaits : billing.saved(cardName(payment_method)));
      setState('none');
    } catch (error) {
      setState(problemOf(error));
    }
  };
  useEffect(() => {
    if (checkoutId === null) return;
    // It is not taken again when the page is loaded anew.
    history.replaceState(history.state, '', `/w/${seat.slug}/billing`);
    void take(checkoutId);
  }, []);
  if (state === 'none' || checkoutId === null) return null;
  if (state === 'busy') {
    return (
      <p class="notice" role="status">
        {billing.saving}
      </p>
    );
  }
  const { title, text } = problemWords(state);
  const known: Readonly<Record<string, string>> = { CHECKOUT_INCOMPLETE: billing.notSaved, CARD_DECLINED: billing.declined(state.message) };
  const said = known[state.code] ?? `${title} ${text}`;
  const mayPass = state.isOffline || state.status === 503 || state.code === 'BILLING_IN_PROGRESS';
  return (
    <div class="notice bad" role="alert">
      <p>{said}</p>
      {mayPass && (
        <p class="row">
          <Button small onClick={() => void take(checkoutId)}>
            {app.retry}
          </Button>
        </p>
      )}
    </div>
  );
}
