/** The files that go with the mail of a job: of the person's own library, and of the workspace that the page belongs to. */
import { type Deliverable, useDeliverables } from '../../state/assets.ts';
import { seatIn } from '../../state/place.ts';
import { IconButton } from '../../ui/button.tsx';
import { type Choices, SelectField, TextField } from '../../ui/fields.tsx';
import { Icon } from '../../ui/icon.tsx';
import { words } from '../../words/words.ts';
import type { FieldsProps, MailFile } from './job-draft.ts';

const CID_CHARS_MAX = 64;

export function FilesField(props: FieldsProps) {
  const seat = props.workspaceId === null ? undefined : seatIn(props.workspaceId);
  return seat === undefined ? <OwnFiles {...props} /> : <OwnAndWorkspaceFiles {...props} slug={seat.slug} workspace={seat.name} />;
}

function OwnFiles(props: FieldsProps) {
  return <Chooser {...props} libraries={[{ label: undefined, files: useDeliverables(undefined) }]} />;
}

function OwnAndWorkspaceFiles({ slug, workspace, ...props }: FieldsProps & { readonly slug: string; readonly workspace: string }) {
  const mine = { label: words.value.jobs.myLibrary, files: useDeliverables(undefined) };
  return <Chooser {...props} libraries={[mine, { label: workspace, files: useDeliverables(slug) }]} />;
}

interface Library {
  /** Undefined where there is only one. */
  readonly label: string | undefined;
  readonly files: readonly Deliverable[];
}

function Chooser({ draft, write, errorOf, libraries }: FieldsProps & { readonly libraries: readonly Library[] }) {
  const { jobs } = words.value;
  const { files } = draft;
  const listed = libraries.flatMap((library) => library.files);
  const fieldOf = (at: number) => `config.attachments.${at}`;
  const isAtOne = files.some((_, at) => errorOf(fieldOf(at)) !== undefined);
  return (
    <>
      <SelectField
        label={jobs.attach}
        value=""
        options={[{ value: '', label: jobs.chooseFile }, ...libraries.flatMap((library) => choicesOf(library, files))]}
        onChoose={(file_id) => file_id !== '' && write({ files: [...files, { file_id, cid: '' }] })}
        hint={jobs.attachHint}
        error={isAtOne ? undefined : errorOf('config.attachments')}
      />
      {files.length > 0 && (
        <ul class="job-files" aria-label={jobs.attached}>
          {files.map((file, at) => (
            <AttachedFile
              key={file.file_id}
              // What is stored may be of a library that this person does not see.
              name={listed.find(({ id }) => id === file.file_id)?.name ?? file.file_id}
              cid={file.cid}
              onCid={(cid) => write({ files: files.map((one) => (one === file ? { ...file, cid } : one)) })}
              onDetach={() => write({ files: files.filter((one) => one !== file) })}
              cidError={errorOf(`${fieldOf(at)}.cid`)}
              error={errorOf(fieldOf(at))}
            />
          ))}
        </ul>
      )}
    </>
  );
}

/** Without those that are attached. */
function choicesOf({ label, files }: Library, attached: readonly MailFile[]): Choices<string> {
  const options = files
    .filter(({ id }) => attached.every(({ file_id }) => file_id !== id))
    .map(({ id, name }) => ({ value: id, label: name }));
  // Only a library that is one of two has a heading, and none stands above nothing.
  return label === undefined || options.length === 0 ? options : [{ label, options }];
}

interface AttachedProps {
  readonly name: string;
  readonly cid: string;
  readonly onCid: (cid: string) => void;
  readonly onDetach: () => void;
  readonly cidError: string | undefined;
  /** Of the file or its cid. */
  readonly error: string | undefined;
}

function AttachedFile({ name, cid, onCid, onDetach, cidError, error }: AttachedProps) {
  const { jobs } = words.value;
  return (
    <li>
      <fieldset aria-label={name}>
        <div class="job-file">
          <Icon name="file" />
          <span class="grow">{name}</span>
          <IconButton icon="close" label={jobs.detach(name)} onClick={onDetach} />
        </div>
        {error !== undefined && cidError === undefined && (
          <p class="field-note is-bad" role="alert">
            {error}
          </p>
        )}
        <TextField
          label={jobs.cid}
          value={cid}
          onText={onCid}
          maxLength={CID_CHARS_MAX}
          spellcheck={false}
          hint={jobs.cidHint(cid.trim())}
          error={cidError}
        />
      </fieldset>
    </li>
  );
}
