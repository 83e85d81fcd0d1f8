/** What the palette shows in place of its list once a question is asked. It is loaded then. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Problem } from '../api/problem.ts';
import { askAddress } from '../state/asking.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { ProblemNote } from '../ui/states.tsx';
import { words } from '../words/words.ts';

type View = typeof import('../screens/artifact/artifact.tsx').AnswerPart;

const NOT_LOADED = new Problem({ status: 0, code: 'OFFLINE', message: 'The answer could not be shown.' });

interface PaletteAnswerProps {
  readonly id: string;
  readonly text: string;
  readonly onBack: () => void;
  readonly onLeave: () => void;
}

export function PaletteAnswer({ id, text, onBack, onLeave }: PaletteAnswerProps) {
  const [view, setView] = useState<{ readonly View: View } | 'failed'>();
  const [attempt, setAttempt] = useState(0);
  const question = useMemo(() => ({ text }), [text]);
  const { ask, app } = words.value;
  useEffect(() => {
    import('../screens/artifact/artifact.tsx').then(
      ({ AnswerPart }) => setView({ View: AnswerPart }),
      (error: unknown) => {
        console.error(error);
        setView('failed');
      },
    );
  }, [attempt]);
  return (
    <div class="palette-answer" id={id}>
      <p class="row">
        <Button small look="quiet" icon="search" onClick={onBack}>
          {ask.back}
        </Button>
        <LinkButton small look="quiet" icon="comment" href={askAddress(text)} onClick={onLeave}>
          {ask.ownScreen}
        </LinkButton>
      </p>
      {view === undefined && <p role="status">{app.loading}</p>}
      {view === 'failed' && <ProblemNote problem={NOT_LOADED} onRetry={() => setAttempt(attempt + 1)} />}
      {typeof view === 'object' && <view.View question={question} onLeave={onLeave} />}
    </div>
  );
}
