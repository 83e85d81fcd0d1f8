/** Writes a note, or what people say about an entry. */
import { useState } from 'preact/hooks';
import { api, type CatalogEntry } from '../../../api/client.ts';
import { type Problem, problemOf } from '../../../api/problem.ts';
import { changed } from '../../../state/store.ts';
import { tell } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { AreaField, TextField } from '../../../ui/fields.tsx';
import { problemWords } from '../../../words/problems.ts';
import { words } from '../../../words/words.ts';

interface EntryDialogProps {
  readonly slug: string;
  /** Undefined for a new note. */
  readonly entry: CatalogEntry | undefined;
  readonly onClose: () => void;
}

export function EntryDialog({ slug, entry, onClose }: EntryDialogProps) {
  const [name, setName] = useState(entry?.name ?? '');
  const [domain, setDomain] = useState(entry?.domain ?? '');
  const [tags, setTags] = useState((entry?.tags ?? []).join(', '));
  const [description, setDescription] = useState(entry?.description ?? '');
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { catalog, app } = words.value;
  const isNote = entry === undefined || entry.kind === 'note';
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    const tagList = tags.split(',').map((tag) => tag.trim());
    const written = { domain: domain.trim() || null, tags: tagList.filter((tag) => tag !== ''), description };
    const body = { ...written, ...(isNote && { name: name.trim() }) };
    try {
      const params = { workspaceId: slug };
      if (entry === undefined) await api.catalog.create({ params, body: { ...written, name: name.trim() } });
      else await api.catalog.update({ params: { ...params, entryId: entry.id }, body });
      changed(`catalog:${slug}`);
      tell(catalog.saved);
      onClose();
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const failed = problem && problemWords(problem);
  const isChanged = name !== (entry?.name ?? '') || description !== (entry?.description ?? '');
  return (
    <Dialog title={entry?.name ?? catalog.make} isChanged={isChanged} onClose={onClose}>
      <form onSubmit={save}>
        {isNote && <TextField label={catalog.name} value={name} onText={setName} required maxLength={200} autoFocus />}
        <TextField label={catalog.domain} hint={catalog.domainHint} value={domain} onText={setDomain} maxLength={40} />
        <TextField label={catalog.tags} hint={catalog.tagsHint} value={tags} onText={setTags} />
        <AreaField
          label={catalog.description}
          hint={catalog.descriptionHint}
          value={description}
          onText={setDescription}
          rows={6}
          maxLength={20_000}
          error={failed && `${failed.title} ${failed.text}`}
        />
        <div class="dialog-foot">
          <Button onClick={onClose}>{app.cancel}</Button>
          <Button type="submit" look="main" isBusy={isBusy} disabled={isNote && name.trim() === ''}>
            {catalog.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
