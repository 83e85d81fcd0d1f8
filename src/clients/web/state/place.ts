/** A place that holds pages, and its address in the app. */
import { me } from './session.ts';

export type Place =
  | { readonly kind: 'mine' | 'favorites'; readonly folderId?: undefined }
  | { readonly kind: 'folder'; readonly folderId: string }
  | { readonly kind: 'workspace'; readonly slug: string; readonly folderId?: string | undefined };

function addressOf(place: Place): string {
  switch (place.kind) {
    case 'mine':
      return '/';
    case 'favorites':
      return '/my/favorites';
    case 'folder':
      return `/my/folders/${place.folderId}`;
    case 'workspace':
      return place.folderId === undefined ? `/w/${place.slug}` : `/w/${place.slug}/folders/${place.folderId}`;
    default:
      return place satisfies never;
  }
}

export function keyOf(place: Place): string {
  return place.kind === 'mine' || place.kind === 'favorites' ? place.kind : addressOf(place);
}

export function seatIn(slugOrId: string) {
  return me.value?.workspaces.find(({ id, slug }) => id === slugOrId || slug === slugOrId);
}

/** Owners, admins and billing managers see and change what a workspace pays. */
export function mayPay(slug: string): boolean {
  return mayManage(slug) || seatIn(slug)?.billing_manager === true;
}

export function mayManage(slug: string): boolean {
  const role = seatIn(slug)?.role;
  return role === 'owner' || role === 'admin';
}
