/** Members of a workspace with their roles, and the invitations that are open. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { api, type Invite, type Member } from '../../api/client.ts';
import { useInvites, useMembers } from '../../state/loads.ts';
import type { PageOf } from '../../state/pages.ts';
import { mayManage, seatIn } from '../../state/place.ts';
import { loadMe, myId } from '../../state/session.ts';
import { changed, showAtOnce } from '../../state/store.ts';
import { optimistic, tell, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Avatar, Tag } from '../../ui/small.tsx';
import { ProblemState, Skeleton } from '../../ui/states.tsx';
import { ago } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import { InviteDialog } from './invite-dialog.tsx';

type Role = Member['role'];
const ROLES: readonly Role[] = ['owner', 'admin', 'member'];

export function PeoplePart({ slug }: { readonly slug: string }) {
  const pages = useMembers(slug);
  const [isInviting, setInviting] = useState(false);
  const { people } = words.value;
  const { items } = pages;
  const isManaged = mayManage(slug);
  return (
    <div class="narrow">
      <div class="section-head">
        <h2>{people.members}</h2>
        {isManaged && (
          <Button look="main" icon="plus" onClick={() => setInviting(true)}>
            {people.invite}
          </Button>
        )}
      </div>
      {items === undefined && pages.problem === undefined && <Skeleton shape="line" count={3} />}
      {items === undefined && pages.problem !== undefined && <ProblemState problem={pages.problem} onRetry={pages.reload} />}
      {items !== undefined && (
        <ul class="rows">
          {items.map((member) => (
            <MemberRow key={member.user_id} slug={slug} member={member} />
          ))}
        </ul>
      )}
      <More pages={pages} />
      {isManaged && <Invites slug={slug} />}
      {isInviting && <InviteDialog slug={slug} onClose={() => setInviting(false)} />}
    </div>
  );
}

/** Only owners make and unmake owners. */
function rolesFor(mine: Role | undefined, theirs: Role): readonly Role[] {
  if (mine === 'owner') return ROLES;
  if (mine === 'admin' && theirs !== 'owner') return ['admin', 'member'];
  return [theirs];
}

function MemberRow({ slug, member }: { readonly slug: string; readonly member: Member }) {
  const [asks, setAsks] = useState(false);
  const { route } = useLocation();
  const { people, workspace } = words.value;
  const { user_id: userId, email, role, joined_at } = member;
  const name = member.name ?? email ?? userId;
  const isMe = userId === myId();
  const choices = rolesFor(seatIn(slug)?.role, role);
  const params = { workspaceId: slug, userId };
  const showMembers = (change: (items: readonly Member[]) => readonly Member[]) =>
    showAtOnce<PageOf<Member>>(`members:${slug}`, (page) => ({ ...page, items: change(page.items) }));
  const setRole = async (next: Role) => {
    const undo = showMembers((items) => items.map((one) => (one.user_id === userId ? { ...one, role: next } : one)));
    const done = await optimistic(undo, () => api.members.update({ params, body: { role: next } }));
    changed(`members:${slug}`);
    if (done !== undefined) tell(people.roleChanged(name, workspace.role[next]));
    if (isMe) await loadMe();
  };
  const remove = async () => {
    const undo = showMembers((items) => items.filter((one) => one.user_id !== userId));
    const done = await optimistic(undo, () => api.members.remove({ params }));
    if (done === undefined) return;
    if (!isMe) {
      changed(`members:${slug}`);
      tell(people.removed(name));
      return;
    }
    await loadMe();
    route('/');
    changed('artifacts:', 'folders:');
  };
  return (
    <li class="row-item">
      <Avatar name={name} />
      <div class="grow">
        <p class="row-title">
          {name} {isMe && <Tag>{people.you}</Tag>}
          {member.billing_manager && <Tag icon="card">{words.value.billing.manager}</Tag>}
        </p>
        <p class="row-facts">
          {email !== null && email !== name && <span>{email}</span>}
          <span>{people.joined(ago(joined_at))}</span>
        </p>
      </div>
      {choices.length > 1 ? (
        <select
          class="input is-small"
          aria-label={people.roleOf(name)}
          value={role}
          onChange={(event) => {
            const next = ROLES.find((one) => one === event.currentTarget.value);
            if (next !== undefined && next !== role) void setRole(next);
          }}
        >
          {choices.map((one) => (
            <option key={one} value={one} selected={one === role}>
              {workspace.role[one]}
            </option>
          ))}
        </select>
      ) : (
        <Tag>{workspace.role[role]}</Tag>
      )}
      {seatIn(slug)?.role === 'owner' && role === 'member' && <BillingManagement slug={slug} member={member} name={name} />}
      {(isMe || (mayManage(slug) && choices.length > 1)) && (
        <Button small onClick={() => setAsks(true)}>
          {isMe ? people.leave : people.remove}
        </Button>
      )}
      {asks && (
        <Confirm
          title={isMe ? people.leave : people.removeTitle(name)}
          text={isMe ? people.leaveText : people.removeText}
          action={isMe ? people.leave : people.remove}
          onClose={() => setAsks(false)}
          onConfirm={() => void remove()}
        />
      )}
    </li>
  );
}

