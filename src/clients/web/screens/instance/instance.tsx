/** The installation, for its administrators. Everybody else gets the screen of what is not there; the server refuses them anyway. */
import type { ComponentType } from 'preact';
import { useLocation } from 'preact-iso/router';
import { isAdmin } from '../../state/session.ts';
import { useTitle } from '../../state/window.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Head } from '../../ui/small.tsx';
import { instanceWords } from '../../words/instance-words.ts';
import { NotFound } from '../not-found.tsx';
import { AuditPart } from './audit-part.tsx';
import type { PartProps } from './common.tsx';
import { DataPart } from './data-part.tsx';
import { FlagsPart } from './flags-part.tsx';
import { MailPart } from './mail-part.tsx';
import { OverviewPart } from './overview-part.tsx';
import { PagesPart } from './pages-part.tsx';
import { PeoplePart } from './people-part.tsx';
import { WorkPart } from './work-part.tsx';
import { WorkspacesPart } from './workspaces-part.tsx';

const PARTS = {
  overview: { Part: OverviewPart, icon: 'screen' },
  people: { Part: PeoplePart, icon: 'people' },
  workspaces: { Part: WorkspacesPart, icon: 'folder' },
  pages: { Part: PagesPart, icon: 'pages' },
  data: { Part: DataPart, icon: 'zip' },
  mail: { Part: MailPart, icon: 'mail' },
  work: { Part: WorkPart, icon: 'clock' },
  flags: { Part: FlagsPart, icon: 'gear' },
  audit: { Part: AuditPart, icon: 'list' },
} as const satisfies Readonly<Record<string, { readonly Part: ComponentType<PartProps>; readonly icon: IconName }>>;
type PartName = keyof typeof PARTS;
const PART_NAMES = Object.keys(PARTS).filter(isPart);

function isPart(part: string): part is PartName {
  return Object.hasOwn(PARTS, part);
}

export function InstanceScreen({ part = 'overview' }: { readonly part?: string }) {
  return isAdmin() && isPart(part) ? <PartScreen part={part} /> : <NotFound />;
}

function PartScreen({ part }: { readonly part: PartName }) {
  const { query } = useLocation();
  const { title, text, tabs } = instanceWords.value;
  useTitle(`${tabs[part]} · ${title}`);
  const { Part }: { readonly Part: ComponentType<PartProps> } = PARTS[part];
  const { q = '', owner } = query;
  return (
    <>
      <Head title={title} text={text} />
      <nav class="tabs" aria-label={title}>
        {PART_NAMES.map((name) => (
          <a
            key={name}
            class="tab"
            href={name === 'overview' ? '/instance' : `/instance/${name}`}
            aria-current={name === part ? 'page' : undefined}
          >
            <Icon name={PARTS[name].icon} size={16} />
            {tabs[name]}
          </a>
        ))}
      </nav>
      <Part key={`${part}:${q}:${owner ?? ''}`} q={q} owner={owner} />
    </>
  );
}
