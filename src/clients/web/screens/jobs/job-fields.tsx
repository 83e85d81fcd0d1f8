/** What a job does: the fields that each action needs, and how often it is tried. */
import { Button } from '../../ui/button.tsx';
import { AreaField, SelectField, TextField } from '../../ui/fields.tsx';
import { words } from '../../words/words.ts';
import { ACTIONS, BACKOFFS, type FieldsProps, MASK, ORIGINS } from './job-draft.ts';
import { MailFields } from './mail-fields.tsx';

/** What is said beside a field; a problem with anything else is said below the form. */
export const BESIDE_FIELDS = [
  ...['title', 'description', 'schedule', 'timezone', 'event_type', 'event_filter.table', 'event_filter.key'],
  ...['source', 'params', 'url', 'headers', 'secret', 'data', 'save_key'].map((name) => `config.${name}`),
  ...['to', 'template_id', 'subject', 'text', 'html', 'attachments'].map((name) => `config.${name}`),
  ...['table', 'filter', 'sort', 'select', 'dataset', 'connection_id'].map((name) => `config.${name}`),
  ...['maxAttempts', 'initialDelay'].map((name) => `retry_config.${name}`),
];

export function ActionFields(props: FieldsProps) {
  const { draft, write } = props;
  const { jobs } = words.value;
  return (
    <>
      <SelectField
        label={jobs.action}
        value={draft.action}
        options={ACTIONS.map((value) => ({ value, label: jobs.actions[value] }))}
        onChoose={(action) => write({ action })}
      />
      <ConfigFields {...props} />
    </>
  );
}

function ConfigFields(props: FieldsProps) {
  const { action } = props.draft;
  switch (action) {
    case 'script':
      return <ScriptFields {...props} />;
    case 'webhook':
    case 'http_get':
      return <CallFields {...props} />;
    case 'email':
      return <MailFields {...props} />;
    case 'materialize':
      return <DatasetFields {...props} />;
    default:
      return action satisfies never;
  }
}

function ScriptFields({ draft, write, errorOf }: FieldsProps) {
  const { jobs } = words.value;
  return (
    <>
      <AreaField
        label={jobs.source}
        value={draft.source}
        onText={(source) => write({ source })}
        required
        rows={14}
        spellcheck={false}
        hint={jobs.sourceHint}
        error={errorOf('config.source')}
      />
      <p class="small">
        <a href="/easel-jobs.d.ts" download>
          {jobs.types}
        </a>
      </p>
      <AreaField
        label={jobs.params}
        value={draft.params}
        onText={(params) => write({ params })}
        rows={2}
        spellcheck={false}
        hint={jobs.paramsHint}
        error={errorOf('config.params')}
      />
    </>
  );
}

function CallFields(props: FieldsProps) {
  const { draft, write, errorOf } = props;
  const { jobs } = words.value;
  return (
    <>
      <TextField
        label={jobs.url}
        value={draft.url}
        onText={(url) => write({ url })}
        required
        spellcheck={false}
        error={errorOf('config.url')}
      />
      <AreaField
        label={jobs.headers}
        value={draft.headers}
        onText={(headers) => write({ headers })}
        rows={2}
        spellcheck={false}
        hint={jobs.headersHint}
        error={errorOf('config.headers')}
      />
      {draft.action === 'webhook' ? (
        <>
          <SecretField {...props} />
          <AreaField
            label={jobs.data}
            value={draft.data}
            onText={(data) => write({ data })}
            rows={3}
            spellcheck={false}
            hint={jobs.dataHint}
            error={errorOf('config.data')}
          />
        </>
      ) : (
        <TextField
          label={jobs.saveKey}
          value={draft.saveKey}
          onText={(saveKey) => write({ saveKey })}
          maxLength={256}
          spellcheck={false}
          hint={jobs.saveKeyHint}
          error={errorOf('config.save_key')}
        />
      )}
    </>
  );
}