/** Owners and admins see what is paid anyway; owners let other members do so. */
function BillingManagement({ slug, member, name }: { readonly slug: string; readonly member: Member; readonly name: string }) {
  const [isBusy, setBusy] = useState(false);
  const { billing } = words.value;
  const { user_id: userId, billing_manager: isManager } = member;
  const turn = async () => {
    setBusy(true);
    try {
      await api.members.update({ params: { workspaceId: slug, userId }, body: { billing_manager: !isManager } });
      tell(isManager ? billing.unmadeManager(name) : billing.madeManager(name));
    } catch (error) {
      tellProblem(error);
    }
    setBusy(false);
    changed(`members:${slug}`);
  };
  return (
    <Button
      small
      isBusy={isBusy}
      aria-label={isManager ? billing.unmakeManagerOf(name) : billing.makeManagerOf(name)}
      onClick={() => void turn()}
    >
      {isManager ? billing.unmakeManager : billing.makeManager}
    </Button>
  );
}

function Invites({ slug }: { readonly slug: string }) {
  const pages = useInvites(slug);
  const { people } = words.value;
  const { items } = pages;
  return (
    <>
      <div class="section-head">
        <h2>{people.invites}</h2>
      </div>
      {items === undefined && pages.problem === undefined && <Skeleton shape="line" count={2} />}
      {items === undefined && pages.problem !== undefined && <ProblemState problem={pages.problem} onRetry={pages.reload} />}
      {items?.length === 0 && <p class="soft">{people.noInvites}</p>}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((invite) => (
            <InviteRow key={invite.id} slug={slug} invite={invite} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </>
  );
}

function InviteRow({ slug, invite }: { readonly slug: string; readonly invite: Invite }) {
  const { people, workspace } = words.value;
  const { id, email, role, sent_at } = invite;
  const params = { workspaceId: slug, inviteId: id };
  const revoke = async () => {
    const undo = showAtOnce<PageOf<Invite>>(`invites:${slug}`, (page) => ({ ...page, items: page.items.filter((one) => one.id !== id) }));
    const done = await optimistic(undo, () => api.invites.revoke({ params }));
    changed(`invites:${slug}`);
    if (done !== undefined) tell(people.revoked(email));
  };
  const resend = async () => {
    const done = await optimistic(
      () => undefined,
      () => api.invites.resend({ params }),
    );
    changed(`invites:${slug}`);
    if (done !== undefined) tell(people.resent(email));
  };
  return (
    <li class="row-item">
      <Avatar name={email} />
      <div class="grow">
        <p class="row-title">{email}</p>
        <p class="row-facts">
          <span>{workspace.role[role]}</span>
          <span>{people.sentAt(ago(sent_at))}</span>
        </p>
      </div>
      <Button small onClick={() => void resend()}>
        {people.resend}
      </Button>
      <Button small onClick={() => void revoke()}>
        {people.revoke}
      </Button>
    </li>
  );
}
