/** The parts of a workspace. Those for owners and admins are shown to them alone. */
import { useLocation } from 'preact-iso/router';
import { useImports } from '../../state/imports.ts';
import { mayManage, seatIn } from '../../state/place.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { words } from '../../words/words.ts';

export type WorkspacePart =
  | 'assets'
  | 'people'
  | 'skills'
  | 'approvals'
  | 'catalog'
  | 'connections'
  | 'imports'
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
  { id: 'imports', icon: 'down', isManaged: false },
  { id: 'external', icon: 'globe', isManaged: true },
  { id: 'agents', icon: 'robot', isManaged: true },
  { id: 'hooks', icon: 'send', isManaged: true },
  { id: 'audit', icon: 'list', isManaged: true },
  { id: 'settings', icon: 'gear', isManaged: true },
];

export function WorkspaceTabs({ slug }: { readonly slug: string }) {
  const { nav } = words.value;
  const shown = PARTS.filter(({ isManaged }) => !isManaged || mayManage(slug));
  return (
    <nav class="tabs" aria-label={slug}>
      {shown.map(({ id, icon }) => {
        const tab = { href: id === 'overview' ? `/w/${slug}` : `/w/${slug}/${id}`, icon, label: nav[id], isHome: id === 'overview' };
        if (id !== 'imports') return <Tab key={id} {...tab} />;
        return seatIn(slug) !== undefined && <ImportsTab key={id} slug={slug} {...tab} />;
      })}
    </nav>
  );
}

interface TabProps {
  readonly href: string;
  readonly icon: IconName;
  readonly label: string;
  readonly isHome: boolean;
}

function Tab({ href, icon, label, isHome }: TabProps) {
  const { path } = useLocation();
  return (
    <a class="tab" href={href} aria-current={path === href || (!isHome && path.startsWith(`${href}/`)) ? 'page' : undefined}>
      <Icon name={icon} size={16} />
      {label}
    </a>
  );
}

/** Imports are hidden where the installation has no drives, or the plan of the workspace no imports: spec.md, "File imports". */
function ImportsTab({ slug, ...tab }: TabProps & { readonly slug: string }) {
  const { data } = useImports(slug);
  return data === undefined || (data.providers.length === 0 && data.sources.length === 0) ? null : <Tab {...tab} />;
}
