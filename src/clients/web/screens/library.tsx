/** Pages as cards: one's own, the starred, those of a folder or of a workspace. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Artifact } from '../api/client.ts';
import { here, openPublish } from '../publish/state.ts';
import { deleteFolder } from '../state/changes.ts';
import { type AnyFolder, useArtifacts, useFolders } from '../state/loads.ts';
import type { Pages } from '../state/pages.ts';
import { keyOf, mayManage, type Place, seatIn } from '../state/place.ts';
import { chooseSort, SORTS, sortOf } from '../state/prefs.ts';
import { me } from '../state/session.ts';
import { useTitle } from '../state/window.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { dropTarget } from '../ui/drag.ts';
import { SearchField, SelectField } from '../ui/fields.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { Head } from '../ui/small.tsx';
import { Empty, ProblemState, Skeleton } from '../ui/states.tsx';
import { words } from '../words/words.ts';
import { ArtifactCard } from './artifact-card.tsx';
import { FolderDialog } from './folder-dialog.tsx';
import { More } from './more.tsx';
import { IncomingRequests } from './share/requests.tsx';
import { WorkspaceTabs } from './workspace/tabs.tsx';

const TYPING_MS = 200;

/** `mine`, or the slug of the workspace: whose folders belong to the place. Null for favourites, which are from everywhere. */
function folderHome(place: Place): string | null {
  if (place.kind === 'favorites') return null;
  return place.kind === 'workspace' ? place.slug : 'mine';
}

export function LibraryScreen({ place }: { readonly place: Place }) {
  return <Library key={keyOf(place)} place={place} />;
}

function Library({ place }: { readonly place: Place }) {
  const [typed, setTyped] = useState('');
  const [containing, setContaining] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setContaining(typed.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const home = folderHome(place);
  const key = keyOf(place);
  const pages = useArtifacts(place, containing, sortOf(key));
  const folders = useFolders(home ?? 'mine');
  const folderId = place.kind === 'folder' || place.kind === 'workspace' ? place.folderId : undefined;
  const folder = folders.data?.find(({ id }) => id === folderId);
  const title = useNameOf(place, folder);
  useTitle(title);
  useEffect(() => {
    here.value = { ...(place.kind === 'workspace' && { workspace: place.slug }), ...(folderId !== undefined && { folderId }) };
    return () => {
      here.value = {};
    };
  }, [place, folderId]);
  const below = home === null || containing !== '' ? [] : (folders.data ?? []).filter(({ parent_id }) => parent_id === (folderId ?? null));
  const { library } = words.value;
  const isBare = pages.items?.length === 0 && below.length === 0 && typed === '';
  // What orders or narrows the list stays, with the focus, while that is loaded anew.
  const hadControls = useRef(false);
  const hasControls = !isBare && (pages.items !== undefined || hadControls.current);
  hadControls.current = hasControls;
  return (
    <>
      <Head
        title={title}
        above={folderId !== undefined && home !== null && <Crumbs home={home} folder={folder} folders={folders.data ?? []} />}
      >
        {hasControls && <SearchField label={library.filter} value={typed} onText={setTyped} />}
        {hasControls && <SortChoice place={key} />}
        {home !== null && <NewFolder home={home} parentId={folderId} />}
        {folder !== undefined && home !== null && <FolderMenu home={home} folder={folder} />}
      </Head>
      {place.kind === 'workspace' && place.folderId === undefined && <WorkspaceTabs slug={place.slug} />}
      {place.kind === 'mine' && <IncomingRequests />}
      {below.length > 0 && home !== null && <Folders home={home} folders={below} />}
      <Cards place={place} pages={pages} containing={containing} isBelow={below.length > 0} />
    </>
  );
}

/** The order is kept for each place by itself. */
function SortChoice({ place }: { readonly place: string }) {
  const { library } = words.value;
  return (
    <span class="sort">
      <SelectField
        label={library.sort}
        hideLabel
        value={sortOf(place)}
        options={SORTS.map((value) => ({ value, label: library.sorts[value] }))}
        onChoose={(sort) => chooseSort(place, sort)}
      />
    </span>
  );
}

function useNameOf(place: Place, folder: AnyFolder | undefined): string {
  const { library, folders } = words.value;
  if (place.kind === 'mine') return library.mine;
  if (place.kind === 'favorites') return library.favorites;
  if (place.folderId !== undefined) return folder?.name ?? library.inFolder;
  return place.kind === 'workspace' ? (seatIn(place.slug)?.name ?? place.slug) : folders.none;
}

function baseOf(home: string): string {
  return home === 'mine' ? '/my/folders' : `/w/${home}/folders`;
}

interface CrumbsProps {
  readonly home: string;
  readonly folder: AnyFolder | undefined;
  readonly folders: readonly AnyFolder[];
}

function Crumbs({ home, folder, folders }: CrumbsProps) {
  const above: AnyFolder[] = [];
  for (let at = folder; at?.parent_id; ) {
    const { parent_id } = at;
    at = folders.find(({ id }) => id === parent_id);
    if (at !== undefined) above.unshift(at);
  }
  const start = home === 'mine' ? { href: '/', name: words.value.nav.mine } : { href: `/w/${home}`, name: seatIn(home)?.name ?? home };
  return (
    <nav class="crumbs" aria-label={words.value.folders.in}>
      <a href={start.href}>{start.name}</a>
      {above.map(({ id, name }) => (
        <a key={id} href={`${baseOf(home)}/${id}`}>
          {name}
        </a>
      ))}
    </nav>
  );
}

function NewFolder({ home, parentId }: { readonly home: string; readonly parentId: string | undefined }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button icon="folder" onClick={() => setOpen(true)}>
        {words.value.folders.make}
      </Button>
      {isOpen && <FolderDialog place={home} parentId={parentId} onClose={() => setOpen(false)} />}
    </>
  );
}

