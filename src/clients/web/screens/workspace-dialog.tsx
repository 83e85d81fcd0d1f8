import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { api } from '../api/client.ts';
import { type Problem, problemOf } from '../api/problem.ts';
import { loadMe } from '../state/session.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/fields.tsx';
import { problemWords } from '../words/problems.ts';
import { words } from '../words/words.ts';

export function WorkspaceDialog({ onClose }: { readonly onClose: () => void }) {
  const { route } = useLocation();
  const [name, setName] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { workspace, app } = words.value;
  const make = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      const { body } = await api.workspaces.create({ body: { name: name.trim(), locale: words.value.locale === 'es' ? 'es' : 'en' } });
      await loadMe();
      onClose();
      route(`/w/${body.slug}`);
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const failed = problem && problemWords(problem);
  return (
    <Dialog title={workspace.make} onClose={onClose} isChanged={name !== ''}>
      <form onSubmit={make}>
        <p class="soft">{workspace.makeText}</p>
        <TextField
          label={workspace.name}
          value={name}
          onText={setName}
          required
          maxLength={100}
          autoFocus
          error={failed && `${failed.title} ${failed.text}`}
        />
        <div class="dialog-foot">
          <Button onClick={onClose}>{app.cancel}</Button>
          <Button type="submit" look="main" isBusy={isBusy} disabled={name.trim() === ''}>
            {workspace.create}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
