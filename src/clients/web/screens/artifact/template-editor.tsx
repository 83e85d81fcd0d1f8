/** One template and, beside it, the mail that it becomes with the values that were typed. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { type Artifact, api, type TemplatePreview } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { useDraft } from '../../state/drafts.ts';
import { createTemplate, deleteTemplate, saveTemplate, type TemplateSources, useTemplate } from '../../state/mail.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { AreaField, SelectField, TextField } from '../../ui/fields.tsx';
import { Loaded } from '../../ui/states.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';

interface EditorProps {
  readonly artifact: Artifact;
  /** `new` for one that is not stored yet. */
  readonly templateId: string;
}

const EMPTY: TemplateSources = { name: '', subject: '', html: '', text_body: '' };
const NOTHING_TYPED: Partial<TemplateSources> = {};
/** After the last key. */
const PREVIEW_AFTER_MS = 300;

export function TemplateEditor({ artifact, templateId }: EditorProps) {
  const { mail } = words.value;
  return (
    <>
      <p>
        <a href={`/p/${artifact.id}/mail`}>{mail.back}</a>
      </p>
      {templateId === 'new' ? (
        <Form artifact={artifact} templateId={undefined} stored={EMPTY} etag={undefined} />
      ) : (
        <Stored {...{ artifact, templateId }} />
      )}
    </>
  );
}

function Stored({ artifact, templateId }: EditorProps) {
  const loaded = useTemplate(templateId);
  return (
    <Loaded of={loaded} shape="block" missing={words.value.mail.missing}>
      {({ template, etag }) => <Form artifact={artifact} templateId={templateId} stored={template} etag={etag} />}
    </Loaded>
  );
}

interface FormProps {
  readonly artifact: Artifact;
  readonly templateId: string | undefined;
  readonly stored: TemplateSources;
  readonly etag: string | undefined;
}

function Form({ artifact, templateId, stored, etag }: FormProps) {
  const [typed, setTyped] = useDraft(`template:${artifact.id}:${templateId ?? 'new'}`, NOTHING_TYPED);
  // Of the page, so that the values stay when a new template gets an address of its own.
  const [sample, setSample] = useDraft(`template-values:${artifact.id}`, '{}');
  const [scope, setScope] = useState<'page' | 'account'>('page');
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { route } = useLocation();
  const { mail, app } = words.value;
  const { name, subject, html, text_body } = { ...stored, ...typed };
  const sources: TemplateSources = { name, subject, html, text_body };
  const isChanged = (Object.keys(EMPTY) as (keyof TemplateSources)[]).some((field) => sources[field] !== stored[field]);
  const errorOf = (field: string) => (problem?.param === field ? problemWords(problem).text : undefined);
  const write = (field: keyof TemplateSources) => (text: string) => setTyped({ ...typed, [field]: text });
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      if (templateId === undefined) {
        const id = await createTemplate({ ...sources, artifact_id: scope === 'page' ? artifact.id : null });
        setTyped(NOTHING_TYPED);
        route(`/p/${artifact.id}/mail/${id}`, true);
      } else {
        await saveTemplate(templateId, sources, etag);
        setTyped(NOTHING_TYPED);
      }
      tell(words.value.mail.saved);
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  return (
    <div class="template-editor">
      <form class="panel" onSubmit={(event) => void save(event)}>
        <TextField label={mail.name} value={name} onText={write('name')} required maxLength={200} error={errorOf('name')} />
        {templateId === undefined && (
          <SelectField
            label={mail.scope}
            value={scope}
            options={[
              { value: 'page', label: mail.ofPage },
              { value: 'account', label: mail.ofAccount },
            ]}
            onChoose={setScope}
          />
        )}
        <TextField label={mail.subject} value={subject} onText={write('subject')} required maxLength={500} error={errorOf('subject')} />
        <AreaField
          label={mail.html}
          value={html}
          onText={write('html')}
          required
          rows={12}
          spellcheck={false}
          hint={mail.htmlHint}
          error={errorOf('html')}
        />
        <AreaField
          label={mail.text}
          value={text_body}
          onText={write('text_body')}
          rows={4}
          hint={mail.textHint}
          error={errorOf('text_body')}
        />
        {problem !== undefined && !['name', 'subject', 'html', 'text_body'].includes(problem.param ?? '') && (
          <p class="notice bad" role="alert">
            {problemWords(problem).text}
          </p>
        )}
        <div class="row">
          <Button look="main" type="submit" isBusy={isBusy} disabled={!isChanged}>
            {app.save}
          </Button>
          {templateId !== undefined && <DeleteButton artifact={artifact} templateId={templateId} name={stored.name} />}
        </div>
      </form>
      <Preview sources={sources} sample={sample} onSample={setSample} />
    </div>
  );
}

