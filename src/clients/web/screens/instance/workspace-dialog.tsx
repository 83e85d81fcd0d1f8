/** One workspace: what it holds and who owns it, its plan and features by hand, and its suspension. */
import { useState } from 'preact/hooks';
import type { InstanceWorkspace } from '../../api/client.ts';
import {
  changeWorkspace,
  FEATURE_NAMES,
  type FeatureName,
  type Features,
  type Read,
  setFeature,
  TIERS,
  type Tier,
  useFeaturesOf,
  useInstanceWorkspace,
} from '../../state/instance.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/fields.tsx';
import { Loaded } from '../../ui/states.tsx';
import { bytesText, dateText } from '../../words/format.ts';
import { instanceWords } from '../../words/instance-words.ts';
import { ActionButton, Fact, IdFact, Named } from './common.tsx';
import { SuspensionSection } from './suspension-section.tsx';

export function WorkspaceDialog({ workspaceId, onClose }: { readonly workspaceId: string; readonly onClose: () => void }) {
  const loaded = useInstanceWorkspace(workspaceId);
  return (
    <Dialog title={loaded.data?.shown.name ?? instanceWords.value.tabs.workspaces} wide onClose={onClose}>
      <Loaded of={loaded} shape="block">
        {(read) => (
          <div class="instance-sections">
            <Facts workspace={read.shown} />
            <Plan key={read.etag} read={read} />
            <SuspensionSection
              of="workspace"
              name={read.shown.name}
              expected={read.shown.slug}
              suspended={read.shown.suspended}
              change={(suspended) => changeWorkspace(read, { suspended })}
            />
            <FeatureSection workspaceId={workspaceId} />
          </div>
        )}
      </Loaded>
    </Dialog>
  );
}

function Facts({ workspace }: { readonly workspace: InstanceWorkspace }) {
  const { workspaces, people } = instanceWords.value;
  const { id, slug, owners, members, artifacts, bytes, bytes_max, created_at } = workspace;
  return (
    <section class="panel">
      <dl class="instance-facts">
        <Fact name={workspaces.address}>{slug}</Fact>
        {owners.length > 0 && (
          <Fact name={workspaces.owners}>
            {owners.map((owner, at) => (
              <span key={owner}>
                {at > 0 && ', '}
                <a href={`/instance/people?q=${owner}`}>
                  <Named id={owner}>{(who) => who}</Named>
                </a>
              </span>
            ))}
          </Fact>
        )}
        <Fact name={workspaces.membersTitle}>{members}</Fact>
        <Fact name={workspaces.pages}>{artifacts}</Fact>
        <Fact name={workspaces.storage}>{people.of(bytesText(bytes), bytesText(bytes_max))}</Fact>
        <Fact name={workspaces.made}>{dateText(created_at)}</Fact>
        <IdFact id={id} />
      </dl>
    </section>
  );
}

const STATUSES = [
  'trialing',
  'active',
  'past_due',
  'canceled',
  'incomplete',
] as const satisfies readonly InstanceWorkspace['plan_status'][];

function Plan({ read }: { readonly read: Read<InstanceWorkspace> }) {
  const { plan_tier, plan_status } = read.shown;
  const [tier, setTier] = useState<Tier>(plan_tier);
  const [status, setStatus] = useState(plan_status);
  const said = instanceWords.value;
  const { workspaces } = said;
  const isChanged = tier !== plan_tier || status !== plan_status;
  return (
    <section class="panel">
      <h3>{workspaces.plan}</h3>
      <p class="soft small">{workspaces.planHint}</p>
      <div class="field-pair is-even">
        <SelectField
          label={workspaces.plan}
          value={tier}
          options={TIERS.map((value) => ({ value, label: said.tier[value] }))}
          onChoose={setTier}
        />
        <SelectField
          label={workspaces.status}
          value={status}
          options={STATUSES.map((value) => ({ value, label: said.status[value] }))}
          onChoose={setStatus}
        />
      </div>
      {isChanged && (
        <div class="row">
          <ActionButton
            look="main"
            run={async () => {
              await changeWorkspace(read, { plan_tier: tier, plan_status: status });
              tell(workspaces.saved);
            }}
          >
            {workspaces.save}
          </ActionButton>
        </div>
      )}
    </section>
  );
}

function FeatureSection({ workspaceId }: { readonly workspaceId: string }) {
  const loaded = useFeaturesOf(workspaceId);
  const { workspaces } = instanceWords.value;
  return (
    <section class="panel is-whole">
      <h3>{workspaces.features}</h3>
      <p class="soft small">{workspaces.featuresText}</p>
      <Loaded of={loaded}>
        {(features) => (
          <div class="instance-filters">
            {FEATURE_NAMES.map((name) => (
              <FeatureField key={name} workspaceId={workspaceId} name={name} feature={features[name]} />
            ))}
          </div>
        )}
      </Loaded>
    </section>
  );
}

interface FeatureProps {
  readonly workspaceId: string;
  readonly name: FeatureName;
  readonly feature: Features[FeatureName];
}

const CHOICES = ['plan', 'on', 'off'] as const;

function FeatureField({ workspaceId, name, feature: { enabled, source } }: FeatureProps) {
  const [isBusy, setBusy] = useState(false);
  const { workspaces } = instanceWords.value;
  const choice = source === 'instance' ? (enabled ? 'on' : 'off') : 'plan';
  const choose = async (chosen: (typeof CHOICES)[number]) => {
    setBusy(true);
    try {
      await setFeature(workspaceId, name, chosen === 'plan' ? null : chosen === 'on');
      tell(workspaces.saved);
    } catch (error) {
      tellProblem(error);
    }
    setBusy(false);
  };
  return (
    <SelectField
      label={workspaces.feature[name]}
      hint={choice === 'plan' ? workspaces.planSays[enabled ? 'on' : 'off'] : undefined}
      value={choice}
      options={CHOICES.map((value) => ({ value, label: workspaces.featureOf[value] }))}
      disabled={isBusy}
      onChoose={(chosen) => void choose(chosen)}
    />
  );
}
