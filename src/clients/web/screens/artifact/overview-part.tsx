/** Who may see the page, with what each choice means, and the facts about it. */
import { useState } from 'preact/hooks';
import type { Artifact } from '../../api/client.ts';
import { setVisibility } from '../../state/access-changes.ts';
import { updateArtifact } from '../../state/changes.ts';
import { useFolders, useVersions } from '../../state/loads.ts';
import { seatIn } from '../../state/place.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { RadioCards, Switch, TextField } from '../../ui/fields.tsx';
import { Icon } from '../../ui/icon.tsx';
import { PlanLink, Time, VISIBILITY_ICONS } from '../../ui/small.tsx';
import { words } from '../../words/words.ts';
import { AskPanel } from './ask-panel.tsx';
import { mayAsk, mayEdit } from './rights.ts';
import { SkillsPanel } from './skills-panel.tsx';
import { ViewsPanel } from './views-panel.tsx';

type Visibility = Artifact['visibility'];

const PASSWORD_CHARS_MIN = 8;
const PASSWORD_CHARS_MAX = 200;
const RIGHTS = ['allow_anon_write', 'allow_anon_collab', 'allow_anon_email', 'allow_anon_agent'] as const;

export function OverviewPart({ artifact }: { readonly artifact: Artifact }) {
  return (
    <div class="columns">
      <div class="column">
        <Waiting artifact={artifact} />
        <VisibilityChoice artifact={artifact} />
        {mayAsk(artifact) && <AskPanel key={artifact.id} artifact={artifact} />}
        <SkillsPanel artifact={artifact} />
        {mayEdit(artifact) && <ViewsPanel artifactId={artifact.id} />}
        {mayEdit(artifact) && <Rights artifact={artifact} />}
      </div>
      <Facts artifact={artifact} />
    </div>
  );
}

function Waiting({ artifact }: { readonly artifact: Artifact }) {
  const { items = [] } = useVersions(artifact.id);
  const waiting = items.find(({ waiting_since }) => waiting_since !== null);
  if (waiting === undefined) return null;
  const { page, approvals } = words.value;
  return (
    <p class="notice warn row">
      <span class="grow">{page.waiting(waiting.version_no)}</span>
      <a href={`/p/${artifact.id}/versions`}>{approvals.review}</a>
    </p>
  );
}

function VisibilityChoice({ artifact }: { readonly artifact: Artifact }) {
  const { visibility: said, page } = words.value;
  const [asksPassword, setAsksPassword] = useState(false);
  const [notice, setNotice] = useState<string>();
  // Chosen, and neither made nor put aside yet.
  const [wanted, setWanted] = useState<Visibility>();
  const inWorkspace = artifact.workspace_id !== null;
  const isLocked = !mayEdit(artifact);
  const save = async (visibility: Visibility, password?: string) => {
    setAsksPassword(false);
    setNotice(undefined);
    setWanted(visibility);
    const now = await setVisibility(artifact, { visibility, ...(password !== undefined && { password }) });
    setWanted(undefined);
    if (now === undefined) return;
    if (now.visibility === visibility) tell(said.isNow(said[visibility].name));
    else setNotice('notice' in now && typeof now.notice === 'string' ? now.notice : said.held);
  };
  const options = (['private', 'workspace', 'password', 'public'] as const).map((value) => ({
    value,
    name: said[value].name,
    means:
      value === 'workspace' && !inWorkspace
        ? said.needsWorkspace
        : value === 'private' && inWorkspace
          ? said.private.meansInWorkspace
          : said[value].means,
    icon: <Icon name={VISIBILITY_ICONS[value]} />,
    disabled: value === 'workspace' && !inWorkspace,
  }));
  const shown = asksPassword ? 'password' : (wanted ?? artifact.visibility);
  return (
    <section class="panel" aria-labelledby="who">
      <h2 id="who">{page.who}</h2>
      {isLocked ? (
        <p class="row">
          <Icon name={VISIBILITY_ICONS[artifact.visibility]} />
          <span>
            <strong>{said[artifact.visibility].name}.</strong> {said[artifact.visibility].means}
          </span>
        </p>
      ) : (
        <RadioCards
          label={said.choose}
          value={shown}
          options={options}
          onChoose={(value) => {
            if (value === 'password') setAsksPassword(true);
            else void save(value);
          }}
        />
      )}
      {!isLocked && shown === 'password' && (
        <PasswordForm
          key={`${artifact.visibility}`}
          isNew={artifact.visibility !== 'password'}
          onSave={(password) => void save('password', password)}
          onCancel={() => setAsksPassword(false)}
        />
      )}
      {notice !== undefined && (
        <p class="notice warn" role="status">
          {said.held} {notice !== said.held && notice} <PlanLink workspace={artifact.workspace_id} />
        </p>
      )}
    </section>
  );
}

