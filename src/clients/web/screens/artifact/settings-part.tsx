/** Name, address, link preview, and the way to the trash. What was typed stays where saving fails. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { type Artifact, api } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { trashArtifact } from '../../state/changes.ts';
import { useDraft } from '../../state/drafts.ts';
import { changed } from '../../state/store.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { AreaField, TextField } from '../../ui/fields.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';
import { ChatForm } from './chat-form.tsx';
import { ProxyForm } from './proxy-form.tsx';

type Fields = Pick<Artifact, 'name' | 'slug' | 'social_title' | 'social_description' | 'social_image_url'>;

function fieldsOf({ name, slug, social_title, social_description, social_image_url }: Artifact): Fields {
  return { name, slug, social_title, social_description, social_image_url };
}

const NOTHING_TYPED: Partial<Fields> = {};

export function SettingsPart({ artifact }: { readonly artifact: Artifact }) {
  return (
    <div class="panels">
      <GeneralForm artifact={artifact} names={['name', 'slug']} />
      <GeneralForm artifact={artifact} names={['social_title', 'social_description', 'social_image_url']} />
      <ProxyForm artifactId={artifact.id} />
      {artifact.role === 'owner' && <ChatForm artifactId={artifact.id} />}
      {artifact.role === 'owner' && <Danger artifact={artifact} />}
    </div>
  );
}

interface GeneralFormProps {
  readonly artifact: Artifact;
  readonly names: readonly (keyof Fields)[];
}

function GeneralForm({ artifact, names }: GeneralFormProps) {
  const [typed, setTyped] = useDraft(`settings:${artifact.id}:${names[0]}`, NOTHING_TYPED);
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { settings, app, page } = words.value;
  const stored = fieldsOf(artifact);
  const labels = {
    name: settings.name,
    slug: settings.slug,
    social_title: settings.socialTitle,
    social_description: settings.socialDescription,
    social_image_url: settings.socialImage,
  };
  const changes = Object.fromEntries(
    names.filter((name) => name in typed && typed[name] !== stored[name]).map((name) => [name, typed[name]]),
  );
  const isChanged = Object.keys(changes).length > 0;
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      await api.artifacts.update({ params: { id: artifact.id }, body: changes });
      changed('artifacts:', `artifact:${artifact.id}`);
      setTyped(NOTHING_TYPED);
      tell(page.saved);
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  const failed = problem === undefined ? undefined : problemWords(problem);
  const isSocial = names.includes('social_title');
  return (
    <form class="panel" onSubmit={save}>
      {isSocial && <h2>{settings.social}</h2>}
      {isSocial && <p class="soft">{settings.socialText}</p>}
      {names.map((name) => {
        const isRequired = name === 'name' || name === 'slug';
        const shared = {
          label: labels[name],
          value: typed[name] ?? (name in typed ? '' : (stored[name] ?? '')),
          hint: name === 'slug' ? settings.slugHint : undefined,
          error: problem?.param === name ? problem.message : undefined,
          onText: (text: string) => setTyped({ ...typed, [name]: !isRequired && text === '' ? null : text }),
          required: isRequired,
        };
        return name === 'social_description' ? (
          <AreaField key={name} {...shared} maxLength={1000} />
        ) : (
          <TextField key={name} {...shared} maxLength={name === 'slug' ? 63 : 300} spellcheck={name !== 'slug'} />
        );
      })}
      {failed !== undefined && !names.some((name) => name === problem?.param) && (
        <p class="notice bad" role="alert">
          {failed.title} {failed.text}
        </p>
      )}
      <div class="row">
        <Button type="submit" look="main" isBusy={isBusy} disabled={!isChanged}>
          {app.save}
        </Button>
        {isChanged && <Button onClick={() => setTyped(NOTHING_TYPED)}>{app.discard}</Button>}
      </div>
    </form>
  );
}

function Danger({ artifact }: { readonly artifact: Artifact }) {
  const { route } = useLocation();
  const [asks, setAsks] = useState(false);
  const { settings, library } = words.value;
  const remove = async () => {
    if (await trashArtifact(artifact)) route('/');
  };
  return (
    <section class="panel is-danger">
      <h2>{settings.danger}</h2>
      <p class="soft">{settings.dangerText}</p>
      <p>
        <Button look="danger" icon="trash" onClick={() => setAsks(true)}>
          {settings.delete}
        </Button>
      </p>
      {asks && (
        <Confirm
          title={library.trash}
          text={settings.dangerText}
          action={settings.delete}
          onClose={() => setAsks(false)}
          onConfirm={() => void remove()}
        />
      )}
    </section>
  );
}
