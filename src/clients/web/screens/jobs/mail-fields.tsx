/** The mail that a job sends: written here, or made of a template. */
import { useEffect } from 'preact/hooks';
import { useTemplates } from '../../state/mail.ts';
import { AreaField, SelectField, TextField } from '../../ui/fields.tsx';
import { words } from '../../words/words.ts';
import type { FieldsProps } from './job-draft.ts';
import { FilesField } from './mail-files.tsx';

export function MailFields(props: FieldsProps) {
  const { draft, write, errorOf } = props;
  const { jobs } = words.value;
  return (
    <>
      <TextField label={jobs.to} value={draft.to} onText={(to) => write({ to })} required hint={jobs.toHint} error={errorOf('config.to')} />
      <TemplateField {...props} />
      <TextField
        label={jobs.subject}
        value={draft.subject}
        onText={(subject) => write({ subject })}
        maxLength={500}
        hint={draft.template === '' ? jobs.subjectHint : jobs.subjectOfTemplate}
        error={errorOf('config.subject')}
      />
      {draft.template === '' ? <WrittenFields {...props} /> : <ValuesField {...props} />}
      <FilesField {...props} />
    </>
  );
}

function TemplateField({ artifactId, draft, write, errorOf }: FieldsProps) {
  const { items = [], hasMore, isLoadingMore, moreProblem, more } = useTemplates(artifactId);
  const { jobs } = words.value;
  // A list to choose from has no end to scroll to.
  useEffect(() => {
    if (hasMore && !isLoadingMore && moreProblem === undefined) more();
  });
  // One that is stored may be of another editor's account, whose templates are not listed here.
  const isListed = draft.template === '' || items.some(({ id }) => id === draft.template);
  return (
    <SelectField
      label={jobs.template}
      value={draft.template}
      options={[
        { value: '', label: jobs.noTemplate },
        ...items.map(({ id, name }) => ({ value: id, label: name })),
        ...(isListed ? [] : [{ value: draft.template, label: draft.template }]),
      ]}
      onChoose={(template) => write({ template })}
      error={errorOf('config.template_id')}
    />
  );
}

function WrittenFields({ draft, write, errorOf }: FieldsProps) {
  const { jobs } = words.value;
  return (
    <>
      <AreaField label={jobs.text} value={draft.text} onText={(text) => write({ text })} rows={6} error={errorOf('config.text')} />
      <AreaField
        label={jobs.html}
        value={draft.html}
        onText={(html) => write({ html })}
        rows={4}
        spellcheck={false}
        hint={jobs.htmlHint}
        error={errorOf('config.html')}
      />
    </>
  );
}

function ValuesField({ draft, write, errorOf }: FieldsProps) {
  const { jobs } = words.value;
  return (
    <AreaField
      label={jobs.values}
      value={draft.values}
      onText={(values) => write({ values })}
      rows={3}
      spellcheck={false}
      hint={jobs.valuesHint}
      error={errorOf('config.data')}
    />
  );
}
