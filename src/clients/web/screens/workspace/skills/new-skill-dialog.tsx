/** Makes a skill from Markdown. */
import { useState } from 'preact/hooks';
import { api } from '../../../api/client.ts';
import { problemOf } from '../../../api/problem.ts';
import { changed } from '../../../state/store.ts';
import { tell } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { AreaField } from '../../../ui/fields.tsx';
import { words } from '../../../words/words.ts';

const BEGUN = '---\nname: \ndescription: \n---\n\n';

export function NewSkillDialog({ slug, onClose }: { readonly slug: string; readonly onClose: () => void }) {
  const [markdown, setMarkdown] = useState(BEGUN);
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { skills, app } = words.value;
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      const { body } = await api.skills.create({ params: { workspaceId: slug }, body: { markdown } });
      changed(`skills:${slug}`, 'artifacts:');
      tell(body.held === undefined ? skills.made(body.name) : skills.held(body.name));
      onClose();
    } catch (thrown) {
      setError(problemOf(thrown).message);
      setBusy(false);
    }
  };
  return (
    <Dialog title={skills.make} wide isChanged={markdown !== BEGUN} onClose={onClose}>
      <form noValidate onSubmit={save}>
        <AreaField
          label={skills.source}
          hint={skills.sourceHint}
          error={error}
          value={markdown}
          onText={setMarkdown}
          rows={14}
          autoFocus
          spellcheck={false}
        />
        <div class="dialog-foot">
          <Button onClick={onClose}>{app.cancel}</Button>
          <Button type="submit" look="main" isBusy={isBusy} disabled={markdown.trim() === ''}>
            {skills.create}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
