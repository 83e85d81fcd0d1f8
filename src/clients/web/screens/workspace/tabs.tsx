/** The parts of a workspace. Those for owners and admins are shown to them alone, what it pays to billing managers too. */
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useImports } from '../../state/imports.ts';
import { mayManage, mayPay, seatIn } from '../../state/place.ts';
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
  | 'billing'
  | 'settings';

type Who = 'all' | 'managers' | 'payers';

function isShown(who: Who, slug: string): boolean {
  return who === 'all' || (who === 'payers' ? mayPay(slug) : mayManage(slug));
}

const PARTS: readonly { readonly id: WorkspacePart | 'overview'; readonly icon: IconName; readonly who: Who }[] = [
  { id: 'overview', icon: 'pages', who: 'all' },
  { id: 'assets', icon: 'image', who: 'all' },
  { id: 'people', icon: 'people', who: 'all' },
  { id: 'skills', icon: 'book', who: 'all' },
  { id: 'approvals', icon: 'stamp', who: 'all' },
  { id: 'catalog', icon: 'table', who: 'all' },
  { id: 'connections', icon: 'link', who: 'all' },
  { id: 'imports', icon: 'down', who: 'all' },
  { id: 'external', icon: 'globe', who: 'managers' },
  { id: 'agents', icon: 'robot', who: 'managers' },
  { id: 'hooks', icon: 'send', who: 'managers' },
  { id: 'audit', icon: 'list', who: 'managers' },
  { id: 'billing', icon: 'card', who: 'payers' },
  { id: 'settings', icon: 'gear', who: 'managers' },
];

export function WorkspaceTabs({ slug }: { readonly slug: string }) {
  const { nav } = words.value;
  const shown = PARTS.filter(({ who }) => isShown(who, slug));
  return (
    <nav class="tabs is-line" aria-label={slug}>
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
  const tab = useRef<HTMLAnchorElement>(null);
  const isHere = path === href || (!isHome && path.startsWith(`${href}/`));
  // On phones the row of tabs is wider than the window.
  useEffect(() => {
    if (isHere) tab.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [isHere]);
  return (
    <a class="tab" ref={tab} href={href} aria-current={isHere ? 'page' : undefined}>
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
