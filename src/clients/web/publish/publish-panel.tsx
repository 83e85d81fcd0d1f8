/** The panel of a publish, from the choice of files to the address. It stays when the screen behind it changes. */
import { useState } from 'preact/hooks';
import type { Problem } from '../api/problem.ts';
import { me } from '../state/session.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy.tsx';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { AreaField, SelectField, Switch, TextField } from '../ui/fields.tsx';
import { Icon } from '../ui/icon.tsx';
import { bytesText } from '../words/format.ts';
import { problemWords } from '../words/problems.ts';
import { words } from '../words/words.ts';
import { fromList, type Gathered, sizeOf } from './gather.ts';
import type { Progress, Published } from './send.ts';
import { closePublish, publishing, startPublish, takeFiles, target } from './state.ts';

export function PublishPanel() {
  const now = publishing.value;
  const [asks, setAsks] = useState(false);
  if (now.kind === 'closed') return null;
  const { publish } = words.value;
  const close = () => (now.kind === 'sending' ? setAsks(true) : closePublish());
  return (
    <Dialog title={publish.title} isChanged={now.kind === 'ready' && now.gathered.files.length > 0} onClose={close}>
      {now.kind === 'asking' && <Choose />}
      {now.kind === 'reading' && (
        <p class="row" role="status">
          <span class="spinner" aria-hidden="true" /> {publish.reading}
        </p>
      )}
      {now.kind === 'ready' && now.problem && <Failed problem={now.problem} />}
      {now.kind === 'ready' && (now.gathered.files.length === 0 ? <Choose /> : <Details gathered={now.gathered} />)}
      {now.kind === 'sending' && <Sending progress={now.progress} onStop={() => setAsks(true)} />}
      {now.kind === 'done' && <Done gathered={now.gathered} published={now.published} />}
      {asks && (
        <Confirm
          title={publish.stop}
          text={publish.closing}
          action={publish.stop}
          onClose={() => setAsks(false)}
          onConfirm={closePublish}
        />
      )}
    </Dialog>
  );
}

function Failed({ problem }: { readonly problem: Problem }) {
  const { publish } = words.value;
  const { text } = problemWords(problem);
  return (
    <div class="notice bad" role="alert">
      <p>
        <strong>{publish.failed}.</strong> {text || problem.message}
      </p>
    </div>
  );
}

function Choose() {
  const { publish, app } = words.value;
  const take = (input: HTMLInputElement) => {
    const { files } = input;
    if (files !== null && files.length > 0) void takeFiles(() => fromList(files));
  };
  return (
    <div class="choose">
      <span class="empty-icon">
        <Icon name="up" size={26} />
      </span>
      <p>{publish.intro}</p>
      <p class="soft small">{publish.zip}</p>
      <div class="row center">
        <label class="btn btn-main">
          <Icon name="folder" />
          {publish.folder}
          <input type="file" class="unseen" {...{ webkitdirectory: true }} onChange={(event) => take(event.currentTarget)} />
        </label>
        <label class="btn btn-second">
          <Icon name="file" />
          {publish.files}
          <input type="file" class="unseen" multiple onChange={(event) => take(event.currentTarget)} />
        </label>
      </div>
      <p class="soft small">
        {app.byCommand}: <code>npx easel publish ./my-site</code>
      </p>
    </div>
  );
}

