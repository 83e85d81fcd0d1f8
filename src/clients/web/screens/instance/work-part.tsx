/** Runs of all jobs, and deliveries of all webhooks. */
import { useState } from 'preact/hooks';
import type { InstanceDelivery, InstanceRun } from '../../api/client.ts';
import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  RUN_STATES,
  type RunState,
  redeliver,
  useInstanceDeliveries,
  useInstanceRuns,
} from '../../state/instance-work.ts';
import { tell } from '../../state/toasts.ts';
import { SelectField } from '../../ui/fields.tsx';
import { Tag, Time } from '../../ui/small.tsx';
import { instanceWords } from '../../words/instance-words.ts';
import { words } from '../../words/words.ts';
import { ListOf } from '../list-of.tsx';
import { ActionButton, PageLink, PersonLink, SearchBox, WorkspaceLink } from './common.tsx';

const RUN_TONES = { running: 'info', queued: 'plain', failed: 'warn', next: 'plain' } as const satisfies Record<RunState, string>;
const DELIVERY_TONES = { pending: 'info', delivered: 'good', failed: 'warn' } as const satisfies Record<DeliveryStatus, string>;

export function WorkPart() {
  return (
    <>
      <Runs />
      <Deliveries />
    </>
  );
}

function Runs() {
  const [q, setQ] = useState('');
  const [state, setState] = useState<RunState>('running');
  const pages = useInstanceRuns(q, state);
  const said = instanceWords.value;
  const { work } = said;
  return (
    <section class="part" aria-label={work.jobs}>
      <h2>{work.jobs}</h2>
      <div class="instance-tools">
        <SearchBox label={work.jobsSearch} initial="" onSearch={setQ} />
        <SelectField
          label={work.state}
          hideLabel
          value={state}
          options={RUN_STATES.map((value) => ({ value, label: work.states[value] }))}
          onChoose={setState}
        />
      </div>
      <ListOf pages={pages} icon="clock" empty={q === '' ? { title: work.noJobs[state], text: work.otherState } : said.noneFound}>
        {(run) => <RunRow key={run.id ?? run.job_id} run={run} />}
      </ListOf>
    </section>
  );
}

/** The words of a job's action, and the name that the server has for one that we do not know. */
function actionWords(action: string): string {
  const known: Readonly<Record<string, string>> = words.value.jobs.actions;
  return known[action] ?? action;
}

function RunRow({ run: { title, action, state, at, error, artifact_id, user_id } }: { readonly run: InstanceRun }) {
  const { work } = instanceWords.value;
  return (
    <li class="row-item">
      <div class="grow">
        <p class="row-title">{title}</p>
        <p class="row-facts">
          <span>{actionWords(action)}</span>
          <span>
            {work.when[state]} <Time at={at} />
          </span>
          <PageLink id={artifact_id} />
          <PersonLink id={user_id} />
        </p>
        {error !== null && <p class="row-note is-bad">{error}</p>}
      </div>
      <Tag tone={RUN_TONES[state]}>{work.states[state]}</Tag>
    </li>
  );
}

function Deliveries() {
  const [q, setQ] = useState('');
  const [status, setStatus] = useState<DeliveryStatus>('failed');
  const pages = useInstanceDeliveries(q, status);
  const said = instanceWords.value;
  const { work } = said;
  const { hooks } = words.value;
  return (
    <section class="part" aria-label={work.deliveries}>
      <h2>{work.deliveries}</h2>
      <div class="instance-tools">
        <SearchBox label={work.deliveriesSearch} initial="" onSearch={setQ} />
        <SelectField
          label={work.state}
          hideLabel
          value={status}
          options={DELIVERY_STATUSES.map((value) => ({ value, label: hooks.status[value] }))}
          onChoose={setStatus}
        />
      </div>
      <ListOf pages={pages} icon="send" empty={q === '' ? { title: work.noDeliveries[status], text: work.otherState } : said.noneFound}>
        {(delivery) => <DeliveryRow key={delivery.id} delivery={delivery} />}
      </ListOf>
    </section>
  );
}

function DeliveryRow({ delivery }: { readonly delivery: InstanceDelivery }) {
  const { work } = instanceWords.value;
  const { hooks } = words.value;
  const { id, number, event, host, status, tries, created_at, response_status, error, artifact_id, workspace_id, user_id } = delivery;
  return (
    <li class="row-item">
      <div class="grow">
        <p class="row-title">
          {hooks.event[event]} <span class="soft">{work.to(host)}</span>
        </p>
        <p class="row-facts">
          <span>{hooks.number(number)}</span>
          <Time at={created_at} />
          <span>{hooks.tries(tries)}</span>
          {response_status !== null && <span>{work.answered(response_status)}</span>}
          {artifact_id !== null && <PageLink id={artifact_id} />}
          {workspace_id !== null && <WorkspaceLink id={workspace_id} />}
          <PersonLink id={user_id} />
        </p>
        {error !== null && status !== 'delivered' && <p class="row-note is-bad">{error}</p>}
      </div>
      <Tag tone={DELIVERY_TONES[status]}>{hooks.status[status]}</Tag>
      <ActionButton
        label={work.redeliverOf(number, host)}
        run={async () => {
          await redeliver(id);
          tell(hooks.redelivered(number));
        }}
      >
        {hooks.redeliver}
      </ActionButton>
    </li>
  );
}
