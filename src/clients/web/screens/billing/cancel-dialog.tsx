/** Ends a plan: when what is paid is used up, which can be taken back until then, or at once. */
import { useState } from 'preact/hooks';
import type { Subscription } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { cancelPlan, resumePlan } from '../../state/billing.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { RadioCards } from '../../ui/fields.tsx';
import { ProblemNote } from '../../ui/states.tsx';
import { dateOnly } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import type { Seat } from './card-page.tsx';

interface CancelProps {
  readonly seat: Seat;
  readonly subscription: Subscription;
  readonly onClose: () => void;
}

type When = 'period_end' | 'now';

async function takeBack(seat: Seat): Promise<void> {
  try {
    await resumePlan(seat.id);
    tell(words.value.billing.stayed);
  } catch (error) {
    tellProblem(error);
  }
}

export function CancelDialog({ seat, subscription, onClose }: CancelProps) {
  const { status, period_ends_at } = subscription;
  // Where nothing is paid, there is nothing left to use up.
  const isPaid = status === 'trialing' || status === 'active';
  const [when, setWhen] = useState<When>(isPaid ? 'period_end' : 'now');
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { billing, app } = words.value;
  const { cancelDialog: said } = billing;
  const ends = dateOnly(period_ends_at ?? subscription.created_at);
  const cancel = async () => {
    setBusy(true);
    try {
      const { cancel_at_period_end, ends_at } = await cancelPlan(seat.id, when);
      if (cancel_at_period_end)
        tell(billing.canceledThen(dateOnly(ends_at ?? subscription.created_at)), { label: app.undo, run: () => void takeBack(seat) });
      else tell(billing.canceledNow);
      onClose();
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const options = (isPaid ? (['period_end', 'now'] as const) : (['now'] as const)).map((value) => {
    return { value, name: said[value].name, means: value === 'now' ? said.now.means : said.period_end.means(ends) };
  });
  return (
    <Dialog title={said.title} onClose={onClose}>
      <RadioCards label={said.at} value={when} options={options} onChoose={setWhen} />
      <p class="field-note">{said.after}</p>
      {problem !== undefined && <ProblemNote problem={problem} />}
      <div class="dialog-foot">
        <Button onClick={onClose}>{said.keep}</Button>
        <Button look="danger" isBusy={isBusy} onClick={() => void cancel()}>
          {billing.cancel}
        </Button>
      </div>
    </Dialog>
  );
}
