/** Ends one's own access that was given by name. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { type Artifact, api } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { forgetOpened } from '../../state/prefs.ts';
import { myId } from '../../state/session.ts';
import { changed, forget } from '../../state/store.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { words } from '../../words/words.ts';

/** `small`: in a row of the dialog. */
export function LeaveButton({ artifact, small = false }: { readonly artifact: Artifact; readonly small?: boolean }) {
  const [asks, setAsks] = useState(false);
  const { route } = useLocation();
  const { id, name } = artifact;
  const { leave, share } = words.value;
  const go = async () => {
    try {
      const { remaining_role: remaining } = (await api.collaborators.remove({ params: { id, email: myId() } })).body;
      tell(remaining === null ? leave.done(name) : leave.still(name, share.role[remaining]));
      forget(`artifact:${id}`, `collaborators:${id}`, `access:${id}`);
      if (remaining === null) {
        forgetOpened(myId(), id);
        route('/');
      } else changed(`artifact:${id}`);
    } catch (error) {
      // Who sees the page by another rule is no collaborator, and cannot leave.
      if (problemOf(error).code === 'USER_NOT_FOUND') tell(leave.notByName);
      else tellProblem(error);
    }
    changed('artifacts:');
  };
  return (
    <>
      <Button small={small} icon="out" onClick={() => setAsks(true)}>
        {leave.action}
      </Button>
      {asks && (
        <Confirm
          title={leave.title(name)}
          text={leave.text}
          action={leave.action}
          onClose={() => setAsks(false)}
          onConfirm={() => void go()}
        />
      )}
    </>
  );
}
