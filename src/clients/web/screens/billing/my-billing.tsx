/** What one's account allows, and the plans of one's workspaces. */
import { useState } from 'preact/hooks';
import type { Account } from '../../api/client.ts';
import { usePlannedWorkspaces } from '../../state/billing.ts';
import { useAccount } from '../../state/loads.ts';
import { mayPay } from '../../state/place.ts';
import { useTitle } from '../../state/window.ts';
import { Button } from '../../ui/button.tsx';
import { Avatar, Head, Tag } from '../../ui/small.tsx';
import { Empty, Loaded, ProblemState, Skeleton } from '../../ui/states.tsx';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import { WorkspaceDialog } from '../workspace-dialog.tsx';
import { FurtherLimits, OverNotice, Uses } from './usage.tsx';

export function MyBilling() {
  const account = useAccount();
  const { billing } = words.value;
  useTitle(billing.title);
  return (
    <>
      <Head title={billing.title} text={billing.mine.text} />
      <div class="narrow billing">
        <section class="panel" aria-labelledby="my-plan">
          <Loaded of={account} shape="block">
            {(shown) => <Mine account={shown} />}
          </Loaded>
        </section>
        <Workspaces />
      </div>
    </>
  );
}

function Mine({ account }: { readonly account: Account }) {
  const { billing } = words.value;
  const { tier, usage, allowances, over } = account;
  const uses = (['bytes', 'artifacts', 'workspaces_owned', 'jobs'] as const).map((name) => {
    return { name, used: usage[name], max: allowances[name] };
  });
  return (
    <>
      <header class="row">
        <h2 id="my-plan" class="grow">
          {billing.mine.account}
        </h2>
        <Tag>{billing.tier[tier]}</Tag>
      </header>
      <p class="soft small">{billing.mine.accountText}</p>
      <OverNotice over={over} />
      <Uses uses={uses} />
      <p class="field-note">{billing.myUsageNote}</p>
      <FurtherLimits allowances={allowances} />
    </>
  );
}

function Workspaces() {
  const pages = usePlannedWorkspaces();
  const [isMaking, setMaking] = useState(false);
  const { mine, tier, status } = words.value.billing;
  const { items, problem } = pages;
  const make = <Button onClick={() => setMaking(true)}>{mine.make}</Button>;
  return (
    <section class="part" aria-labelledby="plans">
      <div class="section-head">
        <h2 id="plans">{mine.workspaces}</h2>
      </div>
      {items === undefined && problem === undefined && <Skeleton shape="line" count={2} />}
      {items === undefined && problem !== undefined && <ProblemState problem={problem} onRetry={pages.reload} />}
      {items?.length === 0 && (
        <Empty icon="people" {...mine.none}>
          {make}
        </Empty>
      )}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map(({ id, slug, name, plan }) => (
            <li key={id} class="row-item">
              <Avatar name={name} isSquare />
              <div class="grow">
                <p class="row-title">
                  <a href={`/w/${slug}/billing`} aria-label={mine.openOf(name)}>
                    {name}
                  </a>
                </p>
                <p class="row-facts">
                  <span>{mayPay(slug) ? mine.pays : mine.sees}</span>
                </p>
              </div>
              <div class="row tags">
                {plan.status !== 'active' && <Tag tone={plan.status === 'trialing' ? 'info' : 'warn'}>{status[plan.status]}</Tag>}
                <Tag>{tier[plan.tier]}</Tag>
              </div>
            </li>
          ))}
        </ul>
      )}
      <More pages={pages} />
      {isMaking && <WorkspaceDialog onClose={() => setMaking(false)} />}
    </section>
  );
}
