/** What the plan of a workspace allows, for all of its members. */
import type { WorkspacePlan } from '../../api/client.ts';
import { useWorkspacePlan } from '../../state/billing.ts';
import { Loaded } from '../../ui/states.tsx';
import { words } from '../../words/words.ts';
import { FeatureList, FurtherLimits, OverNotice, Uses } from './usage.tsx';

export function PlanPanel({ workspaceId }: { readonly workspaceId: string }) {
  const plan = useWorkspacePlan(workspaceId);
  const { billing } = words.value;
  return (
    <section class="panel" aria-labelledby="plan-usage">
      <h2 id="plan-usage">{billing.usage}</h2>
      <Loaded of={plan} shape="block">
        {(shown) => <Allowed plan={shown} />}
      </Loaded>
    </section>
  );
}

function Allowed({ plan }: { readonly plan: WorkspacePlan }) {
  const { billing } = words.value;
  const { usage, allowances, features, over } = plan;
  const uses = (['bytes', 'artifacts', 'members'] as const).map((name) => ({ name, used: usage[name], max: allowances[name] }));
  const enabled = Object.entries(features).map(([name, { enabled: isOn }]) => [name, isOn] as const);
  return (
    <>
      <OverNotice over={over} />
      <Uses uses={uses} />
      <p class="field-note">{billing.usageNote}</p>
      <h3>{billing.features}</h3>
      <FeatureList has={{ ...Object.fromEntries(enabled), public_artifacts: allowances.public_artifacts }} />
      <FurtherLimits allowances={allowances} />
    </>
  );
}
