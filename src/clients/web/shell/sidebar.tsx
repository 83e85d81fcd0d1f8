/** Where everything is: one's own places, what was starred and opened, and each workspace with its folders. */
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { FolderDialog } from '../screens/folder-dialog.tsx';
import { WorkspaceDialog } from '../screens/workspace-dialog.tsx';
import { type AnyFolder, useArtifacts, useFolders, useUnread } from '../state/loads.ts';
import { opened } from '../state/prefs.ts';
import { me } from '../state/session.ts';
import { IconButton } from '../ui/button.tsx';
import { dropTarget } from '../ui/drag.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { OfflineNote } from '../ui/offline.tsx';
import { Avatar } from '../ui/small.tsx';
import { words } from '../words/words.ts';

const FAVORITES_SHOWN = 8;
const OPENED_SHOWN = 5;

interface PlaceLinkProps {
  readonly href: string;
  readonly icon: IconName;
  readonly label: string;
  readonly count?: number;
  readonly depth?: number;
  readonly drop?: ReturnType<typeof dropTarget>;
}

function PlaceLink({ href, icon, label, count, depth = 0, drop }: PlaceLinkProps) {
  const { path } = useLocation();
  return (
    <a class={`place depth-${Math.min(depth, 4)}`} href={href} aria-current={path === href ? 'page' : undefined} {...drop}>
      <Icon name={icon} size={17} />
      <span class="place-name">{label}</span>
      {count !== undefined && count > 0 && <span class="place-count">{count}</span>}
    </a>
  );
}

export function Sidebar({ onClose }: { readonly onClose: () => void }) {
  const [isMaking, setMaking] = useState(false);
  const { nav } = words.value;
  const workspaces = me.value?.workspaces ?? [];
  return (
    <nav class="sidebar" aria-label={nav.label}>
      <a class="brand" href="/">
        <img src="/_app/icon.svg" alt="" width="24" height="24" />
        Easel
      </a>
      <IconButton icon="close" class="drawer-close" label={nav.close} onClick={onClose} />
      <OfflineNote />
      <div class="places">
        <PlaceLink href="/" icon="pages" label={nav.mine} drop={dropTarget('mine', null)} />
        <PlaceLink href="/ask" icon="comment" label={words.value.ask.title} />
        <InboxPlace />
        <PlaceLink href="/my/favorites" icon="star" label={nav.favorites} />
        <PlaceLink href="/my/files" icon="image" label={words.value.assets.mine} />
        <PlaceLink href="/my/shared" icon="people" label={words.value.sharedWithMe.nav} />
        <PlaceLink href="/my/trash" icon="trash" label={nav.trash} />
      </div>
      <FolderPlaces place="mine" base="/my/folders" />
      <Starred />
      <Recent />
      <div class="places">
        <div class="places-head">
          <h2>{nav.workspaces}</h2>
          <IconButton icon="plus" label={nav.newWorkspace} onClick={() => setMaking(true)} />
        </div>
        {workspaces.map(({ id, slug, name }) => (
          <WorkspacePlaces key={id} slug={slug} name={name} />
        ))}
        {workspaces.length === 0 && (
          <button type="button" class="place is-soft" onClick={() => setMaking(true)}>
            <Icon name="plus" size={17} />
            <span class="place-name">{nav.newWorkspace}</span>
          </button>
        )}
      </div>
      {isMaking && <WorkspaceDialog onClose={() => setMaking(false)} />}
    </nav>
  );
}

/** Beyond this the number says nothing more. */
const UNREAD_SHOWN_MAX = 99;

function InboxPlace() {
  const { path } = useLocation();
  const { data: unread = 0 } = useUnread();
  const { inbox } = words.value;
  return (
    <a class="place" href="/my/inbox" aria-current={path === '/my/inbox' ? 'page' : undefined}>
      <Icon name="inbox" size={17} />
      <span class="place-name">{inbox.title}</span>
      {unread > 0 && (
        <span class="place-count is-new">
          {unread > UNREAD_SHOWN_MAX ? `${UNREAD_SHOWN_MAX}+` : unread}
          <span class="unseen"> {inbox.unreadCount}</span>
        </span>
      )}
    </a>
  );
}

interface FolderPlacesProps {
  /** `mine`, or the slug of a workspace. */
  readonly place: string;
  readonly base: string;
}

