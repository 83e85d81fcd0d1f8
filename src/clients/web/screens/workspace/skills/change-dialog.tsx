/** One proposed change: what it adds and removes, and what becomes of it. */
import { useState } from 'preact/hooks';
import { api, type SkillChange, type SkillChangeDetail } from '../../../api/client.ts';
import { problemOf } from '../../../api/problem.ts';
import { myId } from '../../../state/session.ts';
import { changed, useLoaded } from '../../../state/store.ts';
import { tell, tellProblem } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ShownText, UnseenNote } from '../../../ui/shown-text.tsx';
import { Tag, Time } from '../../../ui/small.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { words } from '../../../words/words.ts';
import { Unified } from '../../artifact/diff-view.tsx';
import { ConflictView } from './conflict-view.tsx';

interface ChangeDialogProps {
  readonly slug: string;
  readonly change: SkillChange;
  readonly mayApprove: boolean;
  /** Given the text with the conflict marked, where the change cannot be merged. */
  readonly onResolve: (conflict: string) => void;
  readonly onClose: () => void;
}

export function ChangeDialog({ slug, change, mayApprove, onResolve, onClose }: ChangeDialogProps) {
  const [conflict, setConflict] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { skills, versions, app } = words.value;
  const params = { skillId: change.skill_id, changeId: change.id };
  const loaded = useLoaded(`skillChange:${change.id}`, async () => (await api.skillChanges.get({ params })).body);
  const decide = async (action: 'merge' | 'reject' | 'withdraw') => {
    setBusy(true);
    try {
      await api.skillChanges.decide({ params, body: { action } });
      tell(skills.done[action]);
      onClose();
    } catch (thrown) {
      setConflict(problemOf(thrown).conflict);
      if (problemOf(thrown).conflict === undefined) tellProblem(thrown);
      setBusy(false);
    }
    changed(`skillChanges:${change.skill_id}`, `skillChange:${change.id}`, `skill:${change.skill_id}`, `skills:${slug}`, 'artifacts:');
  };
  return (
    <Dialog title={change.title} wide onClose={onClose}>
      <p class="row-facts">
        <span>{change.author?.name ?? versions.somebody}</span>
        <Time at={change.created_at} />
        <span>{skills.on(change.base_version_no)}</span>
        <Tag tone={change.status === 'open' ? 'warn' : 'plain'}>{skills.status[change.status]}</Tag>
      </p>
      {change.note !== '' && (
        <p class="row-note">
          <ShownText text={change.note} />
        </p>
      )}
      {conflict === undefined ? (
        <Loaded of={loaded} shape="block">
          {(found) => <Difference change={found} />}
        </Loaded>
      ) : (
        <>
          <p class="notice warn conflict-note" role="alert">
            {skills.conflict}
          </p>
          <ConflictView text={conflict} />
        </>
      )}
      <div class="dialog-foot">
        {change.status === 'open' && change.author?.id === myId() && (
          <Button disabled={isBusy} onClick={() => void decide('withdraw')}>
            {skills.withdraw}
          </Button>
        )}
        {change.status === 'open' && mayApprove ? (
          <>
            <Button disabled={isBusy} onClick={() => void decide('reject')}>
              {skills.reject}
            </Button>
            {conflict === undefined ? (
              <Button look="main" isBusy={isBusy} onClick={() => void decide('merge')}>
                {skills.merge}
              </Button>
            ) : (
              <Button look="main" icon="pen" disabled={isBusy} onClick={() => onResolve(conflict)}>
                {skills.resolve}
              </Button>
            )}
          </>
        ) : (
          <Button look="main" onClick={onClose}>
            {app.done}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

function Difference({ change: { diff, markdown } }: { readonly change: SkillChangeDetail }) {
  const { skills } = words.value;
  if (diff !== null) return <Unified text={diff} isProse />;
  return (
    <>
      <p class="soft small">{skills.tooLong}</p>
      <UnseenNote text={markdown} />
      <pre class="markdown-raw">
        <ShownText text={markdown} />
      </pre>
    </>
  );
}