function Details({ gathered }: { readonly gathered: Gathered }) {
  const { artifact, workspace, folderId } = target.value;
  const [name, setName] = useState(gathered.name);
  const [as, setAs] = useState<'version' | 'new'>(artifact === undefined ? 'new' : 'version');
  const [where, setWhere] = useState(workspace ?? '');
  const [entrypoint, setEntrypoint] = useState(gathered.entrypoint ?? '');
  const [isDraft, setDraft] = useState(false);
  const [note, setNote] = useState('');
  const { publish } = words.value;
  const isVersion = as === 'version' && artifact !== undefined;
  const start = (event: SubmitEvent) => {
    event.preventDefault();
    void startPublish(gathered, {
      name: isVersion ? artifact.name : name.trim(),
      entrypoint: entrypoint || undefined,
      artifactId: isVersion ? artifact.id : undefined,
      workspaceId: where || undefined,
      folderId: where === (workspace ?? '') ? folderId : undefined,
      isDraft,
      note: note.trim(),
    });
  };
  return (
    <form onSubmit={start}>
      <p class="gathered">
        <Icon name="folder" />
        <span class="grow">
          <strong>{publish.files_(gathered.files.length)}</strong>, {bytesText(sizeOf(gathered.files))}
          {gathered.leftOut > 0 && <span class="field-note">{publish.left(gathered.leftOut)}</span>}
        </span>
      </p>
      {artifact !== undefined && (
        <SelectField
          label={publish.target}
          value={as}
          options={[
            { value: 'version', label: publish.asVersion(artifact.name) },
            { value: 'new', label: publish.asNew },
          ]}
          onChoose={setAs}
        />
      )}
      {!isVersion && <TextField label={publish.name} value={name} onText={setName} required maxLength={200} />}
      {!isVersion && (me.value?.workspaces.length ?? 0) > 0 && (
        <SelectField
          label={publish.where}
          value={where}
          options={[
            { value: '', label: publish.mine },
            ...(me.value?.workspaces ?? []).map(({ slug, name: label }) => ({ value: slug, label })),
          ]}
          onChoose={setWhere}
        />
      )}
      {gathered.pages.length > 1 && (
        <SelectField
          label={publish.entry}
          value={entrypoint}
          options={gathered.pages.map((path) => ({ value: path, label: path }))}
          onChoose={setEntrypoint}
        />
      )}
      {isVersion && <AreaField label={publish.note} value={note} onText={setNote} maxLength={2000} rows={2} />}
      {isVersion && <Switch label={publish.draft} isOn={isDraft} onTurn={setDraft} />}
      <div class="dialog-foot">
        <Button onClick={closePublish}>{words.value.app.cancel}</Button>
        <Button type="submit" look="main" icon="up" disabled={!isVersion && name.trim() === ''}>
          {publish.start}
        </Button>
      </div>
    </form>
  );
}

function Sending({ progress, onStop }: { readonly progress: Progress; readonly onStop: () => void }) {
  const { publish } = words.value;
  const { step, bytesSent, bytesAll } = progress;
  const said = {
    hashing: publish.hashing,
    sending: publish.sending(bytesText(bytesSent), bytesText(bytesAll)),
    ending: publish.ending,
  }[step];
  return (
    <div class="sending">
      <p role="status">{said}</p>
      <progress class="progress" aria-label={publish.title} max={bytesAll || 1} value={step === 'sending' ? bytesSent : undefined} />
      <div class="dialog-foot">
        <Button onClick={onStop}>{publish.stop}</Button>
      </div>
    </div>
  );
}

function Done({ gathered, published }: { readonly gathered: Gathered; readonly published: Published }) {
  const { publish } = words.value;
  const { name, versionNo, url, isHeld, isDraft, notice, artifactId } = published;
  const title = isHeld ? publish.doneHeld : isDraft ? publish.doneDraft(versionNo) : publish.done(name);
  return (
    <div class="choose" role="status">
      <span class="empty-icon is-good">
        <Icon name="check" size={26} />
      </span>
      <h3>{title}</h3>
      <p class="soft">{publish.doneText(versionNo, publish.files_(gathered.files.length))}</p>
      {notice !== undefined && <p class="notice warn">{notice}</p>}
      <p class="address">
        <span class="address-text">{url}</span>
        <CopyButton text={url} />
      </p>
      <div class="row center">
        {!isHeld && !isDraft && (
          <LinkButton href={url} target="_blank" rel="noopener" icon="external">
            {publish.openPage}
          </LinkButton>
        )}
        <LinkButton look="main" href={`/p/${artifactId}`} onClick={closePublish}>
          {publish.openScreen}
        </LinkButton>
      </div>
    </div>
  );
}
