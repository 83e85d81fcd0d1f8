/** The screen of one page: its head, and the part that the tab names. */
import { useEffect } from 'preact/hooks';
import type { Artifact } from '../../api/client.ts';
import { here, openPublish } from '../../publish/state.ts';
import { setFavorite } from '../../state/changes.ts';
import { useArtifact } from '../../state/loads.ts';
import { seatIn } from '../../state/place.ts';
import { rememberOpened } from '../../state/prefs.ts';
import { myId } from '../../state/session.ts';
import { useTitle } from '../../state/window.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { PagePicture } from '../../ui/page-picture.tsx';
import { Tag, VisibilityTag } from '../../ui/small.tsx';
import { Loaded } from '../../ui/states.tsx';
import { words } from '../../words/words.ts';
import { AnswerView, type AnswerViewProps } from '../ask/answer-view.tsx';
import { HooksPart } from '../hooks/hooks-part.tsx';
import { JobsPart } from '../jobs/jobs-part.tsx';
import { LeaveButton } from '../share/leave.tsx';
import { ShareButton } from '../share/share-dialog.tsx';
import { AlertsPart } from './alerts-part.tsx';
import { ApiPart } from './api-part.tsx';
import { CommentsPart } from './comments-part.tsx';
import { DatasetsPart } from './datasets-part.tsx';
import { FilesPart } from './files-part.tsx';
import { useLiveChanges } from './live.ts';
import { MailPart } from './mail-part.tsx';
import { OverviewPart } from './overview-part.tsx';
import { mayEdit, visitAddress } from './rights.ts';
import { SettingsPart } from './settings-part.tsx';
import { VersionsPart } from './versions-part.tsx';

type Tab = 'overview' | 'versions' | 'files' | 'comments' | 'datasets' | 'jobs' | 'alerts' | 'mail' | 'hooks' | 'api' | 'settings';

const TABS: readonly (readonly [Tab, IconName])[] = [
  ['overview', 'eye'],
  ['versions', 'history'],
  ['files', 'file'],
  ['comments', 'comment'],
  ['datasets', 'table'],
  ['jobs', 'clock'],
  ['alerts', 'bell'],
  ['mail', 'mail'],
  ['hooks', 'send'],
  ['api', 'code'],
  ['settings', 'gear'],
];

const FOR_EDITORS: ReadonlySet<Tab> = new Set(['jobs', 'mail', 'hooks', 'settings']);

interface ScreenProps {
  readonly id?: string;
  readonly tab?: string;
  /** What of the part is meant: a thread of comments, a template. */
  readonly item?: string;
}

export function ArtifactScreen({ id = '', tab = 'overview', item }: ScreenProps) {
  const loaded = useArtifact(id);
  const { page } = words.value;
  const { data } = loaded;
  useTitle(data?.name ?? page.missing.title);
  useLiveChanges(id, data !== undefined);
  useEffect(() => {
    if (data === undefined) return undefined;
    rememberOpened(myId(), data);
    if (mayEdit(data)) here.value = { artifact: data };
    return () => {
      here.value = {};
    };
  }, [data]);
  return (
    <Loaded of={loaded} shape="block" missing={page.missing}>
      {(artifact) => <Screen key={id} artifact={artifact} tab={tab} item={item} />}
    </Loaded>
  );
}

/** For the palette; here, because it shares everything with the panel of a page, and what is loaded later cuts what it shares into pieces. */
export function AnswerPart(props: AnswerViewProps) {
  return <AnswerView {...props} />;
}

interface PartProps {
  readonly artifact: Artifact;
  readonly tab: string;
  readonly item: string | undefined;
}

function Screen({ artifact, tab, item }: PartProps) {
  const { page } = words.value;
  const shown = TABS.filter(([name]) => !FOR_EDITORS.has(name) || mayEdit(artifact));
  return (
    <>
      <ArtifactHead artifact={artifact} />
      <nav class="tabs" aria-label={page.tabsLabel}>
        {shown.map(([name, icon]) => (
          <a
            key={name}
            class="tab"
            href={name === 'overview' ? `/p/${artifact.id}` : `/p/${artifact.id}/${name}`}
            aria-current={name === tab ? 'page' : undefined}
          >
            <Icon name={icon} size={16} />
            {page.tabs[name]}
          </a>
        ))}
      </nav>
      <Part artifact={artifact} tab={tab} item={item} />
    </>
  );
}

