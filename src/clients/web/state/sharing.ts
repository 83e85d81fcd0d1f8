/** Changes of whom a page is shared with. What they come to is shown at once and taken back where the server refuses. */
import { type AccessRequest, api } from '../api/client.ts';
import { words } from '../words/words.ts';
import type { Holder } from './loads.ts';
import type { PageOf } from './pages.ts';
import { changeAccess } from './planned.ts';
import { changed, showAtOnce } from './store.ts';
import { optimistic, tell, undoing } from './toasts.ts';

export type GivenRole = Exclude<Holder['role'], 'owner'>;

/** What names a collaborator in a path: the address, or the account where it has proved none. */
export function keyOfHolder({ email, user_id }: Holder): string {
  return email ?? user_id ?? '';
}

export function nameOfHolder(holder: Holder): string {
  return holder.name ?? keyOfHolder(holder);
}

function showHolders(id: string, change: (items: readonly Holder[]) => readonly Holder[]): () => void {
  return showAtOnce<PageOf<Holder>>(`collaborators:${id}`, (page) => ({ ...page, items: change(page.items) }));
}

/** Throws what the server refuses, for the form that asks. */
export async function shareWith(id: string, recipients: string[], role: GivenRole, message: string) {
  const { body } = await api.collaborators.share({ params: { id }, body: { recipients, role, message: message.trim() || null } });
  // Whoever has asked for access and is given it does not wait any longer.
  changed(`collaborators:${id}`, 'requests:');
  return body.results;
}

/** Who has not signed in yet has no access that could change; and a plan names people by an address. */
function canSimulate({ pending, email }: Holder): boolean {
  return !pending && email !== null;
}

interface HolderChange<T> {
  readonly id: string;
  readonly holder: Holder;
  readonly role: GivenRole | null;
  readonly title: string;
  readonly action: string;
  readonly make: (revision?: string) => Promise<T>;
}

function changeHolder<T>({ id, holder, role, title, action, make }: HolderChange<T>): Promise<T | undefined> {
  if (!canSimulate(holder)) {
    return optimistic(
      () => undefined,
      () => make(),
    );
  }
  const plan = { collaborator: { email: keyOfHolder(holder), role } };
  return changeAccess({ artifactId: id, plan, title, action, make });
}

export async function setHolderRole(id: string, holder: Holder, role: GivenRole): Promise<void> {
  const { share, planned } = words.value;
  const who = keyOfHolder(holder);
  const name = nameOfHolder(holder);
  const done = await changeHolder({
    ...{ id, holder, role },
    title: planned.role(name, share.role[role]),
    action: planned.change,
    make: (ifMatch) => {
      const undo = showHolders(id, (items) => items.map((one) => (keyOfHolder(one) === who ? { ...one, role } : one)));
      return undoing(undo, api.collaborators.update({ params: { id, email: who }, body: { role }, ifMatch }));
    },
  });
  changed(`collaborators:${id}`);
  if (done !== undefined) tell(share.isNow(name, share.role[role]));
}

/** Answers whether they are removed. */
export async function removeHolder(id: string, holder: Holder & { readonly role: GivenRole }): Promise<boolean> {
  const { share, app, planned } = words.value;
  const who = keyOfHolder(holder);
  const name = nameOfHolder(holder);
  const done = await changeHolder({
    ...{ id, holder, role: null },
    title: planned.remove(name),
    action: planned.removeAction,
    make: (ifMatch) => {
      const undo = showHolders(id, (items) => items.filter((one) => keyOfHolder(one) !== who));
      return undoing(undo, api.collaborators.remove({ params: { id, email: who }, ifMatch }));
    },
  });
  changed(`collaborators:${id}`);
  if (done === undefined) return false;
  const { remaining_role: remaining } = done.body;
  const { email, role } = holder;
  const back = email === null ? undefined : { label: app.undo, run: () => void giveBack(id, { email, role, name }) };
  tell(remaining === null ? share.removed(name) : share.stillHas(name, share.role[remaining]), back);
  return true;
}

interface Removed {
  readonly email: string;
  readonly role: GivenRole;
  readonly name: string;
}

/** Without a mail: they have had one. */
async function giveBack(id: string, { email, role, name }: Removed): Promise<void> {
  const done = await optimistic(
    () => undefined,
    () => api.collaborators.add({ params: { id }, body: { emails: [email], role } }),
  );
  changed(`collaborators:${id}`);
  if (done !== undefined) tell(words.value.share.givenBack(name));
}

export function nameOfRequester({ requester_name, requester_email }: AccessRequest): string {
  return requester_name ?? requester_email ?? words.value.share.somebody;
}

export async function decideRequest(request: AccessRequest, action: 'approve' | 'deny'): Promise<void> {
  const { id: requestId, artifact_id } = request;
  const undo = showAtOnce<PageOf<AccessRequest>>('requests:', (page) => ({
    ...page,
    items: page.items.filter(({ id }) => id !== requestId),
  }));
  const done = await optimistic(undo, () => api.accessRequests.decide({ params: { requestId }, body: { action } }));
  changed('requests:', `collaborators:${artifact_id}`);
  const { share } = words.value;
  const name = nameOfRequester(request);
  if (done !== undefined) tell(action === 'approve' ? share.approved(name) : share.denied(name));
}
