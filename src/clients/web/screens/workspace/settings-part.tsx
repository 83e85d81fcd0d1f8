/** Name and description of a workspace. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { api, type Workspace } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { useDraft } from '../../state/drafts.ts';
import { useWorkspace } from '../../state/loads.ts';
import { loadMe } from '../../state/session.ts';
import { changed } from '../../state/store.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { AreaField, TextField } from '../../ui/fields.tsx';
import { Loaded } from '../../ui/states.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';

export function WorkspaceSettingsPart({ slug }: { readonly slug: string }) {
  const loaded = useWorkspace(slug);
  return (
    <div class="narrow">
      <Loaded of={loaded} shape="block" missing={words.value.workspace.missing}>
        {(workspace) => <SettingsForm workspace={workspace} />}
      </Loaded>
    </div>
  );
}

interface Fields {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
}

const NOTHING_TYPED: Partial<Fields> = {};

function SettingsForm({ workspace }: { readonly workspace: Workspace }) {
  const stored: Fields = { name: workspace.name, slug: workspace.slug, description: workspace.description ?? '' };
  const [typed, setTyped] = useDraft(`workspace:${workspace.id}`, NOTHING_TYPED);
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { route } = useLocation();
  const { workspace: said, settings, app } = words.value;
  const shown = { ...stored, ...typed };
  const isChanged = shown.name !== stored.name || shown.slug !== stored.slug || shown.description !== stored.description;
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      const body = { name: shown.name.trim(), slug: shown.slug, description: shown.description.trim() || null };
      const { body: now } = await api.workspaces.update({ params: { workspaceId: workspace.id }, body });
      await loadMe();
      changed('workspace:');
      setTyped(NOTHING_TYPED);
      tell(said.saved);
      if (now.slug !== stored.slug) route(`/w/${now.slug}/settings`, true);
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  const failed = problem && problemWords(problem);
  return (
    <form class="panel" onSubmit={save}>
      <TextField label={said.name} value={shown.name} onText={(name) => setTyped({ ...typed, name })} required maxLength={100} />
      <TextField
        label={settings.slug}
        hint={settings.slugHint}
        value={shown.slug}
        onText={(slug) => setTyped({ ...typed, slug })}
        required
        maxLength={63}
        spellcheck={false}
      />
      <AreaField
        label={said.description}
        value={shown.description}
        onText={(description) => setTyped({ ...typed, description })}
        maxLength={2000}
      />
      {failed && (
        <p class="notice bad" role="alert">
          {failed.title} {failed.text} {failed.link && <a href={failed.link.href}>{failed.link.label}</a>}
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
