/** What a webhook was sent. */
import { useState } from 'preact/hooks';
import { api, type WebhookDelivery } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { useDeliveries, useDelivery } from '../../state/hooks.ts';
import { changed } from '../../state/store.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { Tag, Time } from '../../ui/small.tsx';
import { Loaded, ProblemNote, Skeleton } from '../../ui/states.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';

const TONES = { pending: 'info', delivered: 'good', failed: 'warn' } as const satisfies Record<WebhookDelivery['status'], string>;

export function Deliveries({ webhookId, isOn }: { readonly webhookId: string; readonly isOn: boolean }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="hook-deliveries" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{words.value.hooks.deliveries}</summary>
      {isOpen && <DeliveryList webhookId={webhookId} isOn={isOn} />}
    </details>
  );
}

function DeliveryList({ webhookId, isOn }: { readonly webhookId: string; readonly isOn: boolean }) {
  const pages = useDeliveries(webhookId);
  const { items, problem } = pages;
  return (
    <>
      {items === undefined && problem === undefined && <Skeleton shape="line" count={2} />}
      {items === undefined && problem !== undefined && <ProblemNote problem={problem} onRetry={pages.reload} />}
      {items?.length === 0 && <p class="soft small">{words.value.hooks.noDeliveries}</p>}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((delivery) => (
            <DeliveryRow key={delivery.id} delivery={delivery} isOn={isOn} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </>
  );
}

function DeliveryRow({ delivery, isOn }: { readonly delivery: WebhookDelivery; readonly isOn: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const { hooks } = words.value;
  const { id: deliveryId, webhook_id: webhookId, number, event, status, tries, created_at, response_status, error } = delivery;
  const again = async () => {
    try {
      await api.webhooks.redeliver({ params: { webhookId, deliveryId } });
      tell(hooks.redelivered(number));
    } catch (failure) {
      const { title, text } = problemWords(problemOf(failure));
      tell(`${title} ${text}`);
    }
    changed(`deliveries:${webhookId}`);
  };
  return (
    <li class="row-item">
      <div class="grow">
        <p>
          <Button small look="quiet" aria-expanded={isOpen} aria-label={hooks.show(number)} onClick={() => setOpen(!isOpen)}>
            {hooks.number(number)}
          </Button>{' '}
          {hooks.event[event]}
        </p>
        <p class="row-facts">
          <Time at={created_at} />
          <span>{hooks.tries(tries)}</span>
          {response_status !== null && <span>{response_status}</span>}
          {error !== null && status !== 'delivered' && <span>{error}</span>}
        </p>
        {isOpen && <DeliveryDetail webhookId={webhookId} deliveryId={deliveryId} />}
      </div>
      <Tag tone={TONES[status]}>{hooks.status[status]}</Tag>
      {isOn && (
        <Button small onClick={() => void again()}>
          {hooks.redeliver}
        </Button>
      )}
    </li>
  );
}

function DeliveryDetail({ webhookId, deliveryId }: { readonly webhookId: string; readonly deliveryId: string }) {
  const loaded = useDelivery(webhookId, deliveryId);
  const { hooks } = words.value;
  return (
    <Loaded of={loaded}>
      {({ request_body, attempts }) => (
        <>
          <p class="label">{hooks.sent}</p>
          <Code text={request_body} />
          {attempts.map(({ number, duration_ms, response_status, response_body, error }) => (
            <div key={number}>
              <p class="label">{hooks.answered(number, duration_ms)}</p>
              <Code text={[response_status ?? error ?? hooks.noAnswer, response_body].filter((part) => part !== '').join('\n')} />
            </div>
          ))}
        </>
      )}
    </Loaded>
  );
}
