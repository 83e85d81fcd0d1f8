import { useState } from 'preact/hooks';
import { api, type Webhook } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { type HooksOf, hooksKey } from '../../state/hooks.ts';
import { changed } from '../../state/store.ts';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';

type Event = Webhook['events'][number];

/** Without the schemas, which are not bundled; the server refuses an event of the other kind. */
const ARTIFACT_EVENTS: readonly Event[] = [
  ...(['data.changed', 'comment.added', 'comment.updated', 'comment.deleted', 'version.published'] as const),
  ...(['artifact.updated', 'artifact.deleted', 'artifact.restored', 'document.changed'] as const),
];
const WORKSPACE_EVENTS: readonly Event[] = [
  ...(['artifact.created', 'artifact.updated', 'artifact.deleted', 'artifact.restored', 'version.published'] as const),
  ...(['collaborator.changed', 'member.invited', 'member.added', 'member.updated', 'member.removed'] as const),
  ...(['grant.changed', 'workspace.updated'] as const),
];

interface SecretProps {
  readonly title: string;
  readonly text: string;
  readonly secret: string;
  readonly onClose: () => void;
}

/** It is shown once, so that only its own button closes it. */
export function SecretDialog({ title, text, secret, onClose }: SecretProps) {
  return (
    <Dialog title={title} isFirm onClose={onClose}>
      <p role="status">{text}</p>
      <Code text={secret} />
      <div class="dialog-foot">
        <Button look="main" onClick={onClose}>
          {words.value.hooks.stored}
        </Button>
      </div>
    </Dialog>
  );
}

export function HookDialog({ of, onClose }: { readonly of: HooksOf; readonly onClose: () => void }) {
  const [secret, setSecret] = useState<string>();
  const [url, setUrl] = useState('');
  const { hooks } = words.value;
  if (secret !== undefined) return <SecretDialog title={hooks.made} text={hooks.madeText} secret={secret} onClose={onClose} />;
  return (
    <Dialog title={hooks.make} isChanged={url.trim() !== ''} onClose={onClose}>
      <HookForm of={of} url={url} onUrl={setUrl} onMade={setSecret} onClose={onClose} />
    </Dialog>
  );
}

interface FormProps {
  readonly of: HooksOf;
  readonly url: string;
  readonly onUrl: (url: string) => void;
  readonly onMade: (secret: string) => void;
  readonly onClose: () => void;
}

function HookForm({ of, url, onUrl, onMade, onClose }: FormProps) {
  const known = 'artifact_id' in of ? ARTIFACT_EVENTS : WORKSPACE_EVENTS;
  const [events, setEvents] = useState<readonly Event[]>(known.slice(0, 1));
  const [description, setDescription] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { hooks, app } = words.value;
  const make = async (submitted: SubmitEvent) => {
    submitted.preventDefault();
    setBusy(true);
    try {
      const { body } = await api.webhooks.create({
        body: { ...of, url: url.trim(), events: [...events], description: description.trim() },
      });
      changed(hooksKey(of));
      onMade(body.secret);
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const turn = (event: Event, isOn: boolean) => setEvents(known.filter((one) => (one === event ? isOn : events.includes(one))));
  const failed = problem && problemWords(problem);
  return (
    <form onSubmit={make}>
      <TextField
        label={hooks.url}
        hint={hooks.urlHint}
        value={url}
        onText={onUrl}
        required
        maxLength={2048}
        spellcheck={false}
        autoFocus
        error={failed && `${failed.title} ${failed.text}`}
      />
      <TextField label={hooks.description} value={description} onText={setDescription} maxLength={200} />
      <fieldset class="checks">
        <legend class="label">{hooks.events}</legend>
        {known.map((event) => (
          <label key={event} class="check">
            <input type="checkbox" checked={events.includes(event)} onChange={({ currentTarget }) => turn(event, currentTarget.checked)} />
            <span class="grow">{hooks.event[event]}</span>
            <code>{event}</code>
          </label>
        ))}
      </fieldset>
      <div class="dialog-foot">
        <Button onClick={onClose}>{app.cancel}</Button>
        <Button type="submit" look="main" isBusy={isBusy} disabled={url.trim() === '' || events.length === 0}>
          {hooks.create}
        </Button>
      </div>
    </form>
  );
}
