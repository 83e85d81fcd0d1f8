/** The parts of a workspace that are not its pages. */
import type { ComponentType } from 'preact';
import { mayManage, seatIn } from '../../state/place.ts';
import { useTitle } from '../../state/window.ts';
import { Head } from '../../ui/small.tsx';
import { Empty } from '../../ui/states.tsx';
import { words } from '../../words/words.ts';
import { NotFound } from '../not-found.tsx';
import { AgentsPart } from './agents-part.tsx';
import { ApprovalsPart } from './approvals-part.tsx';
import { AuditPart } from './audit-part.tsx';
import { ExternalPart } from './external/external-part.tsx';
import { ShareeScreen } from './external/sharee-screen.tsx';
import { PeoplePart } from './people-part.tsx';
import { WorkspaceSettingsPart } from './settings-part.tsx';
import { type WorkspacePart, WorkspaceTabs } from './tabs.tsx';

interface PartProps {
  readonly slug: string;
}

const PARTS: Readonly<Record<WorkspacePart, { readonly Part: ComponentType<PartProps>; readonly isManaged: boolean }>> = {
  people: { Part: PeoplePart, isManaged: false },
  approvals: { Part: ApprovalsPart, isManaged: false },
  external: { Part: ExternalPart, isManaged: true },
  agents: { Part: AgentsPart, isManaged: true },
  audit: { Part: AuditPart, isManaged: true },
  settings: { Part: WorkspaceSettingsPart, isManaged: true },
};

function isPart(part: string): part is WorkspacePart {
  return Object.hasOwn(PARTS, part);
}

interface WorkspaceScreenProps {
  readonly slug?: string;
  readonly part?: string;
  /** One client organisation in place of a part. */
  readonly shareeId?: string;
}

export function WorkspaceScreen({ slug = '', part = '', shareeId }: WorkspaceScreenProps) {
  return shareeId === undefined ? <PartScreen slug={slug} part={part} /> : <ShareeScreen slug={slug} shareeId={shareeId} />;
}

function PartScreen({ slug, part }: { readonly slug: string; readonly part: string }) {
  const { workspace, nav } = words.value;
  const seat = seatIn(slug);
  useTitle(seat === undefined ? workspace.missing.title : `${isPart(part) ? nav[part] : ''} · ${seat.name}`);
  if (!isPart(part)) return <NotFound />;
  if (seat === undefined) return <Empty icon="search" {...workspace.missing} />;
  const { Part, isManaged } = PARTS[part];
  return (
    <>
      <Head title={seat.name} />
      <WorkspaceTabs slug={seat.slug} />
      {isManaged && !mayManage(slug) ? <Empty icon="lock" {...workspace.forbidden} /> : <Part key={slug} slug={seat.slug} />}
    </>
  );
}