function FolderMenu({ home, folder }: { readonly home: string; readonly folder: AnyFolder }) {
  const { route } = useLocation();
  const [dialog, setDialog] = useState<'rename' | 'delete'>();
  const { app, folders } = words.value;
  const items = () => [
    { label: folders.rename, icon: 'pen' as const, run: () => setDialog('rename') },
    { label: folders.delete, icon: 'trash' as const, isDanger: true, run: () => setDialog('delete') },
  ];
  const above = folder.parent_id === null ? (home === 'mine' ? '/' : `/w/${home}`) : `${baseOf(home)}/${folder.parent_id}`;
  return (
    <>
      <Menu label={app.actions(folder.name)} items={items} class="btn-icon is-framed" />
      {dialog === 'rename' && <FolderDialog place={home} folder={folder} onClose={() => setDialog(undefined)} />}
      {dialog === 'delete' && (
        <Confirm
          title={folders.delete}
          text={folders.deleteText}
          action={folders.delete}
          onClose={() => setDialog(undefined)}
          onConfirm={() => void deleteFolder(home, folder).then((isDone) => isDone && route(above))}
        />
      )}
    </>
  );
}

function Folders({ home, folders }: { readonly home: string; readonly folders: readonly AnyFolder[] }) {
  const { library, folders: said } = words.value;
  return (
    <section aria-label={library.sections.folders}>
      <ul class="folders">
        {folders.map((folder) => (
          <li key={folder.id}>
            <a class="folder-card" href={`${baseOf(home)}/${folder.id}`} draggable={false} {...dropTarget(home, folder)}>
              <Icon name={folder.visibility === 'private' ? 'lock' : 'folder'} size={20} />
              <span class="grow">
                <span class="folder-name">{folder.name}</span>
                <span class="folder-count">{said.pages(folder.artifact_count)}</span>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface CardsProps {
  readonly place: Place;
  readonly pages: Pages<Artifact>;
  readonly containing: string;
  readonly isBelow: boolean;
}

function Cards({ place, pages, containing, isBelow }: CardsProps) {
  const { library, workspace } = words.value;
  const mine = me.value?.user?.id;
  const { items, problem } = pages;
  if (items === undefined) {
    if (problem === undefined) return <Skeleton shape="card" count={8} />;
    return <ProblemState problem={problem} onRetry={pages.reload} missing={workspace.missing} />;
  }
  if (items.length === 0) {
    if (isBelow && containing === '') return null;
    return <NoCards place={place} containing={containing} />;
  }
  return (
    <section aria-label={library.sections.pages}>
      <ul class="cards">
        {items.map((artifact) => (
          <ArtifactCard
            key={artifact.id}
            artifact={artifact}
            mayChange={mayChange(artifact, mine)}
            from={place.kind === 'workspace' ? undefined : homeOf(artifact)}
          />
        ))}
      </ul>
      <More pages={pages} />
    </section>
  );
}

function homeOf({ workspace_id }: Artifact): string | undefined {
  return workspace_id === null ? undefined : seatIn(workspace_id)?.name;
}

/** Whether the menu offers changes; the server decides, and linked accounts own under several ids. */
function mayChange(artifact: Artifact, mine: string | undefined): boolean {
  if (artifact.owner_id === mine || artifact.workspace_id === null) return true;
  return mayManage(artifact.workspace_id);
}

function NoCards({ place, containing }: { readonly place: Place; readonly containing: string }) {
  const { library, nav } = words.value;
  if (containing !== '') return <Empty icon="search" {...library.empty.filtered(containing)} />;
  if (place.kind === 'favorites') return <Empty icon="star" {...library.empty.favorites} />;
  const kind = place.kind === 'mine' ? 'mine' : place.folderId !== undefined ? 'folder' : 'workspace';
  const target = place.kind === 'workspace' ? ` --workspace ${place.slug}` : '';
  const login = kind === 'mine' ? `npx easel login --url ${location.origin}\n` : '';
  return (
    <Empty icon={kind === 'folder' ? 'folder' : 'up'} {...library.empty[kind]} command={`${login}npx easel publish ./my-site${target}`}>
      <Button look="main" icon="up" onClick={() => openPublish()}>
        {nav.publish}
      </Button>
    </Empty>
  );
}
