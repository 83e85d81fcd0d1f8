/** Who is signed in. The document is only served to a session, so that the first answer says who it is. */
import { signal } from '@preact/signals';
import { api, type Me, whenSignedOut } from '../api/client.ts';

export const me = signal<Me | undefined>(undefined);

export function myId(): string {
  return me.value?.user?.id ?? '';
}

/** Administers the installation. */
export function isAdmin(): boolean {
  return me.value?.is_admin === true;
}

export function shownName({ user }: Me): string {
  return user?.name ?? user?.email ?? user?.username ?? user?.id ?? '';
}

export async function loadMe(): Promise<void> {
  me.value = (await api.accounts.me()).body;
}

/** After the sign-in the browser comes back to where it was. */
function toSignIn(): void {
  location.assign(`/sign-in?return_to=${encodeURIComponent(location.pathname + location.search)}`);
}

whenSignedOut(toSignIn);
