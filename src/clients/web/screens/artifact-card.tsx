/** One page as a card: its picture, its name, who may see it, and what can be done with it from afar. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Artifact } from '../api/client.ts';
import { setFavorite, trashArtifact } from '../state/changes.ts';
import { tell } from '../state/toasts.ts';
import { copyText } from '../ui/copy.tsx';
import { dragSource } from '../ui/drag.ts';
import { Icon } from '../ui/icon.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import { PagePicture } from '../ui/page-picture.tsx';
import { Time, VISIBILITY_ICONS } from '../ui/small.tsx';
import { words } from '../words/words.ts';
import { visitAddress } from './artifact/rights.ts';
import { MoveDialog } from './move-dialog.tsx';
import { RenameDialog } from './rename-dialog.tsx';

interface ArtifactCardProps {
  readonly artifact: Artifact;
  /** Unknown in a list, where the server decides; the menu then offers what an owner may do. */
  readonly mayChange: boolean;
  /** Where the list is not that of a workspace: the name of the one that the page belongs to. */
  readonly from?: string | undefined;
}

export function ArtifactCard({ artifact, mayChange, from }: ArtifactCardProps) {
  const [dialog, setDialog] = useState<'rename' | 'move'>();
  const { route } = useLocation();
  const { id, name, visibility, is_favorite, live_version_no, updated_at, url } = artifact;
  const { library, app } = words.value;
  const star = is_favorite ? library.unstar(name) : library.star(name);
  const items = (): readonly MenuItem[] => [
    { label: library.open(name), icon: 'right', run: () => route(`/p/${id}`) },
    ...(live_version_no === null
      ? []
      : [{ kind: 'link' as const, label: library.visit, icon: 'external' as const, href: visitAddress(artifact), opensNew: true }]),
    {
      label: library.copyAddress,
      icon: 'link',
      run: () => void copyText(url).then((isCopied) => tell(isCopied ? library.addressCopied : app.copyFailed)),
    },
    ...(mayChange
      ? [
          { kind: 'line' as const },
          { label: library.rename, icon: 'pen' as const, run: () => setDialog('rename') },
          { label: library.move, icon: 'folder' as const, run: () => setDialog('move') },
          { kind: 'line' as const },
          { label: library.trash, icon: 'trash' as const, isDanger: true, run: () => void trashArtifact(artifact) },
        ]
      : []),
  ];
  return (
    <li class="card" {...(mayChange && dragSource(artifact))}>
      <a class="card-link" href={`/p/${id}`} draggable={false}>
        <span class="card-picture">
          <PagePicture artifact={artifact} />
        </span>
        <span class="card-name">{name}</span>
      </a>
      <p class="card-facts">
        <span class="card-visibility" title={words.value.visibility[visibility].means}>
          <Icon name={VISIBILITY_ICONS[visibility]} size={14} />
          <span class={from === undefined ? undefined : 'unseen'}>{words.value.visibility[visibility].name}</span>
        </span>
        {from !== undefined && <span class="card-from">{from}</span>}
        <span class="dot" aria-hidden="true" />
        {live_version_no === null ? library.noVersion : <Time at={updated_at} />}
      </p>
      <button
        type="button"
        class={`star${is_favorite ? ' is-on' : ''}`}
        aria-pressed={is_favorite}
        aria-label={star}
        title={star}
        onClick={() => void setFavorite(artifact, !is_favorite)}
      >
        <Icon name="star" />
      </button>
      <Menu label={app.actions(name)} items={items} class="btn-icon card-menu" />
      {dialog === 'rename' && <RenameDialog artifact={artifact} onClose={() => setDialog(undefined)} />}
      {dialog === 'move' && <MoveDialog artifact={artifact} onClose={() => setDialog(undefined)} />}
    </li>
  );
}