function Part({ artifact, tab, item }: PartProps) {
  switch (tab) {
    case 'versions':
      return <VersionsPart artifact={artifact} />;
    case 'files':
      return <FilesPart artifact={artifact} />;
    case 'comments':
      return <CommentsPart key={item} artifact={artifact} meant={item} />;
    case 'datasets':
      return <DatasetsPart artifact={artifact} />;
    case 'jobs':
      return mayEdit(artifact) ? <JobsPart key={item} artifact={artifact} item={item} /> : <OverviewPart artifact={artifact} />;
    case 'alerts':
      return <AlertsPart key={item} artifact={artifact} item={item} />;
    case 'mail':
      return mayEdit(artifact) ? <MailPart key={item} artifact={artifact} templateId={item} /> : <OverviewPart artifact={artifact} />;
    case 'hooks':
      return mayEdit(artifact) ? <HooksPart of={{ artifact_id: artifact.id }} /> : <OverviewPart artifact={artifact} />;
    case 'api':
      return <ApiPart artifact={artifact} />;
    case 'settings':
      return mayEdit(artifact) ? <SettingsPart artifact={artifact} /> : <OverviewPart artifact={artifact} />;
    default:
      return <OverviewPart artifact={artifact} />;
  }
}

function ArtifactHead({ artifact }: { readonly artifact: Artifact }) {
  const { page, library, nav } = words.value;
  const { name, is_favorite, url, live_version_no, pinned_version_id, workspace_id } = artifact;
  const star = is_favorite ? library.unstar(name) : library.star(name);
  const seat = workspace_id === null ? undefined : seatIn(workspace_id);
  return (
    <div class="artifact-head">
      <span class="artifact-picture">
        <PagePicture artifact={artifact} />
      </span>
      <div class="grow">
        <nav class="crumbs" aria-label={words.value.folders.in}>
          {seat === undefined ? <a href="/">{nav.mine}</a> : <a href={`/w/${seat.slug}`}>{seat.name}</a>}
        </nav>
        <h1>
          {name}
          <button
            type="button"
            class={`star is-inline${is_favorite ? ' is-on' : ''}`}
            aria-pressed={is_favorite}
            aria-label={star}
            title={star}
            onClick={() => void setFavorite(artifact, !is_favorite)}
          >
            <Icon name="star" />
          </button>
        </h1>
        <p class="address">
          <a class="address-text" href={url} target="_blank" rel="noopener">
            {url.replace(/^https?:\/\//, '').replace(/\/$/, '')}
          </a>
          <CopyButton text={url} label={library.copyAddress} />
        </p>
        <p class="row tags">
          <VisibilityTag visibility={artifact.visibility} />
          {live_version_no === null ? (
            <Tag tone="warn">{page.nothingLive}</Tag>
          ) : (
            <Tag icon={pinned_version_id === null ? 'check' : 'pin'}>
              {pinned_version_id === null ? page.live(live_version_no) : page.pinned(live_version_no)}
            </Tag>
          )}
          {!mayEdit(artifact) && artifact.role && <Tag>{page.yourRole[artifact.role]}</Tag>}
        </p>
      </div>
      <div class="row">
        {live_version_no !== null && (
          <LinkButton href={visitAddress(artifact)} target="_blank" rel="noopener" icon="external">
            {page.visit}
          </LinkButton>
        )}
        {mayEdit(artifact) && <ShareButton artifact={artifact} />}
        {artifact.role === 'viewer' && <LeaveButton artifact={artifact} />}
        {mayEdit(artifact) && (
          <Button icon="up" onClick={openPublish}>
            {page.newVersion}
          </Button>
        )}
      </div>
    </div>
  );
}
