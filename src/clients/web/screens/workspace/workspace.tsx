/** The parts of a workspace that are not its pages. */
import type { ComponentType } from 'preact';
import { mayManage, seatIn } from '../../state/place.ts';
import { useTitle } from '../../state/window.ts';
import { Head } from '../../ui/small.tsx';
import { Empty } from '../../ui/states.tsx';
import { words } from '../../words/words.ts';
import { AssetsPart } from '../assets/assets-part.tsx';
import { BillingPart } from '../billing/billing-part.tsx';
import { HooksPart } from '../hooks/hooks-part.tsx';
import { NotFound } from '../not-found.tsx';
import { AgentsPart } from './agents-part.tsx';
import { ApprovalsPart } from './approvals-part.tsx';
import { AuditPart } from './audit-part.tsx';
import { CatalogPart } from './catalog/catalog-part.tsx';
import { EntryScreen } from './catalog/entry-screen.tsx';
import { ConnectionsPart } from './connections-part.tsx';
import { ExternalPart } from './external/external-part.tsx';
import { ShareeScreen } from './external/sharee-screen.tsx';
import { ImportsPart } from './imports/imports-part.tsx';
import { SourceScreen } from './imports/source-screen.tsx';
import { PeoplePart } from './people-part.tsx';
import { WorkspaceSettingsPart } from './settings-part.tsx';
import { SkillsPart } from './skills/skills-part.tsx';
import { type WorkspacePart, WorkspaceTabs } from './tabs.tsx';

interface PartProps {
  readonly slug: string;
  /** The skill whose dialog is open. */
  readonly skillId?: string | undefined;
}

function WorkspaceHooks({ slug }: PartProps) {
  const seat = seatIn(slug);
  return seat === undefined ? null : <HooksPart of={{ workspace_id: seat.id }} />;
}

const PARTS: Readonly<Record<WorkspacePart, { readonly Part: ComponentType<PartProps>; readonly isManaged: boolean }>> = {
  assets: { Part: AssetsPart, isManaged: false },
  people: { Part: PeoplePart, isManaged: false },
  skills: { Part: SkillsPart, isManaged: false },
  approvals: { Part: ApprovalsPart, isManaged: false },
  catalog: { Part: CatalogPart, isManaged: false },
  connections: { Part: ConnectionsPart, isManaged: false },
  imports: { Part: ImportsPart, isManaged: false },
  external: { Part: ExternalPart, isManaged: true },
  agents: { Part: AgentsPart, isManaged: true },
  hooks: { Part: WorkspaceHooks, isManaged: true },
  audit: { Part: AuditPart, isManaged: true },
  // Members who do not pay see what the plan allows.
  billing: { Part: BillingPart, isManaged: false },
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
  /** One entry of the catalog in place of a part. */
  readonly entryId?: string;
  /** One skill above the list of them. */
  readonly skillId?: string;
  /** One source of files in place of a part. */
  readonly sourceId?: string;
}

export function WorkspaceScreen({ slug = '', part = '', shareeId, entryId, skillId, sourceId }: WorkspaceScreenProps) {
  if (sourceId !== undefined) return <SourceScreen key={sourceId} slug={slug} sourceId={sourceId} />;
  if (entryId !== undefined) return <EntryScreen key={entryId} slug={slug} entryId={entryId} />;
  if (shareeId !== undefined) return <ShareeScreen slug={slug} shareeId={shareeId} />;
  return <PartScreen slug={slug} part={skillId === undefined ? part : 'skills'} skillId={skillId} />;
}

function PartScreen({ slug, part, skillId }: PartProps & { readonly part: string }) {
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
      {isManaged && !mayManage(slug) ? (
        <Empty icon="lock" {...workspace.forbidden} />
      ) : (
        <Part key={slug} slug={seat.slug} skillId={skillId} />
      )}
    </>
  );
}
