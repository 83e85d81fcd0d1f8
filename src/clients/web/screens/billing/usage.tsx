/** What a plan allows against what is used, and what is more than it allows. */
import { Fragment } from 'preact';
import type { Allowances, Over } from '../../state/billing.ts';
import { Icon } from '../../ui/icon.tsx';
import { countText } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { allowanceName, amountText, FURTHER, stopText } from './billing-words.ts';

export interface Use {
  readonly name: string;
  readonly used: number;
  readonly max: number;
}

export function Uses({ uses }: { readonly uses: readonly Use[] }) {
  const { billing } = words.value;
  return (
    <ul class="uses">
      {uses.map(({ name, used, max }) => {
        const label = allowanceName(name);
        return (
          <li key={name} class={used > max ? 'use is-over' : 'use'}>
            <span class="use-head">
              <span>{label}</span>
              <span>{billing.of(amountText(name, used), amountText(name, max))}</span>
            </span>
            <progress class="progress is-inline" aria-label={label} max={Math.max(1, max)} value={Math.min(used, max)} />
          </li>
        );
      })}
    </ul>
  );
}

/** What a smaller plan leaves over, what stops, and what can be done. */
export function OverNotice({ over }: { readonly over: readonly Over[] }) {
  const { billing } = words.value;
  if (over.length === 0) return null;
  return (
    <section class="notice warn" aria-label={billing.over}>
      <p>
        <strong>{billing.over}.</strong> {billing.overText}
      </p>
      <ul class="over">
        {over.map((one) => (
          <li key={one.name}>
            <strong>{billing.overCount(allowanceName(one.name), amountText(one.name, one.used), amountText(one.name, one.max))}.</strong>{' '}
            {stopText(one)}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** `has`: by the name of each. */
export function FeatureList({ has }: { readonly has: Readonly<Record<string, boolean>> }) {
  const { billing } = words.value;
  return (
    <ul class="plan-features">
      {Object.keys(billing.feature).map((name) => {
        const isIn = has[name] === true;
        return (
          <li key={name} class={isIn ? '' : 'is-out'}>
            <Icon name={isIn ? 'check' : 'close'} size={16} />
            <span>
              {allowanceName(name)}
              <span class="unseen">, {isIn ? billing.has : billing.hasNot}</span>
            </span>
          </li>
        );
      })}
    </ul>
  );
}

export function FurtherLimits({ allowances }: { readonly allowances: Allowances }) {
  const { billing } = words.value;
  return (
    <details class="further">
      <summary>{billing.further}</summary>
      <dl class="job-facts">
        {FURTHER.map((name) => (
          <Fragment key={name}>
            <dt>{billing.limits[name]}</dt>
            <dd>{countText(allowances[name])}</dd>
          </Fragment>
        ))}
      </dl>
    </details>
  );
}
