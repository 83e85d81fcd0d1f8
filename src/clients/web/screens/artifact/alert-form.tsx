/** The form of an alert rule, and beside it how often it would have fired. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { type AlertBacktest, type AlertRule, type Artifact, api, type MetricDefinition } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { createRule, saveMetric, saveRule, useMetrics } from '../../state/alerts.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { AreaField, SelectField, Switch, TextField } from '../../ui/fields.tsx';
import { Time } from '../../ui/small.tsx';
import { Loaded } from '../../ui/states.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';
import { DESTINATIONS, draftOf, FNS, metricBodyOf, OPS, type RuleDraft, ruleBodyOf, SOURCES } from './alert-draft.ts';

interface RuleFormProps {
  readonly artifact: Artifact;
  readonly stored: AlertRule | undefined;
  readonly etag: string | undefined;
}

export function RuleForm(props: RuleFormProps) {
  const metrics = useMetrics(props.artifact.id);
  return (
    <Loaded of={metrics} shape="block" missing={words.value.alerts.missing}>
      {(known) => <Form {...props} metrics={known} />}
    </Loaded>
  );
}

/** What is said beside the field. */
const BESIDE_FIELDS = [
  ...['name', 'metric_id', 'source.key', 'source.path', 'source.table', 'source.field', 'condition.value', 'schedule', 'cooldown_seconds'],
  ...['destination.config.to', 'destination.config.url', 'destination.config.secret', 'message'],
];

interface FieldsProps {
  readonly draft: RuleDraft;
  readonly write: (change: Partial<RuleDraft>) => void;
  readonly errorOf: (field: string) => string | undefined;
}

function Form({ artifact, stored, etag, metrics }: RuleFormProps & { readonly metrics: readonly MetricDefinition[] }) {
  const [draft, setDraft] = useState<RuleDraft>(() => draftOf(stored, metrics));
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { route } = useLocation();
  const { alerts, app } = words.value;
  const write = (change: Partial<RuleDraft>) => setDraft({ ...draft, ...change });
  const isAt = (field: string) => problem?.param === field || problem?.param?.startsWith(`${field}.`) === true;
  const errorOf = (field: string) => (problem !== undefined && isAt(field) ? problemWords(problem).text : undefined);
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      if (draft.metricId === '') await saveMetric(metricBodyOf(artifact.id, draft));
      const body = ruleBodyOf(artifact.id, draft);
      if (stored === undefined) route(`/p/${artifact.id}/alerts/${await createRule(body)}`, true);
      else await saveRule(stored.id, body, etag);
      tell(words.value.alerts.saved);
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  const fields = { draft, write, errorOf };
  return (
    <div class="template-editor">
      <form class="panel" onSubmit={(event) => void save(event)}>
        <TextField
          label={alerts.name}
          value={draft.name}
          onText={(name) => write({ name })}
          required
          maxLength={200}
          error={errorOf('name')}
        />
        <MetricFields {...fields} metrics={metrics} />
        <ConditionFields {...fields} />
        <DestinationFields {...fields} />
        {problem !== undefined && !BESIDE_FIELDS.some(isAt) && (
          <p class="notice bad" role="alert">
            {problemWords(problem).text}
          </p>
        )}
        <div class="row">
          <Button look="main" type="submit" isBusy={isBusy}>
            {app.save}
          </Button>
        </div>
      </form>
      <Backtest artifact={artifact} draft={draft} />
    </div>
  );
}

function MetricFields({ draft, write, errorOf, metrics }: FieldsProps & { readonly metrics: readonly MetricDefinition[] }) {
  const { alerts } = words.value;
  const options = [...metrics.map(({ metric_id, name }) => ({ value: metric_id, label: name })), { value: '', label: alerts.newMetric }];
  return (
    <>
      <SelectField
        label={alerts.metric}
        value={draft.metricId}
        options={options}
        onChoose={(metricId) => write({ metricId })}
        error={draft.metricId === '' ? undefined : errorOf('metric_id')}
      />
      {draft.metricId === '' && (
        <fieldset class="nested">
          <legend class="unseen">{alerts.newMetric}</legend>
          <TextField
            label={alerts.metricId}
            value={draft.newId}
            onText={(newId) => write({ newId })}
            required
            maxLength={64}
            hint={alerts.metricIdHint}
            error={errorOf('metric_id')}
          />
          <SelectField
            label={alerts.source}
            value={draft.source}
            options={SOURCES.map((value) => ({ value, label: alerts.sources[value] }))}
            onChoose={(source) => write({ source })}
          />
          {draft.source === 'json_path' ? (
            <>
              <TextField label={alerts.key} value={draft.key} onText={(key) => write({ key })} required error={errorOf('source.key')} />
              <TextField
                label={alerts.path}
                value={draft.path}
                onText={(path) => write({ path })}
                required
                hint={alerts.pathHint}
                error={errorOf('source.path')}
              />
            </>
          ) : (
            <TextField
              label={alerts.table}
              value={draft.table}
              onText={(table) => write({ table })}
              required
              error={errorOf('source.table')}
            />
          )}
          {draft.source === 'table_aggregate' && (
            <>
              <SelectField
                label={alerts.fn}
                value={draft.fn}
                options={FNS.map((value) => ({ value, label: alerts.fns[value] }))}
                onChoose={(fn) => write({ fn })}
              />
              <TextField
                label={alerts.field}
                value={draft.field}
                onText={(field) => write({ field })}
                required
                error={errorOf('source.field')}
              />
            </>
          )}
        </fieldset>
      )}
    </>
  );
}

