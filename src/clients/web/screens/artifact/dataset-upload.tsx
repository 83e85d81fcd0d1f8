/** Stores a file of rows as a new dataset, or as the newest version of one. */
import { useState } from 'preact/hooks';
import { answered } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { changed } from '../../state/store.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { bytesText } from '../../words/format.ts';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';

const TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
  json: 'application/json',
};
const NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;

interface UploadProps {
  readonly artifactId: string;
  /** Of the dataset that gets a version; without it a new one is made. */
  readonly name?: string;
  readonly onClose: () => void;
}

function typeOf(file: File): string | undefined {
  return TYPES[file.name.split('.').at(-1)?.toLowerCase() ?? ''];
}

/** A name like that of the file. */
function nameOf(file: File): string {
  return file.name
    .replace(/\.[^.]*$/, '')
    .replace(/[^a-zA-Z0-9_-]+/g, '-')
    .replace(/^[^a-zA-Z]+|-+$/g, '')
    .slice(0, 64);
}

interface Stored {
  readonly data: { readonly name: string; readonly version: number };
}

async function send(artifactId: string, name: string, file: File): Promise<void> {
  const init = { method: 'PUT', body: file, headers: { 'content-type': typeOf(file) ?? '', accept: 'application/json' } };
  const reply = await answered(() => fetch(`/v1/data/${encodeURIComponent(artifactId)}/datasets/${encodeURIComponent(name)}`, init));
  const { data } = (await reply.json()) as Stored;
  const { datasets: said } = words.value;
  tell(reply.status === 201 ? said.stored(data.name, data.version) : said.same(data.name));
}

export function DatasetUploadDialog({ artifactId, name: known, onClose }: UploadProps) {
  const [name, setName] = useState(known ?? '');
  const [file, setFile] = useState<File>();
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { datasets: said, app } = words.value;
  const isUnknown = file !== undefined && typeOf(file) === undefined;
  const take = (given: File | undefined) => {
    if (given === undefined) return;
    setFile(given);
    setProblem(undefined);
    if (known === undefined && name === '' && typeOf(given) !== undefined) setName(nameOf(given));
  };
  const store = async (event: SubmitEvent) => {
    event.preventDefault();
    if (file === undefined) return;
    setBusy(true);
    try {
      await send(artifactId, name, file);
      onClose();
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
    changed(`datasets:${artifactId}`);
  };
  return (
    <Dialog title={known === undefined ? said.add : said.newVersionOf(known)} onClose={onClose} isChanged={isBusy}>
      <form onSubmit={store}>
        <div class="field">
          <span class="label">{said.file}</span>
          <p class="row">
            <label class="btn btn-second">
              <input
                type="file"
                class="unseen"
                accept=".csv,.ndjson,.jsonl,.json"
                onChange={(event) => take(event.currentTarget.files?.[0])}
              />
              <span>{said.choose}</span>
            </label>
            {file !== undefined && <span>{said.chosen(file.name, bytesText(file.size))}</span>}
          </p>
          <p class={isUnknown ? 'field-note is-bad' : 'field-note'} {...(isUnknown && { role: 'alert' })}>
            {isUnknown ? said.unknown : said.fileHint}
          </p>
        </div>
        {known === undefined && (
          <TextField label={said.name} value={name} onText={setName} required maxLength={64} hint={said.nameHint} spellcheck={false} />
        )}
        {problem !== undefined && <Refusal problem={problem} />}
        <div class="dialog-foot">
          <Button onClick={onClose}>{app.cancel}</Button>
          <Button type="submit" look="main" isBusy={isBusy} disabled={file === undefined || isUnknown || !NAME.test(name)}>
            {said.store}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The service names the line that is wrong. */
function Refusal({ problem }: { readonly problem: Problem }) {
  const { title, text } = problemWords(problem);
  return (
    <div class="notice bad" role="alert">
      <p>
        {title} {text}
      </p>
    </div>
  );
}
