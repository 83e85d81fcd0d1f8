/** Files of a message that is being written: each is sent as it is chosen, so that the message only names them. */
import { useRef, useState } from 'preact/hooks';
import { type Problem, problemOf } from '../../api/problem.ts';
import { uploadTicketFile } from '../../state/support.ts';
import { IconButton } from '../../ui/button.tsx';
import { bytesText } from '../../words/format.ts';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';

// Source: ticketAttachmentsMax of the protocol's limits.
const FILES_MAX = 10;

interface Picked {
  readonly key: number;
  readonly file: File;
  /** Of the stored file. */
  readonly id?: string;
  readonly problem?: Problem;
}

export interface TicketFiles {
  readonly picked: readonly Picked[];
  readonly ids: readonly string[];
  readonly isSending: boolean;
  readonly isFull: boolean;
  add(files: readonly File[]): void;
  remove(key: number): void;
  clear(): void;
}

export function useTicketFiles(): TicketFiles {
  const [picked, setPicked] = useState<readonly Picked[]>([]);
  const [isFull, setFull] = useState(false);
  const last = useRef(0);
  const send = async ({ key, file }: Picked) => {
    const note = (more: Partial<Picked>) => setPicked((all) => all.map((one) => (one.key === key ? { ...one, ...more } : one)));
    try {
      note({ id: (await uploadTicketFile(file)).id });
    } catch (error) {
      note({ problem: problemOf(error) });
    }
  };
  return {
    picked,
    ids: picked.flatMap(({ id }) => (id === undefined ? [] : [id])),
    isSending: picked.some(({ id, problem }) => id === undefined && problem === undefined),
    isFull,
    add(files) {
      const room = FILES_MAX - picked.length;
      const added = files.slice(0, room).map((file) => {
        last.current += 1;
        return { key: last.current, file };
      });
      setFull(files.length > room);
      setPicked([...picked, ...added]);
      for (const one of added) void send(one);
    },
    remove(key) {
      setFull(false);
      setPicked(picked.filter((one) => one.key !== key));
    },
    clear() {
      setFull(false);
      setPicked([]);
    },
  };
}

export function FilesField({ files }: { readonly files: TicketFiles }) {
  const { support } = words.value;
  const { picked, isFull } = files;
  return (
    <div class="field">
      {picked.length > 0 && (
        <ul class="ticket-files" aria-label={support.files}>
          {picked.map((one) => (
            <PickedRow key={one.key} picked={one} onRemove={() => files.remove(one.key)} />
          ))}
        </ul>
      )}
      <p class="row">
        <label class="btn btn-second btn-small">
          <input
            type="file"
            class="unseen"
            multiple
            onChange={({ currentTarget }) => {
              files.add([...(currentTarget.files ?? [])]);
              // So that the same file can be chosen again.
              currentTarget.value = '';
            }}
          />
          <span>{support.addFiles}</span>
        </label>
        <span class="small soft">{support.filesHint}</span>
      </p>
      {isFull && (
        <p class="field-note is-bad" role="alert">
          {support.tooManyFiles}
        </p>
      )}
    </div>
  );
}

function PickedRow({ picked: { file, id, problem }, onRemove }: { readonly picked: Picked; readonly onRemove: () => void }) {
  const { support } = words.value;
  const failed = problem && problemWords(problem);
  return (
    <li>
      <div class="grow">
        <span>{file.name}</span> <span class="soft small">{bytesText(file.size)}</span>
        {failed === undefined && id === undefined && (
          <p class="small soft" role="status">
            <span class="spinner" aria-hidden="true" /> {support.sending(file.name)}
          </p>
        )}
        {failed && (
          <p class="field-note is-bad" role="alert">
            {failed.title} {failed.text}
          </p>
        )}
      </div>
      <IconButton icon="close" label={support.removeFile(file.name)} onClick={onRemove} />
    </li>
  );
}
