/** The versions of a page: which is live, what changed, previews, the way back, approvals. */
import { useState } from 'preact/hooks';
import { type Artifact, api, type Version } from '../../api/client.ts';
import { openPublish } from '../../publish/state.ts';
import { usePeople, useVersions } from '../../state/loads.ts';
import { seatIn } from '../../state/place.ts';
import { myId } from '../../state/session.ts';
import { changed } from '../../state/store.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Menu, type MenuItem } from '../../ui/menu.tsx';
import { Tag, Time } from '../../ui/small.tsx';
import { Empty, ProblemState, Skeleton } from '../../ui/states.tsx';
import { bytesText } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { More } from '../more.tsx';
import { DiffView } from './diff-view.tsx';
import { NoteDialog } from './note-dialog.tsx';
import { PreviewDialog } from './preview-dialog.tsx';
import { mayEdit } from './rights.ts';

/** Makes a change of versions and tells it; everything that shows versions is loaded again. */
async function change(id: string, done: string, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
    tell(done);
  } catch (error) {
    tellProblem(error);
  }
  changed('artifacts:', `artifact:${id}`, `versions:${id}`, `files:${id}`, 'waiting:');
}

export function VersionsPart({ artifact }: { readonly artifact: Artifact }) {
  const pages = useVersions(artifact.id);
  const { versions, nav } = words.value;
  const { items } = pages;
  if (items === undefined)
    return pages.problem === undefined ? (
      <Skeleton shape="line" count={4} />
    ) : (
      <ProblemState problem={pages.problem} onRetry={pages.reload} />
    );
  if (items.length === 0) {
    return (
      <Empty icon="history" {...versions.empty} command={`npx easel publish ./my-site --artifact ${artifact.slug}`}>
        {mayEdit(artifact) && (
          <Button look="main" icon="up" onClick={openPublish}>
            {nav.publish}
          </Button>
        )}
      </Empty>
    );
  }
  return (
    <>
      <ol class="rows versions" aria-label={versions.title}>
        {items.map((version, at) => (
          <VersionRow key={version.id} artifact={artifact} version={version} before={items[at + 1]} isOnly={items.length === 1} />
        ))}
      </ol>
      <More pages={pages} />
    </>
  );
}

interface VersionRowProps {
  readonly artifact: Artifact;
  readonly version: Version;
  readonly before: Version | undefined;
  readonly isOnly: boolean;
}

function useAuthor(artifact: Artifact, { author_id }: Version): string {
  const people = usePeople(artifact.id);
  const { versions } = words.value;
  if (author_id === null) return versions.agent;
  if (author_id === myId() || people.data?.you.ids.includes(author_id)) return versions.you;
  return people.data?.people.find(({ userId }) => userId === author_id)?.name ?? versions.somebody;
}

