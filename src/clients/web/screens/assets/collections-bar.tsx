/** Which collection is shown, and what is done with it. */
import { useEffect, useState } from 'preact/hooks';
import { type Problem, problemOf } from '../../api/problem.ts';
import { type Collection, makeCollection, removeCollection, renameCollection, useCollections } from '../../state/collections.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Menu } from '../../ui/menu.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';

/** The choice of every file. */
const ALL = '';
const NAME_CHARS_MAX = 200;

interface CollectionsBarProps {
  readonly slug: string | undefined;
  readonly chosen: string | undefined;
  readonly onChoose: (collectionId: string | undefined) => void;
}

export function CollectionsBar({ slug, chosen, onChoose }: CollectionsBarProps) {
  const { items: known = [], hasMore, more } = useCollections(slug);
  const [asks, setAsks] = useState<'make' | 'rename' | 'remove'>();
  const { collections } = words.value;
  // A select shows all that it offers; there are few pages of collections.
  useEffect(() => {
    if (hasMore) more();
  }, [hasMore, known.length]);
  const shown = known.find(({ id }) => id === chosen);
  const close = () => setAsks(undefined);
  const remove = async ({ id }: Collection) => {
    // Before it is gone: what is shown is loaded again then.
    onChoose(undefined);
    try {
      await removeCollection(slug, id);
      tell(collections.removed);
    } catch (error) {
      onChoose(id);
      tellProblem(error);
    }
  };
  return (
    <div class="row collections-bar">
      {known.length > 0 && (
        <SelectField
          label={collections.show}
          hideLabel
          value={chosen ?? ALL}
          options={[
            { value: ALL, label: collections.all },
            ...known.map(({ id, name, itemCount }) => ({ value: id as string, label: `${name} (${itemCount})` })),
          ]}
          onChoose={(id) => onChoose(id === ALL ? undefined : id)}
        />
      )}
      {shown !== undefined && (
        <Menu
          label={collections.more}
          items={() => [
            { label: collections.rename, icon: 'pen', run: () => setAsks('rename') },
            { label: collections.remove, icon: 'trash', isDanger: true, run: () => setAsks('remove') },
          ]}
        />
      )}
      <Button icon="plus" onClick={() => setAsks('make')}>
        {collections.make}
      </Button>
      {asks === 'make' && <CollectionDialog slug={slug} onMade={({ id }) => onChoose(id)} onClose={close} />}
      {asks === 'rename' && shown !== undefined && <CollectionDialog slug={slug} collection={shown} onClose={close} />}
      {asks === 'remove' && shown !== undefined && (
        <Confirm
          title={collections.removeOf(shown.name)}
          text={collections.removeText}
          action={collections.remove}
          onClose={close}
          onConfirm={() => void remove(shown)}
        />
      )}
    </div>
  );
}

interface CollectionDialogProps {
  readonly slug: string | undefined;
  /** Gets another name; absent for a new one. */
  readonly collection?: Collection;
  readonly onMade?: (made: Collection) => void;
  readonly onClose: () => void;
}

function CollectionDialog({ slug, collection, onMade, onClose }: CollectionDialogProps) {
  const before = collection?.name ?? '';
  const [name, setName] = useState(before);
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { collections, app } = words.value;
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      if (collection === undefined) onMade?.(await makeCollection(slug, name.trim()));
      else await renameCollection(slug, collection.id, name.trim());
      tell(collection === undefined ? collections.made(name.trim()) : collections.renamed);
      onClose();
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const failed = problem && problemWords(problem);
  return (
    <Dialog title={collection === undefined ? collections.make : collections.rename} isChanged={name !== before} onClose={onClose}>
      <form onSubmit={save}>
        <TextField
          label={collections.name}
          value={name}
          onText={setName}
          required
          maxLength={NAME_CHARS_MAX}
          autoFocus
          error={failed && `${failed.title} ${failed.text}`}
        />
        <div class="dialog-foot">
          <Button onClick={onClose}>{app.cancel}</Button>
          <Button type="submit" look="main" isBusy={isBusy} disabled={name.trim() === ''}>
            {collection === undefined ? collections.create : app.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