interface PasswordFormProps {
  readonly isNew: boolean;
  readonly onSave: (password: string) => void;
  readonly onCancel: () => void;
}

function PasswordForm({ isNew, onSave, onCancel }: PasswordFormProps) {
  const { visibility, app } = words.value;
  const [isOpen, setOpen] = useState(isNew);
  const [password, setPassword] = useState('');
  if (!isOpen) {
    return (
      <p>
        <Button small icon="key" onClick={() => setOpen(true)}>
          {visibility.passwordSet}
        </Button>
      </p>
    );
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setOpen(false);
    setPassword('');
    onSave(password);
  };
  return (
    <form class="inline-form" onSubmit={submit}>
      <TextField
        label={visibility.password_}
        hint={visibility.passwordHint}
        type="password"
        autocomplete="new-password"
        value={password}
        onText={setPassword}
        minLength={PASSWORD_CHARS_MIN}
        maxLength={PASSWORD_CHARS_MAX}
        required
        autoFocus
      />
      <div class="row">
        <Button type="submit" look="main" disabled={password.length < PASSWORD_CHARS_MIN}>
          {app.save}
        </Button>
        <Button
          onClick={() => {
            setOpen(false);
            onCancel();
          }}
        >
          {app.cancel}
        </Button>
      </div>
    </form>
  );
}

function Rights({ artifact }: { readonly artifact: Artifact }) {
  const { rights } = words.value;
  return (
    <section class="panel" aria-labelledby="rights">
      <h2 id="rights">{rights.title}</h2>
      <p class="soft small">{rights.text}</p>
      {RIGHTS.map((right) => (
        <Switch
          key={right}
          label={rights[right].name}
          hint={rights[right].means}
          isOn={artifact[right]}
          onTurn={(isOn) => void updateArtifact(artifact, { [right]: isOn })}
        />
      ))}
    </section>
  );
}

function Facts({ artifact }: { readonly artifact: Artifact }) {
  const { page } = words.value;
  const seat = artifact.workspace_id === null ? undefined : seatIn(artifact.workspace_id);
  const folders = useFolders(seat?.slug ?? 'mine');
  const folder = folders.data?.find(({ id }) => id === artifact.folder_id);
  const base = seat === undefined ? '/my/folders' : `/w/${seat.slug}/folders`;
  return (
    <aside class="panel facts" aria-labelledby="facts">
      <h2 id="facts">{page.details}</h2>
      <dl>
        <dt>{page.workspace}</dt>
        <dd>{seat === undefined ? page.personal : <a href={`/w/${seat.slug}`}>{seat.name}</a>}</dd>
        {folder !== undefined && (
          <>
            <dt>{page.folder}</dt>
            <dd>
              <a href={`${base}/${folder.id}`}>{folder.name}</a>
            </dd>
          </>
        )}
        <dt>{page.created}</dt>
        <dd>
          <Time at={artifact.created_at} />
        </dd>
        <dt>{page.changed}</dt>
        <dd>
          <Time at={artifact.updated_at} />
        </dd>
        <dt>{page.id}</dt>
        <dd class="row tight">
          <code class="id">{artifact.id}</code>
          <CopyButton text={artifact.id} />
        </dd>
      </dl>
    </aside>
  );
}
