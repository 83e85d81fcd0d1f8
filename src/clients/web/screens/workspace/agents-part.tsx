/** Tokens of the agents of a workspace; a new one's secret is shown once. */
import { useState } from 'preact/hooks';
import { type AgentToken, api } from '../../api/client.ts';
import { useAgentTokens } from '../../state/loads.ts';
import type { PageOf } from '../../state/pages.ts';
import { changed, showAtOnce } from '../../state/store.ts';
import { optimistic, tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Tag } from '../../ui/small.tsx';
import { Empty, ProblemState, Skeleton } from '../../ui/states.tsx';
import { ago } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import { AgentDialog } from './agent-dialog.tsx';

export function AgentsPart({ slug }: { readonly slug: string }) {
  const pages = useAgentTokens(slug);
  const [isMaking, setMaking] = useState(false);
  const { agents } = words.value;
  const { items } = pages;
  const make = (
    <Button look="main" icon="plus" onClick={() => setMaking(true)}>
      {agents.make}
    </Button>
  );
  return (
    <div class="narrow">
      <div class="section-head">
        <div class="grow">
          <h2>{agents.title}</h2>
          <p class="soft small">{agents.text}</p>
        </div>
        {items !== undefined && items.length > 0 && make}
      </div>
      {items === undefined && pages.problem === undefined && <Skeleton shape="line" count={3} />}
      {items === undefined && pages.problem !== undefined && <ProblemState problem={pages.problem} onRetry={pages.reload} />}
      {items?.length === 0 && (
        <Empty
          icon="robot"
          {...agents.empty}
          command={`npx easel agent-tokens create ${slug} my-agent --scope artifacts:read artifacts:publish`}
        >
          {make}
        </Empty>
      )}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((token) => (
            <TokenRow key={token.id} slug={slug} token={token} />
          ))}
        </ul>
      )}
      <More pages={pages} />
      {isMaking && <AgentDialog slug={slug} onClose={() => setMaking(false)} />}
    </div>
  );
}

function TokenRow({ slug, token }: { readonly slug: string; readonly token: AgentToken }) {
  const [asks, setAsks] = useState(false);
  const { agents } = words.value;
  const { id, name, scopes, created_at, last_used_at, expires_at } = token;
  const revoke = async () => {
    const undo = showAtOnce<PageOf<AgentToken>>(`agents:${slug}`, (page) => ({
      ...page,
      items: page.items.filter((one) => one.id !== id),
    }));
    const done = await optimistic(undo, () => api.agentTokens.revoke({ params: { workspaceId: slug, tokenId: id } }));
    changed(`agents:${slug}`);
    if (done !== undefined) tell(agents.revoked(name));
  };
  return (
    <li class="row-item">
      <span class="avatar is-square has-icon">
        <Icon name="robot" />
      </span>
      <div class="grow">
        <p class="row-title">{name}</p>
        <p class="row-facts">
          <span>{agents.madeBy(ago(created_at))}</span>
          <span>{last_used_at === null ? agents.unused : agents.used(ago(last_used_at))}</span>
          {expires_at !== null && <span>{agents.endsAt(ago(expires_at))}</span>}
        </p>
        <p class="row tags">
          {scopes.map((scope) => (
            <Tag key={scope}>{agents.scope[scope]}</Tag>
          ))}
        </p>
      </div>
      <Button small aria-label={agents.revokeOf(name)} onClick={() => setAsks(true)}>
        {agents.revoke}
      </Button>
      {asks && (
        <Confirm
          title={agents.revokeOf(name)}
          text={agents.revokeText}
          action={agents.revoke}
          onClose={() => setAsks(false)}
          onConfirm={() => void revoke()}
        />
      )}
    </li>
  );
}
