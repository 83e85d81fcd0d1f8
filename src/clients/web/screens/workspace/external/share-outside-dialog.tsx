/** Finds a page or a folder of the workspace and shares it outside. */
import { useEffect, useState } from 'preact/hooks';
import { api, type Sharee } from '../../../api/client.ts';
import { problemOf } from '../../../api/problem.ts';
import { useFolders } from '../../../state/loads.ts';
import type { Resource } from '../../../state/outside.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/fields.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { problemWords } from '../../../words/problems.ts';
import { words } from '../../../words/words.ts';
import { OutsideForm } from '../../share/outside-form.tsx';

const FOUND_MAX = 8;
const TYPING_MS = 200;

interface Found extends Resource {
  readonly name: string;
}

interface ShareOutsideDialogProps {
  readonly slug: string;
  readonly sharee?: Pick<Sharee, 'id' | 'name'>;
  readonly onClose: () => void;
}

export function ShareOutsideDialog({ slug, sharee, onClose }: ShareOutsideDialogProps) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<Found>();
  const [email, setEmail] = useState('');
  const { found, problem } = useFound(slug, text.trim());
  const { external, app } = words.value;
  const failed = problem && problemWords(problem);
  return (
    <Dialog title={external.shareSomething} isChanged={email.trim() !== ''} onClose={onClose}>
      <div class="share">
        <div>
          <TextField
            label={external.find}
            hint={chosen === undefined ? external.findHint : external.chosen(chosen.name)}
            error={failed && `${failed.title} ${failed.text}`}
            value={text}
            onText={setText}
            spellcheck={false}
            autoFocus
          />
          <ul class="choices" aria-label={external.findHint}>
            {found.map((one) => (
              <li key={one.id}>
                <button type="button" class="choice" aria-pressed={one.id === chosen?.id} onClick={() => setChosen(one)}>
                  <Icon name={one.type === 'folder' ? 'folder' : 'page'} />
                  <span class="grow">{one.name}</span>
                  {one.id === chosen?.id && <Icon name="check" />}
                </button>
              </li>
            ))}
          </ul>
          <p class="soft small" role="status">
            {found.length === 0 ? external.nothingFound : external.found(found.length)}
          </p>
        </div>
        {chosen !== undefined && (
          <OutsideForm
            key={chosen.id}
            workspace={slug}
            resource={chosen}
            {...(sharee && { subject: { sharee } })}
            email={email}
            onEmail={setEmail}
          />
        )}
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>{app.done}</Button>
      </div>
    </Dialog>
  );
}

/** Folders and pages with this text in their name; without one, the first. */
function useFound(slug: string, text: string) {
  const folders = useFolders(slug);
  const [pages, setPages] = useState<readonly Found[]>([]);
  const [problem, setProblem] = useState<ReturnType<typeof problemOf>>();
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const query = { workspace_id: slug, q: text || undefined, limit: FOUND_MAX };
      api.artifacts.list({ query, signal: stop.signal }).then(
        ({ body }) => {
          setPages(body.artifacts.map(({ id, name }) => ({ type: 'artifact', id, name })));
          setProblem(undefined);
        },
        (error: unknown) => {
          if (!stop.signal.aborted) setProblem(problemOf(error));
        },
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [slug, text]);
  const wanted = text.toLowerCase();
  const found: Found[] = (folders.data ?? [])
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .slice(0, FOUND_MAX)
    .map(({ id, name }) => ({ type: 'folder', id, name }));
  return { found: [...found, ...pages], problem: problem ?? folders.problem };
}
