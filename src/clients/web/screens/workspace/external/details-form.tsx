/** Name, type, branding and properties of a client organisation. What was typed stays where saving fails. */
import { useState } from 'preact/hooks';
import { api, type Sharee } from '../../../api/client.ts';
import { type Problem, problemOf } from '../../../api/problem.ts';
import { useDraft } from '../../../state/drafts.ts';
import { changed } from '../../../state/store.ts';
import { tell } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { AreaField, TextField } from '../../../ui/fields.tsx';
import { problemWords } from '../../../words/problems.ts';
import { words } from '../../../words/words.ts';

const NAME_CHARS_MAX = 200;
const LOGO_CHARS_MAX = 2048;

interface Fields {
  readonly name: string;
  readonly type: string;
  readonly logo: string;
  readonly color: string;
  /** As JSON. */
  readonly properties: string;
}

const NOTHING_TYPED: Partial<Fields> = {};

function fieldsOf({ name, type, branding, properties }: Sharee): Fields {
  return {
    ...{ name, type: type ?? '', logo: branding.logo ?? '', color: branding.color ?? '' },
    properties: JSON.stringify(properties, null, 2),
  };
}

/** Undefined where it is no JSON object. */
function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    console.debug('the properties are no JSON', error);
    return undefined;
  }
}

interface DetailsFormProps {
  readonly slug: string;
  readonly sharee: Sharee;
  readonly etag: string;
}

export function DetailsForm({ slug, sharee, etag }: DetailsFormProps) {
  const [typed, setTyped] = useDraft(`sharee:${sharee.id}`, NOTHING_TYPED);
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { external, app } = words.value;
  const stored = fieldsOf(sharee);
  const shown = { ...stored, ...typed };
  const isChanged = (Object.keys(stored) as (keyof Fields)[]).some((field) => shown[field] !== stored[field]);
  const properties = objectIn(shown.properties);
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    if (properties === undefined) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const branding = { logo: shown.logo.trim() || null, color: shown.color.trim() || null };
      const body = { name: shown.name.trim(), type: shown.type.trim() || null, branding, properties };
      await api.sharees.update({ params: { workspaceId: slug, shareeId: sharee.id }, body, ifMatch: etag });
      setTyped(NOTHING_TYPED);
      tell(external.saved);
    } catch (error) {
      setProblem(problemOf(error));
    }
    changed(`sharee:${slug}`, `sharees:${slug}`, `grants:${slug}`);
    setBusy(false);
  };
  return (
    <form class="panel" noValidate onSubmit={save} aria-labelledby="details">
      <h3 id="details">{external.details}</h3>
      <TextField
        label={external.name}
        value={shown.name}
        onText={(name) => setTyped({ ...typed, name })}
        required
        maxLength={NAME_CHARS_MAX}
      />
      <TextField
        label={external.type}
        hint={external.typeHint}
        value={shown.type}
        onText={(type) => setTyped({ ...typed, type })}
        maxLength={NAME_CHARS_MAX}
      />
      <TextField
        label={external.logo}
        hint={external.logoHint}
        value={shown.logo}
        onText={(logo) => setTyped({ ...typed, logo })}
        maxLength={LOGO_CHARS_MAX}
        spellcheck={false}
      />
      <TextField
        label={external.color}
        hint={external.colorHint}
        value={shown.color}
        onText={(color) => setTyped({ ...typed, color })}
        maxLength={7}
        spellcheck={false}
      />
      <AreaField
        label={external.properties}
        hint={external.propertiesHint}
        error={properties === undefined ? external.propertiesWrong : undefined}
        value={shown.properties}
        onText={(text) => setTyped({ ...typed, properties: text })}
        spellcheck={false}
        rows={4}
      />
      {problem !== undefined && <Failed problem={problem} />}
      <div class="row">
        <Button type="submit" look="main" isBusy={isBusy} disabled={!isChanged || properties === undefined || shown.name.trim() === ''}>
          {app.save}
        </Button>
        {isChanged && <Button onClick={() => setTyped(NOTHING_TYPED)}>{app.discard}</Button>}
      </div>
    </form>
  );
}

/** After a conflict the newer state is loaded, so that saving again replaces it knowingly. */
function Failed({ problem }: { readonly problem: Problem }) {
  const { external } = words.value;
  const { title, text } = problemWords(problem);
  return (
    <p class="notice bad" role="alert">
      {problem.code === 'VERSION_CONFLICT' ? external.changedMeanwhile : `${title} ${text}`}
    </p>
  );
}
