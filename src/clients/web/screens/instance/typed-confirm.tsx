/** A confirmation by typing what it is about, so that nobody is suspended or removed by a click beside the right row. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Problem, problemOf } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { ProblemNote } from '../../ui/states.tsx';
import { instanceWords } from '../../words/instance-words.ts';
import { words } from '../../words/words.ts';

interface TypedProps {
  readonly title: string;
  readonly text: string;
  /** What has to be typed; the case of letters does not matter. */
  readonly expected: string;
  readonly action: string;
  /** Whether the other fields are filled in. */
  readonly isReady?: boolean;
  readonly run: () => Promise<void>;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

export function TypedConfirm({ title, text, expected, action, isReady = true, run, onClose, children }: TypedProps) {
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const isConfirmed = typed.trim().toLowerCase() === expected.toLowerCase();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await run();
      onClose();
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} isChanged={typed !== ''} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{text}</p>
        {children}
        <TextField
          label={instanceWords.value.typeToConfirm(expected)}
          value={typed}
          onText={setTyped}
          required
          spellcheck={false}
          autoFocus={children === undefined}
        />
        {problem && <ProblemNote problem={problem} />}
        <div class="dialog-foot">
          <Button onClick={onClose}>{words.value.app.cancel}</Button>
          <Button type="submit" look="danger" isBusy={isBusy} disabled={!isConfirmed || !isReady}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