function ConditionFields({ draft, write, errorOf }: FieldsProps) {
  const { alerts } = words.value;
  return (
    <>
      <div class="field-pair">
        <SelectField
          label={alerts.op}
          value={draft.op}
          options={OPS.map((value) => ({ value, label: alerts.ops[value] }))}
          onChoose={(op) => write({ op })}
        />
        <TextField
          label={alerts.value}
          value={draft.value}
          onText={(value) => write({ value })}
          required
          error={errorOf('condition.value')}
        />
      </div>
      <TextField
        label={alerts.schedule}
        value={draft.schedule}
        onText={(schedule) => write({ schedule })}
        required
        hint={alerts.scheduleHint}
        error={errorOf('schedule')}
      />
      <TextField
        label={alerts.cooldown}
        value={draft.cooldownMinutes}
        onText={(cooldownMinutes) => write({ cooldownMinutes })}
        required
        error={errorOf('cooldown_seconds')}
      />
    </>
  );
}

function DestinationFields({ draft, write, errorOf }: FieldsProps) {
  const { alerts } = words.value;
  const { destination } = draft;
  return (
    <>
      <SelectField
        label={alerts.destination}
        value={destination}
        options={DESTINATIONS.map((value) => ({ value, label: alerts.destinations[value] }))}
        onChoose={(chosen) => write({ destination: chosen })}
      />
      {destination === 'email' && (
        <TextField
          label={alerts.to}
          value={draft.to}
          onText={(to) => write({ to })}
          required
          hint={alerts.toHint}
          error={errorOf('destination.config.to')}
        />
      )}
      {(destination === 'webhook' || destination === 'http_get') && (
        <TextField
          label={alerts.url}
          value={draft.url}
          onText={(url) => write({ url })}
          required
          error={errorOf('destination.config.url')}
        />
      )}
      {destination === 'webhook' && (
        <TextField
          label={alerts.secret}
          type="password"
          autocomplete="off"
          value={draft.secret}
          onText={(secret) => write({ secret })}
          hint={alerts.secretHint}
          error={errorOf('destination.config.secret')}
        />
      )}
      <AreaField
        label={alerts.message}
        value={draft.message}
        onText={(message) => write({ message })}
        maxLength={2000}
        hint={alerts.messageHint}
        error={errorOf('message')}
      />
      <Switch label={alerts.recovery} isOn={draft.notifyRecovery} onTurn={(notifyRecovery) => write({ notifyRecovery })} />
    </>
  );
}

function Backtest({ artifact, draft }: { readonly artifact: Artifact; readonly draft: RuleDraft }) {
  const [found, setFound] = useState<AlertBacktest>();
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { alerts } = words.value;
  const run = async () => {
    setBusy(true);
    setProblem(undefined);
    setFound(undefined);
    try {
      const { artifact_id, metric_id, condition, schedule, cooldown_seconds } = ruleBodyOf(artifact.id, draft);
      setFound((await api.alerts.backtest({ body: { artifact_id, metric_id, condition, schedule, cooldown_seconds } })).body);
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  return (
    <section class="panel" aria-live="polite">
      <h2>{alerts.backtest}</h2>
      {draft.metricId === '' ? (
        <p class="soft">{alerts.backtestNew}</p>
      ) : (
        <Button icon="history" isBusy={isBusy} disabled={draft.value.trim() === ''} onClick={() => void run()}>
          {alerts.backtestRun}
        </Button>
      )}
      {problem !== undefined && (
        <p class="notice bad" role="alert">
          {problemWords(problem).text}
        </p>
      )}
      {found !== undefined && (
        <p>
          {found.evaluations === 0 ? (
            alerts.backtestEmpty
          ) : (
            <strong>{alerts.backtestText(found.would_have_fired, found.evaluations)}</strong>
          )}
        </p>
      )}
      {found !== undefined && found.events.length > 0 && (
        <ul class="rows">
          {found.events.map(({ at, value, fired }) => (
            <li key={at} class="row-item">
              <span class="grow">
                <Time at={at} />
              </span>
              <span>{value}</span>
              <span class="soft">{fired ? alerts.fires : alerts.recovers}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
