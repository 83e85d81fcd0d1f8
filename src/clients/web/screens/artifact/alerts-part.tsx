/** Alert rules and watches of a page; one rule where the address names it. */
import { useState } from 'preact/hooks';
import type { AlertRule, Artifact, MetricWatch } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { createWatch, deleteWatch, turnWatch, useRules, useWatches } from '../../state/alerts.ts';
import type { Pages } from '../../state/pages.ts';
import { tellProblem } from '../../state/toasts.ts';
import { Button, IconButton, LinkButton } from '../../ui/button.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Tag, Time } from '../../ui/small.tsx';
import { Empty, ProblemState, Skeleton } from '../../ui/states.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import { RuleForm } from './alert-form.tsx';
import { RuleView } from './alert-rule.tsx';
import { StateTag } from './alert-state.tsx';
import { mayEdit } from './rights.ts';

interface AlertsPartProps {
  readonly artifact: Artifact;
  /** `new`, or the rule that is shown; undefined for the lists. */
  readonly item: string | undefined;
}

export function AlertsPart({ artifact, item }: AlertsPartProps) {
  const { alerts } = words.value;
  if (item !== undefined && mayEdit(artifact)) {
    return (
      <>
        <p>
          <a href={`/p/${artifact.id}/alerts`}>{alerts.back}</a>
        </p>
        {item === 'new' ? (
          <RuleForm artifact={artifact} stored={undefined} etag={undefined} />
        ) : (
          <RuleView artifact={artifact} alertId={item} />
        )}
      </>
    );
  }
  return (
    <div class="panels">
      {mayEdit(artifact) && <Rules artifact={artifact} />}
      <Watches artifact={artifact} />
    </div>
  );
}

function Waiting<T>({ pages }: { readonly pages: Pages<T> }) {
  if (pages.items !== undefined) return null;
  return pages.problem === undefined ? (
    <Skeleton shape="line" count={3} />
  ) : (
    <ProblemState problem={pages.problem} onRetry={pages.reload} />
  );
}

function Rules({ artifact }: { readonly artifact: Artifact }) {
  const pages = useRules(artifact.id);
  const { alerts } = words.value;
  return (
    <section class="panel">
      <header class="row">
        <div class="grow">
          <h2>{alerts.rules}</h2>
          <p class="small soft">{alerts.rulesText}</p>
        </div>
        <LinkButton href={`/p/${artifact.id}/alerts/new`} icon="plus">
          {alerts.newRule}
        </LinkButton>
      </header>
      <Waiting pages={pages} />
      {pages.items?.length === 0 && (
        <Empty
          icon="alert"
          {...alerts.empty}
          command={`easel alerts define open_orders -a ${artifact.slug} --table orders\neasel alerts create -a ${artifact.slug} --metric open_orders --op gt --value 100`}
        />
      )}
      {pages.items !== undefined && pages.items.length > 0 && (
        <ul class="rows">
          {pages.items.map((rule) => (
            <RuleRow key={rule.id} rule={rule} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </section>
  );
}

function RuleRow({ rule }: { readonly rule: AlertRule }) {
  const { alerts } = words.value;
  const { condition, metric_id, last_value, last_fired_at } = rule;
  return (
    <li class="row-item">
      <Icon name="alert" />
      <div class="grow">
        <p>
          <a href={`/p/${rule.artifact_id}/alerts/${rule.id}`}>{rule.name}</a>
        </p>
        <p class="row-facts">
          <span>
            {metric_id} {alerts.ops[condition.op]} {condition.value}
          </span>
          <span>{last_value === null ? alerts.noValue : alerts.lastValue(last_value)}</span>
          {last_fired_at !== null && <Time at={last_fired_at} />}
        </p>
      </div>
      <StateTag rule={rule} />
    </li>
  );
}

function Watches({ artifact }: { readonly artifact: Artifact }) {
  const pages = useWatches(artifact.id);
  const { alerts } = words.value;
  return (
    <section class="panel">
      <h2>{alerts.watches}</h2>
      <p class="small soft">{alerts.watchesText}</p>
      <Waiting pages={pages} />
      {pages.items?.length === 0 && <p class="soft">{alerts.noWatches}</p>}
      {pages.items !== undefined && pages.items.length > 0 && (
        <ul class="rows">
          {pages.items.map((watch) => (
            <WatchRow key={watch.id} watch={watch} />
          ))}
        </ul>
      )}
      <More pages={pages} />
      <WatchForm artifact={artifact} />
    </section>
  );
}

function WatchRow({ watch }: { readonly watch: MetricWatch }) {
  const { alerts } = words.value;
  const name = alerts.watchName(watch.kind, watch.table, watch.column);
  return (
    <li class="row-item">
      <Icon name="eye" />
      <div class="grow">
        <p>{name}</p>
        <p class="row-facts">
          <span>{alerts.moves(watch.threshold_pct)}</span>
          <span>{watch.last_value === null ? alerts.noValue : alerts.lastValue(watch.last_value)}</span>
          <span>{watch.baseline === null ? alerts.learning : alerts.usual(watch.baseline)}</span>
        </p>
      </div>
      {!watch.enabled && <Tag>{alerts.state.off}</Tag>}
      <Button small onClick={() => void turnWatch(watch, !watch.enabled).catch(tellProblem)}>
        {watch.enabled ? alerts.turnOff : alerts.turnOn}
      </Button>
      <IconButton icon="close" label={`${alerts.unwatch}: ${name}`} onClick={() => void deleteWatch(watch).catch(tellProblem)} />
    </li>
  );
}

const KINDS = ['count', 'sum', 'last'] as const;

function WatchForm({ artifact }: { readonly artifact: Artifact }) {
  const [table, setTable] = useState('');
  const [kind, setKind] = useState<MetricWatch['kind']>('count');
  const [column, setColumn] = useState('');
  const [percent, setPercent] = useState('20');
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { alerts } = words.value;
  const errorOf = (field: string) => (problem?.param === field ? problemWords(problem).text : undefined);
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      const of = kind === 'count' ? { kind } : { kind, column };
      await createWatch({ artifact_id: artifact.id, table, threshold_pct: Number(percent), ...of });
      setTable('');
      setColumn('');
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  return (
    <form class="watch-form" aria-label={alerts.watchTable} onSubmit={(event) => void save(event)}>
      <TextField label={alerts.table} value={table} onText={setTable} required maxLength={64} error={errorOf('table')} />
      <SelectField
        label={alerts.kind}
        value={kind}
        options={KINDS.map((value) => ({ value, label: alerts.watchKinds[value] }))}
        onChoose={setKind}
      />
      {kind !== 'count' && <TextField label={alerts.column} value={column} onText={setColumn} required error={errorOf('column')} />}
      <TextField label={alerts.threshold} value={percent} onText={setPercent} required error={errorOf('threshold_pct')} />
      <Button type="submit" icon="eye" isBusy={isBusy}>
        {alerts.watch}
      </Button>
      {problem !== undefined && !['table', 'column', 'threshold_pct'].includes(problem.param ?? '') && (
        <p class="notice bad" role="alert">
          {problemWords(problem).text}
        </p>
      )}
    </form>
  );
}