function DeleteButton({ artifact, templateId, name }: { readonly artifact: Artifact; readonly templateId: string; readonly name: string }) {
  const [asks, setAsks] = useState(false);
  const { route } = useLocation();
  const { mail } = words.value;
  const remove = async () => {
    try {
      await deleteTemplate(templateId);
      tell(mail.deleted);
      route(`/p/${artifact.id}/mail`, true);
    } catch (error) {
      tellProblem(error);
    }
  };
  return (
    <>
      <Button look="danger" icon="trash" onClick={() => setAsks(true)}>
        {mail.delete}
      </Button>
      {asks && (
        <Confirm title={mail.delete} text={mail.deleteText(name)} action={mail.delete} onConfirm={remove} onClose={() => setAsks(false)} />
      )}
    </>
  );
}

interface PreviewProps {
  readonly sources: TemplateSources;
  readonly sample: string;
  readonly onSample: (text: string) => void;
}

function Preview({ sources, sample, onSample }: PreviewProps) {
  const [shown, setShown] = useState<TemplatePreview>();
  const [problem, setProblem] = useState<Problem>();
  const { mail } = words.value;
  const data = dataIn(sample);
  const { subject, html, text_body } = sources;
  useEffect(() => {
    if (data === undefined || subject === '' || html === '') return undefined;
    const stop = new AbortController();
    const render = async () => {
      try {
        setShown((await api.templates.previewInline({ body: { subject, html, text_body, data }, signal: stop.signal })).body.data);
        setProblem(undefined);
      } catch (error) {
        if (!stop.signal.aborted) setProblem(problemOf(error));
      }
    };
    const timer = setTimeout(() => void render(), PREVIEW_AFTER_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [subject, html, text_body, sample]);
  return (
    <section class="panel" aria-label={mail.preview}>
      <h2>{mail.preview}</h2>
      <AreaField
        label={mail.sample}
        value={sample}
        onText={onSample}
        rows={3}
        spellcheck={false}
        hint={mail.sampleHint}
        error={data === undefined ? mail.sampleWrong : undefined}
      />
      {problem !== undefined && (
        <p class="notice bad" role="alert">
          {problemWords(problem).text}
        </p>
      )}
      {shown === undefined && <p class="soft">{mail.previewEmpty}</p>}
      {shown !== undefined && (
        <>
          <p class="mail-subject">{shown.subject}</p>
          {shown.warnings.length > 0 && (
            <ul class="notice warn" role="status">
              {shown.warnings.map((warning) => (
                <li key={warning}>{warning}</li>
              ))}
            </ul>
          )}
          <Frame html={shown.html} />
          <details>
            <summary>{mail.asText}</summary>
            <pre class="mail-text">{shown.text}</pre>
          </details>
        </>
      )}
    </section>
  );
}

/** The mail in a sandbox with a policy of its own: that of the app allows no inline style, and gives no HTML to a frame. */
function Frame({ html }: { readonly html: string }) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.submit(), [html]);
  return (
    <>
      <form ref={form} method="post" action="/preview-mail" target="mail-preview" hidden>
        <input type="hidden" name="html" value={html} />
      </form>
      <iframe
        class="mail-frame"
        name="mail-preview"
        title={words.value.mail.previewFrame}
        sandbox="allow-popups allow-popups-to-escape-sandbox"
      />
    </>
  );
}

function dataIn(sample: string): Record<string, never> | undefined {
  try {
    const data: unknown = JSON.parse(sample === '' ? '{}' : sample);
    return typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as Record<string, never>) : undefined;
  } catch {
    return undefined;
  }
}
