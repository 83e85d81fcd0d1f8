/** Plan and billing of a workspace: all of it for who pays, and for other members what the plan allows. */
import { useEffect, useRef } from 'preact/hooks';
import { billingChanged, usePlans, useSubscription, useWorkspacePlan } from '../../state/billing.ts';
import { useFollowing } from '../../state/jobs.ts';
import { mayPay, seatIn } from '../../state/place.ts';
import { Loaded } from '../../ui/states.tsx';
import { words } from '../../words/words.ts';
import { CardReturn, type Seat } from './card-page.tsx';
import { CardsSection } from './cards-section.tsx';
import { InvoicesSection } from './invoices-section.tsx';
import { PlanPanel } from './plan-panel.tsx';
import { SubscriptionPanel } from './subscription-panel.tsx';

/** What waits for a person on another page is asked for at this pace. */
const FOLLOW_MS = 3000;

export function BillingPart({ slug }: { readonly slug: string }) {
  const seat = seatIn(slug);
  if (seat === undefined) return null;
  return (
    <div class="narrow billing">
      {mayPay(slug) ? <Paying seat={seat} /> : <Seen seat={seat} />}
      <PlanPanel workspaceId={seat.id} />
      {mayPay(slug) && (
        <>
          <CardsSection seat={seat} />
          <InvoicesSection seat={seat} />
        </>
      )}
    </div>
  );
}

/** A member who does not pay. */
function Seen({ seat }: { readonly seat: Seat }) {
  const { billing } = words.value;
  const plan = useWorkspacePlan(seat.id);
  return (
    <section class="panel" aria-labelledby="plan-now">
      <Loaded of={plan}>
        {({ in_force }) => (
          <>
            <h2 id="plan-now">{billing.tier[in_force]}</h2>
            <p>{billing.onlyPayers}</p>
          </>
        )}
      </Loaded>
    </section>
  );
}

function Paying({ seat }: { readonly seat: Seat }) {
  const plans = usePlans();
  const plan = useWorkspacePlan(seat.id);
  const read = useSubscription(seat.id);
  const { data, isLoading, reload } = read;
  const waits = data?.subscription?.action_url ?? null;
  useFollowing(waits === null ? undefined : FOLLOW_MS, { isLoading, data }, reload);
  // What was confirmed at the bank has changed the plan, the cards and the invoices too.
  const waited = useRef<string | null>(null);
  useEffect(() => {
    if (waited.current !== null && data !== undefined && waits === null) billingChanged();
    if (data !== undefined) waited.current = waits;
  }, [data, waits]);
  const loading = [plans, plan, read];
  const problem = loading.find((one) => one.problem !== undefined)?.problem;
  const all = plans.data && plan.data && data ? { plans: plans.data, plan: plan.data, read: data } : undefined;
  const again = () => {
    for (const one of loading) one.reload();
  };
  return (
    <>
      <CardReturn seat={seat} />
      <Loaded of={{ data: all, problem, reload: again }} shape="block">
        {(shown) => <SubscriptionPanel seat={seat} {...shown} />}
      </Loaded>
    </>
  );
}