interface Branch {
  readonly folder: AnyFolder;
  readonly depth: number;
}

/** The folders in the order of a tree, each below the one that it is in. */
export function branchesOf(folders: readonly AnyFolder[], parent: string | null = null, depth = 0): readonly Branch[] {
  return folders
    .filter((folder) => folder.parent_id === parent)
    .flatMap((folder) => [{ folder, depth }, ...branchesOf(folders, folder.id, depth + 1)]);
}

function FolderPlaces({ place, base }: FolderPlacesProps) {
  const folders = useFolders(place);
  const [isMaking, setMaking] = useState(false);
  const { nav, folders: said } = words.value;
  return (
    <div class="places">
      <div class="places-head">
        <h2>{nav.folders}</h2>
        <IconButton icon="plus" label={said.make} onClick={() => setMaking(true)} />
      </div>
      {branchesOf(folders.data ?? []).map(({ folder, depth }) => (
        <PlaceLink
          key={folder.id}
          href={`${base}/${folder.id}`}
          icon="folder"
          label={folder.name}
          count={folder.artifact_count}
          depth={depth}
          drop={dropTarget(place, folder)}
        />
      ))}
      {folders.data?.length === 0 && (
        <button type="button" class="place is-soft" onClick={() => setMaking(true)}>
          <Icon name="plus" size={17} />
          <span class="place-name">{said.make}</span>
        </button>
      )}
      {isMaking && <FolderDialog place={place} onClose={() => setMaking(false)} />}
    </div>
  );
}

function Starred() {
  const { items = [] } = useArtifacts({ kind: 'favorites' }, '');
  if (items.length === 0) return null;
  return (
    <div class="places">
      <div class="places-head">
        <h2>{words.value.nav.favorites}</h2>
      </div>
      {items.slice(0, FAVORITES_SHOWN).map(({ id, name }) => (
        <PlaceLink key={id} href={`/p/${id}`} icon="page" label={name} />
      ))}
    </div>
  );
}

function Recent() {
  const { items: starred = [] } = useArtifacts({ kind: 'favorites' }, '');
  const shown = opened.value.filter(({ id }) => !starred.some((one) => one.id === id)).slice(0, OPENED_SHOWN);
  if (shown.length === 0) return null;
  return (
    <div class="places">
      <div class="places-head">
        <h2>{words.value.nav.recent}</h2>
      </div>
      {shown.map(({ id, name }) => (
        <PlaceLink key={id} href={`/p/${id}`} icon="clock" label={name} />
      ))}
    </div>
  );
}

/** Workspaces that are unfolded in the sidebar, beside the one that is looked at. */
const unfolded = signal<ReadonlySet<string>>(new Set());

function WorkspacePlaces({ slug, name }: { readonly slug: string; readonly name: string }) {
  const { path } = useLocation();
  const isHere = path === `/w/${slug}` || path.startsWith(`/w/${slug}/`);
  const isShown = isHere || unfolded.value.has(slug);
  const { nav } = words.value;
  const toggle = () => {
    const next = new Set(unfolded.value);
    if (!next.delete(slug)) next.add(slug);
    unfolded.value = next;
  };
  return (
    <>
      <div class="place-row">
        <a class="place" href={`/w/${slug}`} aria-current={path === `/w/${slug}` ? 'page' : undefined}>
          <Avatar name={name} isSquare />
          <span class="place-name">{name}</span>
        </a>
        {!isHere && (
          <button
            type="button"
            class={`fold${isShown ? ' is-open' : ''}`}
            aria-expanded={isShown}
            aria-label={isShown ? nav.hide(name) : nav.show(name)}
            onClick={toggle}
          >
            <Icon name="right" size={15} />
          </button>
        )}
      </div>
      {isShown && <WorkspaceFolders slug={slug} />}
    </>
  );
}

function WorkspaceFolders({ slug }: { readonly slug: string }) {
  const folders = useFolders(slug);
  return (
    <>
      {branchesOf(folders.data ?? []).map(({ folder, depth }) => (
        <PlaceLink
          key={folder.id}
          href={`/w/${slug}/folders/${folder.id}`}
          icon={folder.visibility === 'private' ? 'lock' : 'folder'}
          label={folder.name}
          count={folder.artifact_count}
          depth={depth + 1}
          drop={dropTarget(slug, folder)}
        />
      ))}
    </>
  );
}
