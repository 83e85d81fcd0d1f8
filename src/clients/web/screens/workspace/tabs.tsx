/** The parts of a workspace. Those for owners and admins are shown to them alone. */
import { useLocation } from 'preact-iso/router';
import { mayManage } from '../../state/place.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { words } from '../../words/words.ts';

export type WorkspacePart =
  | 'assets'
  | 'people'
  | 'skills'
  | 'approvals'
  | 'catalog'
  | 'connections'
  | 'external'
  | 'agents'
  | 'hooks'
  | 'audit'
  | 'settings';

const PARTS: readonly { readonly id: WorkspacePart | 'overview'; readonly icon: IconName; readonly isManaged: boolean }[] = [
  { id: 'overview', icon: 'pages', isManaged: false },
  { id: 'assets', icon: 'image', isManaged: false },
  { id: 'people', icon: 'people', isManaged: false },
  { id: 'skills', icon: 'book', isManaged: false },
  { id: 'approvals', icon: 'stamp', isManaged: false },
  { id: 'catalog', icon: 'table', isManaged: false },
  { id: 'connections', icon: 'link', isManaged: false },
  { id: 'external', icon: 'globe', isManaged: true },
  { id: 'agents', icon: 'robot', isManaged: true },
  { id: 'hooks', icon: 'send', isManaged: true },
  { id: 'audit', icon: 'list', isManaged: true },
  { id: 'settings', icon: 'gear', isManaged: true },
];

export function WorkspaceTabs({ slug }: { readonly slug: string }) {
  const { path } = useLocation();
  const { nav } = words.value;
  const shown = PARTS.filter(({ isManaged }) => !isManaged || mayManage(slug));
  return (
    <nav class="tabs" aria-label={slug}>
      {shown.map(({ id, icon }) => {
        const href = id === 'overview' ? `/w/${slug}` : `/w/${slug}/${id}`;
        return (
          <a
            key={id}
            class="tab"
            href={href}
            aria-current={path === href || (id !== 'overview' && path.startsWith(`${href}/`)) ? 'page' : undefined}
          >
            <Icon name={icon} size={16} />
            {nav[id]}
          </a>
        );
      })}
    </nav>
  );
}
