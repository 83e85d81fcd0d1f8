/** Notes about a client organisation, as Markdown. */
import { useState } from 'preact/hooks';
import { api, type NoteFacts } from '../../../api/client.ts';
import type { PageOf } from '../../../state/pages.ts';
import { useNotes } from '../../../state/sharees.ts';
import { changed, showAtOnce } from '../../../state/store.ts';
import { optimistic, tell } from '../../../state/toasts.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { Time } from '../../../ui/small.tsx';
import { ProblemNote, Skeleton } from '../../../ui/states.tsx';
import { bytesText } from '../../../words/format.ts';
import { words } from '../../../words/words.ts';
import { More } from '../../more.tsx';
import { NoteDialog } from './note-dialog.tsx';

interface NotesSectionProps {
  readonly slug: string;
  readonly shareeId: string;
  readonly mayShare: boolean;
}

export function NotesSection({ slug, shareeId, mayShare }: NotesSectionProps) {
  const pages = useNotes(slug, shareeId);
  const [opened, setOpened] = useState<{ readonly name: string | null }>();
  const { external } = words.value;
  const { items, problem } = pages;
  return (
    <section class="part" aria-labelledby="notes">
      <div class="section-head">
        <div class="grow">
          <h3 id="notes" tabIndex={-1}>
            {external.notes}
          </h3>
          <p class="soft small">{external.notesText}</p>
        </div>
        <Button icon="plus" disabled={!mayShare} onClick={() => setOpened({ name: null })}>
          {external.newNote}
        </Button>
      </div>
      {items === undefined && problem === undefined && <Skeleton shape="line" count={1} />}
      {items === undefined && problem !== undefined && <ProblemNote problem={problem} onRetry={pages.reload} />}
      {items?.length === 0 && <p class="soft">{external.noNotes}</p>}
      {items !== undefined && items.length > 0 && (
        <ul class="rows">
          {items.map((note) => (
            <NoteRow key={note.name} slug={slug} shareeId={shareeId} note={note} onOpen={() => setOpened({ name: note.name })} />
          ))}
        </ul>
      )}
      <More pages={pages} />
      {opened !== undefined && (
        <NoteDialog slug={slug} shareeId={shareeId} name={opened.name} mayWrite={mayShare} onClose={() => setOpened(undefined)} />
      )}
    </section>
  );
}

interface NoteRowProps {
  readonly slug: string;
  readonly shareeId: string;
  readonly note: NoteFacts;
  readonly onOpen: () => void;
}

function NoteRow({ slug, shareeId, note, onOpen }: NoteRowProps) {
  const [asks, setAsks] = useState(false);
  const { external } = words.value;
  const { name, size_bytes, updated_at } = note;
  const remove = async () => {
    document.getElementById('notes')?.focus();
    const key = `notes:${slug}:${shareeId}`;
    const undo = showAtOnce<PageOf<NoteFacts>>(key, (page) => ({ ...page, items: page.items.filter((one) => one.name !== name) }));
    const done = await optimistic(undo, () => api.notes.delete({ params: { workspaceId: slug, shareeId, name } }));
    changed(key);
    if (done !== undefined) tell(external.noteDeleted(name));
  };
  return (
    <li class="row-item">
      <span class="avatar is-square has-icon">
        <Icon name="file" />
      </span>
      <div class="grow">
        <p class="row-title">{name}</p>
        <p class="row-facts">
          <span>{bytesText(size_bytes)}</span>
          <Time at={updated_at} />
        </p>
      </div>
      <Button small aria-label={external.readNote(name)} onClick={onOpen}>
        {external.read}
      </Button>
      <IconButton icon="trash" label={external.deleteNote(name)} onClick={() => setAsks(true)} />
      {asks && (
        <Confirm
          title={external.deleteNote(name)}
          text={external.deleteNoteText}
          action={external.deleteNote(name)}
          onClose={() => setAsks(false)}
          onConfirm={() => void remove()}
        />
      )}
    </li>
  );
}
