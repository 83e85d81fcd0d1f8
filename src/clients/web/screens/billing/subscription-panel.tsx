/** The plan of a workspace as it is paid: how it stands, what waits for a person, and what can be changed. */
import { useState } from 'preact/hooks';
import type { BillingPlan, Subscription, WorkspacePlan } from '../../api/client.ts';
import { type ReadSubscription, resumePlan } from '../../state/billing.ts';
import { priceOf } from '../../state/charges.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Tag } from '../../ui/small.tsx';
import { ago, dateOnly, moneyText } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { planWithSeats, priceText } from './billing-words.ts';
import { CancelDialog } from './cancel-dialog.tsx';
import { AddCardButton, type Seat } from './card-page.tsx';
import { RetryButton } from './cards-section.tsx';
import { PlanDialog } from './plan-dialog.tsx';

export interface PanelProps {
  readonly seat: Seat;
  readonly read: ReadSubscription;
  readonly plans: readonly BillingPlan[];
  readonly plan: WorkspacePlan;
}

const TONES = { trialing: 'info', active: 'good', past_due: 'warn', incomplete: 'warn', canceled: 'plain' } as const;

export function SubscriptionPanel({ seat, read, plans, plan }: PanelProps) {
  const [dialog, setDialog] = useState<'plan' | 'cancel'>();
  const { billing } = words.value;
  const { subscription } = read;
  const bought = plans.find(({ id }) => id === subscription?.plan);
  const running = subscription === null || subscription.status === 'canceled' ? undefined : subscription;
  const close = () => setDialog(undefined);
  return (
    <section class="panel" aria-labelledby="plan-now">
      <header class="row">
        <h2 id="plan-now" class="grow">
          {running === undefined || bought === undefined ? billing.tier[plan.in_force] : planWithSeats(bought, running.seats)}
        </h2>
        {running !== undefined && (
          <span role="status">
            <Tag tone={running.cancel_at_period_end ? 'warn' : TONES[running.status]}>
              {running.cancel_at_period_end ? billing.ends : billing.status[running.status]}
            </Tag>
          </span>
        )}
      </header>
      {running === undefined || bought === undefined ? (
        <NothingPaid ended={subscription} />
      ) : (
        <Standing seat={seat} subscription={running} bought={bought} plans={plans} />
      )}
      <div class="row">
        {running === undefined && (
          <Button look="main" onClick={() => setDialog('plan')}>
            {billing.choose}
          </Button>
        )}
        {running !== undefined && mayChange(running) && <Button onClick={() => setDialog('plan')}>{billing.change}</Button>}
        {running !== undefined && !running.cancel_at_period_end && (
          <Button look="quiet" onClick={() => setDialog('cancel')}>
            {billing.cancel}
          </Button>
        )}
      </div>
      {dialog === 'plan' && <PlanDialog seat={seat} read={read} plans={plans} plan={plan} onClose={close} />}
      {dialog === 'cancel' && running !== undefined && <CancelDialog seat={seat} subscription={running} onClose={close} />}
    </section>
  );
}

/** What is not paid, or ends, is settled first. */
function mayChange({ status, cancel_at_period_end }: Subscription): boolean {
  return (status === 'trialing' || status === 'active') && !cancel_at_period_end;
}

function NothingPaid({ ended }: { readonly ended: Subscription | null }) {
  const { billing } = words.value;
  if (ended !== null) return <p>{billing.ended(dateOnly(ended.canceled_at ?? ended.created_at))}</p>;
  return (
    <p>
      {billing.none} <span class="soft">{billing.noneText}</span>
    </p>
  );
}

interface StandingProps {
  readonly seat: Seat;
  readonly subscription: Subscription;
  readonly bought: BillingPlan;
  readonly plans: readonly BillingPlan[];
}

function Standing({ seat, subscription, bought, plans }: StandingProps) {
  const { status, action_url, cancel_at_period_end } = subscription;
  return (
    <>
      {action_url !== null && <ActionNotice url={action_url} />}
      {cancel_at_period_end && <CanceledNotice seat={seat} subscription={subscription} />}
      {!cancel_at_period_end && status === 'trialing' && (
        <TrialText seat={seat} subscription={subscription} plans={plans} bought={bought} />
      )}
      {!cancel_at_period_end && status === 'active' && <NextPayment subscription={subscription} plans={plans} bought={bought} />}
      {status === 'past_due' && <PastDueNotice seat={seat} subscription={subscription} />}
      {status === 'incomplete' && <IncompleteNotice seat={seat} subscription={subscription} bought={bought} />}
      <PendingNotice seat={seat} subscription={subscription} plans={plans} />
    </>
  );
}

