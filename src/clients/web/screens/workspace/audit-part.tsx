/** What was done in a workspace, newest first. */
import { useState } from 'preact/hooks';
import type { AuditEntry } from '../../api/client.ts';
import { useAudit } from '../../state/loads.ts';
import { SelectField } from '../../ui/fields.tsx';
import { Avatar, Time } from '../../ui/small.tsx';
import { Empty, ProblemState, Skeleton } from '../../ui/states.tsx';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';

/** Beginnings of actions, as the record names them. */
const KINDS = ['', 'artifact.', 'version.', 'member.', 'invite.', 'agent_token.', 'folder.', 'workspace.', 'publish_policy.'] as const;

export function AuditPart({ slug }: { readonly slug: string }) {
  const [action, setAction] = useState<(typeof KINDS)[number]>('');
  const pages = useAudit(slug, action);
  const { audit } = words.value;
  const { items } = pages;
  return (
    <>
      <div class="section-head">
        <div class="grow">
          <h2>{audit.title}</h2>
          <p class="soft small">{audit.text}</p>
        </div>
        <SelectField
          label={audit.action}
          hideLabel
          value={action}
          options={KINDS.map((value) => ({ value, label: value === '' ? audit.all : value.slice(0, -1).replace('_', ' ') }))}
          onChoose={setAction}
        />
      </div>
      {items === undefined && pages.problem === undefined && <Skeleton shape="line" count={6} />}
      {items === undefined && pages.problem !== undefined && <ProblemState problem={pages.problem} onRetry={pages.reload} />}
      {items?.length === 0 && <Empty icon="list" {...audit.empty} />}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((entry) => (
            <EntryRow key={entry.id} entry={entry} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </>
  );
}

function EntryRow({ entry }: { readonly entry: AuditEntry }) {
  const { audit } = words.value;
  const { actor, action, target, at, detail, address } = entry;
  const name = actor.kind === 'system' ? audit.system : (actor.name ?? actor.id ?? audit.system);
  const details = Object.entries(detail);
  return (
    <li class="row-item is-top">
      <Avatar name={name} isSquare={actor.kind !== 'user'} />
      <div class="grow">
        <p class="row-title">
          {name} <code class="action">{action}</code>
          {target.name !== null && <span class="version-label">{target.name}</span>}
        </p>
        <p class="row-facts">
          <Time at={at} />
          {address !== null && <span>{address}</span>}
        </p>
      </div>
      {details.length > 0 && (
        <details class="audit-detail">
          <summary>{audit.details}</summary>
          <dl>
            {details.map(([key, value]) => (
              <div key={key}>
                <dt>{key}</dt>
                <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </li>
  );
}
