import { useState } from 'preact/hooks';
import { type AgentToken, api } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { changed } from '../../state/store.ts';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';

type Scope = AgentToken['scopes'][number];

const SCOPES: readonly Scope[] = ['artifacts:read', 'artifacts:publish', 'data:read', 'data:write'];
const ENDS = ['30', '90', '365', ''] as const;
const DAY_MS = 24 * 60 * 60 * 1000;

export function AgentDialog({ slug, onClose }: { readonly slug: string; readonly onClose: () => void }) {
  const [secret, setSecret] = useState<string>();
  const [name, setName] = useState('');
  const { agents } = words.value;
  // It is shown once, so that only its own button closes it.
  return (
    <Dialog
      title={secret === undefined ? agents.make : agents.made}
      isFirm={secret !== undefined}
      isChanged={secret === undefined && name.trim() !== ''}
      onClose={onClose}
    >
      {secret === undefined ? (
        <AgentForm slug={slug} name={name} onName={setName} onMade={setSecret} onClose={onClose} />
      ) : (
        <>
          <p role="status">{agents.madeText}</p>
          <Code text={secret} />
          <div class="dialog-foot">
            <Button look="main" onClick={onClose}>
              {agents.stored}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}

interface AgentFormProps {
  readonly slug: string;
  readonly name: string;
  readonly onName: (name: string) => void;
  readonly onMade: (secret: string) => void;
  readonly onClose: () => void;
}

function AgentForm({ slug, name, onName, onMade, onClose }: AgentFormProps) {
  const [scopes, setScopes] = useState<readonly Scope[]>(['artifacts:read', 'artifacts:publish']);
  const [days, setDays] = useState<(typeof ENDS)[number]>('90');
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { agents, app } = words.value;
  const make = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      const expires_at = days === '' ? undefined : new Date(Date.now() + Number(days) * DAY_MS).toISOString();
      const { body } = await api.agentTokens.create({
        params: { workspaceId: slug },
        body: { name: name.trim(), scopes: [...scopes], expires_at },
      });
      onMade(body.token);
      changed(`agents:${slug}`);
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const turn = (scope: Scope, isOn: boolean) => setScopes(SCOPES.filter((one) => (one === scope ? isOn : scopes.includes(one))));
  const failed = problem && problemWords(problem);
  return (
    <form onSubmit={make}>
      <TextField
        label={agents.name}
        value={name}
        onText={onName}
        required
        maxLength={200}
        autoFocus
        error={failed && `${failed.title} ${failed.text}`}
      />
      <fieldset class="checks">
        <legend class="label">{agents.scopes}</legend>
        {SCOPES.map((scope) => (
          <label key={scope} class="check">
            <input type="checkbox" checked={scopes.includes(scope)} onChange={(event) => turn(scope, event.currentTarget.checked)} />
            <span class="grow">{agents.scope[scope]}</span>
            <code>{scope}</code>
          </label>
        ))}
      </fieldset>
      <SelectField
        label={agents.expires}
        value={days}
        options={ENDS.map((value) => ({ value, label: value === '' ? agents.never : agents.days(Number(value)) }))}
        onChoose={setDays}
      />
      <div class="dialog-foot">
        <Button onClick={onClose}>{app.cancel}</Button>
        <Button type="submit" look="main" isBusy={isBusy} disabled={name.trim() === '' || scopes.length === 0}>
          {agents.create}
        </Button>
      </div>
    </form>
  );
}