/** 3-D Secure: a page of the bank, which does not come back by itself. */
function ActionNotice({ url }: { readonly url: string }) {
  const { billing } = words.value;
  return (
    <div class="notice warn" role="alert">
      <p>{billing.action}</p>
      <p class="row">
        <LinkButton look="main" icon="external" small href={url} target="_blank" rel="noopener">
          {billing.confirm}
        </LinkButton>
      </p>
    </div>
  );
}

function ResumeButton({ seat, label }: { readonly seat: Seat; readonly label: string }) {
  const [isBusy, setBusy] = useState(false);
  const resume = async () => {
    setBusy(true);
    try {
      await resumePlan(seat.id);
      tell(words.value.billing.stayed);
    } catch (error) {
      tellProblem(error);
    }
    setBusy(false);
  };
  return (
    <Button small isBusy={isBusy} onClick={() => void resume()}>
      {label}
    </Button>
  );
}

function CanceledNotice({ seat, subscription }: Pick<StandingProps, 'seat' | 'subscription'>) {
  const { billing } = words.value;
  return (
    <div class="notice warn" role="status">
      <p>{billing.canceled(dateOnly(subscription.ends_at ?? subscription.created_at))}</p>
      <p class="row">
        <ResumeButton seat={seat} label={billing.cancelDialog.keep} />
      </p>
    </div>
  );
}

/** What the next period costs, which may be that of a smaller plan. */
function nextPrice({ subscription: { plan, seats, pending }, plans }: Pick<StandingProps, 'subscription' | 'plans'>): string {
  const next = plans.find(({ id }) => id === (pending?.plan ?? plan));
  return next === undefined ? '' : moneyText(priceOf(next, pending?.seats ?? seats), next.currency);
}

function TrialText({ seat, subscription, plans }: StandingProps) {
  const { billing } = words.value;
  const { trial_ends_at, has_card, created_at } = subscription;
  const ends = trial_ends_at ?? created_at;
  if (has_card) return <p>{billing.trialWithCard(dateOnly(ends), ago(ends), nextPrice({ subscription, plans }))}</p>;
  return (
    <>
      <p>{billing.trialNoCard(dateOnly(ends), ago(ends))}</p>
      <div class="notice warn">
        <p>{billing.trialAddCard}</p>
        <p class="row">
          <AddCardButton seat={seat} look="main" />
        </p>
      </div>
    </>
  );
}

function NextPayment({ subscription, plans, bought }: Omit<StandingProps, 'seat'>) {
  const { billing } = words.value;
  const { period_ends_at, seats } = subscription;
  return (
    <p>
      {priceText(bought, seats)}.{' '}
      {period_ends_at !== null && billing.nextPayment(nextPrice({ subscription, plans }), dateOnly(period_ends_at))}
    </p>
  );
}

function PastDueNotice({ seat, subscription }: Pick<StandingProps, 'seat' | 'subscription'>) {
  const { past_due_since, ends_at, created_at } = subscription;
  const since = past_due_since ?? created_at;
  return (
    <div class="notice bad" role="alert">
      <p>{words.value.billing.pastDue(dateOnly(since), dateOnly(ends_at ?? since))}</p>
      <p class="row">
        <AddCardButton seat={seat} look="main" />
        <RetryButton seat={seat} />
      </p>
    </div>
  );
}

function IncompleteNotice({ seat, subscription, bought }: Omit<StandingProps, 'plans'>) {
  const { billing } = words.value;
  const { seats, has_card, action_url } = subscription;
  return (
    <div class="notice warn" role="status">
      <p>
        {billing.incomplete(moneyText(priceOf(bought, seats), bought.currency))} {!has_card && billing.incompleteCard}
      </p>
      <p class="row">
        <AddCardButton seat={seat} look={action_url === null ? 'main' : 'second'} />
        {has_card && <RetryButton seat={seat} />}
      </p>
    </div>
  );
}

function PendingNotice({ seat, subscription, plans }: Pick<StandingProps, 'seat' | 'subscription' | 'plans'>) {
  const { billing } = words.value;
  const { pending, cancel_at_period_end } = subscription;
  const next = plans.find(({ id }) => id === pending?.plan);
  if (pending === null || next === undefined || cancel_at_period_end) return null;
  return (
    <div class="notice warn" role="status">
      <p>{billing.pending(planWithSeats(next, pending.seats), dateOnly(pending.at))}</p>
      <p class="row">
        <ResumeButton seat={seat} label={billing.stay} />
      </p>
    </div>
  );
}
