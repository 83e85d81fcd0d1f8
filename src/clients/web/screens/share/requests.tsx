/** Requests for access that wait: all of them at "My pages", and those for one page where it is shared. */
import { useRef, useState } from 'preact/hooks';
import type { AccessRequest } from '../../api/client.ts';
import { useIncomingRequests, useRequestsFor } from '../../state/loads.ts';
import { decideRequest, nameOfRequester } from '../../state/sharing.ts';
import { Button } from '../../ui/button.tsx';
import { Avatar, Time } from '../../ui/small.tsx';
import { ProblemNote } from '../../ui/states.tsx';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';

const SHOWN_AT_FIRST = 3;

/** With the last request its list goes away too: then what has the id `next` takes the focus. */
function focusAfter(items: readonly AccessRequest[], title: HTMLElement | null, next: string): void {
  const target = items.length > 1 ? title : document.getElementById(next);
  target?.focus();
}

/** Nothing where none wait. What fails here fails for the pages below too, and is told there. */
export function IncomingRequests() {
  const pages = useIncomingRequests();
  const [isAll, setAll] = useState(false);
  const title = useRef<HTMLHeadingElement>(null);
  const { share } = words.value;
  const { items = [] } = pages;
  if (items.length === 0) return null;
  const shown = isAll ? items : items.slice(0, SHOWN_AT_FIRST);
  return (
    <section class="incoming" aria-labelledby="incoming">
      <h2 id="incoming" ref={title} tabIndex={-1}>
        {share.requests}
      </h2>
      <ul class="rows">
        {shown.map((request) => (
          <RequestRow key={request.id} request={request} namesPage onDecided={() => focusAfter(items, title.current, 'content')} />
        ))}
      </ul>
      {!isAll && (items.length > SHOWN_AT_FIRST || pages.hasMore) && (
        <p>
          <Button small onClick={() => setAll(true)}>
            {share.showAll}
          </Button>
        </p>
      )}
      {isAll && <More pages={pages} />}
    </section>
  );
}

/** Only the owner is told of them. */
export function RequestsFor({ artifactId }: { readonly artifactId: string }) {
  const { data, problem, reload } = useRequestsFor(artifactId);
  const title = useRef<HTMLHeadingElement>(null);
  const { share } = words.value;
  const items = data?.items ?? [];
  if (items.length === 0 && problem === undefined) return null;
  return (
    <section class="share-part" aria-labelledby="requests">
      <h3 id="requests" ref={title} tabIndex={-1}>
        {share.requests}
      </h3>
      {problem !== undefined && data === undefined && <ProblemNote problem={problem} onRetry={reload} />}
      {items.length > 0 && (
        <ul class="rows">
          {items.map((request) => (
            <RequestRow key={request.id} request={request} onDecided={() => focusAfter(items, title.current, 'holders')} />
          ))}
        </ul>
      )}
    </section>
  );
}

interface RequestRowProps {
  readonly request: AccessRequest;
  readonly namesPage?: boolean;
  /** The row goes away with the button that has the focus. */
  readonly onDecided: () => void;
}

function RequestRow({ request, namesPage = false, onDecided }: RequestRowProps) {
  const { share } = words.value;
  const { artifact_id, artifact_name, requester_email, message, created_at } = request;
  const name = nameOfRequester(request);
  const decide = (action: 'approve' | 'deny') => {
    onDecided();
    void decideRequest(request, action);
  };
  return (
    <li class="row-item">
      <Avatar name={name} />
      <div class="grow">
        <p class="row-title">
          {name}
          {namesPage && (
            <span class="row-object">
              {share.asksFor} <a href={`/p/${artifact_id}`}>{artifact_name}</a>
            </span>
          )}
        </p>
        <p class="row-facts">
          {requester_email !== null && requester_email !== name && <span>{requester_email}</span>}
          <Time at={created_at} />
        </p>
        {message !== null && <p class="row-note">{message}</p>}
      </div>
      <Button small aria-label={share.denyOf(name)} onClick={() => decide('deny')}>
        {share.deny}
      </Button>
      <Button small look="main" aria-label={share.approveOf(name)} onClick={() => decide('approve')}>
        {share.approve}
      </Button>
    </li>
  );
}
