/** One alert rule: its evaluations, what it would send, and its form. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { type AlertEvent, type AlertRule, type Artifact, api } from '../../api/client.ts';
import { deleteRule, runRule, turnRule, useEvents, useRule } from '../../state/alerts.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Tag, Time } from '../../ui/small.tsx';
import { Loaded, ProblemState, Skeleton } from '../../ui/states.tsx';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import { RuleForm } from './alert-form.tsx';
import { StateTag } from './alert-state.tsx';

interface RuleViewProps {
  readonly artifact: Artifact;
  readonly alertId: string;
}

export function RuleView({ artifact, alertId }: RuleViewProps) {
  const loaded = useRule(alertId);
  return (
    <Loaded of={loaded} shape="block" missing={words.value.alerts.missing}>
      {({ rule, etag }) => (
        <div class="alert-rule">
          <RuleHead artifact={artifact} rule={rule} />
          <History alertId={alertId} />
          <RuleForm key={rule.updated_at} artifact={artifact} stored={rule} etag={etag} />
        </div>
      )}
    </Loaded>
  );
}

type Rehearsal = Awaited<ReturnType<typeof api.alerts.rehearse>>['body'];

function RuleHead({ artifact, rule }: { readonly artifact: Artifact; readonly rule: AlertRule }) {
  const [rehearsal, setRehearsal] = useState<Rehearsal>();
  const [isDeleting, setDeleting] = useState(false);
  const { route } = useLocation();
  const { alerts } = words.value;
  const run = async () => {
    try {
      const { value, error } = await runRule(rule.id);
      tell(error ?? alerts.ran(value));
    } catch (error) {
      tellProblem(error);
    }
  };
  const rehearse = async () => {
    try {
      setRehearsal((await api.alerts.rehearse({ params: { alertId: rule.id } })).body);
    } catch (error) {
      tellProblem(error);
    }
  };
  const remove = async () => {
    try {
      await deleteRule(rule.id);
      tell(alerts.deleted);
      route(`/p/${artifact.id}/alerts`, true);
    } catch (error) {
      tellProblem(error);
    }
  };
  return (
    <section class="panel">
      <header class="row">
        <h2 class="grow">{rule.name}</h2>
        <StateTag rule={rule} />
      </header>
      {rule.disabled_reason !== null && <p class="notice bad">{alerts.disabled(rule.disabled_reason)}</p>}
      <div class="row">
        <Button onClick={() => void run()}>{alerts.run}</Button>
        <Button onClick={() => void rehearse()}>{alerts.rehearse}</Button>
        <Button onClick={() => void turnRule(rule.id, !rule.enabled).catch(tellProblem)}>
          {rule.enabled ? alerts.turnOff : alerts.turnOn}
        </Button>
        <Button look="danger" icon="trash" onClick={() => setDeleting(true)}>
          {alerts.delete}
        </Button>
      </div>
      {rehearsal !== undefined && <RehearsalDialog found={rehearsal} onClose={() => setRehearsal(undefined)} />}
      {isDeleting && (
        <Confirm
          title={alerts.delete}
          text={alerts.deleteText(rule.name)}
          action={alerts.delete}
          onConfirm={() => void remove()}
          onClose={() => setDeleting(false)}
        />
      )}
    </section>
  );
}

function RehearsalDialog({ found, onClose }: { readonly found: Rehearsal; readonly onClose: () => void }) {
  const { alerts } = words.value;
  const { send, call, ring } = found.would;
  const parts = [
    ...send.map(({ to, subject, text }) => `${to.join(', ')}\n${subject}\n\n${text}`),
    ...call.map(({ method, url, body }) => `${method} ${url}${body === null ? '' : `\n\n${body}`}`),
    ...ring.map(({ title, body }) => `${title}\n\n${body}`),
  ];
  return (
    <Dialog title={alerts.rehearsal} onClose={onClose} wide>
      <p>{alerts.ran(found.value)}</p>
      {found.error !== null && <p class="notice bad">{found.error}</p>}
      {parts.map((part) => (
        <pre key={part} class="rehearsal">
          {part}
        </pre>
      ))}
    </Dialog>
  );
}

function History({ alertId }: { readonly alertId: string }) {
  const [isFired, setFired] = useState(false);
  const pages = useEvents(alertId, isFired);
  const { alerts } = words.value;
  return (
    <section class="panel">
      <header class="row">
        <h2 class="grow">{alerts.history}</h2>
        <fieldset class="segments" aria-label={alerts.history}>
          {[false, true].map((one) => (
            <button key={String(one)} type="button" class="segment" aria-pressed={one === isFired} onClick={() => setFired(one)}>
              {one ? alerts.onlyFired : alerts.allEvents}
            </button>
          ))}
        </fieldset>
      </header>
      {pages.items === undefined && pages.problem === undefined && <Skeleton shape="line" count={3} />}
      {pages.items === undefined && pages.problem !== undefined && <ProblemState problem={pages.problem} onRetry={pages.reload} />}
      {pages.items?.length === 0 && <p class="soft">{alerts.historyEmpty}</p>}
      {pages.items !== undefined && pages.items.length > 0 && (
        <ul class="rows alert-events">
          {pages.items.map((event) => (
            <EventRow key={event.id} event={event} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </section>
  );
}

function EventRow({ event }: { readonly event: AlertEvent }) {
  const { alerts } = words.value;
  const { at, value, fired, recovered, delivered, error } = event;
  return (
    <li class="row-item">
      <div class="grow">
        <p class="row-facts">
          <strong>{value ?? alerts.gap}</strong>
          <Time at={at} />
          {fired && <span>{delivered ? alerts.delivered : alerts.notDelivered}</span>}
        </p>
        {error !== null && <p class="small soft">{error}</p>}
      </div>
      {fired && <Tag tone="warn">{alerts.fired}</Tag>}
      {recovered && <Tag tone="good">{alerts.recovered}</Tag>}
    </li>
  );
}
