/** The webhooks of a page or a workspace: what they are sent, and what became of it. */
import { useState } from 'preact/hooks';
import { api, type Webhook } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { type HooksOf, hooksKey, useHooks } from '../../state/hooks.ts';
import { changed } from '../../state/store.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Tag } from '../../ui/small.tsx';
import { Empty, ProblemState, Skeleton } from '../../ui/states.tsx';
import { ago } from '../../words/format.ts';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import { Deliveries } from './deliveries.tsx';
import { HookDialog, SecretDialog } from './hook-dialog.tsx';

export function HooksPart({ of }: { readonly of: HooksOf }) {
  const pages = useHooks(of);
  const [isMaking, setMaking] = useState(false);
  const { hooks } = words.value;
  const { items } = pages;
  const make = (
    <Button look="main" icon="plus" onClick={() => setMaking(true)}>
      {hooks.make}
    </Button>
  );
  const command = 'artifact_id' in of ? `-a ${of.artifact_id} --event data.changed` : `-w ${of.workspace_id} --event member.added`;
  return (
    <div class="narrow">
      <div class="section-head">
        <div class="grow">
          <h2>{hooks.title}</h2>
          <p class="soft small">{hooks.text}</p>
        </div>
        {items !== undefined && items.length > 0 && make}
      </div>
      {items === undefined && pages.problem === undefined && <Skeleton shape="line" count={3} />}
      {items === undefined && pages.problem !== undefined && <ProblemState problem={pages.problem} onRetry={pages.reload} />}
      {items?.length === 0 && (
        <Empty icon="send" {...hooks.empty} command={`npx easel hooks create https://… ${command}`}>
          {make}
        </Empty>
      )}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((hook) => (
            <HookRow key={hook.id} of={of} hook={hook} />
          ))}
        </ul>
      )}
      <More pages={pages} />
      {isMaking && <HookDialog of={of} onClose={() => setMaking(false)} />}
    </div>
  );
}

/** Tells what went wrong, and answers whether nothing did. */
async function done(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    const { title, text } = problemWords(problemOf(error));
    tell(`${title} ${text}`);
    return false;
  }
}

function HookRow({ of, hook }: { readonly of: HooksOf; readonly hook: Webhook }) {
  const { hooks } = words.value;
  const { id: webhookId, url, events, description, enabled, disabled_reason, failing_since, next_try_at } = hook;
  return (
    <li class="row-item hook">
      <span class="avatar is-square has-icon">
        <Icon name="send" />
      </span>
      <div class="grow">
        <p class="row-title is-long">{url}</p>
        <p class="row-facts">
          {description !== '' && <span>{description}</span>}
          {failing_since !== null && <span>{hooks.failing(ago(failing_since))}</span>}
          {next_try_at !== null && failing_since !== null && <span>{hooks.nextTry(ago(next_try_at))}</span>}
        </p>
        <p class="row tags">
          <Tag tone={enabled ? (failing_since === null ? 'good' : 'warn') : 'plain'}>
            {disabled_reason === null ? hooks.on : hooks.reasons[disabled_reason]}
          </Tag>
          {events.map((event) => (
            <Tag key={event}>{hooks.event[event]}</Tag>
          ))}
        </p>
        <HookActions of={of} hook={hook} />
        <Deliveries webhookId={webhookId} isOn={enabled} />
      </div>
    </li>
  );
}

function HookActions({ of, hook }: { readonly of: HooksOf; readonly hook: Webhook }) {
  const [asks, setAsks] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [secret, setSecret] = useState<string>();
  const { hooks } = words.value;
  const { id: webhookId, enabled } = hook;
  const { host } = new URL(hook.url);
  const params = { webhookId };
  const refresh = () => changed(hooksKey(of), `deliveries:${webhookId}`);
  const test = async () => {
    setBusy(true);
    await done(async () => {
      const { body } = await api.webhooks.test({ params });
      tell(body.error === null ? hooks.tested : hooks.testFailed(body.error));
    });
    setBusy(false);
    refresh();
  };
  const turn = async () => {
    if (await done(() => api.webhooks.update({ params, body: { enabled: !enabled } }))) tell(enabled ? hooks.turnedOff : hooks.turnedOn);
    refresh();
  };
  const rotate = () => done(async () => setSecret((await api.webhooks.rotate({ params })).body.secret));
  const remove = async () => {
    if (await done(() => api.webhooks.delete({ params }))) tell(hooks.removed);
    changed(hooksKey(of));
  };
  return (
    <div class="row">
      <Button small isBusy={isBusy} aria-label={hooks.testOf(host)} onClick={() => void test()}>
        {hooks.test}
      </Button>
      <Button small onClick={() => void turn()}>
        {enabled ? hooks.turnOff : hooks.turnOn}
      </Button>
      <Button small onClick={() => void rotate()}>
        {hooks.rotate}
      </Button>
      <Button small aria-label={hooks.removeOf(host)} onClick={() => setAsks(true)}>
        {hooks.remove}
      </Button>
      {secret !== undefined && (
        <SecretDialog title={hooks.rotated} text={hooks.rotatedText} secret={secret} onClose={() => setSecret(undefined)} />
      )}
      {asks && (
        <Confirm
          title={hooks.removeOf(host)}
          text={hooks.removeText}
          action={hooks.remove}
          onClose={() => setAsks(false)}
          onConfirm={() => void remove()}
        />
      )}
    </div>
  );
}
