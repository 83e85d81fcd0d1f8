/** Shares a page, a folder or a file with a client organisation, or with a single person outside. */
import { useState } from 'preact/hooks';
import { problemOf } from '../../api/problem.ts';
import { type Resource, type Subject, shareOutside, useMayShareOutside, useSharees } from '../../state/outside.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';
import { addressProblem } from './addresses.ts';
import { FIRST_TERMS, TermsFields, termsOf } from './terms-fields.tsx';

/** The choice of an address in place of an organisation. */
const PERSON = '';

interface OutsideFormProps {
  /** Slug or id. */
  readonly workspace: string;
  readonly resource: Resource;
  /** Where what is shared with whom is fixed already. */
  readonly subject?: Subject;
  readonly email: string;
  readonly onEmail: (email: string) => void;
}

/** Nothing to fill in where the workspace may not share outside: then it says what to do. */
export function OutsideForm(props: OutsideFormProps) {
  const { data, problem } = useMayShareOutside(props.workspace);
  const { outside } = words.value;
  if (data === undefined && problem === undefined) return null;
  if (data?.enabled === false) {
    return (
      <p class="notice warn">
        <strong>{outside.off}.</strong> {outside.offText}
      </p>
    );
  }
  return <Form {...props} />;
}

function Form({ workspace, resource, subject, email, onEmail }: OutsideFormProps) {
  const { items: sharees = [] } = useSharees(workspace);
  const [chosen, setChosen] = useState(PERSON);
  const [terms, setTerms] = useState(FIRST_TERMS);
  const [isWrong, setWrong] = useState(false);
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { outside } = words.value;
  const sharee = sharees.find(({ id }) => id === chosen);
  const address = email.trim().toLowerCase();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const wished = termsOf(terms);
    const wrong = subject === undefined && sharee === undefined ? addressProblem([address]) : undefined;
    setWrong(wished === undefined);
    setError(wrong);
    if (wrong !== undefined || wished === undefined || isBusy) return;
    setBusy(true);
    try {
      const isDone = await shareOutside(workspace, subject ?? (sharee === undefined ? { email: address } : { sharee }), resource, wished);
      if (isDone) onEmail('');
    } catch (thrown) {
      const { title, text } = problemWords(problemOf(thrown));
      setError(`${title} ${text}`);
    }
    setBusy(false);
  };
  return (
    <form class="outside-form" noValidate onSubmit={submit}>
      {subject === undefined && sharees.length > 0 && (
        <SelectField
          label={outside.with}
          value={chosen}
          options={[...sharees.map(({ id, name }) => ({ value: id as string, label: name })), { value: PERSON, label: outside.onePerson }]}
          onChoose={setChosen}
        />
      )}
      {subject === undefined && sharee === undefined && (
        <TextField
          label={outside.email}
          error={error}
          value={email}
          onText={(text) => {
            setError(undefined);
            onEmail(text);
          }}
          spellcheck={false}
        />
      )}
      <TermsFields typed={terms} onType={setTerms} of={resource.type} isWrong={isWrong} />
      {error !== undefined && (subject !== undefined || sharee !== undefined) && (
        <p class="notice bad" role="alert">
          {error}
        </p>
      )}
      <p class="row">
        <Button type="submit" isBusy={isBusy} disabled={subject === undefined && sharee === undefined && address === ''}>
          {outside.share}
        </Button>
      </p>
    </form>
  );
}