function VersionRow({ artifact, version, before, isOnly }: VersionRowProps) {
  const [dialog, setDialog] = useState<'diff' | 'preview' | 'note' | 'delete'>();
  const author = useAuthor(artifact, version);
  const { versions } = words.value;
  const { id, version_no, label, note, is_live, is_draft, waiting_since, size_bytes, created_at } = version;
  const isPinned = artifact.pinned_version_id === id;
  const close = () => setDialog(undefined);
  const params = { id: artifact.id };
  const remove = () => change(artifact.id, versions.deleted(version_no), () => api.versions.delete({ params: { ...params, version: id } }));
  return (
    <li class={`row-item${is_live ? ' is-live' : ''}`}>
      <div class="grow">
        <p class="row-title">
          {versions.no(version_no)}
          {label !== null && <span class="version-label">{label}</span>}
          {is_live && <Tag tone="good">{versions.live}</Tag>}
          {isPinned && <Tag icon="pin">{versions.pinned}</Tag>}
          {is_draft && waiting_since === null && <Tag>{versions.draft}</Tag>}
          {waiting_since !== null && <Tag tone="warn">{versions.waiting}</Tag>}
        </p>
        <p class="row-facts">
          <span>
            <Time at={created_at} /> {versions.by(author)}
          </span>
          <span>{bytesText(size_bytes)}</span>
        </p>
        {note !== null && <p class="row-note">{note}</p>}
      </div>
      <div class="row tight">
        {waiting_since !== null && <Approval artifact={artifact} version={version} />}
        <Button small onClick={() => setDialog('diff')}>
          {versions.compare}
        </Button>
        {mayEdit(artifact) && (
          <Menu
            label={words.value.app.actions(versions.no(version_no))}
            items={() => actionsOf({ artifact, version, isPinned, isOnly, open: setDialog })}
          />
        )}
      </div>
      {dialog === 'diff' && <DiffView artifactId={artifact.id} from={before} to={version} onClose={close} />}
      {dialog === 'preview' && <PreviewDialog artifactId={artifact.id} version={version} onClose={close} />}
      {dialog === 'note' && <NoteDialog artifactId={artifact.id} version={version} onClose={close} />}
      {dialog === 'delete' && (
        <Confirm
          title={versions.delete}
          text={versions.deleteText}
          action={versions.delete}
          onClose={close}
          onConfirm={() => void remove()}
        />
      )}
    </li>
  );
}

interface Actions {
  readonly artifact: Artifact;
  readonly version: Version;
  readonly isPinned: boolean;
  readonly isOnly: boolean;
  readonly open: (dialog: 'preview' | 'note' | 'delete') => void;
}

function actionsOf({ artifact, version, isPinned, isOnly, open }: Actions): readonly MenuItem[] {
  const { versions } = words.value;
  const { id, version_no, is_live, waiting_since } = version;
  const params = { id: artifact.id };
  const pin = (version_id: string | null, done: string) =>
    change(artifact.id, done, () => api.versions.pin({ params, body: { version_id } }));
  const makeLive = () =>
    change(artifact.id, versions.isLive(version_no), () => api.versions.rollback({ params, body: { version_id: id } }));
  const mayServe = waiting_since === null;
  return [
    ...(is_live || !mayServe ? [] : [{ label: versions.makeLive, icon: 'restore' as const, run: () => void makeLive() }]),
    ...(isPinned
      ? [{ label: versions.unpin, icon: 'pin' as const, run: () => void pin(null, versions.isUnpinned) }]
      : mayServe
        ? [{ label: versions.pin, icon: 'pin' as const, run: () => void pin(id, versions.isPinned(version_no)) }]
        : []),
    { label: versions.preview, icon: 'eye', run: () => open('preview') },
    { label: versions.note, icon: 'pen', run: () => open('note') },
    ...(is_live || isPinned || isOnly
      ? []
      : [{ kind: 'line' as const }, { label: versions.delete, icon: 'trash' as const, isDanger: true, run: () => open('delete') }]),
  ];
}

/** For owners and admins of the workspace; the server tells what is approved already. */
function Approval({ artifact, version }: { readonly artifact: Artifact; readonly version: Version }) {
  const [isMine, setMine] = useState(false);
  const { versions } = words.value;
  const role = artifact.workspace_id === null ? undefined : seatIn(artifact.workspace_id)?.role;
  if (role !== 'owner' && role !== 'admin') return null;
  const params = { id: artifact.id, version: version.id };
  const approve = () =>
    change(artifact.id, versions.approved, async () => {
      const { body } = await api.reviews.approve({ params });
      setMine(body.my_approvals.includes(version.id));
    });
  const withdraw = () =>
    change(artifact.id, versions.withdrawn, async () => {
      await api.reviews.withdraw({ params });
      setMine(false);
    });
  return isMine ? (
    <Button small onClick={() => void withdraw()}>
      {versions.withdraw}
    </Button>
  ) : (
    <Button small look="main" icon="stamp" onClick={() => void approve()}>
      {versions.approve}
    </Button>
  );
}
