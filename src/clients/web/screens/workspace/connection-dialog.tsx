/** Dialogs of connections: a new one, and the credentials of one that is there. */
import { useState } from 'preact/hooks';
import { api, type Connection } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { changed } from '../../state/store.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';

type Type = Connection['type'];
type Auth = Connection['authType'];
type Texts = Readonly<Record<string, string>>;

/** Without the schemas, which are not bundled; the first way to sign in is the usual one. */
const AUTHS: Readonly<Record<Type, readonly Auth[]>> = {
  postgres: ['password', 'none'],
  http: ['none', 'bearer', 'basic', 'header'],
  s3: ['access_key', 'none'],
};
const CONFIGS = { postgres: ['host', 'port', 'database'], http: ['url'], s3: ['endpoint', 'bucket', 'region', 'prefix'] } as const;
const USUAL: Texts = { port: '5432', region: 'us-east-1' };
const OPTIONAL: ReadonlySet<string> = new Set(['prefix']);
const SECRETS = {
  none: [],
  password: ['username', 'password'],
  basic: ['username', 'password'],
  bearer: ['token'],
  header: ['header', 'value'],
  access_key: ['access_key_id', 'secret_access_key'],
} as const satisfies Readonly<Record<Auth, readonly string[]>>;
const IN_THE_CLEAR: ReadonlySet<string> = new Set(['username', 'header', 'access_key_id']);
const TYPES = ['postgres', 'http', 's3'] as const;
const SSLS = ['require', 'verify-full', 'disable'] as const;
const SCOPES = ['workspace', 'person'] as const;

interface SecretFieldsProps {
  readonly authType: Auth;
  readonly secrets: Texts;
  readonly isRequired: boolean;
  readonly onText: (name: string, text: string) => void;
}

function SecretFields({ authType, secrets, isRequired, onText }: SecretFieldsProps) {
  const { connections } = words.value;
  return (
    <>
      {SECRETS[authType].map((name) => (
        <TextField
          key={name}
          label={connections.secrets[name]}
          type={IN_THE_CLEAR.has(name) ? 'text' : 'password'}
          autocomplete={IN_THE_CLEAR.has(name) ? 'off' : 'new-password'}
          value={secrets[name] ?? ''}
          onText={(text) => onText(name, text)}
          required={isRequired}
          spellcheck={false}
        />
      ))}
    </>
  );
}

/** Undefined where nothing is typed. */
function credentialsOf(authType: Auth, secrets: Texts): Texts | undefined {
  const typed = SECRETS[authType].map((name) => [name, secrets[name] ?? ''] as const);
  return typed.length === 0 || typed.every(([, text]) => text === '') ? undefined : Object.fromEntries(typed);
}

interface DialogProps {
  readonly slug: string;
  readonly onClose: () => void;
}

export function ConnectionDialog({ slug, onClose }: DialogProps) {
  const [name, setName] = useState('');
  const { connections } = words.value;
  return (
    <Dialog title={connections.make} isChanged={name.trim() !== ''} onClose={onClose}>
      <ConnectionForm slug={slug} name={name} onName={setName} onClose={onClose} />
    </Dialog>
  );
}

function ConnectionForm({ slug, name, onName, onClose }: DialogProps & { readonly name: string; readonly onName: (name: string) => void }) {
  const [type, setType] = useState<Type>('postgres');
  const [auth, setAuth] = useState<Auth>('password');
  const [scope, setScope] = useState<Connection['credentialScope']>('workspace');
  const [ssl, setSsl] = useState<(typeof SSLS)[number]>('require');
  const [texts, setTexts] = useState<Texts>(USUAL);
  const [secrets, setSecrets] = useState<Texts>({});
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { connections, app } = words.value;
  const chooseType = (chosen: Type) => {
    setType(chosen);
    setAuth(AUTHS[chosen][0] ?? 'none');
  };
  const make = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    const given = Object.fromEntries(CONFIGS[type].map((field) => [field, (texts[field] ?? '').trim()]));
    const config = type === 'postgres' ? { ...given, port: Number(given.port), ssl } : given;
    const credentials = credentialsOf(auth, secrets);
    try {
      const body = { name: name.trim(), type, credentialScope: scope, authType: auth, config, ...(credentials && { credentials }) };
      await api.connections.create({ params: { workspaceId: slug }, body });
      changed(`connections:${slug}`, `catalog:${slug}`);
      onClose();
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const failed = problem && problemWords(problem);
  return (
    <form onSubmit={make}>
      <TextField
        label={connections.name}
        value={name}
        onText={onName}
        required
        maxLength={200}
        autoFocus
        error={failed && `${failed.title} ${failed.text}`}
      />
      <SelectField
        label={connections.type}
        value={type}
        options={TYPES.map((value) => ({ value, label: connections.types[value] }))}
        onChoose={chooseType}
      />
      {CONFIGS[type].map((field) => (
        <TextField
          key={field}
          label={connections.config[field]}
          value={texts[field] ?? ''}
          onText={(text) => setTexts({ ...texts, [field]: text })}
          required={!OPTIONAL.has(field)}
          spellcheck={false}
        />
      ))}
      {type === 'postgres' && (
        <SelectField
          label={connections.config.ssl}
          value={ssl}
          options={SSLS.map((value) => ({ value, label: connections.ssls[value] }))}
          onChoose={setSsl}
        />
      )}
      <SelectField
        label={connections.auth}
        value={auth}
        options={AUTHS[type].map((value) => ({ value, label: connections.auths[value] }))}
        onChoose={setAuth}
      />
      {auth !== 'none' && (
        <SelectField
          label={connections.scope}
          value={scope}
          options={SCOPES.map((value) => ({ value, label: connections.scopes[value] }))}
          onChoose={setScope}
        />
      )}
      <SecretFields
        authType={auth}
        secrets={secrets}
        isRequired={scope === 'workspace'}
        onText={(field, text) => setSecrets({ ...secrets, [field]: text })}
      />
      <div class="dialog-foot">
        <Button onClick={onClose}>{app.cancel}</Button>
        <Button type="submit" look="main" isBusy={isBusy} disabled={name.trim() === ''}>
          {connections.create}
        </Button>
      </div>
    </form>
  );
}

export function CredentialsDialog({ slug, connection, onClose }: DialogProps & { readonly connection: Connection }) {
  const [secrets, setSecrets] = useState<Texts>({});
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { connections, app } = words.value;
  const { id, name, authType } = connection;
  const store = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      const credentials = credentialsOf(authType, secrets) ?? {};
      await api.connections.update({ params: { workspaceId: slug, connectionId: id }, body: { credentials } });
      changed(`connections:${slug}`);
      tell(connections.credentialsStored);
      onClose();
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const failed = problem && problemWords(problem);
  return (
    <Dialog title={connections.credentialsOf(name)} onClose={onClose}>
      <form onSubmit={store}>
        <SecretFields
          authType={authType}
          secrets={secrets}
          isRequired
          onText={(field, text) => setSecrets({ ...secrets, [field]: text })}
        />
        {failed && (
          <p class="field-note is-bad" role="alert">
            {failed.title} {failed.text}
          </p>
        )}
        <div class="dialog-foot">
          <Button onClick={onClose}>{app.cancel}</Button>
          <Button type="submit" look="main" isBusy={isBusy}>
            {connections.store}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