/** One that is stored is not a text to add to: it stays, or another takes its place. */
function SecretField({ draft, write, errorOf }: Omit<FieldsProps, 'artifactId' | 'workspaceId'>) {
  const { jobs } = words.value;
  const error = errorOf('config.secret');
  if (draft.secret === MASK && error === undefined) {
    return (
      <div class="field">
        <span class="label">{jobs.secret}</span>
        <p class="row">
          <span class="soft">{jobs.secretStored}</span>
          <Button small onClick={() => write({ secret: '' })}>
            {jobs.secretReplace}
          </Button>
        </p>
      </div>
    );
  }
  return (
    <TextField
      label={jobs.secret}
      type="password"
      autocomplete="new-password"
      value={draft.secret}
      onText={(secret) => write({ secret })}
      maxLength={200}
      hint={jobs.secretHint}
      error={error}
    />
  );
}

function DatasetFields(props: FieldsProps) {
  const { draft, write, errorOf } = props;
  const { jobs } = words.value;
  return (
    <>
      <div class="field-pair">
        <SelectField
          label={jobs.from}
          value={draft.from}
          options={ORIGINS.map((value) => ({ value, label: jobs.origins[value] }))}
          onChoose={(from) => write({ from })}
        />
        <TextField
          label={jobs.dataset}
          value={draft.dataset}
          onText={(dataset) => write({ dataset })}
          required
          maxLength={64}
          spellcheck={false}
          error={errorOf('config.dataset')}
        />
      </div>
      {draft.from === 'table' ? (
        <TableFields {...props} />
      ) : (
        <AreaField
          label={jobs.connection}
          value={draft.connection}
          onText={(connection) => write({ connection })}
          required
          rows={6}
          spellcheck={false}
          hint={jobs.connectionHint}
          error={errorOf('config.connection_id')}
        />
      )}
    </>
  );
}

function TableFields({ draft, write, errorOf }: FieldsProps) {
  const { jobs } = words.value;
  return (
    <>
      <TextField
        label={jobs.table}
        value={draft.table}
        onText={(table) => write({ table })}
        required
        maxLength={64}
        spellcheck={false}
        error={errorOf('config.table')}
      />
      <AreaField
        label={jobs.filter}
        value={draft.filter}
        onText={(filter) => write({ filter })}
        rows={2}
        spellcheck={false}
        hint={jobs.filterHint}
        error={errorOf('config.filter')}
      />
      <div class="field-pair">
        <TextField
          label={jobs.select}
          value={draft.select}
          onText={(select) => write({ select })}
          spellcheck={false}
          hint={jobs.selectHint}
          error={errorOf('config.select')}
        />
        <TextField
          label={jobs.sort}
          value={draft.sort}
          onText={(sort) => write({ sort })}
          spellcheck={false}
          hint={jobs.sortHint}
          error={errorOf('config.sort')}
        />
      </div>
    </>
  );
}

export function RetryFields({ draft, write, errorOf }: FieldsProps) {
  const { jobs } = words.value;
  return (
    <fieldset class="job-retries">
      <legend class="label">{jobs.retries}</legend>
      <div class="field-pair">
        <TextField
          label={jobs.maxAttempts}
          value={draft.maxAttempts}
          onText={(maxAttempts) => write({ maxAttempts })}
          required
          hint={jobs.maxAttemptsHint}
          error={errorOf('retry_config.maxAttempts')}
        />
        <TextField
          label={jobs.initialDelay}
          value={draft.initialDelay}
          onText={(initialDelay) => write({ initialDelay })}
          required
          error={errorOf('retry_config.initialDelay')}
        />
      </div>
      <SelectField
        label={jobs.backoff}
        value={draft.backoff}
        options={BACKOFFS.map((value) => ({ value, label: jobs.backoffs[value] }))}
        onChoose={(backoff) => write({ backoff })}
      />
    </fieldset>
  );
}
