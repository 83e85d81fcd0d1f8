/** One entry of a record: who did what, to what, from where. */
import type { ComponentChildren } from 'preact';
import type { AuditEntry } from '../api/client.ts';
import { Avatar, Time } from '../ui/small.tsx';
import { words } from '../words/words.ts';

interface RecordRowProps {
  readonly entry: Pick<AuditEntry, 'actor' | 'action' | 'target' | 'at' | 'detail' | 'address'>;
  /** Of an actor whose name is not known. */
  readonly nameless: string;
  /** Further facts below its title. */
  readonly children?: ComponentChildren;
}

export function RecordRow({ entry, nameless, children }: RecordRowProps) {
  const { audit } = words.value;
  const { actor, action, target, at, detail, address } = entry;
  const name = actor.kind === 'system' ? audit.system : (actor.name ?? nameless);
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
          {children}
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
