/** Why somebody may open a page: each rule that lets them, in words. */
import { useState } from 'preact/hooks';
import { type Artifact, api, type Explained } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { seatIn } from '../../state/place.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/fields.tsx';
import { ago, listText } from '../../words/format.ts';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';
import { addressProblem } from './addresses.ts';

type Because = Explained['because'][number];

export function ExplainPart({ artifact }: { readonly artifact: Artifact }) {
  const [typed, setTyped] = useState('');
  const [explained, setExplained] = useState<Explained>();
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { share } = words.value;
  const email = typed.trim().toLowerCase();
  const ask = async (event: SubmitEvent) => {
    event.preventDefault();
    const wrong = addressProblem([email]);
    setError(wrong);
    setExplained(undefined);
    if (wrong !== undefined || isBusy) return;
    setBusy(true);
    try {
      setExplained((await api.access.explain({ params: { id: artifact.id }, query: { email } })).body);
    } catch (thrown) {
      const { title, text } = problemWords(problemOf(thrown));
      setError(`${title} ${text}`);
    }
    setBusy(false);
  };
  return (
    <details class="share-why">
      <summary>{share.why}</summary>
      <form noValidate onSubmit={ask}>
        <TextField label={share.whyEmail} hint={share.whyText} error={error} value={typed} onText={setTyped} spellcheck={false} />
        <Button type="submit" isBusy={isBusy} disabled={email === ''}>
          {share.explain}
        </Button>
      </form>
      <div role="status">{explained !== undefined && <Explanation explained={explained} visibility={artifact.visibility} />}</div>
    </details>
  );
}

function Explanation({ explained, visibility }: { readonly explained: Explained; readonly visibility: Artifact['visibility'] }) {
  const { share, visibility: said } = words.value;
  const { email, has_account, can, because } = explained;
  const abilities = (['view', 'comment', 'edit'] as const).filter((ability) => can[ability]).map((ability) => share.ability[ability]);
  return (
    <div class="notice">
      <p>
        <strong>{abilities.length === 0 ? share.cannot(email) : share.can(email, listText(abilities))}</strong>
      </p>
      {because.length > 0 && (
        <ul class="share-reasons">
          {because.map((reason, at) => (
            <li key={at}>{reasonText(reason)}</li>
          ))}
        </ul>
      )}
      {!can.view && visibility === 'password' && <p class="small">{said.password.means}</p>}
      {!has_account && <p class="small">{share.noAccount}</p>}
    </div>
  );
}

function reasonText({ rule, source }: Because): string {
  const { share, workspace } = words.value;
  const { because } = share;
  switch (source.type) {
    case 'owner':
      return rule === 'linked' ? because.ownerLinked : because.owner;
    case 'collaborator':
      return (rule === 'linked' ? because.collaboratorLinked : because.collaborator)(share.role[source.role]);
    case 'workspace':
      return because.workspace(workspace.role[source.role], seatIn(source.id)?.name ?? share.aWorkspace);
    case 'grant': {
      const text = source.resource_type === 'folder' ? because.folder : because.grant;
      return source.expires_at === null ? text : `${text} ${because.until(ago(source.expires_at))}`;
    }
    case 'visibility':
      return because.visibility;
    default:
      return source satisfies never;
  }
}
