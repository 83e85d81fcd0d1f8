/** Chooses a plan, or another one: what it costs and when, what it allows, and what of it would be less. */
import { useState } from 'preact/hooks';
import type { BillingPlan, Subscription, TierTerms, WorkspacePlan } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { changePlan, type ReadSubscription, subscribe, useTiers } from '../../state/billing.ts';
import { type Charge, chargeFor } from '../../state/charges.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { NumberField, RadioCards } from '../../ui/fields.tsx';
import { ProblemNote } from '../../ui/states.tsx';
import { dateOnly, moneyText } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { allowanceName, amountText, planName, planWithSeats, priceText, unitPriceText } from './billing-words.ts';
import type { Seat } from './card-page.tsx';
import { FeatureList } from './usage.tsx';

/** As `seatsMax` in protocol/business/billing-limits.ts, which is not bundled. */
const SEATS_MAX = 10_000;
const INTERVALS = ['month', 'year'] as const satisfies BillingPlan['interval'][];

interface PlanDialogProps {
  readonly seat: Seat;
  readonly read: ReadSubscription;
  readonly plans: readonly BillingPlan[];
  readonly plan: WorkspacePlan;
  readonly onClose: () => void;
}

export function PlanDialog({ seat, read, plans, plan, onClose }: PlanDialogProps) {
  // As it was when the dialog was opened: a change of somebody else meanwhile is a conflict.
  const [opened] = useState(read);
  const running = runningOf(opened.subscription);
  const members = Math.max(1, plan.usage.members);
  const [chosenId, setChosenId] = useState(running?.plan ?? plans[0]?.id);
  const [seats, setSeats] = useState(String(Math.max(members, running?.seats ?? 1)));
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { billing, app } = words.value;
  const chosen = plans.find(({ id }) => id === chosenId);
  if (chosen === undefined) return null;
  // A plan that is not paid by seats keeps those that there are.
  const count = chosen.per_seat ? Number(seats) : Math.max(members, running?.seats ?? members);
  const isSound = Number.isInteger(count) && count >= members && count <= SEATS_MAX;
  const has = plans.find(({ id }) => id === running?.plan);
  const charge =
    running && has && isSound ? chargeFor({ current: running, has, wanted: chosen, seats: count, nowMs: Date.now() }) : undefined;
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      const wanted = { plan_id: chosen.id, seats: count };
      if (running === undefined) tellBegun(await subscribe(seat.id, wanted), chosen);
      else tellChanged(await changePlan(seat.id, opened.etag, wanted), plans);
      onClose();
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={running === undefined ? billing.dialog.choose : billing.dialog.change} onClose={onClose} wide>
      <form class="plan-form" onSubmit={save}>
        <PlanChoice plans={plans} chosen={chosen} onChoose={setChosenId} />
        {chosen.per_seat && <SeatsField members={members} seats={seats} onSeats={setSeats} />}
        <p class="job-meaning" role="status">
          {isSound && chosen.per_seat && `${billing.dialog.total(priceText(chosen, count))} `}
          {isSound && (charge === undefined ? beginText(chosen, count, opened.subscription) : chargeText(charge, chosen))}
        </p>
        <Allows tier={chosen.tier} plan={plan} />
        {problem !== undefined && <ProblemNote problem={problem} />}
        <div class="dialog-foot">
          <Button onClick={onClose}>{app.cancel}</Button>
          <Button type="submit" look="main" isBusy={isBusy} disabled={!isSound || charge?.kind === 'same'}>
            {running === undefined ? billing.dialog.begin : billing.dialog.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface SeatsProps {
  readonly members: number;
  readonly seats: string;
  readonly onSeats: (seats: string) => void;
}

function SeatsField({ members, seats, onSeats }: SeatsProps) {
  const { dialog } = words.value.billing;
  return (
    <NumberField label={dialog.seats} hint={dialog.seatsHint(members)} value={seats} min={members} max={SEATS_MAX} onNumber={onSeats} />
  );
}

function runningOf(subscription: Subscription | null): Subscription | undefined {
  return subscription === null || subscription.status === 'canceled' ? undefined : subscription;
}

interface ChoiceProps {
  readonly plans: readonly BillingPlan[];
  readonly chosen: BillingPlan;
  readonly onChoose: (id: BillingPlan['id']) => void;
}

function PlanChoice({ plans, chosen, onChoose }: ChoiceProps) {
  const { billing } = words.value;
  const offered = plans.filter(({ interval }) => interval === chosen.interval);
  const turn = (interval: BillingPlan['interval']) => {
    const same = plans.find((one) => one.tier === chosen.tier && one.interval === interval);
    if (same !== undefined) onChoose(same.id);
  };
  return (
    <>
      <fieldset class="segments" aria-label={billing.interval}>
        {INTERVALS.map((interval) => (
          <button key={interval} type="button" class="segment" aria-pressed={interval === chosen.interval} onClick={() => turn(interval)}>
            {billing.intervals[interval]}
          </button>
        ))}
      </fieldset>
      <RadioCards
        label={billing.dialog.tiers}
        value={chosen.id}
        options={offered.map((one) => ({ value: one.id, name: billing.tier[one.tier], means: unitPriceText(one) }))}
        onChoose={onChoose}
      />
    </>
  );
}

/** What a first or a further subscription costs to begin. */
function beginText(chosen: BillingPlan, seats: number, before: Subscription | null): string {
  const { dialog } = words.value.billing;
  const price = priceText(chosen, seats);
  return before === null ? dialog.trial(chosen.trial_days, price) : dialog.noTrial(price);
}

function chargeText(charge: Charge, { currency, interval }: BillingPlan): string {
  const { dialog, each } = words.value.billing;
  const price = (cents: number) => each[interval](moneyText(cents, currency));
  switch (charge.kind) {
    case 'same':
      return dialog.same;
    case 'back':
      return dialog.back;
    case 'inTrial':
      return dialog.inTrial(dateOnly(charge.at), price(charge.thenCents));
    case 'now':
      return dialog.now(moneyText(charge.nowCents, currency), dateOnly(charge.at), price(charge.thenCents));
    case 'restart':
      return dialog.restart(moneyText(charge.nowCents, currency), price(charge.thenCents));
    case 'later':
      return dialog.later(dateOnly(charge.at), price(charge.thenCents));
    default:
      return charge satisfies never;
  }
}

function tellBegun({ status }: Subscription, chosen: BillingPlan): void {
  const { billing } = words.value;
  tell(status === 'incomplete' ? billing.begunUnpaid : billing.begun(planName(chosen)));
}

function tellChanged({ plan, seats, pending }: Subscription, plans: readonly BillingPlan[]): void {
  const { billing } = words.value;
  const now = plans.find(({ id }) => id === (pending?.plan ?? plan));
  if (now === undefined) return;
  const name = planWithSeats(now, pending?.seats ?? seats);
  tell(pending === null ? billing.changed(name) : billing.changedLater(name, dateOnly(pending.at)));
}

/** What the chosen tier allows, and what the workspace has that it does not. */
function Allows({ tier, plan }: { readonly tier: BillingPlan['tier']; readonly plan: WorkspacePlan }) {
  const tiers = useTiers();
  const { billing } = words.value;
  const terms = tiers.data?.find((one) => one.tier === tier);
  if (terms === undefined) return tiers.problem === undefined ? null : <ProblemNote problem={tiers.problem} onRetry={tiers.reload} />;
  const features = Object.fromEntries(terms.features.map((name) => [name, true]));
  const { allowances } = terms;
  const room = (['bytes', 'artifacts'] as const).map((name) => `${allowanceName(name)}: ${amountText(name, allowances[name])}`);
  return (
    <>
      <Loses terms={terms} plan={plan} />
      <h3>{billing.dialog.allows(billing.tier[tier])}</h3>
      <p class="row-facts">
        {room.map((one) => (
          <span key={one}>{one}</span>
        ))}
      </p>
      <FeatureList has={{ ...features, public_artifacts: allowances.public_artifacts }} />
    </>
  );
}

function Loses({ terms, plan }: { readonly terms: TierTerms; readonly plan: WorkspacePlan }) {
  const { billing } = words.value;
  const { allowances, usage, features } = plan;
  // What a flag has switched on or off stays so with every plan.
  const lost = Object.entries(features).flatMap(([name, { enabled, source }]) =>
    enabled && source === 'plan' && !terms.features.includes(name) ? [name] : [],
  );
  if (allowances.public_artifacts && !terms.allowances.public_artifacts) lost.push('public_artifacts');
  const over = (['bytes', 'artifacts', 'members'] as const).filter((name) => usage[name] > terms.allowances[name]);
  if (lost.length === 0 && over.length === 0) return null;
  return (
    <section class="notice warn" aria-label={billing.dialog.loses}>
      <p>
        <strong>{billing.dialog.loses}</strong>
      </p>
      <ul class="over">
        {over.map((name) => {
          const [used, max] = [amountText(name, usage[name]), amountText(name, terms.allowances[name])];
          return <li key={name}>{billing.dialog.over(allowanceName(name), used, max)}</li>;
        })}
        {lost.map((name) => (
          <li key={name}>{billing.dialog.lost(allowanceName(name))}</li>
        ))}
      </ul>
    </section>
  );
}
