/** Writes a note, or what people say about an entry. */
import { useState } from 'preact/hooks';
import { api, type CatalogEntry } from '../../../api/client.ts';
import { type Problem, problemOf } from '../../../api/problem.ts';
import { ownerName, useAllMembers } from '../../../state/catalog.ts';
import { mayManage } from '../../../state/place.ts';
import { myId } from '../../../state/session.ts';
import { changed } from '../../../state/store.ts';
import { tell } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { AreaField, SelectField, TextField } from '../../../ui/fields.tsx';
import { ProblemNote } from '../../../ui/states.tsx';
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
  const ownerBefore = entry?.owner?.id ?? '';
  const [owner, setOwner] = useState<string>(ownerBefore);
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { catalog, app } = words.value;
  const isNote = entry === undefined || entry.kind === 'note';
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    const tagList = tags.split(',').map((tag) => tag.trim());
    const written = { domain: domain.trim() || null, tags: tagList.filter((tag) => tag !== ''), description };
    const given = owner !== ownerBefore && { owner: owner === '' ? null : { id: owner } };
    const body = { ...written, ...(isNote && { name: name.trim() }), ...given };
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
  const isChanged = name !== (entry?.name ?? '') || description !== (entry?.description ?? '') || owner !== ownerBefore;
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
        {entry !== undefined && <OwnerPart slug={slug} entry={entry} owner={owner} onOwner={setOwner} />}
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

interface OwnerPartProps {
  readonly slug: string;
  readonly entry: CatalogEntry;
  /** Id of an account, or empty for the workspace. */
  readonly owner: string;
  readonly onOwner: (owner: string) => void;
}

/** A choice of members where the reader may give the entry away; else whose it is, and why. */
function OwnerPart({ slug, entry, owner, onOwner }: OwnerPartProps) {
  const { catalog } = words.value;
  const { kind } = entry;
  if (kind !== 'note') return <p class="soft small">{`${catalog.owner(ownerName(entry))}. ${catalog.ownerFollows[kind]}`}</p>;
  if (!mayManage(slug) && entry.owner?.id !== myId()) return null;
  return <OwnerField slug={slug} entry={entry} owner={owner} onOwner={onOwner} />;
}

function OwnerField({ slug, entry, owner, onOwner }: OwnerPartProps) {
  const members = useAllMembers(slug);
  const { catalog } = words.value;
  const choices = (members.data ?? []).map(({ user_id, name, email }) => ({ value: user_id as string, label: name ?? email ?? user_id }));
  const { owner: now } = entry;
  // Who has left the workspace owns it still.
  if (now !== null && choices.every(({ value }) => value !== now.id)) choices.unshift({ value: now.id, label: ownerName(entry) });
  return (
    <>
      <SelectField
        label={catalog.ownerOf}
        hint={catalog.ownerHint}
        value={owner}
        options={[...choices, { value: '', label: catalog.ofWorkspace }]}
        disabled={members.data === undefined}
        onChoose={onOwner}
      />
      {members.data === undefined && members.problem !== undefined && <ProblemNote problem={members.problem} onRetry={members.reload} />}
    </>
  );
}
