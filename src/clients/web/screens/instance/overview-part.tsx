/** How the installation is: its parts, numbers, banner, who is nearly full, and what was slow. */
import { useState } from 'preact/hooks';
import type { InstanceHealth, InstanceQuota } from '../../api/client.ts';
import {
  type CountName,
  rebuildSearch,
  useInstanceCounts,
  useInstanceHealth,
  useInstanceQuotas,
  useSlowTurns,
} from '../../state/instance-whole.ts';
import { useFollowing } from '../../state/jobs.ts';
import { tell } from '../../state/toasts.ts';
import { SelectField } from '../../ui/fields.tsx';
import { Tag, Time } from '../../ui/small.tsx';
import { Loaded, ProblemNote, Skeleton } from '../../ui/states.tsx';
import { bytesText } from '../../words/format.ts';
import { instanceWords } from '../../words/instance-words.ts';
import { More } from '../more.tsx';
import { BannerPanel } from './banner-panel.tsx';
import { ActionButton } from './common.tsx';

/** So often the health and the numbers are read again while somebody looks at them. */
const LOOK_MS = 30_000;

export function OverviewPart() {
  return (
    <div class="instance-overview">
      <Health />
      <Counts />
      <BannerPanel />
      <Quotas />
      <SlowTurns />
      <SearchIndex />
    </div>
  );
}

const TONES = { up: 'good', degraded: 'warn', down: 'warn' } as const satisfies Record<InstanceHealth['state'], string>;

function Health() {
  const health = useInstanceHealth();
  const { overview } = instanceWords.value;
  useFollowing(LOOK_MS, health, health.reload);
  return (
    <section class="panel" aria-label={overview.health}>
      <h2>{overview.health}</h2>
      <p class="soft small">{overview.healthText}</p>
      <Loaded of={health}>
        {({ state, parts }) => (
          <>
            <p role="status">
              <Tag tone={TONES[state]} icon={state === 'up' ? 'check' : 'alert'}>
                {overview.whole[state]}
              </Tag>
            </p>
            <ul class="instance-health">
              {parts.map(({ name, state: its, detail, since }) => (
                <li key={name}>
                  <span class="grow">{overview.parts[name]}</span>
                  <Tag tone={TONES[its]}>{overview.states[its]}</Tag>
                  {(detail !== null || since !== null) && (
                    <p class="row-facts">
                      {since !== null && <Time at={since} />}
                      {detail !== null && <span>{detail}</span>}
                    </p>
                  )}
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
    </section>
  );
}

const PLACES: readonly (readonly [CountName, string])[] = [
  ['people', '/instance/people'],
  ['workspaces', '/instance/workspaces'],
  ['pages', '/instance/pages'],
  ['suspended', '/instance/people'],
  ['queued', '/instance/mail'],
  ['failed', '/instance/mail'],
  ['running', '/instance/work'],
  ['undelivered', '/instance/work'],
];
const WORRYING: ReadonlySet<CountName> = new Set(['failed', 'undelivered']);

function Counts() {
  const counts = useInstanceCounts();
  const { overview } = instanceWords.value;
  useFollowing(LOOK_MS, counts, counts.reload);
  return (
    <section class="panel" aria-label={overview.counts}>
      <h2>{overview.counts}</h2>
      <Loaded of={counts}>
        {(all) => (
          <dl class="import-counts">
            {PLACES.map(([name, href]) => (
              <div key={name} class={WORRYING.has(name) && all[name] > 0 ? 'is-bad' : undefined}>
                <dt>{overview.count[name]}</dt>
                <dd>
                  <a href={href}>{all[name].toLocaleString(document.documentElement.lang)}</a>
                </dd>
              </div>
            ))}
          </dl>
        )}
      </Loaded>
    </section>
  );
}

const KINDS = ['account', 'workspace'] as const satisfies readonly InstanceQuota['kind'][];

function Quotas() {
  const [kind, setKind] = useState<InstanceQuota['kind']>('account');
  const pages = useInstanceQuotas(kind);
  const { overview } = instanceWords.value;
  const { items, problem } = pages;
  return (
    <section class="panel is-whole" aria-label={overview.quotas}>
      <div class="section-head">
        <h2>{overview.quotas}</h2>
        <SelectField
          label={overview.quotaKind}
          hideLabel
          value={kind}
          options={KINDS.map((value) => ({ value, label: overview.quotaKinds[value] }))}
          onChoose={setKind}
        />
      </div>
      {items === undefined && problem === undefined && <Skeleton shape="line" count={3} />}
      {items === undefined && problem !== undefined && <ProblemNote problem={problem} onRetry={pages.reload} />}
      {items?.length === 0 && <p class="soft small">{overview.quotaEmpty}</p>}
      {items !== undefined && items.length > 0 && (
        <ul class="instance-quotas">
          {items.map((quota) => (
            <QuotaRow key={quota.id} quota={quota} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </section>
  );
}

function QuotaRow({ quota }: { readonly quota: InstanceQuota }) {
  const { overview, people, tier } = instanceWords.value;
  const { kind, id, name, bytes, bytes_max, artifacts, artifacts_max, used } = quota;
  const percent = Math.round(used * 100);
  const label = name ?? people.nameless;
  return (
    <li>
      <a class="grow" href={`/instance/${kind === 'account' ? 'people' : 'workspaces'}?q=${id}`}>
        {label}
      </a>
      <Tag>{tier[quota.tier]}</Tag>
      <p class="row-facts">
        <span>{people.of(bytesText(bytes), bytesText(bytes_max))}</span>
        {artifacts !== null && artifacts_max !== null && <span>{overview.quotaPages(artifacts, artifacts_max)}</span>}
        <span>{overview.quotaUse(percent)}</span>
      </p>
      <meter min={0} max={1} high={0.9} value={Math.min(1, used)} aria-label={`${label}: ${overview.quotaUse(percent)}`} />
    </li>
  );
}

function SlowTurns() {
  const turns = useSlowTurns();
  const { overview } = instanceWords.value;
  return (
    <section class="panel" aria-label={overview.slow}>
      <h2>{overview.slow}</h2>
      <p class="soft small">{overview.slowText}</p>
      <Loaded of={turns}>
        {(all) =>
          all.length === 0 ? (
            <p class="soft small">{overview.slowEmpty}</p>
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
            <ul class="instance-health is-long" tabIndex={0} aria-label={overview.slow}>
              {all.map(({ at, ms, operation }, index) => (
                <li key={index}>
                  <code class="grow">{operation}</code>
                  <strong>{overview.ms(ms)}</strong>
                  <span class="soft small">
                    <Time at={at} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}

function SearchIndex() {
  const { overview } = instanceWords.value;
  return (
    <section class="panel" aria-label={overview.search}>
      <h2>{overview.search}</h2>
      <p class="soft small">{overview.searchText}</p>
      <div class="row">
        <ActionButton icon="search" run={async () => tell(overview.rebuilt(await rebuildSearch()))}>
          {overview.rebuild}
        </ActionButton>
      </div>
    </section>
  );
}
