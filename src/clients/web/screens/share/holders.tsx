/** Who has access to a page by name: its owner and its collaborators. */
import { useRef, useState } from 'preact/hooks';
import type { Artifact } from '../../api/client.ts';
import { type Holder, useHolders } from '../../state/loads.ts';
import { seatIn } from '../../state/place.ts';
import { myId } from '../../state/session.ts';
import { type GivenRole, keyOfHolder, nameOfHolder, removeHolder, setHolderRole } from '../../state/sharing.ts';
import { IconButton } from '../../ui/button.tsx';
import { Avatar, Tag } from '../../ui/small.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { words } from '../../words/words.ts';
import { mayShare } from '../artifact/rights.ts';
import { More } from '../more.tsx';
import { LeaveButton } from './leave.tsx';
import { GIVEN_ROLES } from './share-form.tsx';

export function Holders({ artifact }: { readonly artifact: Artifact }) {
  const pages = useHolders(artifact.id);
  const title = useRef<HTMLHeadingElement>(null);
  const { share } = words.value;
  const { items, problem } = pages;
  return (
    <section class="share-part" aria-labelledby="holders">
      <h3 id="holders" ref={title} tabIndex={-1}>
        {share.who}
      </h3>
      {!mayShare(artifact) && <p class="soft small">{share.readOnly}</p>}
      {items === undefined && problem === undefined && <Skeleton shape="line" count={2} />}
      {items === undefined && problem !== undefined && <ProblemNote problem={problem} onRetry={pages.reload} />}
      {items !== undefined && (
        <ul class="rows">
          {artifact.owner_id === null && <WorkspaceRow workspaceId={artifact.workspace_id} />}
          {items.map((holder) => (
            <HolderRow key={keyOfHolder(holder)} artifact={artifact} holder={holder} onRemoved={() => title.current?.focus()} />
          ))}
        </ul>
      )}
      {items?.every(({ role }) => role === 'owner') && <p class="soft small">{share.nobody}</p>}
      <More pages={pages} />
    </section>
  );
}

function WorkspaceRow({ workspaceId }: { readonly workspaceId: string | null }) {
  const { share } = words.value;
  const name = (workspaceId === null ? undefined : seatIn(workspaceId)?.name) ?? share.aWorkspace;
  return (
    <li class="row-item">
      <Avatar name={name} isSquare />
      <div class="grow">
        <p class="row-title">{share.ownedBy(name)}</p>
        <p class="row-facts">{share.ownedByText}</p>
      </div>
    </li>
  );
}

interface HolderRowProps {
  readonly artifact: Artifact;
  readonly holder: Holder;
  /** The row goes away with the button that has the focus. */
  readonly onRemoved: () => void;
}

function HolderRow({ artifact, holder, onRemoved }: HolderRowProps) {
  const { share, people } = words.value;
  const { role, email, user_id, pending } = holder;
  const name = nameOfHolder(holder);
  return (
    <li class="row-item">
      <Avatar name={name} />
      <div class="grow">
        <p class="row-title">
          {name} {user_id !== null && user_id === myId() && <Tag>{people.you}</Tag>}
        </p>
        <p class="row-facts">
          {email !== null && email !== name && <span>{email}</span>}
          {pending && <span>{share.pending}</span>}
        </p>
      </div>
      {role === 'owner' || !mayShare(artifact) ? (
        <>
          <Tag>{share.role[role]}</Tag>
          {role !== 'owner' && user_id !== null && user_id === myId() && <LeaveButton artifact={artifact} small />}
        </>
      ) : (
        <>
          <RoleSelect label={share.roleOf(name)} role={role} onChoose={(next) => setHolderRole(artifact.id, holder, next)} />
          <IconButton
            icon="close"
            label={share.remove(name)}
            onClick={() => {
              void removeHolder(artifact.id, { ...holder, role }).then((isRemoved) => isRemoved && onRemoved());
            }}
          />
        </>
      )}
    </li>
  );
}

interface RoleSelectProps {
  readonly label: string;
  readonly role: GivenRole;
  readonly onChoose: (role: GivenRole) => Promise<void>;
}

function RoleSelect({ label, role, onChoose }: RoleSelectProps) {
  // Until the change is confirmed and made, or put aside.
  const [wanted, setWanted] = useState<GivenRole>();
  const { share } = words.value;
  const shown = wanted ?? role;
  return (
    <select
      class="input is-small"
      aria-label={label}
      value={shown}
      onChange={(event) => {
        const next = GIVEN_ROLES.find((one) => one === event.currentTarget.value);
        if (next === undefined || next === role) return;
        setWanted(next);
        void onChoose(next).then(() => setWanted(undefined));
      }}
    >
      {GIVEN_ROLES.map((one) => (
        <option key={one} value={one} selected={one === shown}>
          {share.role[one]}
        </option>
      ))}
    </select>
  );
}
