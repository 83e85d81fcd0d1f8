import { useState } from 'preact/hooks';
import { type Answer, api } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { seatIn } from '../../state/place.ts';
import { changed } from '../../state/store.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { AreaField, RadioCards } from '../../ui/fields.tsx';
import { Tag } from '../../ui/small.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';

type Outcome = Answer<'invites', 'create'>['results'][number];

export function InviteDialog({ slug, onClose }: { readonly slug: string; readonly onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const [role, setRole] = useState<'owner' | 'admin' | 'member'>('member');
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>();
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { people, workspace, app } = words.value;
  const emails = typed.split(/[\s,;]+/).filter(Boolean);
  const roles = seatIn(slug)?.role === 'owner' ? (['member', 'admin', 'owner'] as const) : (['member', 'admin'] as const);
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      const { body } = await api.invites.create({ params: { workspaceId: slug }, body: { emails, role } });
      changed(`invites:${slug}`, `members:${slug}`);
      if (body.sent > 0) tell(people.sent(body.sent));
      if (body.results.every(({ status }) => status === 'invited')) return onClose();
      setOutcomes(body.results);
      setTyped('');
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  const failed = problem && problemWords(problem);
  return (
    <Dialog title={people.invite} onClose={onClose} isChanged={typed !== ''}>
      {outcomes !== undefined ? (
        <>
          <ul class="rows" role="status">
            {outcomes.map(({ email, status, error }) => (
              <li key={email} class="row-item">
                <div class="grow">
                  <p class="row-title">{email}</p>
                  {error !== undefined && <p class="row-facts">{error}</p>}
                </div>
                <Tag tone={status === 'invited' ? 'good' : 'warn'}>{people.outcome[status]}</Tag>
              </li>
            ))}
          </ul>
          <div class="dialog-foot">
            <Button look="main" onClick={onClose}>
              {app.done}
            </Button>
          </div>
        </>
      ) : (
        <form onSubmit={send}>
          <AreaField
            label={people.emails}
            hint={people.emailsHint}
            value={typed}
            onText={setTyped}
            required
            autoFocus
            error={failed && `${failed.title} ${failed.text}`}
          />
          <RadioCards
            label={people.as}
            value={role}
            options={roles.map((value) => ({ value, name: workspace.role[value], means: workspace.roleMeans[value] }))}
            onChoose={setRole}
          />
          <div class="dialog-foot">
            <Button onClick={onClose}>{app.cancel}</Button>
            <Button type="submit" look="main" isBusy={isBusy} disabled={emails.length === 0}>
              {people.send}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
